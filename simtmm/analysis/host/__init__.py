"""The host's part of a program: what its calls take beside its kernels, at which line, and what to change.

calls: what a program asked of the runtime, from its trace      replay: what that takes on a machine's host
changes: other code of the host, as other calls                 advice: what each gains
python_words: their words in Python
results: changes of what is copied to the host                  host_change: what a change is
"""

from simtmm.analysis.host.advice import HostFound, host_found

__all__ = ["HostFound", "host_found"]

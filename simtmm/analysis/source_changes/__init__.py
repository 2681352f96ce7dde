"""What a programmer could change: operations that changed source would produce, simulated on the machine.

excerpt      a part of a run that is simulated in a moment
operations   a workload by operation, and put together again
changes      what becomes of operations where the source changes
advice       which changes are worth trying, and what they gain
"""

from simtmm.analysis.source_changes.advice import BOUND, Advice, advise
from simtmm.analysis.source_changes.uneven import Uneven, uneven

__all__ = ["BOUND", "Advice", "Uneven", "advise", "uneven"]

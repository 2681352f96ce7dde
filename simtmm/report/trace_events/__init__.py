"""A timeline as a file in the Trace Event format, which Perfetto and chrome://tracing open.

events   slices and counters of a timeline, as arrays
choice   what of them is written: core groups, cycles, and a sample where it is too much
text     an event as JSON: names, colours, and what a warp waits for
file     the file

Source: "Trace Event Format" (the Chromium project): JSON object format, events of phases M, X and C.
"""

from simtmm.report.trace_events.choice import ALL, Choice, groups_of
from simtmm.report.trace_events.file import MOST_BYTES, Written, write_timeline, write_timeline_of_run

__all__ = ["ALL", "MOST_BYTES", "Choice", "Written", "groups_of", "write_timeline", "write_timeline_of_run"]

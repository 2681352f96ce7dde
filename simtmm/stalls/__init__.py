"""What the ticks of warps went into, by reason and by place in the program (docs/machine.md, section 10).

reasons: what is booked and counted. places: where. tables: both. rows: what a reader takes from them. levels: what of
the machine's memory that needs.
"""

from simtmm.stalls.levels import LEVELS, Levels
from simtmm.stalls.places import (
    ATOMICS,
    CLASSES,
    FLOATING_POINT,
    LOADS,
    OF_LAUNCHES,
    STORES,
    THREAD_INSTRUCTIONS,
    THREADS,
    Place,
    Places,
    class_among,
)
from simtmm.stalls.reasons import COUNTS, PATH, QUEUES, REASONS, Count, Reason
from simtmm.stalls.rows import Row, Rows, with_bandwidth
from simtmm.stalls.tables import ADDED, KINDS, LAUNCH_COUNTS, SUMMED, Stalls, launch_counts, launches_of

__all__ = [
    "ADDED",
    "ATOMICS",
    "CLASSES",
    "COUNTS",
    "FLOATING_POINT",
    "KINDS",
    "LAUNCH_COUNTS",
    "LEVELS",
    "LOADS",
    "OF_LAUNCHES",
    "PATH",
    "QUEUES",
    "REASONS",
    "STORES",
    "SUMMED",
    "THREADS",
    "THREAD_INSTRUCTIONS",
    "Count",
    "Levels",
    "Place",
    "Places",
    "Reason",
    "Row",
    "Rows",
    "Stalls",
    "class_among",
    "launch_counts",
    "launches_of",
    "with_bandwidth",
]

"""Workloads: what the engines run.

operations   kinds of operations, by number
held         Workload: launches of blocks of warps of operations, in flat arrays; its JSON form
tally        what the operations of each launch add up to
"""

from simtmm.workload.held import Workload, WorkloadBuilder, load_workload
from simtmm.workload.operations import (
    ASYNC,
    ATOMIC,
    BARRIER,
    COMPUTE,
    DIGESTED,
    GRID_BARRIER,
    JOIN,
    LARGEST,
    LISTED,
    LOAD,
    MOST_PASSES,
    MOST_SECTOR_BYTES,
    MOST_SECTORS,
    MOST_UNSETTLED,
    OF_CLASS,
    OPERATION_PLACES,
    OPERATIONS,
    PASSES_SHIFT,
    PAUSE,
    REDUCE,
    SECTOR_BITS,
    SETTLE,
    SHARED,
    STORE,
    SYNC,
)
from simtmm.workload.tally import Tally, Tallying

__all__ = [
    "ASYNC",
    "ATOMIC",
    "BARRIER",
    "COMPUTE",
    "DIGESTED",
    "GRID_BARRIER",
    "JOIN",
    "LARGEST",
    "LISTED",
    "LOAD",
    "MOST_PASSES",
    "MOST_SECTORS",
    "MOST_SECTOR_BYTES",
    "MOST_UNSETTLED",
    "OF_CLASS",
    "OPERATIONS",
    "OPERATION_PLACES",
    "PASSES_SHIFT",
    "PAUSE",
    "REDUCE",
    "SECTOR_BITS",
    "SETTLE",
    "SHARED",
    "STORE",
    "SYNC",
    "Tally",
    "Tallying",
    "Workload",
    "WorkloadBuilder",
    "load_workload",
]

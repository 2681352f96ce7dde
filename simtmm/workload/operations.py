"""The operations of warps by number, and how large their amounts may be."""

import numpy as np

from simtmm.stalls import CLASSES, Place, Places

# From LOAD to COPY they list chunks; from JOIN on control
(
    COMPUTE, SHARED, LOAD, ASYNC, STORE, ATOMIC, REDUCE, COPY, JOIN, BARRIER, PAUSE, SYNC, SETTLE, GRID_BARRIER,
    MBARRIER, PRODUCT, FINISH, STORE_GROUP, DRAIN, REMOTE, GIVE_REGISTERS, TAKE_REGISTERS,
) = range(22)  # fmt: skip
OPERATIONS = (
    "compute", "shared", "load", "async", "store", "atomic", "reduce", "copy", "join", "barrier", "pause", "sync",
    "settle", "grid_barrier", "mbarrier", "product", "finish", "store_group", "drain", "remote",
    "give_registers", "take_registers",
)  # fmt: skip
OF_CLASS = len(OPERATIONS)
"""The number of a compute of the first of CLASSES; those of the others follow it."""
DIGESTED = np.array(
    [0, 1, 2, 3, 4, 5, 9, 20, 6, 7, 8, 10, 17, 19, 21, 22, 23, 24, 25, 26, 27, 28, *range(11, 17), 18], np.uint8
)
"""What a workload's digest has for each: the numbers in which they came, so that older workloads keep theirs."""

LARGEST = 2**63 - 1

# Of the amount of what lists chunks: how many, and above that the passes that it takes the banks of a pipe, less one.
# Of a shared likewise its passes, and how many it would take without conflicts, less one.
PASSES_SHIFT = 32
LISTED = (1 << PASSES_SHIFT) - 1
MOST_PASSES = 1 << 16
# Of a chunk that an operation lists: the bytes that it accesses of each sector, so many bits for each, the first
# lowest; 0 for all of all.
SECTOR_BITS = 8
MOST_SECTORS = 4
MOST_SECTOR_BYTES = (1 << SECTOR_BITS) - 1
MOST_UNSETTLED = 31
"""The latest shared accesses of a warp that a settle may leave out."""

# Of the amount of an mbarrier: what is done, whether another block of the cluster does it, the barrier's number in its
# block, and a count: of arrivals, bytes or warps, or the parity that is waited for.
MBARRIER_ACTIONS = (
    "init", "arrive", "expect", "complete", "wait", "meet", "arrive-copied", "complete-sent", "complete-multicast",
)  # fmt: skip
INIT, ARRIVE, EXPECT, COMPLETE, AWAIT, MEET, ARRIVE_COPIED, COMPLETE_SENT, COMPLETE_MULTICAST = range(
    len(MBARRIER_ACTIONS)
)
ACTION_SHIFT, REMOTE_SHIFT, NUMBER_SHIFT = 58, 57, 32
MOST_MBARRIER_NUMBER, MOST_MBARRIER_COUNT = (1 << 25) - 1, (1 << 32) - 1
# Of the amount of a product: its steps, and above them the passes that its factors take the banks of shared memory.
STEPS_SHIFT = 32
MOST_STEPS = 1 << 16
MOST_UNFINISHED = 63
"""The latest products of a warp that a finish may leave out."""
MOST_UNDRAINED = 7
"""The latest groups of stores of a warp that a drain may leave out."""
MOST_REGISTERS = 255
"""Of a thread that a warp may give or take at once."""

OPERATION_PLACES = Places(tuple(Place(name) for name in (*OPERATIONS, *(f"compute {name}" for name in CLASSES))))
"""Where operations without places come from: from themselves, by their numbers."""

"""What the checks remember of a launch while they go through its log, as arrays for the loops of analysis.py."""

from typing import Any, NamedTuple

import numpy as np

from simtmm.cuda.execution.layout import BARRIERS, LANES

# Of an instruction (Tables.events): what it is beside a load or a store; ORDERS: of one that gathers lanes of a warp,
# whether it orders their memory.
(STRONG, VOLATILE, ACQUIRES, RELEASES, OF_BLOCK, ATOMIC, VECTOR, IGNORED, COPIES,
 ORDERS) = (1 << bit for bit in range(10))  # fmt: skip

# What is remembered of a cell of memory: the last two that wrote it and three that have read it since, two words each.
FIRST_WRITE, SECOND_WRITE, FIRST_READ, SECOND_READ, THIRD_READ, CELL = 0, 2, 4, 6, 8, 10

# Kinds of findings, and the columns of a row of one.
RAW, WAR, WAW, UNWRITTEN, PARTLY_WRITTEN, LANES_MISSING, BARRIERS_DIFFER, NOT_IN_MASK = range(1, 9)
# Who races; a thread with its own copies; lanes of a warp that write one place by one execution of an instruction.
WITHIN_WARP, WITHIN_BLOCK, BETWEEN_BLOCKS, WITHIN_THREAD, AT_ONCE = 1, 2, 3, 4, 5
(COUNT, KIND, WHO, SPACE, SAME, EARLIER, LATER, BLOCK, OTHER_BLOCK, THREAD, OTHER_THREAD, ADDRESS, WIDTH,
 EARLIER_WAY, EARLIER_TRIPS, LATER_WAY, LATER_TRIPS) = range(17)  # fmt: skip
COLUMNS = 17  # SAME: of barriers that differ, whether it is one instruction; ways and trips: barrier_places.py

# Of a warp at a barrier (Tables.arrived): lanes that have arrived, those of them that wait, and those expected; of
# the first that arrived its instruction + 1, its lane, its way and its trips.
HERE, WAITING, EXPECTED, FIRST, FIRST_LANE, FIRST_WAY, FIRST_TRIPS, ARRIVAL = range(8)
ROWS = 1 << 13  # of findings; a launch that has more of them has them counted alone

PLACES = 1 << 12  # of the times of releases, by a hash of the address
RING = 8  # groups of copies of a thread whose waits are held
ALREADY, UNORDERED, PENDING_COPY = range(3)  # what a copy is to a thread
BUCKETS = 64  # likewise of what threads of a block know, each a time for each of its threads

# Numbers that change (Tables.now).
TOP = (1 << 22) - 1  # the most that an epoch or a time counts to: 22 bits of a cell's word
SLOT, WARP, NUMBER, TIME, STAMP, FREE, DROPPED, USED, LAST_ARRAY, SYNCHRONISED = range(10)

# Of a slot, which a block has while it runs (Tables.blocks).
(GENERATION, LIVING, OF_STAMP, FAR, KNOWN_TIME) = range(5)

# Of a thread in a slot (Tables.threads): its epoch; that which its warp knows; that at its last fence, for its block
# and for the device, with the generation then; the time that it knows other blocks by, and what it has read and will
# know by its next fence: a time, and a bucket + 1; how many groups of copies it has committed, and waited for.
(EPOCH, WARP_EPOCH, BLOCK_FENCE, DEVICE_FENCE, FENCE_GENERATION, KNOWN, PENDING, PENDING_BUCKET, COMMITTED, WAITED,
 OF_THREAD) = range(11)  # fmt: skip

MOST_VECTORS = 1 << 28  # elements of the knowledge of threads of each other


class Tables(NamedTuple):
    """See `tables`."""

    events: Any  # int64[instructions]: flags
    arrays: Any  # int64[arrays, 4]: address, bytes, first cell, first byte in `written` (-1: all of it is written)
    written: Any  # uint8: of bytes of arrays that nobody has written at first
    now: Any
    slot_of: Any  # int32[blocks]: + 1
    free: Any  # slots
    blocks: Any
    threads: Any
    vectors: Any  # int32[slots, threads, threads]: of each thread the epochs of others that it knows
    cells: Any  # of global memory
    shared: Any  # cells of shared memory, slot by slot
    shared_written: Any  # int32: the block's stamp, by cell
    local_written: Any  # likewise, thread by thread
    published: Any  # int32[blocks * threads]: the epochs that are known to the device
    generations: Any  # int32[blocks]: the generation before which all is
    times: Any  # int64[PLACES]
    buckets: Any  # int32[slots, BUCKETS, threads]
    bucket_stamps: Any  # int32[slots, BUCKETS]
    copies: Any  # int64[slots * threads, RING, 3]: a group that was waited for, the generation and the epoch then
    row: Any  # int32[threads]
    counts: Any  # int64[slots, barriers, 2]: threads that have arrived, and that it is for
    arrived: Any  # int64[slots, barriers, warps, ARRIVAL]
    found: Any  # int64[ROWS, COLUMNS]
    sizes: Any  # int64: see SIZES


(UNIT_BITS, THREADS, WARPS, SHARED_CELLS, LOCAL_CELLS, LOCAL_BYTES, HAS_VECTORS, RACES, READS, SYNCS, SHARED_BASE,
 COMMUNICATES, HAS_COPIES) = range(13)  # fmt: skip


def tables(  # noqa: PLR0913 - each is a size of a table
    events: Any,
    arrays: Any,
    written: Any,
    cells: int,
    *,
    blocks: int,
    threads: int,
    slots: int,
    unit_bits: int,
    shared_bytes: int,
    local_bytes: int,
    communicates: bool,
    copies: bool,
    checks: tuple[bool, bool, bool],
) -> Tables:
    """What a launch begins with. cells: of all arrays. unit_bits: the exponent of a cell's bytes. local_bytes: of a
    thread, of the kernel's own variables. copies: whether there are any by cp.async. checks: whether races, reads of
    what is not written, and barriers are looked at.
    """
    races, reads, syncs = checks
    warps = -(-threads // LANES)
    shared_cells = (shared_bytes + (1 << unit_bits) - 1) >> unit_bits
    local_cells = (local_bytes + (1 << unit_bits) - 1) >> unit_bits
    has_vectors = slots * threads * threads <= MOST_VECTORS
    sizes = np.array(
        [unit_bits, threads, warps, shared_cells, local_cells, local_bytes, has_vectors, races, reads, syncs, 0,
         communicates, copies],
        np.int64,
    )  # fmt: skip
    now = np.zeros(10, np.int64)
    now[FREE] = slots
    own = np.zeros((slots * threads, OF_THREAD), np.int64)
    own[:, EPOCH] = 1
    one = 1 if not has_vectors else slots
    return Tables(
        events, arrays, written, now, np.zeros(blocks, np.int32), np.arange(slots, dtype=np.int64)[::-1].copy(),
        np.zeros((slots, 5), np.int64), own, np.zeros((one, threads, threads) if has_vectors else (1, 1, 1), np.int32),
        np.zeros((cells if races else 0, CELL), np.int64),
        np.zeros((slots * shared_cells if races else 0, CELL), np.int64),
        np.zeros(slots * shared_cells if reads else 0, np.int32),
        np.zeros(slots * threads * local_cells if reads else 0, np.int32),
        np.zeros(blocks * threads if communicates else 0, np.int32), np.zeros(blocks if communicates else 0, np.int32),
        np.zeros(PLACES, np.int64), np.zeros((one, BUCKETS, threads), np.int32), np.zeros((one, BUCKETS), np.int32),
        np.zeros((slots * threads if copies else 1, RING, 3), np.int64),
        np.zeros(threads, np.int32), np.zeros((slots, BARRIERS, 2), np.int64),
        np.zeros((slots, BARRIERS, warps, ARRIVAL), np.int64), np.zeros((ROWS, COLUMNS), np.int64), sizes,
    )  # fmt: skip

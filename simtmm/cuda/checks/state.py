"""What the checks remember of a launch while they go through its log, as arrays for the loops of analysis.py."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.cuda.execution.layout import ALL_BARRIERS, LANES
from simtmm.native import Columns

# Of an instruction (Tables.events): what it is beside a load or a store; ORDERS: of one that gathers lanes of a warp,
# whether it orders their memory; BULK: it copies in bulk; PRODUCT: of a group of warps; IGNORED: at an mbarrier;
# TRACKS: which it tells of copies by cp.async.
(STRONG, VOLATILE, ACQUIRES, RELEASES, OF_BLOCK, ATOMIC, VECTOR, IGNORED, COPIES,
 ORDERS, BULK, PRODUCT, TRACKS) = (1 << bit for bit in range(13))  # fmt: skip

# What is remembered of a cell of memory: the last two that wrote it and three that have read it since, two words each.
FIRST_WRITE, SECOND_WRITE, FIRST_READ, SECOND_READ, THIRD_READ, CELL = 0, 2, 4, 6, 8, 10

# Kinds of findings.
RAW, WAR, WAW, UNWRITTEN, PARTLY_WRITTEN, LANES_MISSING, BARRIERS_DIFFER, NOT_IN_MASK, COUNTS_DIFFER = range(1, 10)
# Who races; a thread with its own copies; lanes of a warp that write one place by one execution of an instruction; what
# is ordered, but by no fence between the generic and the async proxy; what was begun and not waited for.
WITHIN_WARP, WITHIN_BLOCK, BETWEEN_BLOCKS, WITHIN_THREAD, AT_ONCE, UNFENCED, UNDER_WAY = range(1, 8)
Found = Columns(
    "count kind who space",
    "same",  # of barriers that differ, whether it is one instruction
    "earlier later block other_block thread other_thread address width",
    "earlier_way earlier_trips later_way later_trips",  # see barrier_places.py
)

# Of a warp at a barrier: lanes that have arrived, those of them that wait, and those expected; of the first that
# arrived its instruction + 1, its lane, its way and its trips.
Arrived = Columns("here waiting expected first first_lane first_way first_trips")
ROWS = 1 << 13  # of findings; a launch that has more of them has them counted alone

PLACES = 1 << 12  # of the times of releases, by a hash of the address
RING = 8  # groups of a thread whose waits are held, of each kind, and its fences of the async proxy
BY_CP_ASYNC, IN_BULK, OF_PRODUCTS, KINDS_OF_GROUPS = range(4)
GROUP_THREADS = 128  # that multiply together
# What copies in bulk wrote counts as written by one of so many engines, which an mbarrier has by its address.
ENGINES, ENGINE_BITS = 32, 5
MOST_OF_CLUSTER = 16  # blocks
TOP_OF_ENGINE = (1 << (22 - ENGINE_BITS)) - 1  # the most that its epochs count to
ALREADY, UNORDERED, PENDING_COPY = range(3)  # what a copy is to a thread
BUCKETS = 64  # likewise of what threads of a block know, each a time for each of its threads

TOP = (1 << 22) - 1  # the most that an epoch or a time counts to: 22 bits of a cell's word
# Numbers that change. engine: of the copy in bulk whose bytes are gone through, and one; 0 for none
Now = Columns("slot warp number time stamp free dropped used last_array synchronised engine")

# Of a slot, which a block has while it runs.
# has_fenced: whether a thread of it has, for the device. pending_time: what threads had read of before the last barrier
# of all, and not fenced.
OfSlot = Columns("generation living of_stamp far known_time pending_time has_fenced")

# Of a thread in a slot: its epoch; that which its warp knows; that at its last fence, for its block and for the device,
# with the generation then; up to which epoch fences for the device, of any thread of its warp, stand behind what it
# did, in which generation the last of them, and up to which those of earlier generations; the time that it knows other
# blocks by, and what it has read and will know by its next fence: a time, and a bucket + 1; how many groups of each
# kind it has committed, and waited for; and how often it has fenced the async proxy.
OfThread = Columns(
    "epoch warp_epoch block_fence device_fence fence_generation",
    "covered covered_generation covered_before known pending pending_bucket",
    *(f"{done}{kind or ''}" for done in ("committed", "waited") for kind in range(KINDS_OF_GROUPS)),
    "fences",
)

Sizes = Columns(
    "unit_bits threads warps shared_cells local_cells local_bytes has_vectors races reads syncs own_bytes",
    "communicates has_copies has_proxy has_peers",
)

MOST_VECTORS = 1 << 28  # elements of the knowledge of threads of each other


class Tables(NamedTuple):
    """See `tables`."""

    events: Any  # int64[instructions]: flags
    arrays: Any  # int64[arrays, 4]: address, bytes, first cell, first byte in `written` (-1: all of it is written)
    written: Any  # uint8: of bytes of arrays that nobody has written at first
    now: Annotated[Any, Now]
    slot_of: Any  # int32[blocks]: + 1
    free: Any  # slots
    blocks: Annotated[Any, OfSlot]
    threads: Annotated[Any, OfThread]
    vectors: Any  # int32[slots, threads, threads]: of each thread the epochs of others that it knows
    cells: Any  # of global memory
    shared: Any  # cells of shared memory, slot by slot
    shared_written: Any  # int32: the block's stamp, by cell
    local_written: Any  # likewise, thread by thread
    published: Any  # int32[blocks * threads]: the epochs that are known to the device
    generations: Any  # int32[blocks]: the generation before which all is
    times: Any  # int64[PLACES]
    releasers: Any  # int64[PLACES]: the block that released there and 1, or -1 if several did
    buckets: Any  # int32[slots, BUCKETS, threads]
    bucket_stamps: Any  # int32[slots, BUCKETS]
    copies: Any  # int64[slots * threads, KINDS_OF_GROUPS, RING, 5]: a group that was waited for, generation, epoch
    # then; or that an mbarrier was told of: its engine + 1 and that one's epoch
    fences: Any  # int64[slots * threads, RING, 2]: the generation and the epoch at a fence of the async proxy
    fenced: Any  # int32[slots, threads, threads]: the epochs that a thread knew at its last one
    engines: Any  # int32[slots, threads, ENGINES]: the epochs of engines that a thread knows
    engine_now: Any  # int32[slots, ENGINES, 2]: the epoch that an engine is in, and that which all threads know
    bucket_engines: Any  # int32[slots, BUCKETS, ENGINES]
    cluster: Any  # int32[blocks, MOST_OF_CLUSTER + 1]: the blocks of its cluster by rank, or -1, and its own rank
    row: Any  # int32[threads]
    counts: Any  # int64[slots, barriers, 2]: threads that have arrived, and that it is for
    arrived: Annotated[Any, Arrived]  # [slots, barriers, warps]
    found: Annotated[Any, Found]  # [ROWS]
    sizes: Annotated[Any, Sizes]


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
    own_bytes: int,
    local_bytes: int,
    communicates: bool,
    copies: bool,
    proxy: bool,
    cluster: Any,
    checks: tuple[bool, bool, bool],
) -> Tables:
    """What a launch begins with. cells: of all arrays. unit_bits: the exponent of a cell's bytes. own_bytes: of shared
    memory, those before the system's, with which cooperative groups do as they like. local_bytes: of a
    thread, of the kernel's own variables. copies: whether anything goes on while its thread does. proxy: whether the
    async proxy accesses memory. cluster: as of Tables, of no rows without clusters. checks: whether races, reads of
    what is not written, and barriers are looked at.
    """
    races, reads, syncs = checks
    warps = -(-threads // LANES)
    shared_cells = (shared_bytes + (1 << unit_bits) - 1) >> unit_bits
    local_cells = (local_bytes + (1 << unit_bits) - 1) >> unit_bits
    has_vectors = slots * threads * threads <= MOST_VECTORS
    sizes = np.array(
        [unit_bits, threads, warps, shared_cells, local_cells, local_bytes, has_vectors, races, reads, syncs, own_bytes,
         communicates, copies, proxy, len(cluster) > 0],
        np.int64,
    )  # fmt: skip
    now = np.zeros(len(Now), np.int64)
    now[Now.free] = slots
    own = np.zeros((slots * threads, len(OfThread)), np.int64)
    own[:, OfThread.epoch] = 1
    one = 1 if not has_vectors else slots
    return Tables(
        events, arrays, written, now, np.zeros(blocks, np.int32), np.arange(slots, dtype=np.int64)[::-1].copy(),
        np.zeros((slots, len(OfSlot)), np.int64), own,
        np.zeros((one, threads, threads) if has_vectors else (1, 1, 1), np.int32),
        np.zeros((cells if races else 0, CELL), np.int64),
        np.zeros((slots * shared_cells if races else 0, CELL), np.int64),
        np.zeros(slots * shared_cells if reads else 0, np.int32),
        np.zeros(slots * threads * local_cells if reads else 0, np.int32),
        np.zeros(blocks * threads if communicates else 0, np.int32), np.zeros(blocks if communicates else 0, np.int32),
        np.zeros(PLACES, np.int64), np.zeros(PLACES, np.int64),
        np.zeros((one, BUCKETS, threads), np.int32), np.zeros((one, BUCKETS), np.int32),
        np.zeros((slots * threads if copies else 1, KINDS_OF_GROUPS, RING, 5), np.int64),
        np.zeros((slots * threads if proxy else 1, RING, 2), np.int64),
        np.zeros((one, threads, threads) if has_vectors and proxy else (1, 1, 1), np.int32),
        np.zeros((slots, threads, ENGINES) if proxy else (1, 1, 1), np.int32),
        np.zeros((slots, ENGINES, 2) if proxy else (1, 1, 2), np.int32),
        np.zeros((slots, BUCKETS, ENGINES) if proxy else (1, 1, 1), np.int32),
        cluster if len(cluster) else np.zeros((1, MOST_OF_CLUSTER + 1), np.int32),
        np.zeros(threads, np.int32), np.zeros((slots, ALL_BARRIERS, 2), np.int64),
        np.zeros((slots, ALL_BARRIERS, warps, len(Arrived)), np.int64), np.zeros((ROWS, len(Found)), np.int64), sizes,
    )  # fmt: skip

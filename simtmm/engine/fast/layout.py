"""Where the state of a launch lies: flat arrays, and the columns of their rows by name.

State is kept in rows of 64-bit integers, a row for each warp (WARP_*), block (BLOCK_*), port (PORT_*) or group
(GROUP_*), so that what belongs to one warp shares its cache lines. Warps lie by group and slot, blocks by group and
place.

Flags say what kind of machine it is. The engine is compiled once for each set of flags, and what a machine does not
have is not in the machine code.
"""

from typing import Any, NamedTuple

import numpy as np

from simtmm.result import WHERE_TIME_GOES
from simtmm.stalls import PATH, REASONS
from simtmm.timeline import WarpState

NEVER = np.int64(1) << 62

# What is kept in the state is an int64 of NumPy, in Python as well.
START, TO_ISSUE, ISSUING, PIPELINE, MEMORY, IN_BARRIER, IN_PAUSE = (np.int64(state) for state in WarpState)

# Columns of rows
WARP_POSITION, WARP_END, WARP_CHUNK, WARP_AGE, WARP_READY, WARP_BLOCK, WARP_ASYNCS, WARP_COMPUTED = range(8)
WARP_NEXT, WARP_DONE = range(8, 10)
WARP_HAS_MORE, WARP_FILLED = range(
    10, 12
)  # of a warp of a stream: whether its window is to be filled; how often it was
WARP_LOADED, WARP_LOADS_END = range(12, 14)  # chunks from memory that a store is to wait for; when all are there
WARP_UNTAKEN = 14  # asyncs that no join has taken, where stores wait for what was loaded
WARP_SHARED = 15  # shared accesses so far, where they pass a pipe
WARP_MEETS = 16  # whether it waits at a grid barrier: NOWHERE, AWAITS or LEAVES
NOWHERE, AWAITS, LEAVES = (np.int64(state) for state in range(3))  # LEAVES: which has opened, and what that takes runs
WARP_COPIED, WARP_COPYING = range(17, 19)  # of copies that no mbarrier was told of: the last finish, the first start
WARP_PRODUCTS = 19  # products so far
# Of a warp that waits at an mbarrier: 1 more than twice its row and the parity, 0 if it does not; since when, and where
WARP_AWAITS, WARP_SINCE, WARP_AWAITS_PLACE = range(20, 23)
WARP_LEFT = 23  # when its stores so far have left the group
WARP_STORE_GROUPS = 24  # of its stores so far; behind it, of the latest ones, modulo their number, when they have left
WARP_GROUP_LEFT = 25
WARP_ROW = 40  # five cache lines, the first one for what is often needed
# Of a warp of a stream, the request to have its next window filled, a cache line: how far that has come; what fills,
# for the engine and for who fills beside it; the block's place there, -1 once it is under way, and the warp's number in
# the block; which of the row's windows; where it ends, and what filling gave
REQUEST_STATE, REQUEST_OWN, REQUEST_BESIDE, REQUEST_BLOCK, REQUEST_NUMBER, REQUEST_TURN = range(6)
REQUEST_END, REQUEST_GAVE = range(6, 8)
REQUEST_ROW = 8
IS_FILLED, IS_WANTED, IS_BEING_FILLED = (np.int64(state) for state in range(3))  # REQUEST_STATE
# Of the queue of rows with such requests, on a cache line each: where its first one is, and where the next one goes, as
# counts; whether nobody is to take more of it
QUEUE_FIRST, QUEUE_END, QUEUE_STOPS = 0, 8, 16
QUEUE_ROW = 24
BLOCK_LIVING, BLOCK_WAITING, BLOCK_FIRST, BLOCK_WARPS, BLOCK_SOONEST, BLOCK_NUMBER = range(6)
BLOCK_MEETS = 6  # warps that wait at a grid barrier
BLOCK_MBARRIERS = 7  # how many it has
BLOCK_ROW = 8
# Of an mbarrier; see simtmm.engine.reference.mbarriers.Mbarrier
MBARRIER_NUMBER, MBARRIER_EXPECTED, MBARRIER_PENDING, MBARRIER_BYTES, MBARRIER_PHASES, MBARRIER_OPENS = range(6)
MBARRIER_TICK, MBARRIER_BYTE, MBARRIER_BEGUN, MBARRIER_OPEN_BEGUN = range(6, 10)
MBARRIER_QUEUE, MBARRIER_QUEUE_AT, MBARRIER_OPEN_QUEUE, MBARRIER_OPEN_QUEUE_AT = range(10, 14)
MBARRIER_BY, MBARRIER_OPEN_BY = 14, 17  # three columns each, as WAITED_SINCE to WAITED_FOR
MBARRIER_ROW = 20
# Of a warp, where any is at an mbarrier: what it waited for last, at one for bytes or for products; of its copies that
# none was told of, how long the one that finishes last queues, and where; whether it has begun any
WAITED_SINCE, WAITED_UNTIL, WAITED_FOR, WAITED_QUEUE, WAITED_QUEUE_AT, WAITED_COPIES = range(6)
WAITED_ROW = 6
TOO_MANY = np.int64(-1)  # R_MBARRIER
PRODUCT_FINISH, PRODUCT_OWN, PRODUCT_PLACE = range(3)
PRODUCT_ROW = 3
AHEAD_OWN, AHEAD_BESIDE, AHEAD_PLACE = range(3)  # of a block: what fills windows, as in a request, and its place there
AHEAD_ROW = 3
PORT_RELEASE, PORT_WARP, PORT_ACCESS, PORT_COUNT, PORT_GRANTED, PORT_LAST_SLOT, PORT_LAST_AGE = range(7)
PORT_ROW = 7  # PORT_LAST_*: of the warp granted last, -1 for none
PIPE_INTERVAL, PIPE_COUNT, PIPE_FIRST = range(3)  # PIPE_FIRST: of the first of a class, among those of a group
PIPE_ROW = 3
GROUP_HELD, GROUP_LIVING, GROUP_MEMORY, GROUP_BARRIER, GROUP_ACCOUNTED, GROUP_BLOCKS, GROUP_WARPS = range(7)
GROUP_LAUNCH_FREE, GROUP_GRANTED_SLOT, GROUP_GRANTED_AGE, GROUP_READY, GROUP_FINISHED, GROUP_STORE_FREE = range(7, 13)
GROUP_MEMORY_HEAD, GROUP_MEMORY_TAIL, GROUP_OTHER_HEAD, GROUP_OTHER_TAIL, GROUP_QUEUE_HEAD, GROUP_QUEUE_TAIL = (
    np.int64(column) for column in range(13, 19)
)
GROUP_PARKED, GROUP_LAST, GROUP_EMPTY_BLOCKS, GROUP_BLOCK_FREE, GROUP_TRANSLATED = range(19, 24)
GROUP_TIME = 24  # and those behind it: the ticks of each state in WHERE_TIME_GOES
TIME_ISSUING, TIME_MEMORY, TIME_BARRIER, TIME_START, TIME_EMPTY = (
    GROUP_TIME + WHERE_TIME_GOES.index(state) for state in ("issuing", "memory", "barrier", "start", "empty")
)
GROUP_ISSUED, GROUP_TRANSACTIONS, GROUP_L1_HITS, GROUP_L2_HITS, GROUP_PORT_BUSY, GROUP_DONE_WARPS = range(29, 35)
GROUP_LANE = 35  # that goes on with the group, or did last
GROUP_L1_STORES = 36
GROUP_FETCH_FREE = 37
# The stages of the pipe of L1 and shared memory, and those of shared memory's own
GROUP_ENTRY_FREE, GROUP_TAGS_FREE, GROUP_BANKS_FREE, GROUP_SHARED_ENTRY, GROUP_SHARED_BANKS = range(38, 43)
GROUP_FILL_FREE, GROUP_MISSES = range(43, 45)  # of what its L1 lacks: when the next one may come, and how many so far
GROUP_L2_SECTORS, GROUP_MEMORY_SECTORS = range(45, 47)
GROUP_COPY_FREE = 47  # of copies in bulk
GROUP_DRAIN_FREE = 48  # of stores that go out
GROUP_ROW = 49
TIMES = len(WHERE_TIME_GOES)
# What is kept to look for a recurrence: when that was, how many steps are left to find it of how many; from KEPT on the
# group's row, its sleepers, its ports (five numbers each), its pipes, its sleepers (two) and its ready warps.
KEPT_TICK, KEPT_STEPS, KEPT_PATIENCE = range(3)
KEPT = 3
KEPT_OF_PORT = 5
WATCH_NUMBER, WATCH_STATE, WATCH_SINCE, WATCH_PLACE, WATCH_REASON = range(5)
WATCH_ROLES = 5  # bits: it has begun a copy in bulk, and a product
WATCH_ROW = 6
INTERVAL_WARP, INTERVAL_GROUP, INTERVAL_SLOT, INTERVAL_STATE, INTERVAL_BEGIN, INTERVAL_END = range(6)
INTERVAL_PLACE, INTERVAL_REASON = range(6, 8)
INTERVAL_ROW = 8
UNIT_NUMBER, UNIT_GROUP, UNIT_BEGIN, UNIT_END, UNIT_COUNT = range(5)  # see simtmm.timeline.Units
UNIT_ROW = 5
# Columns of what is booked: reasons, and behind them counts; instructions follow from the ticks of issuing
BOOKED_REQUESTS, BOOKED_CHUNKS, BOOKED_L1_HITS, BOOKED_L2_HITS, BOOKED_L1_STORES, BOOKED_CONFLICTS = range(
    len(REASONS), len(REASONS) + 6
)
BOOKED_L2_SECTORS, BOOKED_MEMORY_SECTORS = range(len(REASONS) + 6, len(REASONS) + 8)
BOOKED_ROW = len(REASONS) + 8
PATH_ROW = len(PATH)  # ticks of an access by reason, in their order, from PORT_QUEUE on
PATH_PLACE = PATH_ROW  # of an async: the place of the access, behind its path
ASYNC_ROW = PATH_ROW + 1
STORED_FINISH = ASYNC_ROW  # of a warp's stores: the latest finish, behind that one's path and place
STORED_ROW = ASYNC_ROW + 1
WAITING_CHUNK, WAITING_SECTORS, WAITING_BEGIN = range(3)  # of a line whose store waits for its slice
WAITING_ROW = 3
SHARED_SETTLED, SHARED_CONFLICTS, SHARED_OWN, SHARED_PLACE = range(4)  # of a shared access
SHARED_ROW = 4
TURNING, OPENING = range(2)  # of `told`
LINE_CHUNK, LINE_FILL = range(2)  # of an open row of a partition: its number, and nothing
LINE_ROW = 2
# LINE_FILL of a cache: whether what lies below lacks the chunk, and above that bit the fill time. Of a chunk that has
# just been put in with none of its sectors EMPTY; of one whose sectors differ FIRST_APART less twice its row among
# those that have a column for the fill time of each sector, -1 where it is not there, and behind them the bytes of
# each that were stored and that what lies below lacks, packed as a workload has what is accessed of a chunk. ABSENT:
# of no line.
WRITTEN, FILL_SHIFT = 1, 1
ABSENT, EMPTY, FIRST_APART = np.int64(-1), np.int64(-2), np.int64(-8)

# Of a group where a user's rule schedules: whether something happened since it was asked; the tick at which it wants to
# be asked again; how often in a row it held back; when it was asked last; how many warps live; and from ASKED_LAST on
# the rows of `seen` of the warps granted last, by port, and behind these what the ports' warps issued since
ASKED_STIRRED, ASKED_UNTIL, ASKED_HOLDS, ASKED_SINCE, ASKED_LIVING, ASKED_LAST = range(6)

NEXT, TOUCHED, LISTED = (np.int64(row) for row in range(3))  # rows of the clock
LISTED_AT_ONCE = 64  # groups that are looked at at once; the clock has room for a multiple of them
LANE = 2  # touched by this and a lane's number: that lane goes on with the group

# Rings and sets of bits of a group
MEMORY_TICKS, MEMORY_SLOTS, OTHER_TICKS, OTHER_SLOTS, QUEUED, FINISHED = (np.int64(ring) for ring in range(6))
RINGS = 6
READY_SLOTS, FREE_SLOTS, FREE_BLOCKS = (np.int64(bits) for bits in range(3))
BIT_SETS = 3

# Parameters, in ticks and counts
(
    P_GROUPS, P_PORTS, P_SLOTS, P_RING, P_BLOCKS, P_ISSUE, P_DEPTH, P_BLOCK_LAUNCH, P_WARP_LAUNCH, P_LATENCY,
    P_PORT_INTERVAL, P_SERVICE, P_ATOMIC_SERVICE, P_PARTITIONS, P_HASHED, P_BLOCKING, P_OUTSTANDING, P_L1_SETS,
    P_L1_WAYS, P_L1_LATENCY, P_L2_SETS, P_L2_WAYS, P_L2_LATENCY, P_SERIAL, P_ROOM, P_MOST_BLOCKS, P_PARTITIONED,
    P_SCHEDULER, P_BREAKDOWN, P_TIMELINE, P_LANES, P_WIDE, P_FIRST_BLOCK, P_STORE_LATENCY, P_TURNAROUND, P_DROPS,
    P_ROW_CHUNKS, P_OPEN_ROWS, P_ROW_OPENING, P_PORT_CHUNKS, P_L2_SERVICE, P_WRITES_BACK,
    P_CYCLE, P_JUMPS, P_STREAMED, P_BLOCK_WARPS, P_FIRST_WARP, P_BLOCK_INTERVAL, P_BLOCK_BURST,
    P_GRID_BARRIER, P_GRID_BARRIER_BLOCK,
    P_FIRST_ACCESS, P_WATCH, P_BOOKS, P_PLACED, P_NOWHERE, P_STORES_APART, P_STORE_INTERVAL, P_MEMORY_PORTS,
    P_BEGUN, P_LOCAL_BACK, P_FIRST_LOCAL, P_RETURN_INTERVAL, P_FETCH_INTERVAL, P_ATOMICS_HERE, P_ATOMIC_LATENCY,
    P_SLICED, P_AT_END, P_TLB_ENTRIES, P_TLB_PAGE, P_TLB_MISS, P_PIPES, P_OWN_PORTS,
    P_STORE_BUFFER, P_RETURN_DELAY, P_RETURNS, P_YIELD, P_PIPED, P_ACCESS_INTERVAL, P_TAG_INTERVAL, P_PASS_INTERVAL,
    P_SHARED_PASS, P_SHARED_LATENCY, P_SHARED_APART, P_FILL_INTERVAL, P_MOST_MISSES, P_L1_SKEWED,
    P_L2_STORE_SERVICE, P_VICTIMS_WAITED, P_L2_RANDOM, P_SECTORS, P_SECTOR_BYTES, P_FETCH_SECTORS, P_READS_PARTS,
    P_L2_REQUEST, P_L2_STORE_REQUEST, P_MBARRIER_LATENCY, P_CLUSTER_LATENCY, P_PRODUCT_STEP, P_PRODUCT_LATENCY,
    P_PRODUCT_PIPES, P_ORDERED, P_TURNS, P_OWN_RULE, P_WAITING_STORES,
    P_COPY_INTERVAL, P_DRAIN_INTERVAL, P_DRAIN_LATENCY, P_LAST,
) = range(109)  # fmt: skip
# and what a call leaves for the next
R_PENDING, R_LAST_BLOCK, R_AGE, R_ANY_FINISHED, R_TICK, R_STARTED, R_INTERVALS = range(P_LAST, P_LAST + 7)
# of streams: the blocks that are there, from the first of `ahead` up to the last, that one left out; whether a dispatch
# waits for more of them; whether a row could not be filled; whether `finishes` needs more room
R_AHEAD, R_LOADED, R_HUNGRY, R_REFUSED, R_FULL = range(R_INTERVALS + 1, R_INTERVALS + 6)
# of a grid barrier: blocks that wait at it; whether it may open now
R_MEET, R_MAY_OPEN = range(R_FULL + 1, R_FULL + 3)
# what is wrong with the use of an mbarrier: TOO_MANY, or 1 more than the number of one that nobody initialised
R_MBARRIER = R_MAY_OPEN + 1
R_UNITS = R_MBARRIER + 1  # rows of `units`
PARAMETERS = R_UNITS + 1

FIFO, OLDEST, GREEDY_OLDEST, ROUND_ROBIN = range(4)  # P_SCHEDULER

# Flags
NO, YES = 1, 2  # coupled: groups keep one clock; memory: a transfer may take anything but L
ON_STALL, EVERY_INSTRUCTION = 1, 2  # switch
# order: ready warps in a queue (fifo), as bits (the other schedulers), or in a queue of which a user's rule chooses
QUEUE, BITS, OWN = 1, 2, 3

READY, SLEEPS, AT_BARRIER, IS_DONE = (np.int64(outcome) for outcome in range(4))  # what comes of advancing
GO_ON, OVER, WIDE = range(3)  # what `run` returns: call again; all is done; call for each lane, then again


class State(NamedTuple):
    """All of a launch, as the loops take it."""

    parameters: Any  # int64: P_* and R_*
    kind: Any  # the workload's, as are the next six; of a stream the windows', and the last three are empty
    amount: Any
    chunks: Any
    sectors: Any
    warp_operations: Any
    warp_chunks: Any
    block_warps: Any
    warp: Any  # int64[groups * slots, WARP_*]
    block: Any  # int64[groups * places, BLOCK_*]
    port: Any  # int64[groups * ports, PORT_*]
    group: Any  # int64[groups, GROUP_*]
    shortest: Any  # int64[blocks]: ticks that a block takes at least; only where groups run in lanes
    begun: Any  # int64[blocks]: the tick at which each was placed, where that is asked for
    clock: Any  # int64[NEXT..., groups, filled up]: when something happens next, whether to issue now; some of them
    rings: Any  # int64[groups, MEMORY_TICKS..., ring]: sorted wake-ups from memory (ticks and slots), the other
    # wake-ups (pipeline, beginning, pause), ready warps in fifo's order, finished blocks that wait for a dispatch
    bits: Any  # uint64[groups, READY_SLOTS..., words]: slots of ready warps, free slots, free places
    in_flight: Any  # int64[groups * slots, outstanding]: finishes of asyncs, where their number is limited
    finishes: Any  # int64[groups * slots, room]: the latest finish of a warp's first n asyncs, at n - 1 modulo the room
    ask: Any  # int64[ASK], of simtmm/trace/warps/blocks.py: the request to the loop that fills windows
    request: Any  # int64[groups * slots, REQUEST_*]
    queue: Any  # int64[room]: rows of requests, at their counts modulo the room; an element where nobody fills beside
    queue_ends: Any  # int64[QUEUE_*]
    ahead: Any  # int64[blocks, AHEAD_*]: of a stream's blocks that come next
    unsettled: Any  # int64[groups * slots, latest shared accesses, SHARED_*]: where they pass a pipe
    mbarriers: Any  # int64[groups * places, most, MBARRIER_*]
    waited: Any  # int64[groups * slots, WAITED_*]
    products: Any  # int64[groups * slots, latest products, PRODUCT_*]
    product_free: Any  # int64[groups * pipes that multiply matrices]
    arrivals: Any  # int64[groups, misses at most]: when the latest chunks that loads lacked are there, in turn
    port_free: Any  # int64[groups * memory ports]
    partition_free: Any  # int64[partitions]
    partition_writes: Any  # int64[partitions]: whether the last chunk was written, where turning round takes time
    partition_updates: Any  # int64[partitions]: whether the last chunk that took any time was an atomic's
    rows: Any  # int64[partitions, open, LINE_*]: numbers of the open rows, latest used first
    tlb: Any  # int64[groups, entries, LINE_*]: pages, latest used first; LINE_FILL: from when on they are there
    l1: Any  # int64[groups * sets, ways, LINE_*]: latest used first; LINE_FILL holds WRITTEN as well
    l2: Any  # int64[sets, ways, LINE_*]: likewise
    l1_sectors: Any  # int64[groups * sets, ways, sectors + 1]: of lines whose sectors differ, see FIRST_APART
    l2_sectors: Any  # int64[sets, ways, sectors + 1]: likewise
    l2_touched: Any  # uint64[words]: bits of the sets of the L2 that may have changed in this launch
    slice_free: Any  # int64[partitions], of the L2
    slice_updates: Any  # int64[partitions]: whether the last chunk that took any time was an atomic's
    waiting: Any  # int64[groups, lines, WAITING_*]: of lines that a group stores to
    pipes: Any  # int64[classes, PIPE_*]
    pipe_free: Any  # int64[groups * pipes]
    queued: Any  # int64[groups * slots]: ticks that a warp has waited for pipes, where long computes are jumped over
    watch: Any  # int64[groups * slots, WATCH_*], for the timeline
    intervals: Any  # int64[room, INTERVAL_*]: the timeline's, as they end
    unit: Any  # int64[groups, 1 + pipes of products, UNIT_*]: the row of each unit that goes on
    units: Any  # int64[room, UNIT_*]: those that are over
    traffic: Any  # int64[stretches + 1, TRAFFIC]: chunks over time, and how they are counted (attribution/traffic.py)
    place: Any  # int32[operations], where they come from; an element where operations are places themselves
    booked: Any  # int64[lanes, places + 1, BOOKED_*]: where warps' ticks go; a small one where nobody asks
    path: Any  # int64[groups, PATH_ROW]: of the latest access of a group
    paths: Any  # int64[groups * slots, room, ASYNC_ROW]: of the async whose end `finishes` has
    stored: Any  # int64[groups * slots, STORED_ROW]: of a warp's store that finishes last, where its end waits for it
    told: Any  # int64[2]: of the latest chunk's way: its partition turned round; opened a row
    kept: Any  # int64[groups, KEPT...]: a state of each group that may recur, where long computes are jumped over
    kept_warp: Any  # int64[groups * slots, 4]: likewise each warp's position, its instructions of a compute, how often
    # its window was filled, and its row of `queued`
    smallest: Any  # int64[blocks]: likewise the fewest warps of a block from this one on
    seen: Any  # int64[groups * slots + groups * ports, SEEN_ROW]: what a user's rule sees of warps; behind those that
    # live the last one that a port was granted to, where another warp has its slot by now
    living: Any  # int64[groups, slots]: rows of `seen` of living warps, the oldest first
    asked: Any  # int64[groups, ASKED_LAST and two for each port]: of each group what a user's rule is asked for
    asking: Any  # int64[ASKING_ROW]: what a user's rule is asked, see simtmm/engine/own_rule/columns.py
    ready: Any  # int64[slots]: likewise, rows of `seen` of those that may be granted

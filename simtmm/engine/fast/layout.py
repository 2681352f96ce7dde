"""Where the state of a launch lies: flat arrays, and the columns of their rows by name.

State is kept in rows of 64-bit integers, a row for each warp (Warp), block (Block), port (Port) or group (Group), so
that what belongs to one warp shares its cache lines. Warps lie by group and slot, blocks by group and place. State says
which array has which columns: `s.warp[w].ready` is a number of a warp's.

Flags say what kind of machine it is. The engine is compiled once for each set of flags, and what a machine does not
have is not in the machine code.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.engine.own_rule.columns import Asking, Seen
from simtmm.native.columns import Columns
from simtmm.result import WHERE_TIME_GOES
from simtmm.stalls import PATH, REASONS
from simtmm.timeline import WarpState
from simtmm.trace.warps.blocks import Ask

NEVER = np.int64(1) << 62

# What is kept in the state is an int64 of NumPy, in Python as well.
START, TO_ISSUE, ISSUING, PIPELINE, MEMORY, IN_BARRIER, IN_PAUSE = (np.int64(state) for state in WarpState)

# Columns of rows
Warp = Columns(
    "position end chunk age ready block asyncs computed next done",
    "has_more filled",  # of a warp of a stream: whether its window is to be filled; how often it was
    "loaded loads_end",  # chunks from memory that a store is to wait for; when all are there
    "untaken",  # asyncs that no join has taken, where stores wait for what was loaded
    "shared",  # shared accesses so far, where they pass a pipe
    "meets",  # whether it waits at a grid barrier: NOWHERE, AWAITS or LEAVES
    "copied copying",  # of copies that no mbarrier was told of: the last finish, the first start
    "products",  # so far
    # of a warp that waits at an mbarrier: 1 more than twice its row and the parity, 0 if it does not; since when, where
    "awaits since awaits_place",
    "wants",  # registers of a thread that it sleeps for, 0 if it does not; since when, where: as at an mbarrier
    "left",  # when its stores so far have left the group
    "store_groups",  # of its stores so far
    "group_left",  # and those behind it: of the latest groups, modulo their number, when they have left
    room=40,  # five cache lines, the first one for what is often needed
)
NOWHERE, AWAITS, LEAVES = (np.int64(state) for state in range(3))  # LEAVES: which has opened, and what that takes runs
# Of a warp of a stream, the request to have its next window filled, a cache line: how far that has come; what fills,
# for the engine and for who fills beside it; the block's place there, -1 once it is under way, and the warp's number in
# the block; which of the row's windows; where it ends, and what filling gave
Request = Columns("state own beside block number turn end gave")
IS_FILLED, IS_WANTED, IS_BEING_FILLED = (np.int64(state) for state in range(3))  # Request.state
# Of the queue of rows with such requests, on a cache line each: where its first one is, and where the next one goes, as
# counts; whether nobody is to take more of it
QUEUE_FIRST, QUEUE_END, QUEUE_STOPS = 0, 8, 16
QUEUE_ROW = 24
Block = Columns(
    "living waiting first warps soonest number",
    "meets",  # warps that wait at a grid barrier
    "mbarriers",  # how many it has
)
# See simtmm.engine.reference.mbarriers.Mbarrier; by_* and open_by_*: of what the warp that arrived last had waited for
Mbarrier = Columns(
    "number expected pending bytes phases opens tick byte begun open_begun queue queue_at open_queue open_queue_at",
    "by_since by_until by_reason open_by_since open_by_until open_by_reason",
)
# Of a warp, where any is at an mbarrier: what it waited for last, at one for bytes or for products; of its copies that
# none was told of, how long the one that finishes last queues, and where; whether it has begun any
Waited = Columns("since until reason queue queue_at copies")
TOO_MANY = np.int64(-1)  # Parameters.mbarrier
Product = Columns("finish own place")
Ahead = Columns("own beside place")  # of a block: what fills windows, as in a request, and its place there
Port = Columns("release warp access count granted last_slot last_age")  # last_*: granted last, -1 for none
Pipe = Columns("interval count first")  # first: of the first of a class, among those of a group
Group = Columns(
    "held living memory barrier accounted blocks warps",
    "launch_free granted_slot granted_age ready finished store_free",
    "memory_head memory_tail other_head other_tail queue_head queue_tail",
    "parked last empty_blocks block_free translated",
    *(f"time_{state}" for state in WHERE_TIME_GOES),  # ticks in each state
    "issued transactions l1_hits l2_hits port_busy done_warps",
    "lane",  # that goes on with the group, or did last
    "l1_stores fetch_free",
    # the stages of the pipe of L1 and shared memory, and those of shared memory's own
    "entry_free tags_free banks_free shared_entry shared_banks",
    "fill_free misses",  # of what its L1 lacks: when the next one may come, and how many so far
    "l2_sectors memory_sectors last_level_hits last_level_sectors shared_l1_hits shared_l1_sectors",
    "copy_free",  # of copies in bulk
    "drain_free",  # of stores that go out
    "remote_free",  # of accesses to other groups' shared memory
)
GROUP_TIME = int(getattr(Group, f"time_{WHERE_TIME_GOES[0]}"))
TIMES = len(WHERE_TIME_GOES)
# What is kept to look for a recurrence: when that was, how many steps are left to find it of how many; from KEPT on the
# group's row, its sleepers, its ports (five numbers each), its pipes, its sleepers (two) and its ready warps.
KEPT = 3
Kept = Columns("tick steps patience", room=KEPT + len(Group))
KeptWarp = Columns(
    "position",
    "computed",  # instructions of a compute
    "filled",  # how often its window was
    "queued",  # its row of `queued`
)
KEPT_OF_PORT = 5
# roles: bits: it has begun a copy in bulk, and a product
Watch = Columns("number state since place reason roles")
Interval = Columns("warp group slot state begin end place reason")
Unit = Columns("number group begin end count")  # see simtmm.timeline.Units
# What is booked: reasons by number, and behind them counts; instructions follow from the ticks of issuing
Booked = Columns(
    *(f"reason_{number}" for number in range(len(REASONS))),
    "requests chunks l1_hits l2_hits l1_stores conflicts l2_sectors memory_sectors last_level_hits last_level_sectors",
    "shared_l1_hits shared_l1_sectors",
)
PATH_ROW = len(PATH)  # ticks of an access by reason, in their order, from PORT_QUEUE on
Path = Columns(
    "port_queue shared_l1_queue l2_queue last_level_queue memory_queue atomics_queue turnaround rows",
    "l1_latency shared_l1_latency l2_latency last_level_latency memory_latency line_in_flight first_access",
    "place",  # of an async, and of a store: of the access
    "finish",  # of a warp's stores: the latest, whose path and place stand before it
)
ASYNC_ROW = PATH_ROW + 1
STORED_ROW = ASYNC_ROW + 1
Waiting = Columns("chunk sectors begin")  # of a line whose store waits for its slice
Shared = Columns("settled conflicts own place")  # of a shared access
TURNING, OPENING, SLICED, CROWDED, ENDED, LACKING, HIT, CROSSING, FARTHER, COME = range(10)  # of `told`
# Of an open row of a partition its number, and nothing; of a line of a cache its chunk, and with `fill` whether what
# lies below lacks the chunk, and above that bit the fill time. Of a chunk that has just been put in with none of its
# sectors EMPTY; of one whose sectors differ FIRST_APART less twice its row among those that have a column for the fill
# time of each sector, -1 where it is not there, and behind them the bytes of each that were stored and that what lies
# below lacks, packed as a workload has what is accessed of a chunk; LAST_APART is below all of these. JOINT: of a line
# with only some of its sectors, all filled at the same time or in the past, and not WRITTEN; added to it that time from
# JOINT_SHIFT on, LATEST_JOINT at most, and below the bits of the sectors. ABSENT: of no line.
Line = Columns("chunk fill")
WRITTEN, FILL_SHIFT = 1, 1
ABSENT, EMPTY, FIRST_APART = np.int64(-1), np.int64(-2), np.int64(-8)
LAST_APART, JOINT = np.int64(-1 << 40), np.int64(-1 << 62)
JOINT_SECTORS, JOINT_SHIFT, LATEST_JOINT = np.int64((1 << 16) - 1), 17, np.int64((1 << 44) - 1)

# Of a group where a user's rule schedules: whether something happened since it was asked; the tick at which it wants to
# be asked again; how often in a row it held back; when it was asked last; how many warps live; and from `last` on
# the rows of `seen` of the warps granted last, by port, and behind these what the ports' warps issued since
Asked = Columns("stirred until holds since living last")

NEXT, TOUCHED, LISTED = (np.int64(row) for row in range(3))  # rows of the clock
LISTED_AT_ONCE = 64  # groups that are looked at at once; the clock has room for a multiple of them
LANE = 2  # touched by this and a lane's number: that lane goes on with the group

# Rings and sets of bits of a group
MEMORY_TICKS, MEMORY_SLOTS, OTHER_TICKS, OTHER_SLOTS, QUEUED, FINISHED = (np.int64(ring) for ring in range(6))
RINGS = 6
READY_SLOTS, FREE_SLOTS, FREE_BLOCKS = (np.int64(bits) for bits in range(3))
BIT_SETS = 3

Parameters = Columns(
    # in ticks and counts
    "groups ports slots ring blocks issue depth block_launch warp_launch latency port_interval service",
    "atomic_service partitions hashed blocking outstanding l1_sets l1_ways l1_latency l2_sets l2_ways l2_latency",
    "serial room most_blocks partitioned scheduler breakdown timeline lanes wide first_block store_latency",
    "turnaround drops row_chunks open_rows row_opening port_chunks l2_service writes_back cycle jumps streamed",
    "block_warps first_warp block_interval block_burst grid_barrier grid_barrier_block first_access watch books",
    "placed nowhere stores_apart store_interval memory_ports begun local_back first_local return_interval",
    "fetch_interval atomics_here atomic_latency sliced at_end tlb_entries tlb_page tlb_miss pipes own_ports",
    "store_buffer return_delay returns yields piped access_interval tag_interval pass_interval shared_pass",
    "shared_latency shared_apart fill_interval most_misses l1_skewed l2_store_service victims_waited l2_random",
    "sectors sector_bytes fetch_sectors reads_parts l2_request l2_store_request mbarrier_latency cluster_latency",
    "product_step product_latency product_pipes ordered turns own_rule waiting_stores copy_interval",
    "drain_interval drain_latency remote_interval pass_bytes l2_hashed",
    "pools",  # whether warps give registers back
    "last_level_sets last_level_ways last_level_latency last_level_service last_level_hashed last_level_random",
    "l2_dies l2_halves far_latency far_service write_service",
    "shared_l1s shared_l1_sets shared_l1_ways shared_l1_latency shared_l1_service",
    "cluster",  # blocks in a row that are placed together, 0 where each is placed by itself
    # and what a call leaves for the next
    "pending last_block age any_finished tick started intervals",
    # of streams: the blocks that are there, from the first of `ahead` up to the last, that one left out; whether a
    # dispatch waits for more of them; whether a row could not be filled; whether `finishes` needs more room
    "ahead loaded hungry refused full",
    "meet may_open",  # of a grid barrier: blocks that wait at it; whether it may open now
    # what is wrong with the use of an mbarrier: TOO_MANY, or 1 more than the number of one that nobody initialised
    "mbarrier",
    "units",  # rows of `units`
    "home",  # of the cluster that is being placed: the neighbourhood
)

ROTATED = 2  # Parameters.hashed: chunks lie in partitions in turn, from where a hash says; 1: as their hash says
FIFO, OLDEST, GREEDY_OLDEST, ROUND_ROBIN = range(4)  # Parameters.scheduler

# Flags
NO, YES = 1, 2  # coupled: groups keep one clock; memory: a transfer may take anything but L
ON_STALL, EVERY_INSTRUCTION = 1, 2  # switch
# order: ready warps in a queue (fifo), as bits (the other schedulers), or in a queue of which a user's rule chooses
QUEUE, BITS, OWN = 1, 2, 3

READY, SLEEPS, AT_BARRIER, IS_DONE = (np.int64(outcome) for outcome in range(4))  # what comes of advancing
GO_ON, OVER, WIDE = range(3)  # what `run` returns: call again; all is done; call for each lane, then again


class State(NamedTuple):
    """All of a launch, as the loops take it."""

    parameters: Annotated[Any, Parameters]
    kind: Any  # the workload's, as are the next six; of a stream the windows', and the last three are empty
    amount: Any
    chunks: Any
    sectors: Any
    warp_operations: Any
    warp_chunks: Any
    block_warps: Any
    warp: Annotated[Any, Warp]  # [groups * slots]
    block: Annotated[Any, Block]  # [groups * places]
    port: Annotated[Any, Port]  # [groups * ports]
    group: Annotated[Any, Group]  # [groups]
    shortest: Any  # int64[blocks]: ticks that a block takes at least; only where groups run in lanes
    begun: Any  # int64[blocks]: the tick at which each was placed, where that is asked for
    clock: Any  # int64[NEXT..., groups, filled up]: when something happens next, whether to issue now; some of them
    rings: Any  # int64[groups, MEMORY_TICKS..., ring]: sorted wake-ups from memory (ticks and slots), the other
    # wake-ups (pipeline, beginning, pause), ready warps in fifo's order, finished blocks that wait for a dispatch
    bits: Any  # uint64[groups, READY_SLOTS..., words]: slots of ready warps, free slots, free places
    in_flight: Any  # int64[groups * slots, outstanding]: finishes of asyncs, where their number is limited
    finishes: Any  # int64[groups * slots, room]: the latest finish of a warp's first n asyncs, at n - 1 modulo the room
    ask: Annotated[Any, Ask]  # the request to the loop that fills windows
    request: Annotated[Any, Request]  # [groups * slots]
    queue: Any  # int64[room]: rows of requests, at their counts modulo the room; an element where nobody fills beside
    queue_ends: Any  # int64[QUEUE_*]
    ahead: Annotated[Any, Ahead]  # [blocks]: of a stream's blocks that come next
    unsettled: Annotated[Any, Shared]  # [groups * slots, latest shared accesses]: where they pass a pipe
    mbarriers: Annotated[Any, Mbarrier]  # [groups * places, most]
    pools: Any  # int64[groups * places, ports]: registers that warps of a block gave back; one row where none does
    waited: Annotated[Any, Waited]  # [groups * slots]
    products: Annotated[Any, Product]  # [groups * slots, latest products]
    product_free: Any  # int64[groups * pipes that multiply matrices]
    arrivals: Any  # int64[groups, misses at most]: when the latest chunks that loads lacked are there, in turn
    port_free: Any  # int64[groups * memory ports]
    partition_free: Any  # int64[partitions]
    partition_writes: Any  # int64[partitions]: whether the last chunk was written, where turning round takes time
    partition_updates: Any  # int64[partitions]: whether the last chunk that took any time was an atomic's
    rows: Annotated[Any, Line]  # [partitions, open]: numbers of the open rows, latest used first
    tlb: Annotated[Any, Line]  # [groups, entries]: pages, latest used first; fill: from when on they are there
    l1: Annotated[Any, Line]  # [groups * sets, ways]: latest used first; fill holds WRITTEN as well
    l2: Annotated[Any, Line]  # [sets, ways]: likewise
    l1_sectors: Any  # int64[groups * sets, ways, sectors + 1]: of lines whose sectors differ, see FIRST_APART
    l2_sectors: Any  # int64[sets, ways, sectors + 1]: likewise
    l2_touched: Any  # uint64[words]: bits of the sets of the L2 that may have changed in this launch
    last_level: Annotated[Any, Line]  # [sets, ways]: as those of the L2, of the last-level cache; so are the next two
    last_level_sectors: Any
    last_level_touched: Any
    last_level_free: Any  # int64[partitions], of its slices
    shared_l1: Annotated[Any, Line]  # [caches * sets, ways]: likewise of shared L1s, and so are the next two
    shared_l1_sectors: Any
    shared_l1_touched: Any
    shared_l1_free: Any  # int64[caches]
    slice_free: Any  # int64[partitions], of the L2
    half_free: Any  # int64[2]: of the ways into the halves of the L2
    slice_updates: Any  # int64[partitions]: whether the last chunk that took any time was an atomic's
    waiting: Annotated[Any, Waiting]  # [groups, lines]: of lines that a group stores to
    pipes: Annotated[Any, Pipe]  # [classes]
    pipe_free: Any  # int64[groups * pipes]
    queued: Any  # int64[groups * slots]: ticks that a warp has waited for pipes, where long computes are jumped over
    watch: Annotated[Any, Watch]  # [groups * slots], for the timeline
    intervals: Annotated[Any, Interval]  # [room]: the timeline's, as they end
    unit: Annotated[Any, Unit]  # [groups, 1 + pipes of products]: the row of each unit that goes on
    units: Annotated[Any, Unit]  # [room]: those that are over
    traffic: Any  # int64[stretches + 1, TRAFFIC]: chunks over time, and how they are counted (attribution/traffic.py)
    place: Any  # int32[operations], where they come from; an element where operations are places themselves
    booked: Annotated[Any, Booked]  # [lanes, places + 1]: where warps' ticks go; a small one where nobody asks
    path: Annotated[Any, Path]  # [groups]: of the latest access of a group
    paths: Annotated[Any, Path]  # [groups * slots, room]: of the async whose end `finishes` has
    stored: Annotated[Any, Path]  # [groups * slots]: of a warp's store that finishes last, where its end waits for it
    told: Any  # int64[10]: of the latest chunk's way: its partition turned round; opened a row; of what came to the
    # last-level cache the waits for its slice there and for room, and whether it was a hit or a store; of what came by
    # a shared L1 the sectors that were missing there, and when it is done if none was, else -1; of an L2 with halves
    # the wait for the way between them, what a hit in the other half took longer, and the sectors that come from there
    kept: Annotated[Any, Kept]  # [groups], and more: a state that may recur, where long computes are jumped over
    kept_warp: Annotated[Any, KeptWarp]  # [groups * slots]: likewise
    smallest: Any  # int64[blocks]: likewise the fewest warps of a block from this one on
    neighbourhoods: Any  # int64[neighbourhoods + 1]: the first group of each that clusters are placed in, and behind it
    tried: Any  # int64[blocks of a cluster]: groups that a neighbourhood would give to them
    seen: Annotated[Any, Seen]  # [groups * slots + groups * ports]: what a user's rule sees of warps; behind those
    # that live the last one that a port was granted to, where another warp has its slot by now
    living: Any  # int64[groups, slots]: rows of `seen` of living warps, the oldest first
    asked: Annotated[Any, Asked]  # [groups], behind `last` two for each port: what a user's rule is asked for
    asking: Annotated[Any, Asking]  # what a user's rule is asked, see simtmm/engine/own_rule/columns.py
    ready: Any  # int64[slots]: likewise, rows of `seen` of those that may be granted

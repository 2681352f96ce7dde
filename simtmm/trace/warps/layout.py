"""The tables of a walk of warps along the runs of their blocks; int64."""

from typing import Annotated, Any, NamedTuple

from simtmm.native import Columns
from simtmm.trace.schema import MOST_PRODUCT_GROUPS

# What decides operations, of a machine: see LoweringSpecification
Rules = Columns(
    "width chunk_bytes banks bank_bytes together half_warps",
    "chunk_shift",  # the bits of an address within a chunk, -1 where its bytes are no power of two
    "by_word",
    "places",  # that a site has, one for each array; 0 where nobody asks for places
    "sites",  # that are known
    "shared_latency shared_interval shared_ports",
    "reduces",  # whether atomics whose values nobody uses are not waited for
    # of the pipe that accesses pass: lanes that are served together, 0 where there is no pipe
    "pipe_lanes pipe_run phase_bytes pipe_banks",
    "barrier barrier_of_warp",  # thousandths of cycles of a pause behind each barrier
    "atomic_passes",  # of a shared atomic for each, 0 for one
    "sector_bytes",  # 0 where chunks have no sectors
    "longest",  # cycles that a value of shared memory, or one of an instruction, takes at most
    "grid_barriers",  # whether blocks of a grid wait for one another
    "tag_banks",  # of the tags of rows of the L1, 0 where rows do not matter
    # thousandths of cycles that a cluster's barrier, and its fence, take beyond a block's barrier
    "cluster_barrier cluster_fence cluster_fence_of_warp",
    "remote_latency",  # cycles of a value of another block's shared memory, 0 where it is as of the own
    "remote_ways",  # whether accesses there wait for the way
    "first_mbarrier",  # the number of the first one's place among those of a site
)

Warp = Columns(
    "structure value",  # its block's structure and first value
    "groups",  # of lanes
    "thread lanes",  # the first thread, and how many lanes it has
    "asyncs waited",  # asyncs so far, and up to which of them it has waited
    "held_kind held_amount",  # a compute or pause that the next one may join, and its amount
    "region local_bytes",  # the address of its local memory, and how many bytes a thread has of it
    "x y",  # the extents of the block
    "held_place",  # of what is held
    "cycles",  # of its own that it has spent, as far as they matter to values of shared memory and of instructions
    # of work that takes turns with its stalls: turns and times that are left, instructions and stall of one time, place
    "turns times work stall turns_place",
    "backlog",  # what the load/store units still have to do for its shared accesses, in instructions of its port
    "committed",  # groups of copies
    "turns_site",  # the site of work that takes turns, -1 where it says nothing
    "shared settled",  # where shared accesses pass a pipe, those so far, and up to which of them it has waited
    "behind_barrier",  # cycles of the pause behind its barriers
    "products product_groups",  # begun, and committed
    "last_copy copy_site",  # where its operation stands that was written last, if that is a copy, else -1; its site
    "block_warps",  # of its block
    "registers",  # that its threads have, 0 where nobody knows
    "product_ends",  # and those behind it: the last product of the latest groups, modulo their number
    room=32 + MOST_PRODUCT_GROUPS,
)

# Lanes of a warp that are at the same step
Group = Columns(
    "node",
    "step end",  # the row of its next step, and where the node's steps end
    "deep",  # how many loops are around it
    "first lanes dense",  # its first lane, how many it has, whether these are neighbours
    "before",  # how many of the node's threads are of earlier warps
    "what site",  # what it does next, and where
    "base taken",  # what values of its step are counted from, how many of its lanes have been seen to
    "nest",  # and those behind it: of each loop the row where it begins, the one behind it, and the trip
    room=21,
)
PLAIN_NODE, FREE_NODE = -1, -2  # a thread of a plain block, whose steps are positions of its values; a group of nobody

NO_SITE = 1 << 30  # above every site: all are done
AT_BARRIER = 1 << 29  # likewise: a group that waits

NOTHING_HELD = -1


# A degree of conflicts that was found, by what decides it
Degree = Columns(
    "offset",  # the place within a bank's word where values are counted from, with bytes and kind of the access
    "thread lanes",  # the first thread; lanes, and those of the warp
    "by_x by_y by_z extents",  # extents: of the block in x and y
    "found",  # the degree, 0 of a row that is empty
)
DEGREES = 1 << 9  # that are known at once, a power of two
ArrayRange = Columns("begin end number")  # by address
Threads = Columns("times lanes bytes done")  # see simtmm.stalls.Places
Used = Columns("operations chunks end_operations end_chunks")  # of an output so far, and how far they may go


class Walk(NamedTuple):
    """Warps on their way; of all up to `group_end` but `rules` a row for each, of the others one for all."""

    rules: Annotated[Any, Rules]
    warp: Annotated[Any, Warp]  # [warps]
    group: Annotated[Any, Group]  # [warps, lanes]
    of_lane: Any  # [warps, lanes]: the lane's group, -1 for one that is done
    latest: Any  # [warps, values]: the last async that loads a value that sites name
    shared: Any  # [warps, values]: of its own cycles, the one from which on it has what it loaded from shared memory;
    # where shared accesses pass a pipe, the last one that loads it
    ready: Any  # [warps, values]: of its own cycles, the one from which on it has what an instruction gives
    group_end: Any  # [warps, groups]: the last async of the latest groups that it committed, modulo their number
    value: Any  # [lanes]: of those that take part in a step: what it says,
    bytes: Any  # [lanes]: how much it moves,
    lane: Any  # [lanes]: and its number
    first: Any  # [lanes]: of half-warps, the first byte that is still to be served,
    stop: Any  # [lanes]: the end of the access,
    size: Any  # [lanes]: and how much it moves
    chain: Any  # [banks]: the word added last, or -1; of updates how many there are, less one
    word: Any  # [words]
    following: Any  # [words]: the word added to the same bank before, or -1
    degree: Annotated[Any, Degree]  # [DEGREES]
    due: Any  # [classes with a pipe]: instructions of a step before its access
    work: Any  # as in SiteTables, as are those up to `again`
    piped: Any
    operations: Any
    stall: Any
    hides: Any  # [classes with a pipe]: see SiteTables
    needs_end: Any
    needs: Any
    gives_end: Any
    gives: Any
    unused: Any
    commits_end: Any
    commits: Any
    in_flight: Any
    sync: Any
    results_end: Any
    results: Any
    result_cycles: Any
    product: Any
    again: Any
    cluster: Any
    array: Annotated[Any, ArrayRange]  # [arrays]
    mbarrier: Any  # [mbarriers that have a place each]: where they lie in shared memory, ascending
    threads: Annotated[Any, Threads]  # [places]; one row where nobody asks


class Output(NamedTuple):
    """Operations, as a workload has them."""

    used: Annotated[Any, Used]
    kind: Any  # uint8[room]
    amount: Any  # [room]
    chunks: Any  # [room]
    place: Any  # int32[room], one element where nobody asks
    sectors: Any  # uint32[room], likewise where chunks have none

"""The tables of a walk of warps along the runs of their blocks; int64."""

from typing import Any, NamedTuple

from simtmm.trace.schema import MOST_PRODUCT_GROUPS

# What decides operations, of a machine: see LoweringSpecification
RULE_WIDTH, RULE_CHUNK_BYTES, RULE_BANKS, RULE_BANK_BYTES, RULE_TOGETHER, RULE_HALF_WARPS, RULE_CHUNK_SHIFT = range(7)
RULE_BY_WORD, RULE_PLACES, RULE_SITES, RULE_SHARED_LATENCY, RULE_SHARED_INTERVAL, RULE_SHARED_PORTS = range(7, 13)
RULE_REDUCES, RULE_PIPE_LANES, RULE_PIPE_RUN, RULE_PHASE_BYTES, RULE_PIPE_BANKS = range(13, 18)
RULE_BARRIER, RULE_BARRIER_OF_WARP, RULE_ATOMIC_PASSES, RULE_SECTOR_BYTES, RULE_LONGEST = range(18, 23)
RULE_GRID_BARRIERS, RULE_TAG_BANKS = 23, 24
RULE_CLUSTER_BARRIER, RULE_CLUSTER_FENCE, RULE_CLUSTER_FENCE_OF_WARP, RULE_REMOTE_LATENCY = range(25, 29)
RULES = 29
# RULE_CHUNK_SHIFT: the bits of an address within a chunk, -1 where its bytes are no power of two; RULE_PLACES: the
# places that a site has, one for each array, 0 where nobody asks for places; RULE_SITES: known sites; RULE_REDUCES:
# whether atomics whose values nobody uses are not waited for; RULE_PIPE_*: of the pipe that accesses pass, lanes that
# are served together, 0 where there is no pipe, see LoweringSpecification; RULE_BARRIER*: thousandths of cycles of a
# pause behind each barrier; RULE_ATOMIC_PASSES: passes of a shared atomic for each, 0 for one; RULE_SECTOR_BYTES: of
# a sector, 0 where chunks have none; RULE_LONGEST: cycles that a value of shared memory, or one of an instruction,
# takes at most; RULE_GRID_BARRIERS: whether blocks of a grid wait for one another;
# RULE_TAG_BANKS: banks of the tags of rows of the L1, 0 where rows do not matter; RULE_CLUSTER_*: thousandths of
# cycles that a cluster's barrier, and its fence, take beyond a block's barrier; RULE_REMOTE_LATENCY: cycles of a value
# of another block's shared memory, 0 where it is as of the own

# Columns of a warp
WARP_STRUCTURE, WARP_VALUE, WARP_GROUPS, WARP_THREAD, WARP_LANES, WARP_ASYNCS, WARP_WAITED = range(7)
WARP_HELD_KIND, WARP_HELD_AMOUNT, WARP_REGION, WARP_LOCAL_BYTES, WARP_X, WARP_Y, WARP_HELD_PLACE = range(7, 14)
WARP_CYCLES, WARP_TURNS, WARP_TIMES, WARP_WORK, WARP_STALL, WARP_TURNS_PLACE, WARP_BACKLOG = range(14, 21)
WARP_COMMITTED, WARP_TURNS_SITE, WARP_SHARED, WARP_SETTLED, WARP_BEHIND_BARRIER = range(21, 26)
WARP_PRODUCTS, WARP_PRODUCT_GROUPS = range(26, 28)  # begun, and committed
WARP_LAST_COPY = 28  # where its operation stands that was written last, if that is a copy, else -1
WARP_BLOCK_WARPS = 29  # of its block
WARP_PRODUCT_ENDS = 30  # and those behind it: the last product of the latest groups, modulo their number
WARP_ROW = (
    WARP_PRODUCT_ENDS + MOST_PRODUCT_GROUPS
)  # its block's structure and first value; groups of lanes; its first thread, and how many lanes it has;
# asyncs so far, and up to which of them it has waited; a compute or pause that the next one may join, and its amount;
# the address of its local memory, and how many bytes a thread has of it; the extents of the block in x and y; the
# place of what is held; the cycles of its own that it has spent, as far as they matter to values of shared memory and
# of instructions;
# of work that takes turns with its stalls: turns and times that are left, instructions and stall of one time, its
# place; what the load/store units still have to do for its shared accesses, in instructions of its port; groups of
# copies that it has committed; the site of work that takes turns, -1 where it says nothing; where shared accesses pass
# a pipe, those so far, and up to which of them it has waited; cycles of the pause behind its barriers

# Columns of a group: lanes of a warp that are at the same step
GROUP_NODE, GROUP_STEP, GROUP_END, GROUP_DEEP, GROUP_FIRST, GROUP_LANES, GROUP_DENSE, GROUP_BEFORE = range(8)
GROUP_WHAT, GROUP_SITE, GROUP_BASE, GROUP_TAKEN, GROUP_NEST = range(8, 13)
GROUP_ROW = 21  # the node; the row of its next step, and where the node's steps end; how many loops are around it; its
# first lane, how many it has, whether these are neighbours; how many of the node's threads are of earlier warps; what
# it does next, and at which site; what values of its step are counted from, how many of its lanes have been seen to;
# and of each loop the row where it begins, the one behind it, and the trip
PLAIN_NODE, FREE_NODE = -1, -2  # a thread of a plain block, whose steps are positions of its values; a group of nobody

NO_SITE = 1 << 30  # above every site: all are done
AT_BARRIER = 1 << 29  # likewise: a group that waits

NOTHING_HELD = -1


# Columns of a degree of conflicts that was found, by what decides it: the place within a bank's word where values are
# counted from, with bytes and kind of the access; the first thread; lanes, and those of the warp; by_x, by_y, by_z; the
# extents of the block in x and y; and the degree, 0 of a row that is empty
DEGREE_OFFSET, DEGREE_THREAD, DEGREE_LANES, DEGREE_BY_X, DEGREE_BY_Y, DEGREE_BY_Z = range(6)
DEGREE_EXTENTS, DEGREE_FOUND = range(6, 8)
DEGREE_ROW = 8
DEGREES = 1 << 9  # that are known at once, a power of two


class Walk(NamedTuple):
    """Warps on their way; of all up to `group_end` but `rules` a row for each, of the others one for all."""

    rules: Any  # [RULES]
    warp: Any  # [warps, WARP_*]
    group: Any  # [warps, lanes, GROUP_*]
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
    degree: Any  # [DEGREES, DEGREE_*]
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
    array: Any  # [arrays, ARRAY_*], by address
    threads: Any  # [places, THREADS_*]: see simtmm.stalls.Places; one row where nobody asks


class Output(NamedTuple):
    """Operations, as a workload has them."""

    used: Any  # [4]: operations and chunks so far, and how far they may go
    kind: Any  # uint8[room]
    amount: Any  # [room]
    chunks: Any  # [room]
    place: Any  # int32[room], one element where nobody asks
    sectors: Any  # uint32[room], likewise where chunks have none


MADE_OPERATIONS, MADE_CHUNKS, END_OPERATIONS, END_CHUNKS = range(4)  # of `used`

ARRAY_BEGIN, ARRAY_END, ARRAY_NUMBER = range(3)
ARRAY_ROW = 3
THREADS_TIMES, THREADS_LANES, THREADS_BYTES, THREADS_DONE = range(4)
THREADS_ROW = 4

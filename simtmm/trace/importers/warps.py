"""What warps do, as importers read it, and what their threads do, as a trace has it: the compiled part.

An operation of a warp is a kind of event, a site, a mask of the lanes that take part, and a value: one for all lanes,
or one for each lane of the mask in the *pool*. In here a mask is an int64 of which the lowest 32 bits are used.

State is stored in flat arrays that their owner enlarges between two calls, so nothing here owns memory.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.native import SPREAD, Columns, Loop, Rows, inlined
from simtmm.trace.schema import Kind

LANES = 32
_LOAD, _ATOMIC = int(Kind.LOAD), int(Kind.ATOMIC)
POOLED = np.array([kind not in (Kind.WORK, Kind.BARRIER) for kind in Kind], np.int64)

# Where a table of operations stands
Counts = Columns("operations pool warps blocks events")
Warp = Columns("number first last")  # the operations from first up to last
Block = Columns("number line warps events")  # counts up to and with that block's

MOST_THREADS = 1024  # of a block, the most that CUDA allows
WINDOW = 1 << 24  # bytes of shared memory's window among the generic addresses, and of local memory's
LOCAL_BYTES = 1 << 19  # of a thread, the most that CUDA allows

PAGE_BITS = 12  # pages of 4 KiB, at first
UsedPages = Columns("taken bits")  # places of the table that are taken, and what a page's number leaves out
Page = Columns("number first end")
Pages = Annotated[Any, Page]


class Operations(NamedTuple):
    """Operations of the warps of some blocks."""

    counts: Annotated[Any, Counts]  # how much of the others is in use; events in all
    kind: Any  # uint8[operations]
    site: Any  # int64[operations]
    mask: Any  # int64[operations]
    width: Any  # uint8[operations]: bytes of an access
    value: Any  # int64[operations]: what all lanes have, or where in the pool the lanes' values begin
    pool: Any  # int64
    warps: Annotated[Any, Warp]  # [warps]
    blocks: Annotated[Any, Block]  # [blocks]


def no_operations() -> Operations:
    """An empty table with some room."""
    room = 1 << 12
    return Operations(
        counts=np.zeros(len(Counts), np.int64),
        kind=np.zeros(room, np.uint8),
        site=np.zeros(room, np.int64),
        mask=np.zeros(room, np.int64),
        width=np.zeros(room, np.uint8),
        value=np.zeros(room, np.int64),
        pool=np.zeros(room * LANES, np.int64),
        warps=np.zeros((room, 3), np.int64),
        blocks=np.zeros((room, 4), np.int64),
    )


def twice_as_much(operations: Operations) -> Operations:
    """The table with twice the room in each array that is half full."""
    counts = Rows(operations.counts, Counts)
    used = {"pool": counts.pool, "warps": counts.warps, "blocks": counts.blocks}
    larger = {}
    for name, array in operations._asdict().items():
        if name != "counts" and 2 * used.get(name, counts.operations) >= len(array):
            larger[name] = np.concatenate([array, np.zeros_like(array)])
    return operations._replace(**larger)


def compiled(function: Any) -> Loop:
    """A function that Python calls."""
    return Loop(function, what="the importer")


@inlined
def lanes_in(mask):
    """How many lanes a mask has."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@inlined
def emit(operations, kind, site, mask, width, value):
    """Append an operation; the lanes' values, where it has any, stand in the pool from `value` on."""
    at = operations.counts.operations
    operations.kind[at] = kind
    operations.site[at] = site
    operations.mask[at] = mask
    operations.width[at] = width
    operations.value[at] = value
    operations.counts.operations = at + 1
    operations.counts.events += lanes_in(mask)


def end_block(operations, number, line):
    """Append a block, of the warps since the last one, and put these in order. Warps come in order but for a few."""
    counts = operations.counts
    warps = operations.warps
    block = counts.blocks
    first = operations.blocks[block - 1].warps if block else 0
    for warp in range(first + 1, counts.warps):
        at = warp
        while at > first and warps[at - 1].number > warps[at].number:
            for column in range(3):
                held = warps[at, column]
                warps[at, column] = warps[at - 1, column]
                warps[at - 1, column] = held
            at -= 1
    operations.blocks[block].number = number
    operations.blocks[block].line = line
    operations.blocks[block].warps = counts.warps
    operations.blocks[block].events = counts.events
    counts.blocks = block + 1


@compiled
def to_threads(operations: Operations, cursor, events):
    """Write the events of all blocks, thread by thread, each thread's in the order of its warp's operations.

    cursor: int64[LANES], for the time of the call. events: EVENT[counts[EVENTS]].
    """
    begin = 0
    for warp in range(operations.counts.warps):
        first = operations.warps[warp].first
        last = operations.warps[warp].last
        for lane in range(LANES):
            cursor[lane] = 0
        for operation in range(first, last):
            mask = operations.mask[operation]
            for lane in range(LANES):
                cursor[lane] += mask >> lane & 1
        for lane in range(LANES):
            count = cursor[lane]
            cursor[lane] = begin
            begin += count
        thread = LANES * operations.warps[warp].number
        for operation in range(first, last):
            kind = operations.kind[operation]
            mask = operations.mask[operation]
            value = operations.value[operation]
            pooled = POOLED[kind]
            width = operations.width[operation]
            site = operations.site[operation]
            for lane in range(LANES):
                if mask >> lane & 1:
                    at = cursor[lane]
                    cursor[lane] = at + 1
                    event = events[at]
                    event.value = np.uint64(operations.pool[value] if pooled else value)
                    value += pooled
                    event.thread = thread + lane
                    event.site = site
                    event.kind = kind
                    event.bytes = width


@inlined
def _place(pages, number):
    """The place in a hash table of pages at which a page stands, or will stand."""
    places = len(pages) - 1
    at = (number * SPREAD >> 20) & places
    while pages[at].number != number and pages[at].number != 0:
        at = (at + 1) & places
    return at


@compiled
def insert_pages(pages: Pages, rows: Pages):
    """Put rows of another hash table of pages into this one."""
    for row in range(len(rows)):
        at = _place(pages, rows[row].number)
        for column in range(3):
            pages[at, column] = rows[row, column]


@compiled
def touch(operations: Operations, first, pages: Pages, used: Annotated[Any, UsedPages]):
    """Note which bytes of which pages of global memory the operations from `first` on touch.

    pages: [2^k], a hash table; a page's number is 0 where the place is free. used: of it; at most
    half of the places are taken. Gives the operation to go on with after the table has been enlarged, or the end.
    """
    places = len(pages) - 1
    bits = used.bits
    at = 0
    for operation in range(first, operations.counts.operations):
        kind = operations.kind[operation]
        if kind < _LOAD or kind > _ATOMIC:
            continue
        if 2 * (used.taken + 2 * LANES) > places:
            return operation
        value = operations.value[operation]
        width = np.int64(operations.width[operation])
        for access in range(value, value + lanes_in(operations.mask[operation])):
            start = operations.pool[access]
            if start >= LOCAL_BASE:
                continue
            while start < operations.pool[access] + width:
                number = (start >> bits) + 1
                end = min(operations.pool[access] + width, number << bits)
                if pages[at].number != number:
                    at = _place(pages, number)
                    if pages[at].number == 0:
                        pages[at].number = number
                        pages[at].first = start
                        pages[at].end = end
                        used.taken += 1
                pages[at].first = min(pages[at].first, start)
                pages[at].end = max(pages[at].end, end)
                start = end
    return operations.counts.operations

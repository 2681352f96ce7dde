"""What warps do, as importers read it, and what their threads do, as a trace has it: the compiled part.

An operation of a warp is a kind of event, a site, a mask of the lanes that take part, and a value: one for all lanes,
or one for each lane of the mask in the *pool*. In here a mask is an int64 of which the lowest 32 bits are used.

State is stored in flat arrays that their owner enlarges between two calls, so nothing here owns memory.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.native import SPREAD, Loop, inlined
from simtmm.trace.schema import Kind

LANES = 32
_LOAD, _ATOMIC = int(Kind.LOAD), int(Kind.ATOMIC)
POOLED = np.array([kind not in (Kind.WORK, Kind.BARRIER) for kind in Kind], np.int64)

# Where a table of operations stands
OPERATIONS, POOL, WARPS, BLOCKS, EVENTS = range(5)
COUNTS = 5
WARP_NUMBER, WARP_FIRST, WARP_LAST = range(3)  # columns of `warps`; the operations from first up to last
BLOCK_NUMBER, BLOCK_LINE, BLOCK_WARPS, BLOCK_EVENTS = range(4)  # of `blocks`; counts up to and with that block's

MOST_THREADS = 1024  # of a block, the most that CUDA allows
WINDOW = 1 << 24  # bytes of shared memory's window among the generic addresses, and of local memory's
LOCAL_BYTES = 1 << 19  # of a thread, the most that CUDA allows

PAGE_BITS = 12  # pages of 4 KiB, at first
PAGES_USED, PAGES_BITS = range(2)  # of `used`: places of the table that are taken, and what a page's number leaves out
PAGE_NUMBER, PAGE_FIRST, PAGE_END = range(3)  # columns of `pages`


class Operations(NamedTuple):
    """Operations of the warps of some blocks."""

    counts: Any  # int64[COUNTS]: how much of the others is in use; events in all
    kind: Any  # uint8[operations]
    site: Any  # int64[operations]
    mask: Any  # int64[operations]
    width: Any  # uint8[operations]: bytes of an access
    value: Any  # int64[operations]: what all lanes have, or where in the pool the lanes' values begin
    pool: Any  # int64
    warps: Any  # int64[warps, WARP_*]
    blocks: Any  # int64[blocks, BLOCK_*]


def no_operations() -> Operations:
    """An empty table with some room."""
    room = 1 << 12
    return Operations(
        counts=np.zeros(COUNTS, np.int64),
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
    counts = operations.counts
    used = {"pool": counts[POOL], "warps": counts[WARPS], "blocks": counts[BLOCKS]}
    larger = {}
    for name, array in operations._asdict().items():
        if name != "counts" and 2 * used.get(name, counts[OPERATIONS]) >= len(array):
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
    at = operations.counts[OPERATIONS]
    operations.kind[at] = kind
    operations.site[at] = site
    operations.mask[at] = mask
    operations.width[at] = width
    operations.value[at] = value
    operations.counts[OPERATIONS] = at + 1
    operations.counts[EVENTS] += lanes_in(mask)


def end_block(operations, number, line):
    """Append a block, of the warps since the last one, and put these in order. Warps come in order but for a few."""
    counts = operations.counts
    warps = operations.warps
    block = counts[BLOCKS]
    first = operations.blocks[block - 1, BLOCK_WARPS] if block else 0
    for warp in range(first + 1, counts[WARPS]):
        at = warp
        while at > first and warps[at - 1, WARP_NUMBER] > warps[at, WARP_NUMBER]:
            for column in range(3):
                held = warps[at, column]
                warps[at, column] = warps[at - 1, column]
                warps[at - 1, column] = held
            at -= 1
    operations.blocks[block, BLOCK_NUMBER] = number
    operations.blocks[block, BLOCK_LINE] = line
    operations.blocks[block, BLOCK_WARPS] = counts[WARPS]
    operations.blocks[block, BLOCK_EVENTS] = counts[EVENTS]
    counts[BLOCKS] = block + 1


@compiled
def to_threads(operations, cursor, events):
    """Write the events of all blocks, thread by thread, each thread's in the order of its warp's operations.

    cursor: int64[LANES], for the time of the call. events: EVENT[counts[EVENTS]].
    """
    begin = 0
    for warp in range(operations.counts[WARPS]):
        first = operations.warps[warp, WARP_FIRST]
        last = operations.warps[warp, WARP_LAST]
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
        thread = LANES * operations.warps[warp, WARP_NUMBER]
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
    while pages[at, PAGE_NUMBER] != number and pages[at, PAGE_NUMBER] != 0:
        at = (at + 1) & places
    return at


@compiled
def insert_pages(pages, rows):
    """Put rows of another hash table of pages into this one."""
    for row in range(len(rows)):
        at = _place(pages, rows[row, PAGE_NUMBER])
        for column in range(3):
            pages[at, column] = rows[row, column]


@compiled
def touch(operations, first, pages, used):
    """Note which bytes of which pages of global memory the operations from `first` on touch.

    pages: int64[2^k, PAGE_*], a hash table; a page's number is 0 where the place is free. used: int64[PAGES_*]; at most
    half of the places are taken. Gives the operation to go on with after the table has been enlarged, or the end.
    """
    places = len(pages) - 1
    bits = used[PAGES_BITS]
    at = 0
    for operation in range(first, operations.counts[OPERATIONS]):
        kind = operations.kind[operation]
        if kind < _LOAD or kind > _ATOMIC:
            continue
        if 2 * (used[PAGES_USED] + 2 * LANES) > places:
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
                if pages[at, PAGE_NUMBER] != number:
                    at = _place(pages, number)
                    if pages[at, PAGE_NUMBER] == 0:
                        pages[at, PAGE_NUMBER] = number
                        pages[at, PAGE_FIRST] = start
                        pages[at, PAGE_END] = end
                        used[PAGES_USED] += 1
                pages[at, PAGE_FIRST] = min(pages[at, PAGE_FIRST], start)
                pages[at, PAGE_END] = max(pages[at, PAGE_END], end)
                start = end
    return operations.counts[OPERATIONS]

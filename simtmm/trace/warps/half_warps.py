"""The transactions that serve the lanes of a step, by half-warps; simtmm/trace/coalescing.py has the rule."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.machine.tables.memory import LARGEST_SEGMENT
from simtmm.native import inlined
from simtmm.trace.coalescing import HALF_WARP, SMALLEST_SEGMENT
from simtmm.trace.local_memory import WORD
from simtmm.trace.warps.accesses import local_address


@inlined
def list_transactions(walk, lanes, apart, chunks, count):
    """List the chunk of each transaction. apart: whether each lane is on its own, as updates of a word are."""
    taken = np.int64(0)
    while taken < lanes:
        half = walk.lane[taken] // HALF_WARP
        waiting = np.int64(0)
        while taken < lanes and walk.lane[taken] // HALF_WARP == half and not (apart and waiting == 1):
            walk.size[waiting] = max(walk.bytes[taken], np.int64(1))
            walk.first[waiting] = walk.value[taken]
            walk.stop[waiting] = walk.first[waiting] + walk.size[waiting]
            waiting += 1
            taken += 1
        count = serve(walk, waiting, chunks, count)
    return count


@inlined
def list_local_transactions(walk, w, lanes, chunks, count):
    """Likewise of the words of the lanes' local memory."""
    taken = np.int64(0)
    while taken < lanes:
        half = walk.lane[taken] // HALF_WARP
        waiting = np.int64(0)
        while taken < lanes and walk.lane[taken] // HALF_WARP == half:
            value = walk.value[taken]
            last = (value + max(walk.bytes[taken], np.int64(1)) - 1) // WORD
            for word in range(value // WORD, last + 1):
                walk.first[waiting] = local_address(walk, w, word, walk.lane[taken])
                walk.size[waiting] = WORD
                walk.stop[waiting] = walk.first[waiting] + WORD
                waiting += 1
            taken += 1
        count = serve(walk, waiting, chunks, count)
    return count


def serve(walk, waiting, chunks, count):
    """List the chunks of the transactions that serve some accesses at once; how many are listed then."""
    leader = np.int64(0)
    while True:
        while leader < waiting and walk.first[leader] == walk.stop[leader]:
            leader += 1
        if leader == waiting:
            return count
        count = serve_segment(walk, waiting, leader, chunks, count)


@inlined
def serve_segment(walk, waiting, leader, chunks, count):
    """One transaction, for the leader and all whose address lies in its segment."""
    length = np.int64(LARGEST_SEGMENT)
    if walk.size[leader] == 1:
        length = np.int64(SMALLEST_SEGMENT)
    elif walk.size[leader] == 2:
        length = np.int64(2 * SMALLEST_SEGMENT)
    base = walk.first[leader] // length * length
    low = base + length
    high = base
    for index in range(leader, waiting):
        begin = walk.first[index]
        if begin == walk.stop[index] or begin < base or begin >= base + length:
            continue
        last = min(walk.stop[index], base + length)
        low = min(low, begin)
        high = max(high, last)
        walk.first[index] = last
    while length > SMALLEST_SEGMENT:
        half = length // 2
        if low >= base + half:
            base += half
        elif high > base + half:
            break
        length = half
    chunks[count] = base // walk.rules.chunk_bytes
    return count + 1

"""Windows of warps of a stream: their next operations, filled where a warp has come to the end of them.

Another thread may fill windows beside the engine. Then a warp's next one is asked for as soon as it has begun with the
one before: its request is put into a queue, from which that thread takes one after another. Where the engine needs a
window that nobody has begun to fill, it does so itself, and the thread passes over the request.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any

import numpy as np

from simtmm.engine.fast.layout import (
    IS_BEING_FILLED,
    IS_FILLED,
    IS_WANTED,
    QUEUE_END,
    QUEUE_FIRST,
    QUEUE_STOPS,
    Request,
)
from simtmm.native import acquire, call_bound, exchange, inlined, release
from simtmm.trace.warps.blocks import Ask
from simtmm.trace.warps.walk import ENDED, IS_FULL

REST = 20  # microseconds for which a thread sleeps that finds the queue empty


@inlined
def has_more(s, w):
    """Whether the window of a warp that is at its end is to be filled; there may be nothing left for it."""
    return s.warp[w].has_more != 0


def request_first(s, w, ahead, number):
    """Ask for the first window of a warp that is placed, if its block has any events. ahead: its row in `ahead`."""
    s.warp[w].has_more = np.int64(s.ahead[ahead].own != 0)
    if s.warp[w].has_more == 0:
        return
    s.request[w].own = s.ahead[ahead].own
    s.request[w].beside = s.ahead[ahead].beside
    s.request[w].block = s.ahead[ahead].place
    s.request[w].number = number
    s.request[w].turn = 0
    _ask_for(s, w)


@inlined
def _ask_for(s, w):
    """Let the window that a request names be filled by who comes first; where the queue is full, that is the engine."""
    release(s.request, w, Request.state, IS_WANTED)
    room = s.queue.shape[0]
    if room > 1:
        end = s.queue_ends[QUEUE_END]
        if end - acquire(s.queue_ends, QUEUE_FIRST) < room:
            s.queue[end & (room - 1)] = w
            release(s.queue_ends, QUEUE_END, end + 1)


def fill(s, w):
    """Have the window of a warp filled: it is at its beginning then, and at its end too if it has nothing left."""
    beside = np.int64(s.queue.shape[0] > 1)
    if exchange(s.request, w, Request.state, IS_WANTED, IS_BEING_FILLED):
        filled(s.request, s.ask, w, s.request[w].own, beside)
    else:
        while acquire(s.request, w, Request.state) != IS_FILLED:
            call_bound(s.parameters.yields, 0)
    window = w * (1 + beside) + s.request[w].turn
    s.warp[w].filled += 1
    s.warp[w].position = window * s.ask.operations
    s.warp[w].end = s.request[w].end
    s.warp[w].chunk = window * s.ask.chunks
    gave = s.request[w].gave
    if gave == IS_FULL:
        s.request[w].turn = beside - s.request[w].turn
        s.request[w].block = -1
        _ask_for(s, w)
    else:
        s.warp[w].has_more = 0
        if gave != ENDED:
            s.parameters.refused = np.int64(1)


@inlined
def filled(request, ask, w, table, beside):
    """Fill the window that a request names. beside: whether another thread does so, too."""
    ask.row = w
    ask.block = request[w].block
    ask.number = request[w].number
    ask.window = w * (1 + beside) + request[w].turn
    request[w].gave = call_bound(ask.entry, table)
    request[w].end = ask.end
    release(request, w, Request.state, IS_FILLED)


def fill_beside(request: Annotated[Any, Request], queue, queue_ends, ask: Annotated[Any, Ask], sleep):
    """Fill windows as they are asked for, until `QUEUE_STOPS` is set: how many. sleep: the address of usleep."""
    count = np.int64(0)
    while acquire(queue_ends, QUEUE_STOPS) == 0:
        first = queue_ends[QUEUE_FIRST]
        if first == acquire(queue_ends, QUEUE_END):
            call_bound(sleep, REST)
            continue
        w = queue[first & (queue.shape[0] - 1)]
        release(queue_ends, QUEUE_FIRST, first + 1)
        if exchange(request, w, Request.state, IS_WANTED, IS_BEING_FILLED):
            filled(request, ask, w, request[w].beside, np.int64(1))
            count += 1
    return count

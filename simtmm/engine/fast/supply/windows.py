"""Windows of warps of a stream: their next operations, filled where a warp has come to the end of them.

Another thread may fill windows beside the engine. Then a warp's next one is asked for as soon as it has begun with the
one before: its request is put into a queue, from which that thread takes one after another. Where the engine needs a
window that nobody has begun to fill, it does so itself, and the thread passes over the request.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    AHEAD_BESIDE,
    AHEAD_OWN,
    AHEAD_PLACE,
    IS_BEING_FILLED,
    IS_FILLED,
    IS_WANTED,
    P_YIELD,
    QUEUE_END,
    QUEUE_FIRST,
    QUEUE_STOPS,
    R_REFUSED,
    REQUEST_BESIDE,
    REQUEST_BLOCK,
    REQUEST_END,
    REQUEST_GAVE,
    REQUEST_NUMBER,
    REQUEST_OWN,
    REQUEST_STATE,
    REQUEST_TURN,
    WARP_CHUNK,
    WARP_END,
    WARP_FILLED,
    WARP_HAS_MORE,
    WARP_POSITION,
)
from simtmm.native import acquire, call_bound, exchange, inlined, release
from simtmm.trace.warps.blocks import (
    ASK_BLOCK,
    ASK_CHUNKS,
    ASK_END,
    ASK_ENTRY,
    ASK_NUMBER,
    ASK_OPERATIONS,
    ASK_ROW,
    ASK_WINDOW,
)
from simtmm.trace.warps.walk import ENDED, IS_FULL

REST = 20  # microseconds for which a thread sleeps that finds the queue empty


@inlined
def has_more(s, w):
    """Whether the window of a warp that is at its end is to be filled; there may be nothing left for it."""
    return s.warp[w, WARP_HAS_MORE] != 0


def request_first(s, w, ahead, number):
    """Ask for the first window of a warp that is placed, if its block has any events. ahead: its row in `ahead`."""
    s.warp[w, WARP_HAS_MORE] = np.int64(s.ahead[ahead, AHEAD_OWN] != 0)
    if s.warp[w, WARP_HAS_MORE] == 0:
        return
    s.request[w, REQUEST_OWN] = s.ahead[ahead, AHEAD_OWN]
    s.request[w, REQUEST_BESIDE] = s.ahead[ahead, AHEAD_BESIDE]
    s.request[w, REQUEST_BLOCK] = s.ahead[ahead, AHEAD_PLACE]
    s.request[w, REQUEST_NUMBER] = number
    s.request[w, REQUEST_TURN] = 0
    _ask_for(s, w)


@inlined
def _ask_for(s, w):
    """Let the window that a request names be filled by who comes first; where the queue is full, that is the engine."""
    release(s.request, w, REQUEST_STATE, IS_WANTED)
    room = s.queue.shape[0]
    if room > 1:
        end = s.queue_ends[QUEUE_END]
        if end - acquire(s.queue_ends, QUEUE_FIRST) < room:
            s.queue[end & (room - 1)] = w
            release(s.queue_ends, QUEUE_END, end + 1)


def fill(s, w):
    """Have the window of a warp filled: it is at its beginning then, and at its end too if it has nothing left."""
    beside = np.int64(s.queue.shape[0] > 1)
    if exchange(s.request, w, REQUEST_STATE, IS_WANTED, IS_BEING_FILLED):
        filled(s.request, s.ask, w, s.request[w, REQUEST_OWN], beside)
    else:
        while acquire(s.request, w, REQUEST_STATE) != IS_FILLED:
            call_bound(s.parameters[P_YIELD], 0)
    window = w * (1 + beside) + s.request[w, REQUEST_TURN]
    s.warp[w, WARP_FILLED] += 1
    s.warp[w, WARP_POSITION] = window * s.ask[ASK_OPERATIONS]
    s.warp[w, WARP_END] = s.request[w, REQUEST_END]
    s.warp[w, WARP_CHUNK] = window * s.ask[ASK_CHUNKS]
    gave = s.request[w, REQUEST_GAVE]
    if gave == IS_FULL:
        s.request[w, REQUEST_TURN] = beside - s.request[w, REQUEST_TURN]
        s.request[w, REQUEST_BLOCK] = -1
        _ask_for(s, w)
    else:
        s.warp[w, WARP_HAS_MORE] = 0
        if gave != ENDED:
            s.parameters[R_REFUSED] = np.int64(1)


@inlined
def filled(request, ask, w, table, beside):
    """Fill the window that a request names. beside: whether another thread does so, too."""
    ask[ASK_ROW] = w
    ask[ASK_BLOCK] = request[w, REQUEST_BLOCK]
    ask[ASK_NUMBER] = request[w, REQUEST_NUMBER]
    ask[ASK_WINDOW] = w * (1 + beside) + request[w, REQUEST_TURN]
    request[w, REQUEST_GAVE] = call_bound(ask[ASK_ENTRY], table)
    request[w, REQUEST_END] = ask[ASK_END]
    release(request, w, REQUEST_STATE, IS_FILLED)


def fill_beside(request, queue, queue_ends, ask, sleep):
    """Fill windows as they are asked for, until `QUEUE_STOPS` is set: how many. sleep: the address of usleep."""
    count = np.int64(0)
    while acquire(queue_ends, QUEUE_STOPS) == 0:
        first = queue_ends[QUEUE_FIRST]
        if first == acquire(queue_ends, QUEUE_END):
            call_bound(sleep, REST)
            continue
        w = queue[first & (queue.shape[0] - 1)]
        release(queue_ends, QUEUE_FIRST, first + 1)
        if exchange(request, w, REQUEST_STATE, IS_WANTED, IS_BEING_FILLED):
            filled(request, ask, w, request[w, REQUEST_BESIDE], np.int64(1))
            count += 1
    return count

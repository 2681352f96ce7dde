"""How chunks leave their group: by its memory ports, its pipe, or the stores' path (section 4, step 1)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    GROUP_STORE_FREE,
    GROUP_TAGS_FREE,
    P_MEMORY_PORTS,
    P_PIPED,
    P_PORT_CHUNKS,
    P_PORT_INTERVAL,
    P_RETURN_DELAY,
    P_RETURN_INTERVAL,
    P_RETURNS,
    P_SLOTS,
    P_STORE_INTERVAL,
    P_STORES_APART,
    P_TAG_INTERVAL,
    WARP_LOADED,
    WARP_LOADS_END,
    WARP_UNTAKEN,
)
from simtmm.engine.fast.memory.cache import modulo
from simtmm.native import inlined
from simtmm.workload import ASYNC, COPY, LOAD, STORE


@inlined
def port_of(s, g, w):
    """The memory port of a warp's slot."""
    if s.parameters[P_MEMORY_PORTS] > 1:
        slot = w - g * s.parameters[P_SLOTS]
        return g * s.parameters[P_MEMORY_PORTS] + modulo(slot, s.parameters[P_MEMORY_PORTS])
    return g


@inlined
def run_of(s, chunk):
    """The aligned run of chunks that pass a port together."""
    return chunk // s.parameters[P_PORT_CHUNKS] if s.parameters[P_PORT_CHUNKS] > 1 else chunk


@inlined
def is_listed_before(s, here, first, index):
    """Whether an atomic that is done in the L2 lists a chunk again, which then takes no port.

    here: whether it is such an atomic.
    """
    if here:
        for before in range(first, index):
            if s.chunks[before] == s.chunks[index]:
                return True
    return False


@inlined
def through_port(s, g, port, what, returning, t):
    """When a chunk, or a run of them, leaves its group: by a memory port, by the pipe, or by the stores' path.

    returning: ticks that a store waits there for what its warp loaded. t: when its access begins.
    """
    piped = s.parameters[P_PIPED] != 0 and what != COPY
    looked_up = t
    if piped:
        looked_up = s.group[g, GROUP_TAGS_FREE]
        s.group[g, GROUP_TAGS_FREE] = looked_up + s.parameters[P_TAG_INTERVAL]
    if what == STORE and s.parameters[P_STORES_APART] != 0:
        start = max(looked_up, s.group[g, GROUP_STORE_FREE]) + returning
        s.group[g, GROUP_STORE_FREE] = start + s.parameters[P_STORE_INTERVAL]
    elif s.parameters[P_PIPED] != 0:
        start = looked_up + returning
    else:
        start = max(t, s.port_free[port]) + returning
        s.port_free[port] = start + s.parameters[P_PORT_INTERVAL]
    return start


@inlined
def take_returned(s, w, what, count):
    """What a store waits for at its port because of what its warp has returned: with its first chunk, and with each
    other one that takes a pass of its own.
    """
    once = np.int64(0)
    each = np.int64(0)
    if s.parameters[P_RETURNS] != 0 and what == STORE and count > 0 and s.warp[w, WARP_LOADED] > 0:
        once = s.parameters[P_RETURN_DELAY] + s.parameters[P_RETURN_INTERVAL] * s.warp[w, WARP_LOADED]
        s.warp[w, WARP_LOADED] = 0
        if s.parameters[P_PIPED] != 0:
            each = s.parameters[P_RETURN_DELAY]
    return once, each


@inlined
def count_returned(s, w, what, fetched, finish, t):
    """Count the chunks that a load had from global memory, for the next store of its warp.

    finish: of the load, which left its port at t.
    """
    if s.parameters[P_RETURNS] != 0 and what in (LOAD, ASYNC):
        if t < s.warp[w, WARP_LOADS_END]:
            fetched += s.warp[w, WARP_LOADED]
        s.warp[w, WARP_LOADED] = fetched
        s.warp[w, WARP_LOADS_END] = max(finish, s.warp[w, WARP_LOADS_END]) if what == ASYNC else 0
        if what == ASYNC:
            s.warp[w, WARP_UNTAKEN] += 1

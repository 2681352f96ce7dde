"""How chunks leave their group: by its memory ports, its pipe, or the stores' path (section 4, step 1)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.memory.cache import modulo
from simtmm.native import inlined
from simtmm.workload import ASYNC, COPY, LOAD, STORE


@inlined
def port_of(s, g, w):
    """The memory port of a warp's slot."""
    if s.parameters.memory_ports > 1:
        slot = w - g * s.parameters.slots
        return g * s.parameters.memory_ports + modulo(slot, s.parameters.memory_ports)
    return g


@inlined
def run_of(s, chunk):
    """The aligned run of chunks that pass a port together."""
    return chunk // s.parameters.port_chunks if s.parameters.port_chunks > 1 else chunk


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
    piped = s.parameters.piped != 0 and what != COPY
    looked_up = t
    if piped:
        looked_up = s.group[g].tags_free
        s.group[g].tags_free = looked_up + s.parameters.tag_interval
    if what == STORE and s.parameters.stores_apart != 0:
        start = max(looked_up, s.group[g].store_free) + returning
        s.group[g].store_free = start + s.parameters.store_interval
    elif s.parameters.piped != 0:
        start = looked_up + returning
    else:
        start = max(t, s.port_free[port]) + returning
        s.port_free[port] = start + s.parameters.port_interval
    return start


@inlined
def take_returned(s, w, what, count):
    """What a store waits for at its port because of what its warp has returned: with its first chunk, and with each
    other one that takes a pass of its own.
    """
    once = np.int64(0)
    each = np.int64(0)
    if s.parameters.returns != 0 and what == STORE and count > 0 and s.warp[w].loaded > 0:
        once = s.parameters.return_delay + s.parameters.return_interval * s.warp[w].loaded
        s.warp[w].loaded = 0
        if s.parameters.piped != 0:
            each = s.parameters.return_delay
    return once, each


@inlined
def count_returned(s, w, what, fetched, finish, t):
    """Count the chunks that a load had from global memory, for the next store of its warp.

    finish: of the load, which left its port at t.
    """
    if s.parameters.returns != 0 and what in (LOAD, ASYNC):
        if t < s.warp[w].loads_end:
            fetched += s.warp[w].loaded
        s.warp[w].loaded = fetched
        s.warp[w].loads_end = max(finish, s.warp[w].loads_end) if what == ASYNC else 0
        if what == ASYNC:
            s.warp[w].untaken += 1

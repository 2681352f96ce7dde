"""What lies behind the L2: the fetch port, the last-level cache and global memory (section 4, steps 5 and 6)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import CROWDED, ENDED, FARTHER, OPENING, SLICED, TURNING
from simtmm.engine.fast.memory.last_level import through_last_level
from simtmm.engine.fast.memory.partitions import from_global_memory, through_fetch_port
from simtmm.engine.fast.memory.path_ticks import wait_at_memory
from simtmm.engine.fast.memory.sectors import runs_of
from simtmm.engine.fast.memory.shared_l1 import ended_in_shared_l1
from simtmm.engine.fast.memory.through_l2 import l2_latency
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def from_behind_l2(s, g, what, cached, here, chunk, accessed, missing, latency, start, t):  # noqa: PLR0913, PLR0917 - no records of values
    """When what comes here is done, and 1 if global memory gave or took it. latency: of global memory, or of a store.

    cached, here, accessed, missing: as `from_global_memory` has them. start: when it comes. Returns the sectors that
    move, when it has passed the fetch port, the ticks that it waits for its partition, and as `from_global_memory` does
    why.
    """
    opening = np.int64(0)
    turning = np.int64(0)
    behind = np.int64(0)
    if s.parameters.last_level_sets > 0:
        moved = runs_of(s.parameters, missing) if cached or here else missing
        at_memory = through_fetch_port(s, g, what, cached, missing, start, t)
        done, waited = through_last_level(s, g, what, cached or here, chunk, accessed, moved, at_memory, t)
        opening, turning = s.told[OPENING], s.told[TURNING]
        fetched = np.int64(1) - s.told[ENDED]
    else:
        moved, at_memory, waited, opening, turning, behind = from_global_memory(
            s, g, what, cached, here, chunk, accessed, missing, start, t
        )
        done = at_memory + waited + latency
        fetched = np.int64(1)
    return done, fetched, moved, at_memory, waited, opening, turning, behind


@inlined
def spend_behind(  # noqa: PLR0913, PLR0917 - no records of values
    s, g, what, here, came, fetched, latency, at_slice, at_memory, crowded, waited, opening, turning, behind, done
):
    """Where the ticks go of a chunk that its slice of the L2, or without one its group, let go at `at_slice`.

    came: whether it came here. latency, fetched, at_memory and those behind `waited`: as above. crowded: ticks that it
    waits for room in the L2. done: when it was.
    """
    sliced = np.int64(0)
    if came and s.parameters.last_level_sets > 0:
        crowded += s.told[CROWDED]
        sliced = s.told[SLICED]
    wait_at_memory(s, g, at_memory - at_slice + crowded, waited, opening, turning, behind)
    s.path[g].last_level_queue += sliced
    if fetched > 0:
        took = latency
        s.path[g].memory_latency += took
    elif came:
        took = latency if what == STORE else s.parameters.last_level_latency
        s.path[g].last_level_latency += took
    elif ended_in_shared_l1(s):
        took = s.parameters.shared_l1_latency
        s.path[g].shared_l1_latency += took
    else:
        took = l2_latency(s, what, here, latency)
        if s.parameters.l2_halves > 1:
            took += s.told[FARTHER]
        s.path[g].l2_latency += took
    s.path[g].line_in_flight += done - at_memory - sliced - waited - crowded - took

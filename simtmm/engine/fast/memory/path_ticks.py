"""Where the ticks of an access go, by the reasons of its last chunk (section 10), for those who watch."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import PATH_ROW
from simtmm.native import inlined


@inlined
def begin_path(s, g):
    """An access begins: none of its ticks are known."""
    if s.parameters.watch != 0:
        for index in range(PATH_ROW):
            s.path[g, index] = 0


@inlined
def spend(s, g, reason, ticks):
    """Add ticks of the access."""
    if s.parameters.watch != 0:
        s.path[g, reason] += ticks


@inlined
def is_watched(s, done, finish):
    """Whether a chunk that is done then is the last one so far, and somebody watches."""
    return s.parameters.watch != 0 and (s.parameters.serial != 0 or done > finish)


@inlined
def on_way(s, g, t, start, read, called, known):
    """The way of the last chunk to the L2: the port, and its translation. What an earlier one was forgotten by.

    t: when its access left its port. start, read, called, known: as in `transfer`.
    """
    if s.parameters.serial == 0:
        s.path[g].l1_latency = 0
        s.path[g].shared_l1_latency = 0
        s.path[g].l2_latency = 0
        s.path[g].last_level_latency = 0
        s.path[g].memory_latency = 0
        s.path[g].port_queue = read - t + called - start
        s.path[g].shared_l1_queue = 0
        s.path[g].l2_queue = 0
        s.path[g].last_level_queue = 0
        s.path[g].line_in_flight = 0
    s.path[g].first_access = known - called


@inlined
def wait_at_memory(s, g, queued, waited, opening, turning, behind):
    """Its queues at the fetch port and the partition. behind: more than 0 if it waits behind an atomic there."""
    s.path[g].rows = opening
    s.path[g].turnaround = turning
    in_queue = waited - opening - turning
    s.path[g].memory_queue = queued if behind > 0 else queued + in_queue
    s.path[g].atomics_queue = in_queue if behind > 0 else np.int64(0)


@inlined
def wait_at_slice(s, g, queued, behind):
    """Its queue at its slice of the L2. behind: more than 0 if it waits behind an atomic there."""
    if behind > 0:
        s.path[g].atomics_queue += queued
    else:
        s.path[g].l2_queue += queued

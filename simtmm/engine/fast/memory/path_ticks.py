"""Where the ticks of an access go, by the reasons of its last chunk (section 10), for those who watch."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import PATH_ROW
from simtmm.native import inlined

# Columns of a path
PORT_QUEUE, L2_QUEUE, MEMORY_QUEUE, ATOMICS_QUEUE, TURNAROUND, ROWS = range(6)
L1_LATENCY, L2_LATENCY, MEMORY_LATENCY, LINE_IN_FLIGHT, FIRST_ACCESS = range(6, PATH_ROW)


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
        s.path[g, L1_LATENCY] = 0
        s.path[g, L2_LATENCY] = 0
        s.path[g, MEMORY_LATENCY] = 0
        s.path[g, PORT_QUEUE] = read - t + called - start
        s.path[g, L2_QUEUE] = 0
        s.path[g, LINE_IN_FLIGHT] = 0
    s.path[g, FIRST_ACCESS] = known - called


@inlined
def wait_at_memory(s, g, queued, waited, opening, turning, behind):
    """Its queues at the fetch port and the partition. behind: more than 0 if it waits behind an atomic there."""
    s.path[g, ROWS] = opening
    s.path[g, TURNAROUND] = turning
    in_queue = waited - opening - turning
    s.path[g, MEMORY_QUEUE] = queued if behind > 0 else queued + in_queue
    s.path[g, ATOMICS_QUEUE] = in_queue if behind > 0 else np.int64(0)


@inlined
def wait_at_slice(s, g, queued, behind):
    """Its queue at its slice of the L2. behind: more than 0 if it waits behind an atomic there."""
    if behind > 0:
        s.path[g, ATOMICS_QUEUE] += queued
    else:
        s.path[g, L2_QUEUE] += queued

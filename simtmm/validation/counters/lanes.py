"""The lanes of a warp, a thread each, and where they are among their events."""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from simtmm.compiled import inlined
from simtmm.trace.schema import Kind

NO_SITE = 1 << 30  # above every site: a thread that is done
AT_BARRIER = 1 << 29  # likewise: one that waits

_BARRIER = int(Kind.BARRIER)


class Lanes(NamedTuple):
    """The events of all threads, and for each lane where it is."""

    events: Any  # as in Batch
    position: Any  # int64: the next event,
    stop: Any  # int64: where the events end,
    site: Any  # int32: and the site of the next one, or what stands for it


class Step(NamedTuple):
    """What a warp does next: that of the lanes at the lowest site which are about to do what the first of them does."""

    site: Any  # NO_SITE if all are done
    kind: Any
    leader: Any  # the first lane at the site
    width: Any  # lanes of the warp


@inlined
def find_threads(events, begin, end, threads, starts):
    """Where the events of each thread of a block begin, and the last ones end."""
    thread = 0
    for event in range(begin, end):
        while thread <= events[event].thread:
            starts[thread] = event
            thread += 1
    while thread <= threads:
        starts[thread] = end
        thread += 1


@inlined
def place(lanes, starts, first, width):
    """Put the threads of a warp, from the first on, at their first events."""
    for lane in range(width):
        lanes.position[lane] = starts[first + lane]
        lanes.stop[lane] = starts[first + lane + 1]
        lanes.site[lane] = _next_site(lanes, lane)


@inlined
def next_step(lanes, width):
    """The step of a warp at its lowest site."""
    site = lanes.site[0]
    for lane in range(1, width):
        site = min(site, lanes.site[lane])
    leader = 0
    while lanes.site[leader] != site:
        leader += 1
    kind = np.int64(0) if site == NO_SITE else np.int64(lanes.events[lanes.position[leader]].kind)
    return Step(np.int64(site), kind, np.int64(leader), np.int64(width))


@inlined
def site_of(lanes, lane):
    """The site of a lane's next event, also of one that waits at a barrier."""
    return np.int64(lanes.events[lanes.position[lane]].site)


@inlined
def takes_part(lanes, step, lane):
    """Whether a lane is at the step's site, with an event of its kind."""
    return lanes.site[lane] == step.site and lanes.events[lanes.position[lane]].kind == step.kind


@inlined
def go_on(lanes, lane):
    """A lane has done its next event."""
    lanes.position[lane] += 1
    lanes.site[lane] = _next_site(lanes, lane)


@inlined
def _next_site(lanes, lane):
    if lanes.position[lane] >= lanes.stop[lane]:
        return np.int64(NO_SITE)
    event = lanes.events[lanes.position[lane]]
    return np.int64(AT_BARRIER) if event.kind == _BARRIER else np.int64(event.site)

"""The lanes of a warp, a thread each, and where they are among their events."""

# simtmm/native compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

from simtmm.native import inlined
from simtmm.trace.schema import Kind
from simtmm.trace.warps.layout import AT_BARRIER, NO_SITE

_BARRIER = int(Kind.BARRIER)


class Lanes(NamedTuple):
    """The events of all threads, and for each lane where it is."""

    events: Any  # as in Batch
    position: Any  # int64: the next event,
    stop: Any  # int64: where the events end,
    site: Any  # int32: and the site of the next one, or what stands for it


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
    """What a warp does next: (site, kind, leader), the lowest site, NO_SITE if all are done, and of the lanes there the
    first, whose kind of event is that of the step; all that are about to do the same take part.
    """
    site = lanes.site[0]
    for lane in range(1, width):
        site = min(site, lanes.site[lane])
    leader = 0
    while lanes.site[leader] != site:
        leader += 1
    kind = 0 if site == NO_SITE else lanes.events[lanes.position[leader]].kind
    return site, kind, leader


@inlined
def site_of(lanes, lane):
    """The site of a lane's next event, also of one that waits at a barrier."""
    return lanes.events[lanes.position[lane]].site


@inlined
def takes_part(lanes, site, kind, lane):
    """Whether a lane is at a step's site, with an event of its kind."""
    return lanes.site[lane] == site and lanes.events[lanes.position[lane]].kind == kind


@inlined
def go_on(lanes, lane):
    """A lane has done its next event."""
    lanes.position[lane] += 1
    lanes.site[lane] = _next_site(lanes, lane)


@inlined
def _next_site(lanes, lane):
    if lanes.position[lane] >= lanes.stop[lane]:
        return NO_SITE
    event = lanes.events[lanes.position[lane]]
    return AT_BARRIER if event.kind == _BARRIER else event.site

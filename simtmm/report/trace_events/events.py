"""Slices and counters of a timeline, as arrays in the order of time.

A process is a core group, a thread one of its slots, a slice a warp in one state. Counters say how many warps of a
group, and of the machine, are in each of four states.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.result import Result
from simtmm.stalls import REASONS
from simtmm.timeline import COPIES, STATES, Blocks, Timeline, Units, WarpState

RUN = 1  # the process of launches, of counters of the machine, and of the sample's windows; group g is process g + 2
LAUNCHES, WINDOWS = 1, 2  # its threads
FIRST_GROUP = RUN + 1

SLICE, COUNTER, MEANS, LAUNCH, WINDOW, TRAFFIC, UNIT = range(7)  # kinds of events
FIRST_UNIT = 1 << 20  # thread of a group's copies in bulk, behind all slots; those of pipes of products follow
COUNTED = (WarpState.READY, WarpState.MEMORY, WarpState.BARRIER, WarpState.ISSUING)
PARTS = 1000  # of a warp, in which means are given
ROLES = ("", "producer", "consumer", "producer and consumer")  # of warps: they begin copies in bulk, products, both

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Events:
    """Events by begin: int64 arrays of one length, and values: int64[n, 4].

    look: what of their text is the same for many, a number: of a slice what `Looks` tells, of a launch its kernel.
    values: of a slice warp, block and launch; of a counter the warps in each of COUNTED, of means in thousandths; of
    launches and windows their number; of traffic the mean in thousandths; of units the copies or products.
    """

    kind: Integers
    begin: Integers
    end: Integers
    process: Integers
    thread: Integers
    look: Integers
    values: Integers

    def __len__(self) -> int:
        return len(self.begin)

    def where(self, chosen: npt.NDArray[Any] | slice) -> "Events":
        """Some of them."""
        return Events(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @classmethod
    def of(
        cls,
        kind: int,
        begin: Integers,
        end: Integers,
        process: Integers | int,
        thread: Integers | int,
        look: Integers | int,
        *values: Integers,
    ) -> "Events":
        """Of columns, a number standing for a column of it."""

        def column(value: Integers | int) -> Integers:
            return np.full(len(begin), value, np.int64) if isinstance(value, int) else value

        table = np.zeros((len(begin), len(COUNTED)), np.int64)
        for index, each in enumerate(values):
            table[:, index] = each
        return cls(column(kind), column(begin), column(end), column(process), column(thread), column(look), table)

    @classmethod
    def together(cls, *parts: "Events") -> "Events":
        """All of them, by begin."""
        joined = cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))
        return joined.where(np.lexsort((joined.thread, joined.process, joined.begin)))


@dataclass(frozen=True)
class Looks:
    """What slices have in common, each combination that comes: int64 arrays of one length.

    state, reason: as in Timeline. place: a number of the workload's places. kernel: an index of the launches' kernels.
    role: one of ROLES.
    """

    state: Integers
    reason: Integers
    place: Integers
    kernel: Integers
    role: Integers


def slices_of(
    timeline: Timeline, result: Result, blocks: Blocks | None, kernel_of_launch: Integers, rows: npt.NDArray[np.bool_]
) -> tuple[Events, Looks]:
    """The slices of some intervals. kernel_of_launch: an index each. rows: which, bool[n]."""
    warp, begin = timeline.warp[rows], timeline.begin[rows]
    if blocks is None:
        ends = np.cumsum(np.array(result.launch_ticks, np.int64))
        launch = np.minimum(np.searchsorted(ends, begin, side="right"), max(0, len(ends) - 1))
        block = np.zeros_like(launch)
    else:
        launch, block = blocks.of_warps(warp)
    place = timeline.place[rows].astype(np.int64)
    kernel = kernel_of_launch[launch] if len(kernel_of_launch) else np.zeros_like(launch)
    kernels, places = int(kernel.max(initial=0)) + 1, int(place.max(initial=0)) + 1
    code = timeline.state[rows].astype(np.int64) * len(REASONS) + timeline.reason[rows]
    role = _roles(warp, result.units)
    looked = ((code * places + place) * kernels + kernel) * len(ROLES) + role
    codes, look = np.unique(looked, return_inverse=True)
    codes, role_number = np.divmod(codes, len(ROLES))
    rest, kernel_number = np.divmod(codes, kernels)
    rest, place_number = np.divmod(rest, places)
    looks = Looks(*np.divmod(rest, len(REASONS)), place_number, kernel_number, role_number)
    process = timeline.group[rows].astype(np.int64) + FIRST_GROUP
    thread = timeline.slot[rows].astype(np.int64) + 1
    return Events.of(SLICE, begin, timeline.end[rows], process, thread, look, warp, block, launch), looks


def units_of(units: Units, groups: npt.NDArray[np.bool_], begin: int, end: int) -> Events:
    """What goes on in groups beside warps, in chosen groups and ticks. groups: bool[groups]."""
    rows = groups[units.group] & (units.begin < end) & (units.end > begin)
    process, thread = (of[rows].astype(np.int64) for of in (units.group, units.unit))
    look = (units.unit[rows] != COPIES).astype(np.int64)
    return Events.of(
        UNIT, units.begin[rows], units.end[rows], process + FIRST_GROUP, thread + FIRST_UNIT, look, units.count[rows]
    )


def roles_of(slices: Events, looks: Looks) -> dict[tuple[int, int], str]:
    """The roles of the warps of a slot, one of ROLES, by process and thread; a slot without is left out."""
    of_slices = looks.role[slices.look]
    found: dict[tuple[int, int], int] = {}
    columns = np.stack([slices.process, slices.thread, of_slices])[:, of_slices > 0]
    for process, thread, role in np.unique(columns, axis=1).T.tolist():
        found[process, thread] = found.get((process, thread), 0) | role
    return {track: ROLES[role] for track, role in found.items()}


def _roles(warp: Integers, units: Units | None) -> Integers:
    """Of each warp an index of ROLES."""
    if units is None:
        return np.zeros_like(warp)
    return np.isin(warp, units.copying) + 2 * np.isin(warp, units.multiplying)


def launches_of(result: Result, kernel_of_launch: Integers) -> Events:
    """A slice for each launch, its overhead included."""
    ticks = np.array(result.launch_ticks, np.int64)
    ends, number = np.cumsum(ticks), np.arange(len(ticks))
    kernel = kernel_of_launch if len(kernel_of_launch) else 0
    return Events.of(LAUNCH, ends - ticks, ends, RUN, LAUNCHES, kernel, number)


def counters_of(timeline: Timeline, groups: npt.NDArray[np.bool_], begin: int, end: int) -> Events:
    """How many warps of each group do what COUNTED says, an event where that changes.

    groups: which core groups, bool[groups]. begin, end: ticks, the first of which has an event if warps are there.
    """
    group, when, count = _changes(timeline, groups[timeline.group], timeline.group, begin)
    inside = when < end
    group, when, count = group[inside], when[inside], count[inside]
    return Events.of(COUNTER, when, when, group + FIRST_GROUP, 0, 0, *count.T)


def counters_of_machine(timeline: Timeline, begin: int, end: int, most: int) -> tuple[Events, float]:
    """The same of all core groups together; where it changes more than `most` times, means of as many intervals.

    Gives the ticks of such an interval as well, 0 where every change is there.
    """
    everywhere = np.ones(len(timeline), np.bool_)
    _, when, count = _changes(timeline, everywhere, np.zeros_like(timeline.group), begin)
    inside = when < end
    if int(inside.sum()) <= most:
        when, count = when[inside], count[inside]
        return Events.of(COUNTER, when, when, RUN, 0, 0, *count.T), 0.0
    last = min(end, int(timeline.end.max()))
    edges = np.unique(np.linspace(begin, last, max(most, 1) + 1).astype(np.int64)) if most else np.empty(0, np.int64)
    if len(edges) < 2:
        nothing = np.empty(0, np.int64)
        return Events.of(MEANS, nothing, nothing, RUN, 0, 0), 0.0
    # Warps times ticks up to each change, and from there to each edge.
    passed = np.diff(when, prepend=when[:1])
    before = np.concatenate([np.zeros((1, len(COUNTED)), np.int64), count[:-1]])
    area = np.cumsum(before * passed[:, None], axis=0)
    at = np.maximum(np.searchsorted(when, edges, side="right") - 1, 0)
    until = area[at] + count[at] * np.maximum(edges - when[at], 0)[:, None]
    width = np.diff(edges)
    means = np.rint(PARTS * np.diff(until, axis=0) / width[:, None]).astype(np.int64)
    return Events.of(MEANS, edges[:-1], edges[:-1], RUN, 0, 0, *means.T), float((last - begin) / len(width))


def _changes(
    timeline: Timeline, rows: npt.NDArray[np.bool_], of: npt.NDArray[np.int32], begin: int
) -> tuple[Integers, Integers, Integers]:
    """Where the warps in each of COUNTED change: whose, when, and how many: int64[n], int64[n], int64[n, 4].

    of: to what each interval counts. begin: what changes before counts as if it did then.
    """
    column = np.full(len(STATES), -1)
    column[list(COUNTED)] = range(len(COUNTED))
    chosen = rows & (column[timeline.state] >= 0) & (timeline.end > begin)
    whose = np.tile(of[chosen], 2).astype(np.int64)
    when = np.maximum(np.concatenate([timeline.begin[chosen], timeline.end[chosen]]), begin)
    step = np.zeros((len(when), len(COUNTED)), np.int64)
    begins_and_ends = np.repeat([1, -1], np.count_nonzero(chosen))
    step[np.arange(len(when)), np.tile(column[timeline.state[chosen]], 2)] = begins_and_ends
    order = np.lexsort((when, whose))
    whose, when = whose[order], when[order]
    count = np.cumsum(step[order], axis=0)  # one ends at 0, where the next begins
    last = np.ones(len(when), np.bool_)  # of the changes at one tick
    last[:-1] = (when[1:] != when[:-1]) | (whose[1:] != whose[:-1])
    whose, when, count = whose[last], when[last], count[last]
    differs = np.ones(len(when), np.bool_)  # one comes as another goes: no change
    differs[1:] = (count[1:] != count[:-1]).any(axis=1) | (whose[1:] != whose[:-1])
    return whose[differs], when[differs], count[differs]

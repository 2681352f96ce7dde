"""What each warp does when: the slices of a few core groups, a lane for each slot, as columns of small integers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.analysis.run.outcome import Run
from simtmm.report.explain_page.measures import GROUP_OF
from simtmm.report.stalls import WHAT_WARPS_DO
from simtmm.report.trace_events.events import FIRST_GROUP, Events, Looks, slices_of
from simtmm.report.trace_events.text import HITS
from simtmm.stalls import LOADS, Places, Reason
from simtmm.timeline import Timeline, WarpState

MOST_SLICES = 60_000  # of all groups: what a browser draws at once, and half a megabyte or so
MOST_SLOTS = 512  # lanes of a group
MOST_NAMES = 3_000  # lines without a place in the source heat, and arrays, each
LONGEST = 60  # characters of such a name

Integers = npt.NDArray[np.int64]


@dataclass
class _Names:
    """Names by number, which go down from -3. those: in the order of their numbers."""

    those: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """Its number; -1 for no name and -2 where there are too many."""
        name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\u2026"
        if not name:
            return -1
        if name not in self._numbers:
            if len(self.those) >= MOST_NAMES:
                return -2
            self._numbers[name] = -3 - len(self.those)
            self.those.append(name)
        return self._numbers[name]


def lanes(run: Run, hot: Mapping[int, int], most: int | None = None) -> dict[str, Any] | None:
    """For JSON; None of a run without a timeline, and where no warp did anything.

    hot: of places the line of the source heat (its index there) that they belong to. most: slices of all groups;
    MOST_SLICES if left out.

    ticks: the run's length, with `cycle` ticks to a cycle, and `clock` cycles to a second. withBlocks: how many core
    groups had blocks. groups: of each that is shown its number, why it is, how many slices it has (of), how many slots
    are left out (left), the tick up to which slices are there (until), and what `_group` says. reasons: (name, group
    of reasons, Nsight's name). looks: what slices have in common, columns of reason, line (an index of the source
    heat's, or a number of `others`), array and hit (numbers of `arrays` and `hits`, the first of which is -3, the next
    one -4); -1 for none, -2 for an unnamed one.
    """
    timeline, result = run.result.timeline, run.result
    if timeline is None or not result.ticks or not len(timeline):
        return None
    present = np.unique(timeline.group).tolist()
    chosen = _chosen(timeline, present)
    kept = _kept(timeline, list(chosen), MOST_SLICES if most is None else most)
    rows = np.zeros(len(timeline), bool)
    for own, _ in kept.values():
        rows[own] = True
    slices, looks = slices_of(timeline, result, run.blocks, np.empty(0, np.int64), rows)
    numbers = np.bincount(timeline.group)
    look, legend = _looks(looks, run, hot)
    slices = replace(slices, look=look[slices.look])
    return {
        "ticks": result.ticks,
        "cycle": result.ticks_per_cycle,
        "clock": result.clock_hz,
        "withBlocks": len(present),
        "launches": len(result.launch_ticks),
        "groups": [
            {
                "group": group,
                "why": why if len(present) > 1 else [],
                "of": int(numbers[group]),
                "left": max(0, len(np.unique(timeline.slot[timeline.group == group])) - MOST_SLOTS),
                "until": result.ticks if kept[group][1] is None else kept[group][1],
                **_group(slices.where(slices.process == group + FIRST_GROUP), run.blocks is not None),
            }
            for group, why in chosen.items()
        ],
        **legend,
    }


def _chosen(timeline: Timeline, present: Sequence[int]) -> dict[int, list[str]]:
    """The groups that are shown, and why: the first, the busiest and the last one of those that had blocks."""
    held = np.where(timeline.state == WarpState.ISSUING, timeline.end - timeline.begin, 0)
    busiest = int(np.bincount(timeline.group, weights=held).argmax()) if held.any() else present[0]
    why: dict[int, list[str]] = {}
    for group, word in ((present[0], "first"), (busiest, "busiest"), (present[-1], "last")):
        why.setdefault(group, []).append(word)
    return dict(sorted(why.items()))


def _kept(timeline: Timeline, groups: Sequence[int], most: int) -> dict[int, tuple[Integers, int | None]]:
    """The rows of each group that are shown, and the tick from which on there are none; None where all are there.

    Of very many slots it is the first; what a group leaves of its share goes to the others.
    """
    rows = {group: np.flatnonzero(timeline.group == group) for group in groups}
    left = most
    kept: dict[int, tuple[Integers, int | None]] = {}
    for place, group in enumerate(sorted(groups, key=lambda group: len(rows[group]))):
        own = rows[group]
        slots = np.unique(timeline.slot[own])
        if len(slots) > MOST_SLOTS:
            own = own[timeline.slot[own] < slots[MOST_SLOTS]]
        share, until = left // (len(groups) - place), None
        if len(own) > share:
            begin = timeline.begin[own]
            until = int(np.partition(begin, share)[share])
            before = own[begin < until]
            if not len(before):  # more begin at one tick than there is room for
                before, until = own[np.argsort(begin, kind="stable")[:share]], until + 1
            own = before
        left -= len(own)
        kept[group] = own, until
    return kept


def _group(slices: Events, has_blocks: bool) -> dict[str, Any]:
    """A group's slices by slot and time.

    slots: the number of each lane. first: the first slice of each lane. gap, length: ticks between the end of the slice
    before in the lane (or tick 0) and the begin, and from there to the end. look: of each. warps: each warp, in the
    order of slices: its first slice, number, block and launch, each as what it has more than the one before.
    """
    slices = slices.where(np.lexsort((slices.begin, slices.thread)))
    is_first = np.diff(slices.thread, prepend=-1) != 0
    before = np.where(is_first, 0, np.roll(slices.end, 1))
    warp, block, launch = slices.values.T[:3]
    turns = np.flatnonzero(is_first | (np.diff(warp, prepend=-1) != 0))
    columns = {"first": turns, "warp": warp[turns], "launch": launch[turns]}
    if has_blocks:
        columns["block"] = block[turns]
    return {
        "slots": (slices.thread[is_first] - 1).tolist(),
        "first": np.flatnonzero(is_first).tolist(),
        "gap": (slices.begin - before).tolist(),
        "length": (slices.end - slices.begin).tolist(),
        "look": slices.look.tolist(),
        "warps": {name: np.diff(column, prepend=0).tolist() for name, column in columns.items()},
    }


def _looks(looks: Looks, run: Run, hot: Mapping[int, int]) -> tuple[Integers, dict[str, Any]]:
    """Of each look its index among those that the page tells apart, and these."""
    memory, stalls = run.machine.memory, run.result.stalls
    places = None if stalls is None else stalls.places
    has_caches = any(cache is not None for cache in (memory.l1, memory.shared_l1, memory.l2))
    reasons = sorted(set(looks.reason.tolist()))
    others, arrays, hits = _Names(), _Names(), _Names()
    found: dict[tuple[int, int, int, int], int] = {}
    index = np.empty(len(looks.reason), np.int64)
    rows = zip(looks.state.tolist(), looks.reason.tolist(), looks.place.tolist(), strict=True)
    for at, (state, reason, number) in enumerate(rows):
        other, array, kind = _where(places, number)
        line = hot[number] if number in hot else others.number(other)
        hit = HITS.get(Reason(reason), "") if state == WarpState.MEMORY and has_caches and kind in LOADS else ""
        row = (reasons.index(reason), line, arrays.number(array), hits.number(hit))
        index[at] = found.setdefault(row, len(found))
    states = [(WHAT_WARPS_DO[Reason(reason)], GROUP_OF[Reason(reason)]) for reason in reasons]
    columns = zip(*found, strict=True)
    return index, {
        "reasons": [(name, group, nsight if nsight != "-" else "") for (name, nsight, _), group in states],
        "looks": {name: list(column) for name, column in zip(("reason", "line", "array", "hit"), columns, strict=True)},
        "others": others.those,
        "arrays": arrays.those,
        "hits": hits.those,
    }


def _where(places: Places | None, number: int) -> tuple[str, str, str]:
    """A place in words, its array, and the kind of what happens there; empty where there is no place."""
    if places is None or number >= len(places):
        return "", "", ""
    place, array = places.place(number)
    return f"{place.file}:{place.line}" if place.line else place.source or place.kind, array, place.kind

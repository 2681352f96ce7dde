"""An event as JSON: what it is called, its colour, and what a warp waits for, where and at which array.

What many slices have in common is put into words once, and numbers are filled in.
"""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import mod
from typing import Any

import numpy as np

from simtmm.machine import Machine
from simtmm.report.stalls import WHAT_WARPS_DO
from simtmm.report.trace_events.events import (
    COUNTED,
    COUNTER,
    LAUNCH,
    MEANS,
    PARTS,
    ROLES,
    SLICE,
    TRAFFIC,
    UNIT,
    WINDOW,
    Events,
    Integers,
    Looks,
)
from simtmm.result import Result
from simtmm.stalls import LOADS, Place, Places, Reason
from simtmm.timeline import STATES, WarpState

LONGEST_LINE, LONGEST_NAME = 80, 60  # characters; each slice repeats them

# Names that chrome://tracing has colours for; Perfetto colours by the slice's name.
COLOURS = {
    "start": "grey",
    "ready": "yellow",
    "issuing": "good",
    "pipeline": "vsync_highlight_color",
    "memory": "bad",
    "barrier": "thread_state_iowait",
    "pause": "thread_state_sleeping",
}
QUEUES = (
    Reason.PORT_QUEUE,
    Reason.SHARED_L1_QUEUE,
    Reason.L2_QUEUE,
    Reason.LAST_LEVEL_QUEUE,
    Reason.MEMORY_QUEUE,
    Reason.ATOMICS_QUEUE,
    Reason.OUTSTANDING,
)
QUEUE_COLOUR, HIT_COLOUR = "terrible", "olive"

HITS = {
    Reason.L1_LATENCY: "L1 hit",
    Reason.SHARED_L1_LATENCY: "shared L1 hit",
    Reason.L2_LATENCY: "L2 hit",
    Reason.LAST_LEVEL_LATENCY: "last-level hit",
    Reason.LINE_IN_FLIGHT: "hit, line in flight",
    Reason.MEMORY_LATENCY: "miss",
    Reason.MEMORY_QUEUE: "miss",
    Reason.TURNAROUND: "miss",
    Reason.ROWS: "miss",
}
COUNTERS = {COUNTER: "warps", MEANS: "warps, means"}


class Text:
    """Events of one result as text.

    looks: what `Events.look` of slices stands for. places: where operations come from, None if unknown.
    kernels: the names that `Looks.kernel` stands for, none where they are unknown.
    has_blocks: whether blocks are known.
    traffic: counters of traffic, name and unit.
    """

    def __init__(
        self,
        result: Result,
        machine: Machine,
        looks: Looks,
        places: Places | None,
        kernels: Sequence[str],
        has_blocks: bool,
        traffic: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._whole = result.clock_hz is None
        self._millionths = 1.0 if self._whole else 1e12 / ((result.clock_hz or 1) * result.ticks_per_cycle)
        memory = machine.memory
        caches = memory.l1, memory.shared_l1, memory.l2, memory.last_level
        self._caches = any(cache is not None for cache in caches)
        self._places, self._kernels, self._has_blocks = places, kernels, has_blocks
        time = "%d" if self._whole else "%d.%06d"
        self._head = f',\n{{"ph":"X","ts":{time},"dur":{time},"pid":%d,"tid":%d,'
        rows = zip(
            *(column.tolist() for column in (looks.state, looks.reason, looks.place, looks.kernel, looks.role)),
            strict=True,
        )
        self._slices = [self._slice(*row) for row in rows]
        self._launches = [self._launch(name) for name in kernels or [""]]
        self._window = f'{self._head}"name":"window","cat":"run","args":{{"window":%d}}}}'
        self._units = [
            f'{self._head}"name":"{name}","cat":"unit","args":{{"{name}":%d}}}}' for name in ("copies", "products")
        ]
        series = ",".join(f'"{STATES[state]}":%.15g' for state in COUNTED)
        self._counters = {
            kind: f',\n{{"ph":"C","name":"{name}","ts":{time},"pid":%d,"args":{{{series}}}}}'
            for kind, name in COUNTERS.items()
        }
        self._traffic = [
            f',\n{{"ph":"C",{_filled({"name": name})},"ts":{time},"pid":%d,"args":{{{_filled({unit: ""})[:-2]}%.15g}}}}'
            for name, unit in traffic
        ]

    def sizes(self, events: Events) -> int:
        """Bytes that they take at most."""
        times = (events.end, events.end - events.begin)
        digits = [f"{int(each.max(initial=0)) * self._millionths:.0f}" for each in times]
        others = [str(each.max(initial=0)) for each in (events.process, events.thread, *events.values.T)]
        numbers = len("".join(digits + others)) + 2  # a point in each of the times
        numbers += 0 if self._whole else 2 * 6  # zeros of times below a microsecond
        of_slices = np.array([len(_bare(text)) + numbers for text in self._slices], np.int64)
        of_launches = np.array([len(_bare(text)) + numbers for text in self._launches], np.int64)
        of_counters = len(_bare(self._counters[MEANS])) + numbers + len(COUNTED)  # and their points
        return int(
            of_slices[events.look[events.kind == SLICE]].sum()
            + of_launches[events.look[events.kind == LAUNCH]].sum()
            + of_counters * int(np.isin(events.kind, (COUNTER, MEANS)).sum())
            + (len(_bare(self._window)) + numbers) * int((events.kind == WINDOW).sum())
            + (max(map(len, self._units)) + numbers) * int((events.kind == UNIT).sum())
            + sum((len(_bare(self._traffic[look])) + numbers + 1) for look in events.look[events.kind == TRAFFIC])
        )

    def of(self, events: Events) -> str:
        """The events, each with a comma and a line's end before it."""
        texts = np.empty(len(events), object)
        for kind in np.unique(events.kind).tolist():
            chosen = events.kind == kind
            texts[chosen] = self._of_kind(kind, events.where(chosen))
        return "".join(texts.tolist())

    def _of_kind(self, kind: int, events: Events) -> list[str]:
        begin = np.rint(events.begin * self._millionths).astype(np.int64)
        columns = [*self._time(begin)]
        if kind in (COUNTER, MEANS):
            part = PARTS if kind == MEANS else 1
            columns += [events.process, *(events.values.T / part)]
            templates: Iterable[str] = repeat(self._counters[kind])
        elif kind == TRAFFIC:
            columns += [events.process, events.values[:, 0] / PARTS]
            templates = map(self._traffic.__getitem__, events.look.tolist())
        else:
            # Both ends of a slice are rounded, not its length.
            columns += self._time(np.rint(events.end * self._millionths).astype(np.int64) - begin)
            numbers = [0] if kind != SLICE else [0, 1, 2] if self._has_blocks else [0, 2]
            columns += [events.process, events.thread, *events.values.T[numbers]]
            known = {SLICE: self._slices, LAUNCH: self._launches, WINDOW: [self._window], UNIT: self._units}
            looks = known[kind]
            templates = map(looks.__getitem__, events.look.tolist())
        return list(map(mod, templates, zip(*(column.tolist() for column in columns), strict=True)))

    def _time(self, millionths: Integers) -> list[Any]:
        """What is filled in for times: microseconds and their millionths; ticks where there is no clock."""
        return [millionths] if self._whole else list(np.divmod(millionths, 10**6))

    def _slice(self, state: int, reason: int, place: int, kernel: int, role: int) -> str:
        why = Reason(reason)
        name, others, _ = WHAT_WARPS_DO[why]
        args = {"reason": f"{name} ({others})" if others != "-" else name}
        if self._kernels:
            args["kernel"] = _cut(self._kernels[kernel], LONGEST_NAME)
        if role:
            args["role"] = ROLES[role]
        if self._places is not None and place < len(self._places):
            where, array = self._places.place(place)
            args |= self._where(where, array)
            hit = HITS.get(why, "")
            if state == WarpState.MEMORY and self._caches and where.kind in LOADS and hit:
                args["hit"] = hit
        in_memory = state == WarpState.MEMORY
        colour = COLOURS[STATES[state]]
        if in_memory and (why in QUEUES or HITS.get(why, "miss") != "miss"):
            colour = QUEUE_COLOUR if why in QUEUES else HIT_COLOUR
        numbers = '"warp":%d,"block":%d,"launch":%d' if self._has_blocks else '"warp":%d,"launch":%d'
        fields = _filled({"name": name if in_memory else STATES[state], "cat": "warp", "cname": colour})
        return f'{self._head}{fields},"args":{{{numbers},{_filled(args)}}}}}'

    def _where(self, place: Place, array: str) -> dict[str, str]:
        line = f"{place.file}:{place.line}: {place.source}" if place.line else place.source or place.kind
        fields = {"at": _cut(line, LONGEST_LINE), "array": _cut(array, LONGEST_NAME)}
        fields |= {"instruction": _cut(place.instruction, LONGEST_LINE), "function": _cut(place.function, LONGEST_NAME)}
        return {key: text for key, text in fields.items() if text}

    def _launch(self, kernel: str) -> str:
        args = f",{_filled({'kernel': kernel})}" if kernel else ""
        return f'{self._head}"name":"launch","cat":"run","args":{{"launch":%d{args}}}}}'


def _filled(entries: dict[str, str]) -> str:
    """Members of a JSON object, ready to have other numbers filled in around them."""
    return json.dumps(entries, separators=(",", ":"))[1:-1].replace("%", "%%")


def _bare(template: str) -> str:
    """A template without what numbers are filled in for."""
    return re.sub(r"%(06d|d|\.15g|(?=%))", "", template)


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."

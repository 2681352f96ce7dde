"""A timeline as a file in the Trace Event format, which Perfetto and chrome://tracing open.

A process is a core group, a thread one of its slots, a slice a warp in one state; two counters a group. Written a
stretch at a time, so that a million events need no more memory than the timeline itself.

Source: "Trace Event Format" (the Chromium project): JSON object format, events of phases M, X and C.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from simtmm.errors import OutputError
from simtmm.files import written_whole
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.timeline import STATES, Timeline, WarpState

MOST_EVENTS = 1_000_000
MOST_WINDOWS = 100  # of a sample
WINDOW_EVENTS = 1000  # that a window should have at least, so that one sees warps take turns in it
STRETCH = 1 << 16  # events that are turned into text at once

RUN = 1  # the process of launches and of the sample's windows; group g is process g + 2
LAUNCHES, WINDOWS = 1, 2  # its threads
FIRST_GROUP = RUN + 1

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
READY, IN_FLIGHT, LAUNCH, WINDOW = (len(STATES) + index for index in range(4))  # kinds of events beside the states

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Written:
    """What a file has of a timeline.

    events: slices and counter values in it; names of tracks come on top. of: those of the whole timeline. windows,
    share: of a sample, how many stretches of the run it has, evenly spaced, and the part of the run's time that they
    cover; 0 and 1 where nothing is left out.
    """

    path: Path
    events: int
    of: int
    windows: int
    share: float

    def __str__(self) -> str:
        if self.events == self.of:
            return f"{self.path}: {self.events:,} events"
        kept = f"{self.windows} evenly spaced windows" if self.windows > 1 else "one window from the start"
        return f"{self.path}: a sample, {self.events:,} of {self.of:,} events, in {kept}, {self.share:.2%} of the time"

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "path": str(self.path),
            "events": self.events,
            "of": self.of,
            "sampled": self.events < self.of,
            "windows": self.windows,
            "share": self.share,
        }


@dataclass(frozen=True)
class _Events:
    """Events by begin: int64 arrays of one length. kind: a state, or a kind of its own. value: a warp, or a count."""

    kind: Integers
    begin: Integers
    end: Integers
    process: Integers
    thread: Integers
    value: Integers

    def __len__(self) -> int:
        return len(self.begin)

    def where(self, chosen: npt.NDArray[Any] | slice) -> "_Events":
        return _Events(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @classmethod
    def together(cls, *parts: "_Events") -> "_Events":
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


def write_timeline(
    path: str | Path,
    result: Result,
    machine: Machine,
    about: Mapping[str, Any] | None = None,
    most_events: int = MOST_EVENTS,
) -> Written:
    """Write a result's timeline.

    Times are in microseconds: ticks over the clock, to a millionth of a microsecond; where the machine has no clock, a
    tick is a microsecond. most_events: beyond that a sample is written: up to 100 windows of one length, evenly spaced
    over the run, each with all that begins in it. about: goes into the file's `otherData`, where the sample is
    described too.

    Raises OutputError where the result has no timeline, for most_events below 1, and if the file can't be written.
    """
    timeline = result.timeline
    if timeline is None:
        raise OutputError(f"{path}: the result has no timeline: simulate with timeline=True")
    if most_events < 1:
        raise OutputError(f"{path}: at most {most_events} events: must be at least 1")
    events = _events(timeline, result)
    total = len(events)
    windows, share = 0, 1.0
    if total > most_events:
        events, windows, share = _sample(events, result.ticks, most_events)
    written = Written(Path(path), len(events), total, windows, share)
    other = {
        "machine": machine.name,
        "engine": result.engine,
        "ticks": result.ticks,
        "ticks_per_cycle": result.ticks_per_cycle,
        "clock_hz": result.clock_hz,
        "microsecond": "a tick" if result.clock_hz is None else "of the simulated machine's clock",
        "events": written.to_dict() | {"path": Path(path).name},
        "complete": str(written).partition(": ")[2] if written.events < written.of else "nothing is left out",
        **(about or {}),
    }
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns","otherData":')
        json.dump(_plain(other), file, allow_nan=False)
        file.write(',"traceEvents":[\n')
        file.write(",\n".join(json.dumps(event) for event in _names(timeline, machine, windows)))
        _write_events(file, events, result)
        file.write("\n]}\n")
    return written


def _events(timeline: Timeline, result: Result) -> _Events:
    """All events of a timeline, by begin."""
    warps = _Events(
        timeline.state.astype(np.int64),
        timeline.begin,
        timeline.end,
        timeline.group.astype(np.int64) + FIRST_GROUP,
        timeline.slot.astype(np.int64) + 1,
        timeline.warp,
    )
    ends = np.cumsum(np.array(result.launch_ticks, dtype=np.int64))
    numbers = np.arange(len(ends))
    run, line = np.full_like(ends, RUN), np.full_like(ends, LAUNCHES)
    launches = _Events(np.full_like(ends, LAUNCH), ends - result.launch_ticks, ends, run, line, numbers)
    parts = [launches, warps, _counter(timeline, WarpState.READY, READY)]
    events = _Events.together(*parts, _counter(timeline, WarpState.MEMORY, IN_FLIGHT))
    return events.where(np.lexsort((events.thread, events.process, events.begin)))


def _counter(timeline: Timeline, state: WarpState, kind: int) -> _Events:
    """Warps of each group in a state, an event where that changes."""
    chosen = timeline.state == state
    group = np.tile(timeline.group[chosen], 2).astype(np.int64)
    when = np.concatenate([timeline.begin[chosen], timeline.end[chosen]])
    step = np.repeat(np.array([1, -1], dtype=np.int64), int(chosen.sum()))
    order = np.lexsort((when, group))
    group, when, count = group[order], when[order], np.cumsum(step[order])  # a group ends at 0, where the next begins
    last = np.ones(len(when), dtype=bool)  # of the changes at one tick
    last[:-1] = (when[1:] != when[:-1]) | (group[1:] != group[:-1])
    group, when, count = group[last], when[last], count[last]
    differs = np.ones(len(when), dtype=bool)  # one comes as another goes: no change
    differs[1:] = (count[1:] != count[:-1]) | (group[1:] != group[:-1])
    group, when, count = group[differs], when[differs], count[differs]
    return _Events(np.full_like(when, kind), when, when, group + FIRST_GROUP, np.zeros_like(when), count)


def _sample(events: _Events, ticks: int, most: int) -> tuple[_Events, int, float]:
    """As much of whole windows as `most` events allow, marks of the windows included; windows; their share of time."""
    windows = min(MOST_WINDOWS, max(1, most // WINDOW_EVENTS))
    period = -(-ticks // windows)
    room = max(most - windows, 1)
    phase = events.begin % period
    width = int(np.partition(phase, room)[room])  # no more than `room` events begin before it in their window
    if width == 0 or most <= windows:  # more begin at one tick than there is room for
        return events.where(slice(0, most)), 1, min(1.0, float(events.begin[most] + 1) / ticks)
    starts = np.arange(0, ticks, period)
    ends = np.minimum(starts + width, ticks)
    run, line = np.full_like(starts, RUN), np.full_like(starts, WINDOWS)
    marks = _Events(np.full_like(starts, WINDOW), starts, ends, run, line, np.arange(len(starts)))
    inside = (phase < width) & (events.begin < ticks)  # the last warps' ends are behind the last window
    sample = _Events.together(events.where(inside), marks)
    order = np.lexsort((sample.thread, sample.process, sample.begin))
    return sample.where(order), len(starts), float((ends - starts).sum()) / ticks


def _names(timeline: Timeline, machine: Machine, windows: int) -> Iterator[dict[str, Any]]:
    """The names and the order of processes and threads."""
    yield from _named(RUN, None, "run", RUN)
    yield from _named(RUN, LAUNCHES, "launches", LAUNCHES)
    if windows:
        yield from _named(RUN, WINDOWS, "windows of the sample, all of what begins in them", WINDOWS)
    tracks = np.unique(np.stack([timeline.group, timeline.slot]), axis=1).T.tolist()
    for group in sorted({group for group, _ in tracks}):
        yield from _named(group + FIRST_GROUP, None, f"core group {group}, {machine.name}", group + FIRST_GROUP)
    for group, slot in tracks:
        yield from _named(group + FIRST_GROUP, slot + 1, f"slot {slot}", slot + 1)


def _named(process: int, thread: int | None, name: str, place: int) -> Iterator[dict[str, Any]]:
    what = "process" if thread is None else "thread"
    where = {"ph": "M", "ts": 0, "pid": process} | ({} if thread is None else {"tid": thread})
    yield {**where, "name": f"{what}_name", "args": {"name": name}}
    yield {**where, "name": f"{what}_sort_index", "args": {"sort_index": place}}


def _templates(decimals: str) -> tuple[str, ...]:
    """The text of an event by kind; each takes ts and dur (whole, millionths), process, thread, value."""

    def slice_of(name: str, category: str, argument: str, colour: str = "") -> str:
        colour = f',"cname":"{colour}"' if colour else ""
        return (
            f',\n{{"ph":"X","name":"{name}","cat":"{category}","ts":%d{decimals},"dur":%d{decimals},"pid":%d,"tid":%d'
            f'{colour},"args":{{"{argument}":%d}}}}'
        )

    def counter(name: str) -> str:
        return (  # %.0s takes a value and writes nothing
            f',\n{{"ph":"C","name":"{name}","ts":%d{decimals}%.0s%.0s,"pid":%d%.0s,"args":{{"warps":%d}}}}'
        )

    states = (slice_of(state, "warp", "warp", COLOURS[state]) for state in STATES)
    counters = counter("ready warps"), counter("memory in flight, warps that wait")
    return *states, *counters, slice_of("launch", "run", "launch"), slice_of("window", "run", "window")


def _write_events(file: TextIO, events: _Events, result: Result) -> None:
    whole = result.clock_hz is None
    templates = _templates("%.0s" if whole else ".%06d")
    for first in range(0, len(events), STRETCH):
        part = events.where(slice(first, first + STRETCH))
        begin, end = (_millionths(ticks, result) for ticks in (part.begin, part.end))
        columns = (*np.divmod(begin, 10**6), *np.divmod(end - begin, 10**6)) if not whole else None
        if columns is None:
            nothing = np.zeros_like(begin)
            columns = (begin, nothing, end - begin, nothing)
        kinds = part.kind.tolist()
        rows = zip(*(column.tolist() for column in (*columns, part.process, part.thread, part.value)), strict=True)
        file.write("".join([templates[kind] % row for kind, row in zip(kinds, rows, strict=True)]))


def _millionths(ticks: Integers, result: Result) -> Integers:
    """Millionths of a microsecond; ticks where there is no clock. Both ends of a slice are rounded, not its length."""
    if result.clock_hz is None:
        return ticks
    exact: Integers = np.rint(ticks * (1e12 / (result.clock_hz * result.ticks_per_cycle))).astype(np.int64)
    return exact


def _plain(value: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not -inf < value < inf else value

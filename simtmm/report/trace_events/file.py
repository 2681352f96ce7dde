"""The file: what is chosen of a timeline, a stretch at a time, so that a million events need little memory as text."""

import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from simtmm.analysis.run.outcome import Run
from simtmm.errors import OutputError
from simtmm.files import written_whole
from simtmm.machine import Machine
from simtmm.report.trace_events.choice import ALL, Choice, sample
from simtmm.report.trace_events.events import (
    COUNTER,
    FIRST_GROUP,
    FIRST_UNIT,
    LAUNCHES,
    RUN,
    WINDOWS,
    Events,
    counters_of,
    counters_of_machine,
    launches_of,
    roles_of,
    slices_of,
    units_of,
)
from simtmm.report.trace_events.text import Text
from simtmm.report.trace_events.traffic import MOST_COUNTERS, MOST_MEANS, process_of, traffic_of
from simtmm.result import Result
from simtmm.timeline import COPIES, Blocks

MOST_BYTES = 50_000_000  # of a file, before it is compressed: what a browser opens in seconds
MOST_CHANGES = 2000  # of the machine's counters; beyond that they are means
STRETCH = 1 << 16  # events that are turned into text at once


@dataclass(frozen=True)
class Written:
    """What a file has of a timeline.

    events: slices and counter values in it; names of tracks come on top. of: those of what was chosen. windows,
    share: of a sample, how many stretches of the chosen time it has, evenly spaced, and the part of it that they
    cover; 0 and 1 where nothing of what was chosen is left out. chosen: what was, in words; "" for all.
    """

    path: Path
    events: int
    of: int
    windows: int
    share: float
    chosen: str = ""

    @property
    def what(self) -> str:
        """What the file has, in words."""
        chosen = f"{self.chosen}: " if self.chosen else ""
        if self.events == self.of:
            return f"{chosen}{self.events:,} events"
        kept = f"{self.windows} evenly spaced windows" if self.windows > 1 else "one window from the start"
        return f"{chosen}a sample, {self.events:,} of {self.of:,} events, in {kept}, {self.share:.2%} of the time"

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "path": str(self.path),
            "events": self.events,
            "of": self.of,
            "sampled": self.events < self.of,
            "windows": self.windows,
            "share": self.share,
            "chosen": self.chosen,
        }


def write_timeline_of_run(path: str | Path, run: Run, most_events: int | None = None, choice: Choice = ALL) -> Written:
    """Write the timeline of a run with its program, parameters, blocks and kernels; see `write_timeline`.

    run: simulated with timeline=True.
    most_events: of the file; no limit if left out.
    """
    about = {"program": run.program, "parameters": dict(run.parameters), "provenance": dict(run.provenance)}
    kernels = [launch.kernel for launch in run.info.launches] if run.info else []
    return write_timeline(path, run.result, run.machine, about, most_events, choice, run.blocks, kernels)


def write_timeline(
    path: str | Path,
    result: Result,
    machine: Machine,
    about: Mapping[str, Any] | None = None,
    most_events: int | None = None,
    choice: Choice = ALL,
    blocks: Blocks | None = None,
    kernels: Sequence[str] = (),
) -> Written:
    """Write a result's timeline; compressed where the path ends in .gz.

    Times are in microseconds: ticks over the clock, to a millionth of a microsecond; where the machine has no clock, a
    tick is a microsecond. With `result.stalls`, slices say where in the program their warp is.

    about: goes into the file's `otherData`, where what is left out is described too.
    most_events: beyond that a sample is written: up to 100 windows of one length, evenly spaced over the run, each with
        all that begins in it; as many as make MOST_BYTES if left out.
    choice: core groups and cycles.
    blocks: which block and launch each warp belongs to; blocks stay unnamed without.
    kernels: of each launch its kernel's name.

    Raises OutputError where the result has no timeline, for most_events below 1, for core groups and cycles that are
    not there, and if the file can't be written.
    """
    timeline = result.timeline
    if timeline is None:
        raise OutputError(f"{path}: the result has no timeline: simulate with timeline=True")
    if most_events is not None and most_events < 1:
        raise OutputError(f"{path}: at most {most_events} events: must be at least 1")
    groups, (begin, end) = choice.mask(machine), choice.ticks(result)
    names = tuple(dict.fromkeys(kernels))
    kernel_of_launch = np.array([names.index(name) for name in kernels], np.int64)
    rows = groups[timeline.group] & (timeline.begin < end) & (timeline.end > begin)
    slices, looks = slices_of(timeline, result, blocks, kernel_of_launch, rows)
    places = result.stalls.places if result.stalls is not None else None
    room = MOST_MEANS * MOST_COUNTERS if most_events is None else most_events // 10
    traffic, counters = traffic_of(machine, result, begin, end, min(room, MOST_BYTES // 2000))
    text = Text(result, machine, looks, places, names, blocks is not None, counters)
    launches = launches_of(result, kernel_of_launch)
    launches = launches.where((launches.begin < end) & ((launches.end > begin) | (begin == 0)))
    beside = [units_of(result.units, groups, begin, end)] if result.units is not None else []
    detail = Events.together(launches, slices, *beside, counters_of(timeline, groups, begin, end))

    def overview(most: int) -> tuple[Events, float]:
        return counters_of_machine(timeline, begin, end, most)

    last = min(end, result.ticks)
    tracks = _tracks(Events.together(slices, *beside), machine, roles_of(slices, looks))
    if len(traffic):
        tracks += _named(process_of(machine), None, "bandwidth and hits, means", process_of(machine))
    spare = MOST_BYTES - text.sizes(traffic) - sum(len(json.dumps(entry)) + 2 for entry in tracks) - (1 << 16)
    most = None if most_events is None else most_events - len(traffic)
    events, total, windows, share, interval = _within(detail, overview, text, (begin, last), most, spare)
    events, total = Events.together(events, traffic), total + len(traffic)
    written = Written(Path(path), len(events), total, windows, share, choice.words(machine, result))
    other = {
        "machine": machine.name,
        "engine": result.engine,
        "ticks": result.ticks,
        "ticks_per_cycle": result.ticks_per_cycle,
        "clock_hz": result.clock_hz,
        "microsecond": "a tick" if result.clock_hz is None else "of the simulated machine's clock",
        "events": written.to_dict() | {"path": Path(path).name},
        "complete": written.what if written.events < written.of or written.chosen else "nothing is left out",
        "counters of the machine": _of_machine(interval, result, events.where(events.process == RUN)),
        **(about or {}),
    }
    with ExitStack() as stack:
        file = _opened(stack, Path(path))
        file.write('{"displayTimeUnit":"ns","otherData":')
        json.dump(_plain(other), file, allow_nan=False)
        file.write(',"traceEvents":[\n')
        shown = [*_named(RUN, None, "run", RUN), *_named(RUN, LAUNCHES, "launches", LAUNCHES)]
        if windows:
            shown += _named(RUN, WINDOWS, "windows of the sample, with everything that begins in them", WINDOWS)
        file.write(",\n".join(json.dumps(entry) for entry in [*shown, *tracks]))
        for first in range(0, len(events), STRETCH):
            file.write(text.of(events.where(slice(first, first + STRETCH))))
        file.write("\n]}\n")
    return written


def _within(
    detail: Events, overview: Any, text: Text, ticks: tuple[int, int], most: int | None, spare: int
) -> tuple[Events, int, int, float, float]:
    """What there is room for: events, how many there would be, windows, their share of the time, interval of means.

    overview: gives the machine's counters, at most so many. ticks: begin and end of what is chosen. most: events.
    spare: bytes, where no number of events is given.
    """
    machine, interval = overview(MOST_CHANGES)
    if most is not None:
        if len(machine) > most // 4 and len(detail) + len(machine) > most:
            machine, interval = overview(most // 4)
        fits = len(detail) + len(machine) <= most
    else:
        size = text.sizes(machine)
        if size > spare // 4 and text.sizes(detail) + size > spare:
            machine, interval = overview(max(0, len(machine) * spare // (4 * size)))
        fits = text.sizes(detail) + text.sizes(machine) <= spare
    total = len(detail) + len(machine)
    if fits or not len(detail):
        return Events.together(detail, machine), total, 0, 1.0, interval
    if most is not None:
        events, windows, share = sample(detail, *ticks, most - len(machine))
        return Events.together(events, machine), total, windows, share, interval
    room = spare - text.sizes(machine)
    most = len(detail) * room // text.sizes(detail)
    while True:
        events, windows, share = sample(detail, *ticks, max(1, min(most, len(detail) - 1)))
        size = text.sizes(events)
        if size <= room or most <= 1:
            return Events.together(events, machine), total, windows, share, interval
        most = most * room // size - 1


def _opened(stack: ExitStack, path: Path) -> TextIO:
    """The file to write, which is there once the stack is closed."""
    temporary = stack.enter_context(written_whole(path))
    if path.suffix != ".gz":
        return stack.enter_context(temporary.open("w", encoding="utf-8", errors="backslashreplace"))
    raw = stack.enter_context(temporary.open("wb"))
    packed = stack.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0))  # the same timeline, the same bytes
    return stack.enter_context(io.TextIOWrapper(packed, encoding="utf-8"))


def _of_machine(interval: float, result: Result, machine: Events) -> str:
    if interval:
        return f"means over {interval / result.ticks_per_cycle:,.4g} cycles each, over the whole chosen time"
    return "every change" if (machine.kind == COUNTER).any() else "none"


def _tracks(events: Events, machine: Machine, roles: Mapping[tuple[int, int], str]) -> list[dict[str, Any]]:
    """The names and the order of core groups, their slots, and what goes on beside them. roles: of slots."""
    tracks = np.unique(np.stack([events.process, events.thread]), axis=1).T.tolist()
    named: list[dict[str, Any]] = []
    for process in sorted({process for process, _ in tracks}):
        named += _named(process, None, f"core group {process - FIRST_GROUP}, {machine.name}", process)
    for process, thread in tracks:
        named += _named(process, thread, _track(thread, roles.get((process, thread), "")), thread)
    return named


def _track(thread: int, role: str) -> str:
    """The name of a track. role: of a slot's warps, if any."""
    if thread < FIRST_UNIT:
        return f"slot {thread - 1}" + (f": {role}" if role else "")
    pipe = thread - FIRST_UNIT - COPIES - 1
    return "TMA: copies in bulk under way" if pipe < 0 else f"tensor pipe {pipe}: products of matrices"


def _named(process: int, thread: int | None, name: str, place: int) -> Iterator[dict[str, Any]]:
    what = "process" if thread is None else "thread"
    where = {"ph": "M", "ts": 0, "pid": process} | ({} if thread is None else {"tid": thread})
    yield {**where, "name": f"{what}_name", "args": {"name": name}}
    yield {**where, "name": f"{what}_sort_index", "args": {"sort_index": place}}


def _plain(value: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not -inf < value < inf else value

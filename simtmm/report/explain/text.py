"""What a run spends its time on, by line of its source, by array, by launch and by reason."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.run.outcome import Run
from simtmm.report.explain.accesses import access_table
from simtmm.report.explain.code import NAMES, check_code, coded, left_out
from simtmm.report.explain.counted import counted
from simtmm.report.run import heading
from simtmm.report.stalls import LEAST, Line, by_reason, chunks_of, lines, reason_of
from simtmm.report.text import NO_VALUE, bar, number, seconds, share, table
from simtmm.stalls import COUNTS, REASONS, THREADS, Count, Place, Row, Stalls

BAR = 10
CONTEXT = 2  # lines of the source around one that has a share
MOST_LAUNCHES = 30
MOST_COUNTED = 30  # rows of what is counted
HEADINGS = ("", "", "", "mostly", "chunks", "threads", "L1", "L2", "")
LEFT = (0, 2, 3, 8)


def explained(
    run: Run,
    by: str = "line",
    top: int | None = None,
    instructions: bool = False,
    counts: bool = False,
    code: Sequence[str] = (),
) -> Iterator[RenderableType]:
    """The heading, the verdict, and a table.

    by: one of BY. top: the hottest so many lines alone, in order of their share; of the whole source if left out. So
        many arrays, launches or reasons, likewise.
    instructions: whether the compiled instructions of a line stand below it.
    counts: whether a second table says what is counted there.
    code: "sass", "ptx" or both, which stand below each line.

    Raises OutputError where the trace does not have such code.
    """
    for each in code:
        check_code(run, each)
    yield from heading(run)
    yield from tables(run, by, top, instructions, code)
    stalls = run.result.stalls
    if counts and by != "reason" and stalls is not None and stalls.ticks.any():
        yield ""
        yield from counted(run, _hottest(document(run, by), top or MOST_COUNTED), by)
        if by == "line":
            yield from access_table(run, top)


def _hottest(rows: Sequence[Row], top: int) -> list[Row]:
    """The rows that take longest, in their order."""

    def length(index: int) -> int:
        return int(rows[index]["launch_ticks" if "launch_ticks" in rows[index] else "ticks"])

    kept = sorted(range(len(rows)), key=length, reverse=True)[:top]
    return [rows[row] for row in sorted(kept)]


def tables(
    run: Run, by: str, top: int | None = None, instructions: bool = False, code: Sequence[str] = ()
) -> Iterator[RenderableType]:
    """The table alone; the arguments are those of `explained`."""
    stalls = run.result.stalls
    if stalls is None or not stalls.ticks.any():
        yield "No warp did anything."
    elif by == "array":
        yield _by_array(stalls, top)
    elif by == "launch":
        yield _by_launch(run, stalls, top)
    elif by == "reason":
        yield by_reason(stalls, top)
    else:
        below = [_Instructions(stalls)] if instructions else []
        yield from _by_line(run, stalls, top, [*below, *(_Code(run, each) for each in code)])
        for each in code:
            yield from left_out(run, each)


class _Below(Protocol):
    """What stands below a line."""

    def rows(self, line: Line) -> Iterator[tuple[str, ...]]:
        """Rows of the table."""
        ...


class _Instructions:
    """The instructions that the sites of a line are of, in their order."""

    def __init__(self, stalls: Stalls) -> None:
        self._stalls = stalls

    def rows(self, line: Line) -> Iterator[tuple[str, ...]]:
        whole = int(self._stalls.ticks.sum())
        of_instructions: dict[str, int] = {}
        for index in range(len(self._stalls.places)):
            place, _ = self._stalls.places.place(index)
            if place.instruction and (place.file, place.line) == (line.place.file, line.place.line):
                ticks = int(self._stalls.ticks[index].sum())
                of_instructions[place.instruction] = of_instructions.get(place.instruction, 0) + ticks
        for instruction, ticks in of_instructions.items():
            yield "", share(ticks, whole), bar(ticks, whole, BAR), "", "", "", "", "", f"    {instruction}"


class _Code:
    """All of a line's PTX or SASS: with the times that warps did it, and what a site's takes where it ends."""

    def __init__(self, run: Run, code: str) -> None:
        stalls = run.result.stalls
        self._name = NAMES[code]
        self._of_lines = coded(run, code)
        self._whole = 0 if stalls is None else int(stalls.ticks.sum())

    def rows(self, line: Line) -> Iterator[tuple[str, ...]]:
        found = self._of_lines.get((line.place.file, line.place.line), []) if line.place.line else []
        kernels = len({each.kernel for each in found})
        before = ""
        for each in found:
            head = f"{self._name} of {each.kernel}" if kernels > 1 else self._name
            if head != before:
                yield "", "", "", "", "", "", "", "", f"  {head}"
            before = head
            own = None if each.ticks is None else int(each.ticks.sum())
            times = "" if each.times is None else f"{each.times:,} times"
            label = times if each.ticks is None or not own else f"{times}, {reason_of(each.ticks)}".removeprefix(", ")
            shown = ("", "") if not own else (share(own, self._whole), bar(own, self._whole, BAR))
            yield "", *shown, label, "", "", "", "", f"    {each.text}"


def _by_line(run: Run, stalls: Stalls, top: int | None, below: Sequence[_Below]) -> Iterator[RenderableType]:
    found = lines(stalls)
    if top is not None:
        title = f"The hottest {min(top, len(found))} of {len(found)} lines"
        rows = [
            row for line in found[:top] for row in (_row(line), *(row for part in below for row in part.rows(line)))
        ]
        yield table(title, HEADINGS, rows, LEFT, 2)
        return
    files = list(dict.fromkeys(line.place.file for line in found if line.place.line))
    for name in files:
        own = {line.place.line: line for line in found if line.place.file == name and line.place.line}
        rows = list(_source(own, run.sources.get(name, ()), below))
        yield table(name, HEADINGS, rows, LEFT, 2)
        yield ""
    others = [line for line in found if not line.place.line and line.share >= LEAST]
    if others:
        title = "Without a line" if files else "Operations"
        yield table(title, HEADINGS, [_row(line) for line in others], LEFT, 2)
    if files and not run.sources:
        yield "A trace has only the source lines that its events come from."


def _source(own: Mapping[int, Line], text: Sequence[str], below: Sequence[_Below]) -> Iterator[tuple[str, ...]]:
    """The lines of a file: those with a share, and those around them."""
    shown = sorted({other for line in own for other in range(line - CONTEXT, line + CONTEXT + 1) if other >= 1})
    before = 0
    for number_ in shown:
        if number_ not in own and not text[number_ - 1 : number_]:
            continue
        if before and number_ > before + 1:
            yield ("...", *[""] * 8)
        before = number_
        source = text[number_ - 1] if number_ <= len(text) else own[number_].place.source
        if number_ not in own:
            yield (str(number_), *[""] * 7, source)
            continue
        yield (str(number_), *_row(own[number_])[1:-1], source)
        for part in below:
            yield from part.rows(own[number_])


def _row(line: Line) -> tuple[str, ...]:
    """A line: where, its share as number and bar, the main reason, and what an access of it is like."""
    at = f"{line.place.file}:{line.place.line}" if line.place.line else line.place.kind
    times, threads = int(line.threads[0]), int(line.threads[1])
    return (
        at,
        share(line.share, 1),
        bar(line.share, 1, BAR),
        reason_of(line.ticks),
        chunks_of(line),
        number(threads / times) if times else "",
        _hits(line, Count.L1_HITS),
        _hits(line, Count.L2_HITS),
        line.place.source,
    )


def _hits(line: Line, cache: Count) -> str:
    """The part of the chunks that come to a cache and are found there."""
    chunks = int(line.counts[Count.CHUNKS])
    if cache == Count.L2_HITS:
        chunks -= int(line.counts[Count.L1_HITS]) + int(line.counts[Count.SHARED_L1_HITS])
    hits = int(line.counts[cache])
    return share(hits, chunks) if hits and chunks else ""


def _by_array(stalls: Stalls, top: int | None) -> RenderableType:
    """Arrays, those with most of the time first."""
    whole = int(stalls.ticks.sum())
    rows = []
    for row in [row for row in stalls.summed("array") if row["array"]][:top]:
        ticks, counts = (np.array([row[name] for name in names], np.int64) for names in (REASONS, COUNTS))
        line = Line(Place(""), (row["array"],), ticks, counts, np.zeros(len(THREADS), np.int64), 0.0)
        rows.append(
            (
                row["array"], share(row["ticks"], whole), bar(row["ticks"], whole, BAR), reason_of(ticks),
                NO_VALUE if row["bytes_asked"] is None else f"{row['bytes_asked']:,}", f"{row['requests']:,}",
                f"{row['chunks']:,}", chunks_of(line), _hits(line, Count.L1_HITS), _hits(line, Count.L2_HITS),
            )
        )  # fmt: skip
    if not rows:
        return Text("Arrays are unknown: only a trace names them.")
    headings = ("", "", "", "mostly", "bytes asked for", "requests", "chunks", "a request", "L1", "L2")
    return table("Arrays, of warps' time", headings, rows, left=(0, 2, 3), gap=2)


def _by_launch(run: Run, stalls: Stalls, top: int | None) -> RenderableType:
    """Launches in order; of very many those that take longest."""
    result = run.result
    ticks = np.array(result.launch_ticks, dtype=object)
    longest = sorted(range(len(ticks)), key=lambda launch: -ticks[launch])
    chosen = longest[:top] if top is not None else sorted(longest[:MOST_LAUNCHES])
    rows = []
    for launch in chosen:
        own = int(ticks[launch])
        cycles = own / result.ticks_per_cycle
        time = None if result.clock_hz is None else cycles / result.clock_hz
        name = run.info.launches[launch].kernel if run.info else ""
        rows.append(
            (
                str(launch), name, number(cycles), seconds(time), share(own, result.ticks),
                bar(own, result.ticks, BAR), reason_of(stalls.launches[launch]),
            )
        )  # fmt: skip
    some = f", the longest {len(chosen)} of {len(ticks)}" if len(ticks) > len(chosen) else ""
    headings = ("", "kernel", "cycles", "time", "", "", "warps mostly")
    return table(f"Launches{some}", headings, rows, left=(1, 5, 6), gap=2)


def document(run: Run, by: str) -> Sequence[Row]:
    """The rows of such a table, for JSON and CSV.

    by: what its rows are, as "line".
    """
    result = run.result
    if result.stalls is None:
        return []
    if by == "launch":
        kernels = [launch.kernel for launch in run.info.launches] if run.info else [""] * len(result.launch_ticks)
        return [{"kernel": kernel, **row} for kernel, row in zip(kernels, result.launches, strict=True)]
    return result.lines if by == "line" else result.arrays if by == "array" else result.stalls.summed(by)

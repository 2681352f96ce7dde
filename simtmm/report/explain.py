"""What a run spends its time on, by line of its source, by array, by launch and by reason."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.run import Run
from simtmm.report.run import heading
from simtmm.report.stalls import LEAST, Line, by_reason, chunks_of, lines, reason_of
from simtmm.report.text import NO_VALUE, bar, number, seconds, share, table
from simtmm.stalls import COUNTS, REASONS, Count, Place, Stalls

BY = ("line", "array", "launch", "reason")
BAR = 10
CONTEXT = 2  # lines of the source around one that has a share
MOST_LAUNCHES = 30
HEADINGS = ("", "", "", "mostly", "chunks", "threads", "L1", "L2", "")
LEFT = (0, 2, 3, 8)


def explained(
    run: Run, by: str = "line", top: int | None = None, instructions: bool = False
) -> Iterator[RenderableType]:
    """The heading, the verdict, and a table.

    by: one of BY. top: the hottest so many lines alone, in order of their share; of the whole source if left out.
    instructions: whether those that the compiler made of a line stand below it.
    """
    yield from heading(run)
    stalls = run.result.stalls
    if stalls is None or not stalls.ticks.any():
        yield "No warp did anything."
    elif by == "array":
        yield _by_array(stalls)
    elif by == "launch":
        yield _by_launch(run, stalls)
    elif by == "reason":
        yield by_reason(stalls)
    else:
        yield from _by_line(run, stalls, top, instructions)


def _by_line(run: Run, stalls: Stalls, top: int | None, instructions: bool) -> Iterator[RenderableType]:
    found = lines(stalls)
    if top is not None:
        title = f"The hottest {min(top, len(found))} of {len(found)} lines"
        yield table(title, HEADINGS, [_row(line) for line in found[:top]], LEFT, 2)
        return
    files = list(dict.fromkeys(line.place.file for line in found if line.place.line))
    for name in files:
        own = {line.place.line: line for line in found if line.place.file == name and line.place.line}
        rows = list(_source(own, run.sources.get(name, ()), instructions, stalls))
        yield table(name, HEADINGS, rows, LEFT, 2)
        yield ""
    others = [line for line in found if not line.place.line and line.share >= LEAST]
    if others:
        title = "Without a line" if files else "Operations"
        yield table(title, HEADINGS, [_row(line) for line in others], LEFT, 2)
    if files and not run.sources:
        yield "A trace has the text of those lines alone that its events come from."


def _source(
    own: Mapping[int, Line], text: Sequence[str], instructions: bool, stalls: Stalls
) -> Iterator[tuple[str, ...]]:
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
        if instructions:
            yield from _instructions(own[number_], stalls)


def _instructions(line: Line, stalls: Stalls) -> Iterator[tuple[str, ...]]:
    """What the compiler made of a line, in the order of the sites."""
    whole = int(stalls.ticks.sum())
    of_instructions: dict[str, int] = {}
    for index in range(len(stalls.places)):
        place, _ = stalls.places.place(index)
        if place.instruction and (place.file, place.line) == (line.place.file, line.place.line):
            ticks = int(stalls.ticks[index].sum())
            of_instructions[place.instruction] = of_instructions.get(place.instruction, 0) + ticks
    for instruction, ticks in of_instructions.items():
        yield "", share(ticks, whole), bar(ticks, whole, BAR), "", "", "", "", "", f"    {instruction}"


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
        chunks -= int(line.counts[Count.L1_HITS])
    hits = int(line.counts[cache])
    return share(hits, chunks) if hits and chunks else ""


def _by_array(stalls: Stalls) -> RenderableType:
    """Arrays, those with most of the time first."""
    whole = int(stalls.ticks.sum())
    rows = []
    for row in stalls.summed("array"):
        if not row["array"]:
            continue
        ticks, counts = (np.array([row[name] for name in names], np.int64) for names in (REASONS, COUNTS))
        line = Line(Place(""), (row["array"],), ticks, counts, np.zeros(3, np.int64), 0.0)
        rows.append(
            (
                row["array"], share(row["ticks"], whole), bar(row["ticks"], whole, BAR), reason_of(ticks),
                NO_VALUE if row["bytes_asked"] is None else f"{row['bytes_asked']:,}", f"{row['requests']:,}",
                f"{row['chunks']:,}", chunks_of(line), _hits(line, Count.L1_HITS), _hits(line, Count.L2_HITS),
            )
        )  # fmt: skip
    if not rows:
        return Text("Nothing is known of arrays: only a trace tells them.")
    headings = ("", "", "", "mostly", "bytes asked for", "requests", "chunks", "a request", "L1", "L2")
    return table("Arrays, of warps' time", headings, rows, left=(0, 2, 3), gap=2)


def _by_launch(run: Run, stalls: Stalls) -> RenderableType:
    """Launches in order; of very many those that take longest."""
    result = run.result
    ticks = np.array(result.launch_ticks, dtype=object)
    chosen = sorted(sorted(range(len(ticks)), key=lambda launch: -ticks[launch])[:MOST_LAUNCHES])
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
    some = f", the longest {MOST_LAUNCHES} of {len(ticks)}" if len(ticks) > len(chosen) else ""
    headings = ("", "kernel", "cycles", "time", "", "", "warps mostly")
    return table(f"Launches{some}", headings, rows, left=(1, 5, 6), gap=2)


def document(run: Run, by: str) -> list[dict[str, object]]:
    """The rows of such a table, for JSON and CSV."""
    if run.result.stalls is None:
        return []
    return run.result.launches if by == "launch" else run.result.stalls.summed(by)

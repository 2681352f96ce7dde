"""What warps wait for, as a person reads it: by reason, by line, by array and by launch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rich.console import RenderableType

from simtmm.report.text import bar, number, share, table
from simtmm.result import Result
from simtmm.stalls import THREADS, Count, Place, Reason, Stalls

Integers = npt.NDArray[np.int64]

WHAT_WARPS_DO = {
    Reason.ISSUING: ("issuing", "selected", "an instruction has a port"),
    Reason.NOT_GRANTED: ("not granted", "not_selected", "ready, while others have the ports"),
    Reason.INSTRUCTION_LATENCY: ("instruction latency", "wait", "the pipeline, and stalls of the instruction itself"),
    Reason.BANK_CONFLICTS: ("bank conflicts", "short_scoreboard, mio_throttle", "another access to shared memory"),
    Reason.PORT_QUEUE: ("queue at the port", "lg_throttle", "others of the core group have the memory port"),
    Reason.SHARED_L1_QUEUE: ("queue at the shared L1", "long_scoreboard", "others have the L1 that its group shares"),
    Reason.L2_QUEUE: ("queue at the L2", "long_scoreboard", "others have its slice of the L2"),
    Reason.LAST_LEVEL_QUEUE: (
        "queue at the last level",
        "long_scoreboard",
        "others have its slice of the last-level cache",
    ),
    Reason.MEMORY_QUEUE: ("queue at memory", "long_scoreboard", "others have its partition: bandwidth"),
    Reason.ATOMICS_QUEUE: (
        "queue of atomics",
        "long_scoreboard",
        "an atomic, or waiting for one at its partition or slice",
    ),
    Reason.TURNAROUND: ("turnaround", "long_scoreboard", "its partition switches between reads and writes"),
    Reason.ROWS: ("rows", "long_scoreboard", "its partition opens a row"),
    Reason.L1_LATENCY: ("L1 latency", "long_scoreboard", "a hit in the L1"),
    Reason.SHARED_L1_LATENCY: ("shared L1 latency", "long_scoreboard", "a hit in the L1 that its group shares"),
    Reason.L2_LATENCY: ("L2 latency", "long_scoreboard", "a hit in the L2"),
    Reason.LAST_LEVEL_LATENCY: ("last-level latency", "long_scoreboard", "a hit in the last-level cache"),
    Reason.MEMORY_LATENCY: ("memory latency", "long_scoreboard", "global memory, without a queue"),
    Reason.LINE_IN_FLIGHT: ("line in flight", "long_scoreboard", "another access brings the line"),
    Reason.FIRST_ACCESS: ("first access", "long_scoreboard", "translations of the core group's first accesses"),
    Reason.OUTSTANDING: ("outstanding", "lg_throttle", "all loads that may be in flight are"),
    Reason.BARRIER: ("barrier", "barrier", "other warps of the block"),
    Reason.MBARRIER: ("mbarrier", "barrier", "other warps have yet to arrive there"),
    Reason.COPIES: ("copies in bulk", "barrier", "at an mbarrier, for bytes that are under way: their latency"),
    Reason.PRODUCER: ("producer", "barrier", "at an mbarrier: the copy that it waits for has yet to begin"),
    Reason.CONSUMER: ("consumer", "barrier", "at an mbarrier, with copies to begin: a stage is not yet free"),
    Reason.REGISTERS: ("registers", "-", "other warps of the block have yet to give them back"),
    Reason.PIPE_QUEUE: ("queue at the pipe", "math_pipe_throttle", "the pipe of its instructions' class is taken"),
    Reason.LAUNCH: ("launch", "-", "placed, but not started"),
}
"""Of each reason its name, what Nsight Compute calls it, and what the warp does meanwhile."""

LEAST = 0.005  # of warps' ticks: a reason or a line with less is not shown
MOST_LINES = 8
MOST_REASONS = 3
MBARRIER = "mbarrier "
"""How the names of mbarriers begin among those of arrays."""


def stalled(result: Result) -> Iterator[RenderableType]:
    """What warps do, and the lines at which they spend most."""
    if result.stalls is None or not result.stalls.ticks.any():
        return
    yield by_reason(result.stalls)
    yield ""
    hottest = lines(result.stalls)
    if hottest and any(line.place.line for line in hottest):
        shown = hottest[:MOST_LINES]
        more = f", the first {MOST_LINES} of {len(hottest)}" if len(hottest) > MOST_LINES else ""
        yield by_line(shown, f"Where in the program{more}")
        yield ""
    waits = at_mbarriers(result.stalls)
    if any(wait.share >= LEAST for wait in waits):
        yield by_mbarrier(waits)
        yield ""


def by_reason(stalls: Stalls, top: int | None = None) -> RenderableType:
    """The reasons, the longest first. top: so many alone."""
    ticks = stalls.ticks.sum(axis=0)
    whole = int(ticks.sum())
    rows = []
    for reason in sorted(Reason, key=lambda reason: -int(ticks[reason]))[:top]:
        name, others, what = WHAT_WARPS_DO[reason]
        own = int(ticks[reason])
        if own >= LEAST * whole:
            rows.append((name, share(own, whole), bar(own, whole).ljust(24), what, others))
    columns = ("", "", "", "", "in Nsight Compute")
    return table("What warps do, of their time", columns, rows, left=(0, 2, 3, 4))


@dataclass(frozen=True)
class Line:
    """A line of the program, or what has none. ticks: int64[REASONS]. counts: int64[COUNTS]. share: of warps' ticks.

    arrays: what is accessed there. threads: int64[THREADS], as in Places.
    """

    place: Place
    arrays: tuple[str, ...]
    ticks: Integers
    counts: Integers
    threads: Integers
    share: float


def lines(stalls: Stalls) -> list[Line]:
    """The lines where warps spend any time, the hottest first."""
    found: dict[tuple[str, int, str], list[int]] = {}
    of_numbers = [stalls.places.place(number) for number in range(len(stalls.places))]
    for index in np.flatnonzero(stalls.ticks[:-1].any(axis=1) | stalls.counts[:-1].any(axis=1)).tolist():
        place, _ = of_numbers[index]
        found.setdefault((place.file, place.line, "" if place.line else place.kind), []).append(index)
    whole = max(1, int(stalls.ticks.sum()))
    threads = stalls.places.threads
    entries = [
        Line(
            place=of_numbers[rows[0]][0],
            arrays=tuple(dict.fromkeys(of_numbers[row][1] for row in rows if of_numbers[row][1])),
            ticks=stalls.ticks[rows].sum(axis=0),
            counts=stalls.counts[rows].sum(axis=0),
            threads=threads[rows].sum(axis=0) if threads is not None else np.zeros(len(THREADS), np.int64),
            share=int(stalls.ticks[rows].sum()) / whole,
        )
        for rows in found.values()
    ]
    return sorted(entries, key=lambda line: -line.share)


@dataclass(frozen=True)
class Mbarrier:
    """Waits at an mbarrier, of all blocks together.

    name: by the byte of shared memory at which it lies. lines: where warps wait there, most first. ticks:
    int64[REASONS]. share: of warps' ticks.
    """

    name: str
    lines: tuple[str, ...]
    ticks: Integers
    share: float


def at_mbarriers(stalls: Stalls) -> list[Mbarrier]:
    """The mbarriers at which warps wait, in the order in which they lie in shared memory."""
    arrays = stalls.places.arrays
    whole = max(1, int(stalls.ticks.sum()))
    waits = stalls.ticks[:-1].copy()
    waits[:, Reason.ISSUING] = waits[:, Reason.NOT_GRANTED] = 0
    found = []
    for column, name in enumerate(arrays):
        of_sites = waits[column :: len(arrays)]
        if not name.startswith(MBARRIER) or not of_sites.any():
            continue
        sites = np.argsort(-of_sites.sum(axis=1), kind="stable")[: np.count_nonzero(of_sites.any(axis=1))]
        places = [stalls.places.sites[site] for site in sites.tolist()]
        where = dict.fromkeys(f"{place.file}:{place.line}" if place.line else place.kind for place in places)
        ticks = of_sites.sum(axis=0)
        found.append(Mbarrier(name, tuple(where), ticks, int(ticks.sum()) / whole))
    return found


def by_mbarrier(waits: Sequence[Mbarrier]) -> RenderableType:
    """Mbarriers with their share of the time, its reasons, and the lines that wait there."""
    rows = []
    for wait in waits:
        if wait.share >= LEAST:
            reasons = [Reason(each) for each in np.argsort(-wait.ticks, kind="stable").tolist()]
            told = [
                f"{WHAT_WARPS_DO[reason][0]} {share(int(wait.ticks[reason]), int(wait.ticks.sum()))}"
                for reason in reasons[:MOST_REASONS]
                if wait.ticks[reason] >= LEAST * wait.ticks.sum()
            ]
            rows.append((wait.name, share(wait.share, 1), ", ".join(told), ", ".join(wait.lines[:MOST_REASONS])))
    return table("Waits at mbarriers, by where they lie in shared memory", ("", "", "for", "at"), rows, left=(0, 2, 3))


def by_line(shown: Sequence[Line], title: str) -> RenderableType:
    """Lines with their share of the time and its main reason."""
    rows = []
    for line in shown:
        if line.share < LEAST:
            continue
        at = f"{line.place.file}:{line.place.line}" if line.place.line else line.place.kind
        rows.append((at, share(line.share, 1), reason_of(line.ticks), chunks_of(line), line.place.source[:70]))
    return table(title, ("", "", "mostly", "chunks a request", ""), rows, left=(0, 2, 4))


def reason_of(ticks: Integers) -> str:
    """The reason with most ticks, and its part of them."""
    whole = int(ticks.sum())
    if not whole:
        return ""
    most = Reason(int(ticks.argmax()))
    return f"{WHAT_WARPS_DO[most][0]} {share(int(ticks[most]), whole)}"


def chunks_of(line: Line) -> str:
    """Chunks that a memory instruction lists, on average."""
    requests = int(line.counts[Count.REQUESTS])
    return number(int(line.counts[Count.CHUNKS]) / requests) if requests else ""

"""What binds a run: causes, the part of the time that each accounts for, and the place in the program where it does."""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import ATOMICS as KINDS_OF_ATOMICS
from simtmm.stalls import STORES as KINDS_OF_STORES
from simtmm.stalls import Count, Reason, Stalls
from simtmm.trace.streamed import AnyWorkload

MEMORY_BANDWIDTH, L2_BANDWIDTH, PORT_BANDWIDTH = "memory bandwidth", "L2 bandwidth", "bandwidth of the memory ports"
SHARED_L1_BANDWIDTH, LAST_LEVEL_BANDWIDTH = "shared L1 bandwidth", "last-level cache bandwidth"
ATOMICS, LATENCY, SHARED_MEMORY = "atomics", "memory latency", "shared memory"
ISSUE, DEPENDENCE, BARRIERS = "instruction issue", "dependent instructions", "barriers"
PIPES = "instruction pipes"
GROUPS_PATH = "a core group's path to memory"  # of memory bandwidth, where what all groups share is not what binds
BLOCK_STARTS = "starts of blocks"  # of launches, where what they cost beside is not what binds
LAUNCHES, FEW_BLOCKS, TAIL, UNEVEN = "launches", "too few blocks", "the tail", "uneven blocks"
IDLE = "no blocks"  # among shares, in the place of the last three of these
PLURALS = (ATOMICS, DEPENDENCE, BARRIERS, LAUNCHES, PIPES, BLOCK_STARTS)  # names of several things

REASONS_OF: dict[str, tuple[Reason, ...]] = {
    MEMORY_BANDWIDTH: (Reason.MEMORY_QUEUE, Reason.TURNAROUND, Reason.ROWS),
    SHARED_L1_BANDWIDTH: (Reason.SHARED_L1_QUEUE,),
    L2_BANDWIDTH: (Reason.L2_QUEUE,),
    LAST_LEVEL_BANDWIDTH: (Reason.LAST_LEVEL_QUEUE,),
    PORT_BANDWIDTH: (Reason.PORT_QUEUE,),
    ATOMICS: (Reason.ATOMICS_QUEUE,),
    LATENCY: (
        Reason.L1_LATENCY,
        Reason.SHARED_L1_LATENCY,
        Reason.L2_LATENCY,
        Reason.LAST_LEVEL_LATENCY,
        Reason.MEMORY_LATENCY,
        Reason.LINE_IN_FLIGHT,
        Reason.FIRST_ACCESS,
        Reason.OUTSTANDING,
        Reason.COPIES,
    ),
    SHARED_MEMORY: (Reason.BANK_CONFLICTS,),
    ISSUE: (Reason.ISSUING,),
    PIPES: (Reason.PIPE_QUEUE,),
    DEPENDENCE: (Reason.INSTRUCTION_LATENCY,),
    BARRIERS: (Reason.BARRIER, Reason.MBARRIER, Reason.PRODUCER, Reason.CONSUMER, Reason.REGISTERS),
    LAUNCHES: (Reason.LAUNCH,),
}
"""What warps' ticks are booked to, by cause; too few blocks and the tail are core groups without warps."""

CONTENDED = (
    Reason.NOT_GRANTED,
    Reason.BANK_CONFLICTS,
    Reason.PORT_QUEUE,
    Reason.PIPE_QUEUE,
)  # waits that more groups would share
FILLED = (MEMORY_BANDWIDTH, LAST_LEVEL_BANDWIDTH, L2_BANDWIDTH, SHARED_L1_BANDWIDTH, PORT_BANDWIDTH)
"""Units that what one place asks for holds others up at."""
KINDS_OF_BARRIERS = ("barrier", "sync")
KINDS_OF_SHARED = ("shared_load", "shared_store", "shared_atomic", "shared")
MOSTLY = 0.5
CLEARLY = 0.25
NEARLY_ALL = 2 / 3  # of the time: where starting a launch takes that, its kernel is not what is slow


@dataclass(frozen=True)
class Where:
    """A line of a program, and its part in a cause: of what goes through the unit that others wait for, or of the time
    that is spent on the cause. line: 0 if unknown.

    array: of those that are accessed there the one with most of it. waiting: the line that waits most, as
    "file:line (array)", where another one fills what it waits for; else "".
    """

    file: str
    line: int
    source: str
    array: str
    share: float
    waiting: str = ""

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}" if self.line else self.source
        return f"{at} ({self.array})" if self.array else at


def shares(machine: Machine, result: Result) -> dict[str, float]:
    """The part of the time of a run that each cause accounts for, by what its warps wait for, the greatest first.

    The time of launches' overheads is theirs; that of groups without warps stands under IDLE; the rest is shared among
    causes as warps' ticks are. They add up to 1. Empty for a run that takes no time.
    """
    stalls, time = result.stalls, result.time
    assert stalls is not None
    assert time is not None
    if not result.ticks:
        return {}
    overhead = machine.durations.overheads(len(result.launch_ticks), result.launches_in_graph) / result.ticks
    whole = sum(time.values())
    empty = time["empty"] / whole if whole else 0.0
    ticks = stalls.ticks.sum(axis=0)
    of_warps = int(ticks.sum())
    of_causes = {cause: float(_of_places(stalls, cause).sum()) for cause in REASONS_OF}
    # Who is not granted a port waits for those that have one.
    not_granted, part = int(ticks[Reason.NOT_GRANTED]), issuing_part(result)
    of_causes[ISSUE] += not_granted * part
    of_causes[SHARED_MEMORY] += not_granted * (1 - part)
    found = {
        cause: (1 - overhead) * (1 - empty) * own / of_warps if of_warps else 0.0 for cause, own in of_causes.items()
    }
    found[LAUNCHES] += overhead
    found[IDLE] = (1 - overhead) * empty
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


def set_apart(machine: Machine, result: Result) -> float:
    """The part of the time that starting its only launch takes, where the kernel is what is asked about.

    0 for several launches, of which there could be fewer; and where that is nearly all, which no kernel could help.
    """
    if len(result.launch_ticks) != 1 or not result.ticks:
        return 0.0
    overhead = machine.durations.overheads(1, result.launches_in_graph) / result.ticks
    return overhead if overhead < NEARLY_ALL else 0.0


def _of_places(stalls: Stalls, cause: str) -> npt.NDArray[np.int64]:
    """The ticks that a cause accounts for, by place: what warps wait out behind a barrier is the barrier's."""
    found: npt.NDArray[np.int64] = stalls.ticks[:, list(REASONS_OF.get(cause, ()))].sum(axis=1)
    if cause in (BARRIERS, DEPENDENCE):
        of_places = found[: len(stalls.places)]
        are_barriers = stalls.places.are_of(KINDS_OF_BARRIERS)
        behind = stalls.ticks[: len(stalls.places), Reason.INSTRUCTION_LATENCY] * are_barriers
        of_places += behind if cause == BARRIERS else -behind
    return found


def issuing_part(result: Result) -> float:
    """Of the ticks that ports are held, those in which an instruction issues; the others are bank conflicts."""
    assert result.stalls is not None
    ticks = result.stalls.ticks.sum(axis=0)
    held = int(ticks[Reason.ISSUING] + ticks[Reason.BANK_CONFLICTS])
    return int(ticks[Reason.ISSUING]) / held if held else 1.0


def idle_cause(machine: Machine, result: Result, workload: AnyWorkload) -> str | None:
    """Too few blocks or the tail, where it is core groups without warps that the time goes to; else None.

    Groups that no block is left for could only help where warps are in one another's way.
    """
    stalls, time = result.stalls, result.time
    assert stalls is not None
    assert time is not None
    whole, of_warps = sum(time.values()), int(stalls.ticks.sum())
    if not whole or not of_warps or time["empty"] < MOSTLY * whole:
        return None
    longest = longest_launch(result)
    blocks = int(workload.launch_blocks[longest + 1] - workload.launch_blocks[longest])
    if blocks >= machine.cores.groups:
        return TAIL
    contended = int(stalls.ticks[:, list(CONTENDED)].sum())
    return FEW_BLOCKS if contended >= CLEARLY * of_warps else None


def longest_launch(result: Result) -> int:
    """The number of the launch that takes most of the time."""
    return max(range(len(result.launch_ticks)), key=lambda launch: result.launch_ticks[launch])


def where(result: Result, cause: str) -> Where | None:
    """The place with most of a cause; None for what no place has a part in.

    Of a unit's bandwidth the place that most of what goes through the unit is for: who waits there is in its way. Of
    updates that no warp waits for, which no ticks are booked to, the place that lists most.

    cause: what binds, one of the causes' names.
    """
    stalls = result.stalls
    assert stalls is not None
    cause = MEMORY_BANDWIDTH if cause == GROUPS_PATH else cause
    of_places = _of_places(stalls, cause)[: len(stalls.places)]
    if cause == ATOMICS and not of_places[are_atomics := stalls.places.are_of(KINDS_OF_ATOMICS)].any():
        of_places = stalls.counts[: len(stalls.places), Count.CHUNKS] * are_atomics
    if cause == SHARED_MEMORY and not of_places.any():  # who waits for passes of the banks waits at the port
        of_places = stalls.counts[: len(stalls.places), Count.CONFLICTS]
    waiting = _most(stalls, of_places)
    filling = _most(stalls, _filled_by(stalls, cause)) if of_places.any() and cause in FILLED else None
    if filling is None or waiting is None:
        return waiting
    is_same = (filling.file, filling.line, filling.source, filling.array) == (
        waiting.file, waiting.line, waiting.source, waiting.array,
    )  # fmt: skip
    return filling if is_same else replace(filling, waiting=str(waiting))


def _filled_by(stalls: Stalls, cause: str) -> npt.NDArray[np.int64]:
    """What goes through the unit of a cause, by place: chunks and passes at the memory ports, and sectors below."""
    counts, levels = stalls.counts[: len(stalls.places)], stalls.levels
    if cause == PORT_BANDWIDTH:
        passes: npt.NDArray[np.int64] = counts[:, Count.CHUNKS].copy()
        queued = stalls.ticks[: len(stalls.places), Reason.PORT_QUEUE] > 0
        passes += (counts[:, Count.INSTRUCTIONS] + counts[:, Count.CONFLICTS]) * (
            queued & stalls.places.are_of(KINDS_OF_SHARED)
        )
        return passes
    if cause == L2_BANDWIDTH:
        return counts[:, Count.L2_SECTORS]
    if cause == LAST_LEVEL_BANDWIDTH:
        return counts[:, Count.LAST_LEVEL_SECTORS]
    if cause == SHARED_L1_BANDWIDTH:
        return counts[:, Count.SHARED_L1_SECTORS]
    found: npt.NDArray[np.int64] = counts[:, Count.MEMORY_SECTORS].copy()
    if levels is not None and levels.stores_stay:  # they go to memory later, when their lines fall out
        found += counts[:, Count.L2_SECTORS] * stalls.places.are_of(KINDS_OF_STORES)
    return found


def busiest(stalls: Stalls, of_places: npt.NDArray[np.int64]) -> Where | None:
    """The line with most of something, and of the arrays that it names the one with most; None where there is none.

    stalls: of a run. of_places: int64[places], how much of it each place has.
    """
    found = _most(stalls, of_places)
    if found is None or found.array:
        return found
    named: Counter[str] = Counter()
    for number in of_places.nonzero()[0].tolist():
        place, array = stalls.places.place(number)
        if array and (place.file, place.line) == (found.file, found.line):
            named[array] += int(of_places[number])
    return replace(found, array=named.most_common(1)[0][0]) if named and found.line else found


def _most(stalls: Stalls, of_places: npt.NDArray[np.int64]) -> Where | None:
    """The line with most of something, given by place; None where there is none of it.

    What has no line (functions that compilers bring along) comes after a line with half as much.
    """
    if not of_places.any():
        return None
    of_lines: defaultdict[tuple[str, int, str], Counter[str]] = defaultdict(Counter)
    for number in of_places.nonzero()[0].tolist():
        place, array = stalls.places.place(number)
        of_lines[place.file, place.line, place.source or place.kind][array] += int(of_places[number])
    (file, line, source), arrays = max(of_lines.items(), key=lambda entry: entry[1].total() * (2 if entry[0][1] else 1))
    return Where(file, line, source, arrays.most_common(1)[0][0], arrays.total() / int(of_places.sum()))

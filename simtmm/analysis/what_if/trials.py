"""Each change tried: how much faster the run would be with it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simtmm.analysis.cost import cost
from simtmm.analysis.source_changes.changes import evened_out
from simtmm.analysis.source_changes.operations import Operations
from simtmm.analysis.source_changes.uneven import pieces, uneven
from simtmm.analysis.waves import in_waves
from simtmm.analysis.what_if.changes import CHANGES, MORE_WARPS, NARROWER, Change, joined
from simtmm.analysis.what_if.speedups import Speedups
from simtmm.engine import causes, known_cycles
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import CLASSES, Count
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import OF_CLASS, REDUCE, Workload

SECONDS = 3.0  # for all of them together
ALONE = 0.2  # of the time: where no cause alone has as much, several are named together, if that helps at all
HELPS = 1.1  # a speedup that is worth being called help
OF_SEVERAL = (
    0.1  # of the time in which core groups have blocks: a cause with less of it does not bind together with others
)
TOGETHER = 4  # simulations, at least, that relieve several causes where none helps alone, however long they take
AS_GOOD = 0.97  # of a speedup: a cause without which it is that is not named
RELIEVED = (  # together: what is on the way to memory, and what instructions wait for
    (causes.LATENCY, causes.MEMORY_BANDWIDTH, causes.L2_BANDWIDTH, causes.PORT_BANDWIDTH),
    (causes.ISSUE, causes.PIPES, causes.DEPENDENCE),
)
NO_COST = (MORE_WARPS, causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN)  # what a verdict judges apart
NEARLY_ALL = 0.8  # of the time that pipes take
WORTH_TRYING = 0.02  # of the time: a cause with less of it is not tried


@dataclass(frozen=True)
class WhatIf:
    """How much faster a run would be. cause: what is changed. words: how, as in "with the latency halved".

    speedup: the run's time over that of the changed one. halves: whether the cost is halved, else it is taken away.
    part: of what is changed that is the cause's: with the issue rate bank conflicts become shorter, too.
    together: the causes that are relieved at once, where it is more than one.
    parameter: the one of the machine that gains as much alone, in words; "" where that is not known.
    """

    cause: str
    words: str
    speedup: float
    halves: bool
    part: float = 1.0
    together: tuple[str, ...] = ()
    parameter: str = ""

    @property
    def share(self) -> float:
        """The part of the time that the cost accounts for: what taking it away saves, twice what halving it does."""
        return self.part * min(1.0, max(0.0, (2 if self.halves else 1) * (1 - 1 / self.speedup)))


def try_out(
    machine: Machine, workload: AnyWorkload, result: Result, seconds: float = SECONDS, is_left: bool = False
) -> tuple[WhatIf, ...]:
    """Simulate the program with more of what it may need, the likeliest first, for about so many seconds at most.

    The latency, memory's bandwidth and twice the warps are always among them, if there is time. How much can be tried
    follows from the work there is, not from a clock, so that a verdict is the same on any computer.

    is_left: whether the result is of less than the workload, which is then simulated whole to compare with.
    """
    count = int(seconds / max(cost(machine, workload, result), 1e-9)) - is_left
    if count < 1:
        return ()
    whole = known_cycles.cycles_of(machine, workload, result.engine) if is_left else None
    speedups, apart = Speedups(machine, workload, result, whole), causes.set_apart(machine, result)
    speedup_of = speedups.of
    found: list[WhatIf] = []
    for change, speedup in speedups.of_each(_by_likelihood(machine, result, workload)):
        if speedup is not None:
            part = causes.issuing_part(result) if change.cause == causes.ISSUE else 1.0
            found.append(WhatIf(change.cause, change.words, speedup, change.halves, part))
        if len(found) >= count:
            break
    left = count - len(found)
    for number, each in enumerate(found):
        narrower = NARROWER.get(each.cause)
        if narrower is None or each.speedup < HELPS or left < 1:
            continue
        own, left = speedup_of(narrower), left - 1
        narrow = None if own is None else WhatIf(narrower.cause, narrower.words, own, narrower.halves)
        if narrow is not None and narrow.speedup >= AS_GOOD * each.speedup:
            found[number] = narrow
        elif narrow is not None and narrow.speedup >= HELPS and apart and each.cause == causes.LAUNCHES:
            found.append(narrow)
    alone = [each.share for each in considered(found, apart) if each.cause != MORE_WARPS]
    most_alone = max(alone, default=0.0) / (1 - apart)
    if found and most_alone < causes.MOSTLY:
        of_several = list(_together(machine, result, speedup_of, max(left, TOGETHER)))
        found += [each for each in of_several if most_alone < ALONE or each.share >= causes.MOSTLY * (1 - apart)]
    if (most := best(considered(found, apart))) is not None and most.speedup >= HELPS and not most.together:
        found[found.index(most)] = replace(most, parameter=_parameter(machine, workload, most, speedup_of, left))
    known_cycles.store()
    return tuple(found)


def _parameter(
    machine: Machine, workload: AnyWorkload, of: WhatIf, speedup_of: Callable[[Change], float | None], most: int
) -> str:
    """The parameter of the machine that gains as much alone as all that were changed; "" where none does.

    most: to be tried. Where there is one alone, that is it.
    """
    if of.cause == causes.PIPES:
        return _busiest_pipe(machine, workload)
    change = next((each for each in CHANGES if each.cause == of.cause), None)
    own = machine.values()
    there = [] if change is None else [name for name, keys in change.parameters.items() if any(map(own.get, keys))]
    if change is None or len(there) == 1:
        return "".join(there)
    for name in there[: max(0, most)]:
        speedup = speedup_of(change.of_parameter(name))
        if speedup is not None and speedup >= AS_GOOD * of.speedup:
            return name
    return ""


def _busiest_pipe(machine: Machine, workload: AnyWorkload) -> str:
    """The class of instructions whose pipes take nearly all the time that pipes take; "" where there is none."""
    if machine.pipes is None or not isinstance(workload, Workload):
        return ""
    instructions = np.bincount(workload.kind, workload.amount, minlength=OF_CLASS + len(CLASSES))[OF_CLASS:]
    taken = {
        name: float(number) * pipe.interval / pipe.count
        for name, number, pipe in zip(CLASSES, instructions, machine.pipes.each(), strict=True)
        if pipe is not None
    }
    name = max(taken, key=lambda name: taken[name], default="")
    return name if taken and taken[name] >= NEARLY_ALL * sum(taken.values()) > 0 else ""


def _together(
    machine: Machine, result: Result, speedup_of: Callable[[Change], float | None], most: int
) -> Iterator[WhatIf]:
    """Causes relieved at once, where none helps by itself: the fewest that help as much as all. most: to be tried.

    Where the queue at one unit is no shorter for the unit's being faster, what comes out of it waits at the next; warps
    may wait at the first of them alone.
    """
    own, shares = machine.values(), causes.shares(machine, result)
    busy = 1 - shares.get(causes.IDLE, 0.0) - causes.set_apart(machine, result)
    family = max(RELIEVED, key=lambda names: sum(shares.get(name, 0.0) for name in names))
    chosen = [
        next(change for change in CHANGES if change.cause == cause)
        for cause, share in shares.items()
        if cause in family and (share >= OF_SEVERAL * busy or cause in causes.FILLED)
    ]
    chosen = [change for change in chosen if change.of_workload or any(own.get(key) for key in change.keys)]
    speedup = speedup_of(joined(chosen)) if len(chosen) > 1 and most > 0 else None
    if speedup is None or speedup < HELPS:
        return
    for change in reversed(chosen[1:]):  # those that warps wait for least first
        most -= 1
        others = [each for each in chosen if each is not change]
        without = speedup_of(joined(others)) if len(chosen) > 2 and most > 0 else None
        if without is not None and without >= AS_GOOD * speedup:
            chosen, speedup = others, without
    change = joined(chosen)
    yield WhatIf(change.cause, change.words, speedup, change.halves, together=tuple(each.cause for each in chosen))


def _by_likelihood(machine: Machine, result: Result, workload: AnyWorkload) -> Iterator[Change]:
    of_causes = causes.shares(machine, result)
    rank = {cause: number for number, cause in enumerate(of_causes)}
    always = [causes.LATENCY, causes.MEMORY_BANDWIDTH]
    if _may_end_with_updates(machine, result, workload):
        always.append(causes.ATOMICS)
        rank[causes.ATOMICS] = min(rank[causes.ATOMICS], rank[causes.IDLE])
    if _has_conflicts(result):  # passes of the banks hold up others, whose waits are told to be at the port
        always.append(causes.SHARED_MEMORY)
        rank[causes.SHARED_MEMORY] = min(rank[causes.SHARED_MEMORY], rank[causes.PORT_BANDWIDTH])
    worth = [change for change in CHANGES if of_causes.get(change.cause, 0) >= WORTH_TRYING or change.cause in always]
    yield from sorted(worth, key=lambda change: rank.get(change.cause, len(rank)))
    if (spread := _shared_out(machine, result, workload)) is not None:
        yield spread
    if (more := _more_warps(machine, workload)) is not None:
        yield more


def _has_conflicts(result: Result) -> bool:
    """Whether bank conflicts make a good part of the instructions of shared memory longer."""
    stalls = result.stalls
    if stalls is None:
        return False
    counts = stalls.counts[: len(stalls.places)]
    shared = counts[stalls.places.are_of(causes.KINDS_OF_SHARED)]
    conflicts, accesses = int(shared[:, Count.CONFLICTS].sum()), int(shared[:, Count.INSTRUCTIONS].sum())
    return conflicts >= WORTH_TRYING * accesses > 0


def _may_end_with_updates(machine: Machine, result: Result, workload: AnyWorkload) -> bool:
    """Whether updates that no warp waits for could be what a good part of the time goes to."""
    if machine.memory.reductions != "posted" and not (isinstance(workload, Workload) and REDUCE in workload.kind):
        return False
    updates = sum(tally.updated for tally in workload.tallies)  # in one queue, if all are of one word
    return updates * machine.durations.atomic_service >= WORTH_TRYING * result.ticks > 0


def _shared_out(machine: Machine, result: Result, workload: AnyWorkload) -> Change | None:
    """Blocks cut so that core groups without work have some: long ones, where blocks are uneven, else all of a launch.

    A piece waits for no earlier piece: that stands for threads that share the work. One warp may be one chain.
    """
    shares = causes.shares(machine, result)
    own = 1 - causes.set_apart(machine, result)
    if not isinstance(workload, Workload) or shares.get(causes.IDLE, 0.0) < causes.MOSTLY * own:
        return None
    launch, groups = causes.longest_launch(result), machine.cores.groups
    first, last = workload.launch_blocks[launch : launch + 2].tolist()
    warps = int(workload.block_warps[last] - workload.block_warps[first])
    if warps < 2 or workload.tallies[launch].grid_barriers or workload.tallies[launch].waits_for_warps:
        return None
    if uneven(workload, launch, machine) is not None:
        cause, words = causes.UNEVEN, "long blocks cut to the median's work"
        times = pieces(workload, launch, machine)
    elif last - first < groups:
        of_each = -(-groups // (last - first))
        cause, words = causes.FEW_BLOCKS, f"its work in {of_each * (last - first):,} blocks"
        times = dict.fromkeys(range(first, last), of_each)
    else:
        cause, words, times = causes.TAIL, "blocks of a quarter of the work", dict.fromkeys(range(first, last), 4)
    return Change(cause, words, {}, lambda of: evened_out(Operations(of), times), halves=False)


def _more_warps(machine: Machine, workload: AnyWorkload) -> Change | None:
    """Twice the warps of a group, if the program has them."""
    waves = (in_waves(machine, workload, launch) for launch in range(workload.launches))
    if not any(blocks > wave for blocks, wave in waves):
        return None
    keys: dict[str, float | str] = {"cores.max_threads_per_core": "x2"}
    for key in ("warps_per_group", "blocks_per_group"):
        if getattr(machine.limits, key) is not None:
            keys[f"limits.{key}"] = "x2"
    return Change(MORE_WARPS, "twice the warps", keys)


def considered(found: Sequence[WhatIf], apart: float) -> list[WhatIf]:
    """What a verdict chooses from: launches that cost nothing are not among it where the only one is set apart.

    apart: the part of the time that it takes, as `causes.set_apart` says.
    """
    return [each for each in found if not (apart and each.cause == causes.LAUNCHES)]


def best(found: Sequence[WhatIf]) -> WhatIf | None:
    """That of the cause with the greatest part of the time; None if none has any."""
    of_causes = [each for each in found if each.cause not in NO_COST]
    # Of equals what can be taken away as a whole.
    most = max(of_causes, key=lambda each: (round(each.share, 2), not each.halves), default=None)
    return most if most is not None and most.share >= WORTH_TRYING else None

"""What would help: the same program simulated on a machine that has more of something, or that lacks a cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simtmm.analysis.waves import in_waves
from simtmm.engine import causes, simulate
from simtmm.engine.choice import is_small
from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import CLASSES, Count
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import BARRIER, JOIN, LARGEST, PASSES_SHIFT, PAUSE, REDUCE, SHARED, SYNC, Workload

SECONDS = 3.0  # for all of them together
RATES = {"fast": 6e6, "reference": 6e4}  # operations, chunks and grants a second (docs/scaling.md)
LONG_COMPUTE = 64
ALONE = 0.2  # of the time: a cause with less of it, and most of all that was tried, binds together with others
HELPS = 1.1  # a speedup that is worth being called help
OF_SEVERAL = 0.1  # of the time: a cause with less of it does not bind together with others
AS_GOOD = 0.97  # of a speedup: a cause without which it is that is not named
RELIEVED = (causes.LATENCY, causes.MEMORY_BANDWIDTH, causes.L2_BANDWIDTH, causes.PORT_BANDWIDTH)  # of one path
WORTH_TRYING = 0.02  # of the time: a cause with less of it is not tried


@dataclass(frozen=True)
class WhatIf:
    """How much faster a run would be. cause: what is changed. words: how, as in "with the latency halved".

    speedup: the run's time over that of the changed one. halves: whether the cost is halved, else it is taken away.
    part: of what is changed that is the cause's: with the issue rate bank conflicts become shorter, too.
    together: the causes that are relieved at once, where it is more than one.
    """

    cause: str
    words: str
    speedup: float
    halves: bool
    part: float = 1.0
    together: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The part of the time that the cost accounts for: what taking it away saves, twice what halving it does."""
        return self.part * min(1.0, max(0.0, (2 if self.halves else 1) * (1 - 1 / self.speedup)))


MORE_WARPS = "warps"  # no cause: what hides latency


@dataclass(frozen=True)
class _Change:
    """keys: of the machine, each to a multiple or a value. of_workload: what becomes of the operations."""

    cause: str
    words: str
    keys: Mapping[str, float | str]
    of_workload: Callable[[Workload], Workload] | None = None
    halves: bool = True


def _without_barriers(workload: Workload) -> Workload:
    """With joins instead of barriers, which wait for the asyncs that these wait for, and no pauses behind them."""
    chosen, without_waits = np.isin(workload.kind, (BARRIER, SYNC)), workload.kind == SYNC
    if not chosen.any():
        return workload
    what, amount = workload.kind.copy(), workload.amount.copy()
    what[chosen], amount[without_waits] = JOIN, LARGEST
    amount[1:][chosen[:-1] & (workload.kind[1:] == PAUSE)] = 1
    return replace(workload, kind=what, amount=amount)


def _without_conflicts(amount: np.ndarray) -> np.ndarray:
    """Amounts of shared accesses that take the passes that they would take without conflicts."""
    least = amount >> PASSES_SHIFT
    return 1 + least + (least << PASSES_SHIFT)


CHANGES = (
    _Change(
        causes.LATENCY,
        "the latency halved",
        dict.fromkeys(
            (
                "memory.latency",
                "memory.store_latency",
                "memory.l1.latency",
                "memory.l2.latency",
                "memory.l2.atomic_latency",
                "memory.first_access",
                "memory.tlb.miss",
            ),
            "x0.5",
        ),
    ),
    _Change(
        causes.MEMORY_BANDWIDTH,
        "memory's bandwidth doubled",
        dict.fromkeys(
            ("memory.service", "memory.turnaround", "memory.rows.opening", "memory.fetch_interval"),
            "x0.5",
        ),
    ),
    _Change(
        causes.L2_BANDWIDTH,
        "the L2's bandwidth doubled",
        dict.fromkeys(
            (
                "memory.l2.service",
                "memory.l2.store_service",
                "memory.l2.request_service",
                "memory.l2.store_request_service",
            ),
            "x0.5",
        ),
    ),
    _Change(
        causes.PORT_BANDWIDTH,
        "the memory ports' bandwidth doubled",
        dict.fromkeys(
            (
                "memory.port_interval",
                "memory.store_interval",
                "memory.pipe.access_interval",
                "memory.pipe.tag_interval",
                "memory.pipe.interval",
                "memory.pipe.fill_interval",
                "memory.return_interval",  # a store waits at the port for what its warp has loaded
                "memory.return_delay",
            ),
            "x0.5",
        )
        | {"memory.pipe.misses": "x2"},
    ),
    _Change(causes.ATOMICS, "atomics twice as fast", {"memory.atomic_service": "x0.5"}),
    _Change(causes.ISSUE, "twice the issue rate", {"cores.cores_per_group": "x2", "cores.issue_ports": "x2"}),
    _Change(
        causes.PIPES,
        "pipes of instructions twice as fast",
        dict.fromkeys((f"pipes.{name}.interval" for name in CLASSES), "x0.5"),
    ),
    _Change(
        causes.DEPENDENCE,
        "the latency of instructions halved",
        {"scheduling.pipeline_depth": "x0.5"},
        lambda workload: _with_amounts(workload, PAUSE, lambda amount: (amount + 1) // 2),
    ),
    _Change(
        causes.SHARED_MEMORY,
        "no bank conflicts",
        {},
        lambda workload: _with_amounts(workload, SHARED, _without_conflicts),
        halves=False,
    ),
    _Change(causes.BARRIERS, "no barriers", {}, _without_barriers, halves=False),
    _Change(
        causes.LAUNCHES,
        "launches that cost nothing",
        {
            f"scheduling.{key}": 0
            for key in ("launch_overhead", "first_launch", "block_launch", "block_interval", "warp_launch")
        },
        halves=False,
    ),
)


_GROUPS_PATH = _Change(
    causes.GROUPS_PATH, "each core group's path to memory doubled", {"memory.fetch_interval": "x0.5"}
)


def try_out(
    machine: Machine, workload: AnyWorkload, result: Result, seconds: float = SECONDS, is_left: bool = False
) -> tuple[WhatIf, ...]:
    """Simulate the program with more of what it may need, the likeliest first, for about so many seconds at most.

    The latency, memory's bandwidth and twice the warps are always among them, if there is time. How much can be tried
    follows from the work there is, not from a clock, so that a verdict is the same on any computer.

    is_left: whether the result is of less than the workload, which is then simulated whole to compare with.
    """
    count = int(seconds / max(cost(machine, workload, result), 1e-9)) - is_left
    found: list[WhatIf] = []
    whole = None if is_left else result.cycles
    for change in _by_likelihood(machine, result, workload):
        if len(found) >= count:
            break
        if whole is None:
            whole = simulate(machine, workload, result.engine, breakdown=False).cycles
        speedup = _speedup(machine, workload, whole, result.engine, change)
        if speedup is not None:
            part = causes.issuing_part(result) if change.cause == causes.ISSUE else 1.0
            found.append(WhatIf(change.cause, change.words, speedup, change.halves, part))
    for number, each in enumerate(found):
        if each.cause == causes.MEMORY_BANDWIDTH and each.speedup >= HELPS and whole is not None and len(found) < count:
            own = _speedup(machine, workload, whole, result.engine, _GROUPS_PATH)
            if own is not None and own >= AS_GOOD * each.speedup:  # all that was gained is the group's own
                found[number] = WhatIf(causes.GROUPS_PATH, _GROUPS_PATH.words, own, True)
    if whole is not None and len(found) < count and not any(each.share >= ALONE for each in found):
        left = count - len(found)
        found += _together(
            machine, result, lambda change: _speedup(machine, workload, whole, result.engine, change), left
        )
    return tuple(found)


def _together(
    machine: Machine, result: Result, speedup_of: Callable[[_Change], float | None], most: int
) -> Iterator[WhatIf]:
    """Causes relieved at once, where none helps by itself: the fewest that help as much as all. most: to be tried.

    Where the queue at one unit is no shorter for the unit's being faster, what comes out of it waits at the next; warps
    may wait at the first of them alone.
    """
    own, shares = machine.values(), causes.shares(machine, result)
    chosen = [
        next(change for change in CHANGES if change.cause == cause)
        for cause, share in shares.items()
        if cause in RELIEVED and (share >= OF_SEVERAL or cause in causes.FILLED)
    ]
    chosen = [change for change in chosen if any(own.get(key) for key in change.keys)]
    speedup = speedup_of(_joined(chosen)) if len(chosen) > 1 and most > 0 else None
    if speedup is None or speedup < HELPS:
        return
    for change in reversed(chosen[1:]):  # those that warps wait for least first
        most -= 1
        others = [each for each in chosen if each is not change]
        without = speedup_of(_joined(others)) if len(chosen) > 2 and most > 0 else None
        if without is not None and without >= AS_GOOD * speedup:
            chosen, speedup = others, without
    change = _joined(chosen)
    yield WhatIf(change.cause, change.words, speedup, change.halves, together=tuple(each.cause for each in chosen))


def _joined(changes: Sequence[_Change]) -> _Change:
    """All of them at once."""
    keys = {key: value for change in changes for key, value in change.keys.items()}
    return _Change(listed([change.cause for change in changes]), listed([change.words for change in changes]), keys)


def listed(words: Sequence[str]) -> str:
    """As in "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def cost(machine: Machine, workload: AnyWorkload, result: Result) -> float:
    """Seconds that simulating a program once more takes, about: each operation, chunk and grant takes some.

    Of a small one it is the fast engine's, whichever ran: what is tried must not depend on what was compiled before.
    """
    work = workload.operations + result.transactions
    if machine.scheduling.switch == "every-instruction":
        work += min(result.issued, LONG_COMPUTE * workload.operations)  # longer computes are jumped over
    return work / RATES["fast" if is_small(machine, workload) else result.engine]


def _by_likelihood(machine: Machine, result: Result, workload: AnyWorkload) -> Iterator[_Change]:
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


def _more_warps(machine: Machine, workload: AnyWorkload) -> _Change | None:
    """Twice the warps of a group, if the program has them."""
    waves = (in_waves(machine, workload, launch) for launch in range(workload.launches))
    if not any(blocks > wave for blocks, wave in waves):
        return None
    keys: dict[str, float | str] = {"cores.max_threads_per_core": "x2"}
    for key in ("warps_per_group", "blocks_per_group"):
        if getattr(machine.limits, key) is not None:
            keys[f"limits.{key}"] = "x2"
    return _Change(MORE_WARPS, "twice the warps", keys)


def _speedup(machine: Machine, workload: AnyWorkload, before: float, engine: str, change: _Change) -> float | None:
    """None where the machine or the program has nothing to be changed, or can't be so. before: cycles without it."""
    own = machine.values()
    keys = {key: value for key, value in change.keys.items() if own.get(key)}
    if not keys and change.of_workload is None:
        return None
    if change.cause == causes.ISSUE:
        keys["limits.warps_per_group"] = machine.warps_per_group
    changed = workload
    if change.of_workload is not None and isinstance(workload, Workload):
        changed = change.of_workload(workload)
    if change.cause == MORE_WARPS:
        changed = workload.limited(2 * workload.launch_limits, workload.origin)
    if not keys and changed is workload:
        return None
    try:
        # Ticks are halved, so that halves of durations are exact.
        other = machine.replace({**keys, "ticks_per_cycle": 2 * machine.ticks_per_cycle})
        cycles = simulate(other, changed, engine, breakdown=False).cycles
    except SimtmmError:
        return None
    return before / cycles if cycles and before else None


def _with_amounts(workload: Workload, kind: int, change: Callable[[np.ndarray], np.ndarray]) -> Workload:
    chosen = workload.kind == kind
    if not chosen.any():
        return workload
    amount = workload.amount.copy()
    amount[chosen] = change(amount[chosen])
    return replace(workload, amount=amount)


def best(found: Sequence[WhatIf]) -> WhatIf | None:
    """That of the cause with the greatest part of the time; None if none has any."""
    of_causes = [each for each in found if each.cause != MORE_WARPS]
    # Of equals what can be taken away as a whole.
    most = max(of_causes, key=lambda each: (round(each.share, 2), not each.halves), default=None)
    return most if most is not None and most.share >= WORTH_TRYING else None

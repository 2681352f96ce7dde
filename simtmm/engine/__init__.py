"""Engines: functions that simulate a Workload on a Machine. Each follows docs/machine.md to the tick.

reference, fast: the engines. choice: which of them is done sooner. causes: what binds what they simulated.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from simtmm.computer import cores
from simtmm.engine.clusters import check_clusters_fit
from simtmm.engine.own_rule.operands import NotCompiledError, RuleLeftError
from simtmm.errors import EngineError, WorkloadError, nearest, shown
from simtmm.machine import Machine
from simtmm.machine.levels import levels_of
from simtmm.result import Result
from simtmm.rules.seen import CoreGroup as CoreGroup
from simtmm.rules.seen import ReadyWarp as ReadyWarp
from simtmm.rules.seen import Rule, rule_name
from simtmm.trace.lower import lower
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload

if TYPE_CHECKING:
    from simtmm.placement import Placement
    from simtmm.replacement import Policy, Replacement

Progress = Callable[[int, int], None]
Scheduler = Rule

ENGINES = {"fast": "simtmm.engine.fast", "reference": "simtmm.engine.reference"}
DEFAULT = "fast"


def simulate(  # noqa: PLR0913 - each is an option of a simulation
    machine: Machine,
    workload: AnyWorkload,
    engine: str | None = None,
    *,
    scheduler: Scheduler | None = None,
    replacement: "Replacement | None" = None,
    placement: "Placement | None" = None,
    breakdown: bool = True,
    timeline: bool = False,
    stalls: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    begun: npt.NDArray[np.int64] | None = None,
    until: Callable[[int, int], bool] | None = None,
) -> Result:
    """Run a workload on a machine and report what section 7 of the machine rules lists.

    engine: a name in ENGINES; "fast" if left out, "reference" for what the fast engine does not take.
    scheduler: a rule of one's own, in the place of the machine's scheduler: of the ready warps (at least one, in the
        order in which they became ready) and the group it gives the warp that is granted the port, or holds back; or a
        class of such rules. See docs/schedulers.md. It runs on the fast engine where it is compiled;
        `Result.engine_reason` says why it is not, and is on the reference engine.
    replacement: a policy of one's own for the full sets of caches, or policies by "l1" and "l2", in the place of the
        machine's, on the reference engine only (docs/rules.md).
    placement: a rule of one's own that says which core group takes the next block, likewise.
    breakdown: False leaves `Result.time` out.
    timeline: True brings `Result.timeline`, about 48 bytes for each time that a warp issues or waits.
    stalls: True brings `Result.stalls`, what each tick of each warp went into: by the places of a workload that was
        lowered with them (`LoweringSpecification.places`), else by operation.
    threads: that the fast engine may use for core groups that nothing couples, with the same result; as many as the
        process has cores if left out.
    progress: called now and then with (warps done, warps in all).
    begun: int64[blocks], takes the tick of its launch at which each block is placed.
    until: called now and then with a launch's tick and the instructions issued, which may leave it there; of the fast
        engine only, and of launches whose groups are coupled.

    Raises EngineError for an unknown engine, a rule on an engine that does not take it, and a rule that gives something
    else or holds back for ever; WorkloadError for a block that fits no core group.
    """
    if engine is not None and (not isinstance(engine, str) or engine not in ENGINES):
        raise EngineError(f"engine {engine!r}: unknown{nearest(str(engine), ENGINES)}")
    if threads is not None and not (isinstance(threads, int) and threads >= 1):
        raise EngineError(f"threads = {threads!r}: must be a whole number of at least 1")
    asked = engine
    engine = asked or (DEFAULT if replacement is None and placement is None else "reference")
    policies = None if replacement is None else policies_of(machine, replacement)
    if policies and engine != "reference":
        raise EngineError(f"engine {engine!r}: has the built-in policies only; one of your own runs on 'reference'")
    if placement is not None and engine != "reference":
        raise EngineError(f"engine {engine!r}: places blocks as machines do; a rule of your own runs on 'reference'")
    rule, reason = _rule_for(engine, asked, scheduler)
    engine = "reference" if reason else engine
    check_fits(machine, workload)
    if placement is None:
        check_clusters_fit(machine, workload)
    if engine != "fast" and until is not None:
        raise EngineError(f"engine {engine!r}: does not leave a launch as it goes on: only 'fast' does")
    own: dict[str, object] = {"policies": policies} if policies else {}
    own |= {} if placement is None else {"placement": placement}
    own |= {"breakdown": breakdown, "timeline": timeline, "stalls": stalls, "progress": progress, "begun": begun}
    more = {"threads": cores() if threads is None else threads, "until": until} if engine == "fast" else {}
    try:
        result = _run(engine, machine, workload, rule, own | more)
    except RuleLeftError as error:
        if asked:
            raise EngineError(f"engine 'fast': {error}: run it on 'reference'") from None
        reason = str(error)
        result = _run("reference", machine, workload, scheduler, own)
    if reason:
        result = replace(result, engine_reason=reason)
    if result.stalls is None:
        return result
    return replace(result, stalls=replace(result.stalls, levels=levels_of(machine)))


def why_not_compiled(rule: Scheduler) -> str:
    """Why a user's rule does not run on the fast engine: the place, the reason and the word; "" if it does.

    rule: as `simulate` takes it.
    """
    from simtmm.engine.own_rule.compiled import compiled

    try:
        compiled(rule)
    except NotCompiledError as error:
        return str(error)
    return ""


def _rule_for(engine: str, asked: str | None, scheduler: Scheduler | None) -> tuple[object, str]:
    """A user's rule as an engine takes it; why it is the reference engine, where the fast one does not take it.

    asked: the engine that was asked for, which is not left for another.
    """
    if scheduler is None or engine != "fast":
        return scheduler, ""
    from simtmm.engine.own_rule.compiled import compiled  # late: few runs have a rule of their own

    try:
        return compiled(scheduler), ""
    except NotCompiledError as error:
        if asked:
            raise EngineError(f"engine 'fast': rule {rule_name(scheduler)} is not compiled: {error}") from None
        return scheduler, f"rule {rule_name(scheduler)} is not compiled: {error}"


def _run(engine: str, machine: Machine, workload: AnyWorkload, rule: object, own: dict[str, object]) -> Result:
    """The result of an engine. rule: as it takes it, None for the machine's own scheduler."""
    if engine == "reference" and isinstance(workload, StreamedWorkload):  # it holds every operation
        assert workload.resident is None, "only the fast engine begins with chunks of the caller's"
        workload = lower(workload.trace, machine, places=workload.specification.places)
    run = cast(Callable[..., Result], importlib.import_module(ENGINES[engine]).simulate)
    return run(machine, workload, **own, **({} if rule is None else {"scheduler": rule}))


def policies_of(machine: Machine, replacement: "Replacement") -> "dict[str, Policy]":
    """Policies by the cache of a machine. Raises EngineError for what is none, and for a cache that it has not."""
    caches = {"l1": machine.memory.l1, "l2": machine.memory.l2}
    has = [name for name, cache in caches.items() if cache is not None]
    if not isinstance(replacement, Mapping):
        replacement = dict.fromkeys(has, replacement)
        if not has:
            raise EngineError(f"replacement: {machine.name} has no cache")
    for name, policy in replacement.items():
        if name not in has:
            raise EngineError(f"replacement of {shown(name)}: {machine.name} has {' and '.join(has) or 'no cache'}")
        if not callable(policy):
            raise EngineError(f"replacement = {shown(policy)}: must be a function of a set's lines and a chunk")
    return dict(replacement)


def check_fits(machine: Machine, workload: AnyWorkload) -> None:
    """Raise WorkloadError if some block fits no empty group of the machine (machine rules, section 6)."""
    if isinstance(workload, StreamedWorkload):
        warps, first_blocks = workload.warps_of_blocks, np.arange(workload.launches + 1)
    else:
        warps, first_blocks = np.diff(workload.block_warps), workload.launch_blocks
    too_large = np.flatnonzero(warps > machine.warps_per_group)
    if len(too_large):
        block = int(too_large[0])
        launch = int(np.searchsorted(first_blocks, block, side="right")) - 1
        raise WorkloadError(
            f"{workload.origin}: launch {launch}, block {block - int(first_blocks[launch])}: "
            f"{int(warps[block])} warps of {machine.cores.warp_width} threads fit no core group of "
            f"{machine.name}, which holds at most {machine.warps_per_group} warps: launch smaller blocks"
        )

"""From a trace to a result, step by step: lower, simulate, count, predict."""

from collections.abc import Callable
from pathlib import Path

from simtmm import engine as engines
from simtmm import model as models
from simtmm.api.opening import opened_counts, opened_machine, opened_trace, opened_workload
from simtmm.engine import Scheduler
from simtmm.errors import EngineError, ModelError, WorkloadError, shown
from simtmm.machine import Machine
from simtmm.placement import Placement
from simtmm.replacement import Replacement
from simtmm.result import Prediction, Result
from simtmm.trace import counts as counting
from simtmm.trace import lower as lowering
from simtmm.trace.counts import Counts
from simtmm.trace.io import Trace
from simtmm.workload import Workload

Progress = Callable[[int, int], None]  # what is done, all there is to do


def lower(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    progress: Progress | None = None,
    places: bool = False,
) -> Workload:
    """What a trace is on a machine: threads become warps, addresses become chunks; every operation, held in memory.

    Source: docs/machine.md, section 9 for transactions; Eq (5.2) of the dissertation for the blocks that a core group
    holds.

    trace: a Trace, a trace's name, or a path to its file (.parquet).
    machine: a Machine, a machine's name, or a path to its file (.toml).
    progress: called with (events done, events in all).
    places: whether operations say where in the program they come from, as `simulate(..., stalls=True)` needs it.

    Raises WorkloadError where a block does not fit the machine, MachineError and TraceError.
    """
    return lowering.lower(opened_trace(trace), opened_machine(machine), progress, places)


def simulate(
    machine: Machine | str | Path,
    workload: Workload | Trace | str | Path,
    engine: str | None = None,
    *,
    scheduler: Scheduler | None = None,
    replacement: Replacement | None = None,
    placement: Placement | None = None,
    breakdown: bool = True,
    timeline: bool = False,
    stalls: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a workload on a machine, to the tick.

    Source: docs/machine.md; section 7 says what the result holds.

    machine: a Machine, a machine's name, or a path to its file (.toml).
    workload: a Workload, or a path to its file (.json); a Trace, a trace's name or a path to its file (.parquet) is
        lowered first, and where it is too long to be held, as the engine comes to it.
    engine: "fast" (compiled, as if left out) or "reference" (SimPy; if left out with a rule of yours); equal results.
    scheduler: a rule of your own in place of the machine's, on the reference engine only; see docs/schedulers.md.
    replacement: a policy of your own for full sets of caches, or policies by "l1" and "l2"; likewise (docs/rules.md).
    placement: a rule of your own of which core group takes the next block; likewise.
    breakdown: False leaves `Result.time` out, where the time went.
    timeline: True brings `Result.timeline`, what each warp did when, about 48 bytes for each thing that one did.
    stalls: True brings `Result.stalls`, what the ticks of all warps went into: of a trace by line and array, of a
        workload by operation.
    threads: of the fast engine, for core groups that nothing couples; all cores of the computer if left out.
    progress: called now and then with (warps done, warps in all).

    Raises EngineError for an unknown engine, a rule on another engine, and a rule that gives no ready warp;
    WorkloadError for a block that fits no core group; MachineError and TraceError.
    """
    if scheduler is not None and not callable(scheduler):
        raise EngineError(f"scheduler = {shown(scheduler)}: must be a function of the ready warps and the core group")
    if placement is not None and not callable(placement):
        raise EngineError(f"placement = {shown(placement)}: must be a function of the core groups and the next block")
    opened = opened_machine(machine)
    return engines.simulate(
        opened,
        opened_workload(workload, opened, stalls),
        engine,
        scheduler=scheduler,
        replacement=replacement,
        placement=placement,
        breakdown=breakdown,
        timeline=timeline,
        stalls=stalls,
        threads=threads,
        progress=progress,
    )


def count(trace: Trace | str | Path, machine: Machine | str | Path, workload: Workload | None = None) -> Counts:
    """What the models take of a trace on a machine: work, span, memory operations, threads in use.

    trace: a Trace, a trace's name, or a path to its file (.parquet).
    machine: a Machine, a machine's name, or a path to its file (.toml).
    workload: what `lower` gives of the two, where it is there already.

    Raises WorkloadError where a block does not fit the machine, MachineError and TraceError.
    """
    if workload is not None and not isinstance(workload, Workload):
        raise WorkloadError(f"workload = {shown(workload)}: must be what lower(trace, machine) gives, or be left out")
    return counting.count(opened_trace(trace), opened_machine(machine), workload)


def predict(model: str, machine: Machine | str | Path, counts: Counts | Trace | str | Path) -> Prediction:
    """The time of a program on a machine by an analytical model.

    model: its name, such as "tmm" or "pram"; `simtmm run --models-only` has all.
    machine: a Machine, a machine's name, or a path to its file (.toml).
    counts: what `count` gives; a Trace, a trace's name or a path to its file (.parquet) is counted first.

    Raises ModelError for an unknown model and for what is outside a model's domain; MachineError, TraceError and
    WorkloadError.
    """
    if not isinstance(model, str):
        raise ModelError(f"model = {shown(model)}: must be one of {', '.join(models.MODELS)}")
    opened = opened_machine(machine)
    return models.predict(model, opened, opened_counts(counts, opened))

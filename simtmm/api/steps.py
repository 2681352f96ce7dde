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
    """Lower a trace to a machine: threads become warps, addresses become chunks. All operations are held in memory.

    Source: docs/machine.md, section 9 for transactions; Eq (5.2) of the dissertation for the resident blocks of a core
    group.

    trace: a Trace, a trace's name, or a path to its file (.parquet).
    machine: a Machine, a machine's name, or a path to its file (.toml).
    progress: called with (events done, all events).
    places: whether operations record their place in the program, which `simulate(..., stalls=True)` needs.

    Raises WorkloadError if a block does not fit the machine, MachineError and TraceError.
    """
    return lowering.lower(opened_trace(trace), opened_machine(machine), progress, places)


def simulate(  # noqa: PLR0913 - each is an option of a simulation
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
    """Simulate a workload on a machine, exact to the tick.

    Source: docs/machine.md; section 7 describes the result.

    machine: a Machine, a machine's name, or a path to its file (.toml).
    workload: a Workload, or a path to its file (.json); or a Trace, a trace's name or a path to its file (.parquet),
        which is lowered first, or during the simulation if it is too long for memory.
    engine: "fast" (compiled; the default) or "reference" (SimPy; the default with a rule of your own that is not
        compiled); results are equal.
    scheduler: a rule of your own instead of the machine's; see docs/schedulers.md for what runs on the fast engine.
    replacement: a replacement policy of your own for the caches, or policies by "l1" and "l2", on the reference engine
        only (docs/rules.md).
    placement: a rule of your own for which core group takes the next block, on the reference engine only; see
        docs/rules.md.
    breakdown: False leaves out `Result.time`, which says where the time went.
    timeline: True adds `Result.timeline`, what each warp did and when; about 48 bytes for each interval of a warp.
    stalls: True adds `Result.stalls`, how the warps spent their ticks: by line and array for a trace, by operation for
        a workload.
    threads: threads of the fast engine, for independent core groups; all cores of the computer if left out.
    progress: called now and then with (warps done, all warps).

    Raises EngineError for an unknown engine, a rule that it does not take, and a rule that gives no ready warp;
    WorkloadError for a block that does not fit a core group; MachineError and TraceError.
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
    """Count the models' inputs, for a trace on a machine: work, span, memory operations, threads in use.

    trace: a Trace, a trace's name, or a path to its file (.parquet).
    machine: a Machine, a machine's name, or a path to its file (.toml).
    workload: the result of `lower` for the two, if you already have it.

    Raises WorkloadError if a block does not fit the machine, MachineError and TraceError.
    """
    if workload is not None and not isinstance(workload, Workload):
        raise WorkloadError(f"workload = {shown(workload)}: must be the result of lower(trace, machine), or left out")
    return counting.count(opened_trace(trace), opened_machine(machine), workload)


def predict(model: str, machine: Machine | str | Path, counts: Counts | Trace | str | Path) -> Prediction:
    """Predict the time of a program on a machine with an analytical model.

    model: the model's name, such as "tmm" or "pram"; `simtmm run --models-only` lists all.
    machine: a Machine, a machine's name, or a path to its file (.toml).
    counts: the result of `count`; or a Trace, a trace's name or a path to its file (.parquet), which is counted first.

    Raises ModelError for an unknown model and for values outside a model's domain; MachineError, TraceError and
    WorkloadError.
    """
    if not isinstance(model, str):
        raise ModelError(f"model = {shown(model)}: must be one of {', '.join(models.MODELS)}")
    opened = opened_machine(machine)
    return models.predict(model, opened, opened_counts(counts, opened))

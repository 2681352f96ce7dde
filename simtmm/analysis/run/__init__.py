"""One run: a kernel, trace or workload is simulated on a machine and compared with the models' predictions."""

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simtmm import own_faults
from simtmm.analysis.accesses import accesses_of
from simtmm.analysis.compared_with_hardware import assumptions, compared_with_hardware, may_be_measured
from simtmm.analysis.compiled_variants import try_variants
from simtmm.analysis.copies import copies_words
from simtmm.analysis.floors import below
from simtmm.analysis.host import host_found
from simtmm.analysis.run.diagnosis import changes_tried, diagnosed
from simtmm.analysis.run.expected import LOWERING, SIMULATING, after_lowering, after_recording, after_sample
from simtmm.analysis.run.outcome import Run
from simtmm.analysis.run.whole_time import whole_seconds, whole_words
from simtmm.analysis.source_changes import best_of, worth_telling
from simtmm.analysis.sustained_clock import clock_words
from simtmm.analysis.turns import turns_words
from simtmm.analysis.verdict import Verdict, beside_the_model
from simtmm.engine import DEFAULT, ENGINES, known_results, simulate
from simtmm.engine.choice import AUTO, quickest
from simtmm.errors import EngineError, KernelError, nearest
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine
from simtmm.model import find_model, predict
from simtmm.model.latency_hiding import hiding_of_trace
from simtmm.model.launch.occupancy import occupancy
from simtmm.program import Program, Source, kind_of, open_program, shipped_trace
from simtmm.provenance import provenance
from simtmm.recorder.sources import kernel_on_graph, opened_kernel
from simtmm.result import Result
from simtmm.sampling import DEFAULT_ERROR, check_sample
from simtmm.timeline import Blocks
from simtmm.trace.counts import Counts
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import Watch, followed_by, foresee, telling, watched
from simtmm.workload import Workload

if TYPE_CHECKING:
    from simtmm.graph import Source as GraphSource
    from simtmm.sampling.outcome import Sampled
    from simtmm.sampling.sampled import Found as FoundSample

DEFAULT_TRACE = "list-ranking-wyllie.parquet"
MOST_AGAIN = 1 << 22  # operations of what is simulated once more: a second or so
DEFAULT_MODELS = ("tmm", "tmm-warps", "pram")  # the models whose predictions stand beside a run


def run(  # noqa: PLR0913, PLR0917 - each is an option of a run
    source: Source | Program | None = None,
    machine: Machine | str | Path = "gtx280",
    parameters: Mapping[str, object] | None = None,
    engine: str = DEFAULT,
    watch: Watch | None = None,
    timeline: bool = False,
    models: Sequence[str] = DEFAULT_MODELS,
    form: str | None = None,
    what_if: bool = True,
    timeline_limit: int | None = None,
    sample: str | None = None,
    error: float = DEFAULT_ERROR,
    graph: "GraphSource | None" = None,
    variants: bool = False,
) -> Run:
    """Run a program on a machine and predict its time.

    source: a kernel's name or folder or a file of launches (.toml), which is recorded first, a trace's file (.parquet),
        a workload's file (.json), or a Kernel, Trace, Workload or Program itself; the trace that ships with simtmm if
        left out.
    machine: a machine, its name, or its file.
    parameters: a kernel's parameters that differ from its defaults.
    engine: "fast" (compiled) or "reference" (SimPy), which give the same; "auto" takes the one that is done sooner.
    watch: called with (stage, done, total if known) as things go on.
    timeline: whether the result brings its timeline.
    models: names in simtmm.model.MODELS, whose predictions stand beside the run.
    form: "written", "compiled" or "ptx", how a kernel is recorded (see simtmm.record).
    what_if: whether to try what would help, by simulating it, which takes some seconds at most.
    timeline_limit: operations of a program that is so long that it is left without its timeline.
    sample: "auto" simulates some blocks of some launches and extrapolates, where that is worth it (docs/sampling.md).
    error: half of the requested interval, as a fraction of the time.
    graph: for a kernel on graphs, a file or a networkx graph instead of the generated one (docs/graphs.md).
    variants: whether to compile variants of a CUDA file, too, and to simulate those with equal results (docs/why.md).

    Raises the errors of the steps it goes through (simtmm.errors).
    """
    if source is None and parameters:
        raise KernelError(f"{DEFAULT_TRACE}: parameters ({', '.join(parameters)}) can only be given to a kernel")
    if not isinstance(engine, str) or engine not in (AUTO, *ENGINES):
        raise EngineError(f"engine {engine!r}: unknown{nearest(str(engine), (AUTO, *ENGINES))}")
    for model in models:
        find_model(model)
    on = opened_machine(machine)
    chosen: Source | Program = shipped_trace(DEFAULT_TRACE) if source is None else source
    if graph is not None:
        if isinstance(source, (Trace, Workload, Program)):
            raise KernelError(f"graph: is for a kernel, not for a {type(source).__name__}")
        chosen = kernel_on_graph(source, graph)
    found: FoundSample | None = None
    is_sample = sample is not None
    if sample is not None:
        from simtmm.sampling.sampled import sampled_kernel, sampled_program  # late: most runs are of the whole

        check_sample(sample, error, engine, timeline)
        foresee(after_sample(what_if))
    with watched(watch), followed_by(partial(after_recording, what_if=what_if, is_sample=is_sample)):
        if isinstance(chosen, Program):
            opened = chosen
        elif sample is not None and kind_of(chosen) == "kernel":
            kernel = chosen if isinstance(chosen, Kernel) else opened_kernel(cast(str | Path, chosen))
            found = sampled_kernel(kernel, parameters, on, form, error)
        else:
            opened = open_program(chosen, parameters, machine=on, form=form)
        if sample is not None and found is None:
            found = sampled_program(opened, on, error)
        if found is not None and found.sampled is not None:
            return _of_sample(found.program, on, found.sampled, models, what_if)
    if found is None:
        return run_program(opened, on, engine, watch, timeline, models, what_if, timeline_limit, variants)
    run = run_program(found.program, on, engine, watch, timeline, models, what_if, timeline_limit, variants)
    return dataclasses.replace(run, warnings=(found.why, *run.warnings))


def run_program(  # noqa: PLR0913, PLR0917 - each is an option of a run
    program: Program,
    machine: Machine,
    engine: str = DEFAULT,
    watch: Watch | None = None,
    timeline: bool = False,
    models: Sequence[str] = DEFAULT_MODELS,
    what_if: bool = True,
    timeline_limit: int | None = None,
    variants: bool = False,
) -> Run:
    """Run a program that is open; the arguments are those of `run`.

    engine, timeline, models, what_if, timeline_limit, variants: as there.
    """
    with watched(watch):
        if program.trace is not None:
            foresee(after_recording(program.trace.info.events, what_if))
        prepared = program.on(machine, telling(LOWERING), places=True)
        workload = prepared.workload
        foresee(after_lowering(workload, what_if))
        engine = quickest(machine, workload) if engine == AUTO else engine
        timeline = timeline and (timeline_limit is None or workload.operations <= timeline_limit)
        result = _simulated(machine, workload, engine, timeline)
        found = diagnosed(machine, workload, result, what_if)
        info = program.trace.info if program.trace else None
        tried = changes_tried(machine, workload, result, what_if, info)
        advice = worth_telling(tried)
        if variants:
            advice = best_of(advice, try_variants(program, machine, workload, result))
    about = {
        **provenance(),
        "engine": engine,
        "machine": machine.digest(),
        "workload": prepared.workload.digest(),
    }
    if program.trace is None:
        compared = compared_with_hardware(machine, program.name, may_be=False)
        outcome = Run(program.name, {}, machine, result, None, (), {}, None, found, "", compared, (), about)
    else:
        assert prepared.counts is not None

        def again(other: Machine) -> Result | None:
            short = workload.operations <= MOST_AGAIN
            return simulate(other, workload, result.engine, breakdown=False) if short else None

        outcome = _beside_models(
            program, machine, program.trace.info, prepared.counts, result, about, models, found, again
        )
    accesses = accesses_of(machine, result, info.launches if info else (), tried)
    outcome = dataclasses.replace(outcome, advice=advice, accesses=accesses)
    if program.trace is not None and (whole := whole_seconds(machine, program.trace, result)) is not None:
        outcome = dataclasses.replace(outcome, whole_seconds=whole, warnings=(whole_words(whole), *outcome.warnings))
    kernels = outcome.whole_seconds or result.seconds
    if program.trace is not None and (told := copies_words(machine, program.trace.info, kernels)):
        outcome = dataclasses.replace(outcome, warnings=(told, *outcome.warnings))
    if waiting := turns_words(result.stalls):
        outcome = dataclasses.replace(outcome, warnings=(*outcome.warnings, waiting))
    if program.trace is not None and kernels and result.ticks:
        each = [ticks / result.ticks * kernels for ticks in result.launch_ticks]
        outcome = dataclasses.replace(outcome, host=host_found(machine, program.trace.info, each))
    if faults := below(machine, workload, result, outcome.counts):
        for fault in faults:
            own_faults.note(fault)
        outcome = dataclasses.replace(outcome, below=faults, warnings=(*faults, *outcome.warnings))
    return (
        dataclasses.replace(outcome, blocks=Blocks(workload.launch_blocks, workload.block_warps))
        if timeline
        else outcome
    )


def _simulated(machine: Machine, workload: AnyWorkload, engine: str, timeline: bool) -> Result:
    """The run's result, or what an earlier run of the same found."""
    progress = telling(SIMULATING)

    def now() -> Result:
        return simulate(machine, workload, engine, timeline=timeline, stalls=True, progress=progress)

    if timeline or engine != "fast":
        return now()
    known = known_results.found(
        machine, workload, workload.operations, lambda: known_results.Found(now(), known_results.NOTHING)
    )
    return known.result


def _of_sample(program: Program, machine: Machine, sampled: "Sampled", models: Sequence[str], what_if: bool) -> Run:
    """A run whose result is extrapolated. What binds it is what binds the sample."""
    sample = sampled.sample
    found = diagnosed(machine, sample.workload, sample.part, what_if, sample.machine, sample.is_left)
    on = sample.machine or machine
    tried = changes_tried(on, sample.workload, sample.part, what_if, sampled.info, sample.is_left)
    accesses = accesses_of(on, sample.part, sampled.info.launches, tried)
    about = {
        **provenance(),
        "engine": sample.result.engine,
        "machine": machine.digest(),
        "workload": sample.workload.digest(),
    }
    beside = _beside_models(
        program, machine, sampled.info, sampled.counts, sampled.result, about, models, found, lambda other: None
    )
    warnings = (*sampled.notes, *beside.warnings)
    advice = worth_telling(tried)
    return dataclasses.replace(beside, sampled=sampled, advice=advice, accesses=accesses, warnings=warnings)


def _beside_models(  # noqa: PLR0913, PLR0917 - all that a run's outcome is made of
    program: Program,
    machine: Machine,
    info: TraceInfo,
    counts: Counts,
    result: Result,
    about: Mapping[str, Any],
    models: Sequence[str],
    found: Verdict,
    again: Callable[[Machine], Result | None],
) -> Run:
    for fault in info.faults:  # a trace may have been recorded long ago
        own_faults.note(fault)
    predictions = {model: predict(model, machine, counts) for model in models}
    tmm, warps_wait = (  # which the verdict speaks of
        predict(model, machine, counts) for model in ("tmm", "tmm-warps")
    )
    per_launch = [occupancy(machine, launch) for launch in info.launches]
    distinct = [entry for number, entry in enumerate(per_launch) if entry not in per_launch[:number]]
    hidden = hiding_of_trace(Trace(info, ()), machine, counts)
    return Run(
        program=program.name,
        parameters=program.parameters,
        machine=machine,
        result=result,
        counts=counts,
        occupancies=tuple((entry, per_launch.count(entry)) for entry in distinct),
        predictions=predictions,
        hiding=hidden,
        verdict=found,
        beside_the_model=beside_the_model(machine, result, tmm, warps_wait, counts, found),
        compared=compared_with_hardware(machine, info.kernel, may_be_measured(program.kernel, info.form)),
        assumptions=(*assumptions(machine, result, counts, again), *clock_words(machine, result, counts)),
        provenance={**about, "trace": info.digest, "recording": info.provenance},
        sampling=info.sampling,
        warnings=(*program.notes, *info.warnings_on(machine.cores.warp_width)),
        schedules=info.schedules,
        sources=_sources(program, info),
        info=info,
    )


def _sources(program: Program, info: TraceInfo) -> dict[str, tuple[str, ...]]:
    """The lines of each file that the program's places name, as far as they can be read."""
    kernel = program.kernel
    if kernel is None:
        return dict(program.sources)
    found = {}
    for name in dict.fromkeys(site.file for site in info.sites if site.file):
        for path in (kernel.folder / name, kernel.source_path.parent / name):
            with contextlib.suppress(OSError):
                found[name] = tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())
                break
    return found

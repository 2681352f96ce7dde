"""Compare: run programs on machines, and set what simulation, models and measurements say side by side."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simtmm.analysis.comparison import Case, Comparison, Unit
from simtmm.catalogue import named_kernel, refusal
from simtmm.engine import DEFAULT, simulate
from simtmm.errors import KernelError, MachineError, ModelError, StudyError, WorkloadError, nearest, shown
from simtmm.kernel import Kernel, kernel_in
from simtmm.machine import Machine, load_machine, machine_files
from simtmm.machine.changed import suffix
from simtmm.measurement.timings import Timing, matching
from simtmm.model import MODELS, find_model, predict
from simtmm.model.calibrated import CALIBRATED, calibrated
from simtmm.model.fit import fit_line
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.program import Kind, Program, architecture_for, kind_of, open_program
from simtmm.provenance import provenance
from simtmm.recorder.sources import opened_kernel
from simtmm.watch import Watch

TRACED: tuple[Kind, ...] = ("kernel", "trace")
LEAST_TO_FIT = 3  # cases that two constants are fitted to: with two, the line goes through both


def compare(
    sources: Sequence[str],
    machines: Mapping[str, Machine] | Sequence[str] = (),
    parameters: Mapping[str, Sequence[object]] | None = None,
    models: Iterable[str] = (),
    measured: Sequence[Timing] = (),
    reference: str | None = None,
    constants: Mapping[str, float] | None = None,
    unit: Unit = "cycles",
    engine: str = DEFAULT,
    watch: Watch | None = None,
    form: str | None = None,
) -> Comparison:
    """Run every kernel with every set of parameters on every machine, and set all times side by side.

    sources: kernels, and traces (.parquet); if there are none, what was measured is run. machines: by name; where the
    sources are left out, those of the measured times if left out. parameters: values by name, every combination is
    run; a kernel takes those that it has. models: names in MODELS and "calibrated"; all if left out. measured: see
    simtmm.measurement.timings. reference: "simulated", "measured" or a model; measured if there are such times. form:
    "written", "compiled" or "ptx", how kernels are recorded (see simtmm.record); compiled ones are recorded once for
    each architecture that the machines have. constants: a1 and a0 of the calibrated model, in `unit`; if left out they
    are fitted to the reference's times, for each program and machine with at least three cases.

    What a machine can't hold is told in `failed`. Raises the errors of the steps for everything else, and StudyError
    where nothing is left.
    """
    chosen = list(models) or [*MODELS, CALIBRATED.name]
    for name in chosen:
        find_model(name)
    known = [SIMULATED, *chosen, MEASURED]
    if reference is None:
        reference = MEASURED if measured else SIMULATED
    if reference not in known or reference == CALIBRATED.name:
        allowed = [name for name in known if name != CALIBRATED.name]
        raise StudyError(f"reference {reference!r}: must be one of {', '.join(allowed)}")
    if unit not in ("s", "cycles"):
        raise StudyError(f"calibrated: unit = {unit!r}: must be 's' or 'cycles'")
    if reference == MEASURED and not measured:
        raise StudyError("reference 'measured': needs a file of measured times")
    named = machines if isinstance(machines, Mapping) else {name: load_machine(name) for name in machines}
    wanted = list(_wanted(sources, named, parameters or {}, measured))
    cases, failed, warnings = _run(wanted, [name for name in chosen if name != CALIBRATED.name], engine, watch, form)
    cases, unmatched = _with_measured(cases, measured)
    if not cases:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise StudyError(f"nothing to compare ({reasons or 'no kernel and no measured time is given'})")
    if reference == MEASURED and not any(case.cycles(MEASURED) is not None for case in cases):
        raise StudyError("reference 'measured': none of the measured times belongs to a case on a machine with a clock")
    fits: dict[str, dict[str, float]] = {}
    if CALIBRATED.name in chosen:
        cases, fits = _calibrated(cases, reference, constants or {}, unit)
    told = [name for name in known if any(case.seconds(name) or case.cycles(name) for case in cases)]
    return Comparison(
        tuple(cases),
        tuple(told),
        reference,
        failed,
        tuple(unmatched),
        fits,
        {**provenance(), "engine": engine},
        tuple(warnings),
    )


@dataclass(frozen=True)
class _Wanted:
    """A program, recorded once for each architecture, on the machines where it is wanted. kernel: None for a trace."""

    source: str
    kernel: Kernel | None
    given: Mapping[str, Any]
    machines: Mapping[str, Machine]


def _wanted(
    sources: Sequence[str],
    machines: Mapping[str, Machine],
    parameters: Mapping[str, Sequence[object]],
    measured: Sequence[Timing],
) -> Iterator[_Wanted]:
    if not sources:
        if parameters:
            raise KernelError(f"parameters ({', '.join(parameters)}) can only be given to a kernel, and none is named")
        yield from _as_measured(machines, measured)
        return
    if not machines:
        raise MachineError("at least one machine must be given")
    kernels = {source: opened_kernel(source) for source in sources if kind_of(source) == "kernel"}
    taken = {name for kernel in kernels.values() for name in kernel.parameters}
    for name in parameters:
        if name not in taken:
            raise KernelError(f"parameter {name!r}: no kernel here has it{nearest(name, taken)}")
    for source in sources:
        own = [name for name in parameters if source in kernels and name in kernels[source].parameters]
        for values in itertools.product(*(parameters[name] for name in own)):
            given = dict(zip(own, values, strict=True))
            if source in kernels:
                given = {name: kernels[source].resolve(given)[name] for name in own}
            yield _Wanted(source, kernels.get(source), given, machines)


def _as_measured(machines: Mapping[str, Machine], measured: Sequence[Timing]) -> Iterator[_Wanted]:
    """What was measured, each program once."""
    for (kernel, _), times in itertools.groupby(
        sorted(measured, key=lambda time: (time.kernel, str(time.parameters))),
        key=lambda time: (time.kernel, str(time.parameters)),
    ):
        those = list(times)
        names = list(dict.fromkeys(time.machine for time in those))
        on = {name: _called(name) for name in names} if not machines else dict(machines)
        opened = _measured_kernel(those[0])
        resolved = opened.resolve(those[0].parameters)
        yield _Wanted(kernel, opened, {name: resolved[name] for name in those[0].parameters}, on)


def _measured_kernel(time: Timing) -> Kernel:
    """The kernel that a measured time is of. Raises KernelError for one that data can't name."""
    folder = named_kernel(time.kernel)
    if folder is None:
        raise KernelError(f"{time.origin or 'measured time'}: kernel = {shown(time.kernel)}: {refusal(time.kernel)}")
    return kernel_in(folder)


def _called(name: str) -> Machine:
    """The machine whose file or which itself has that name, whatever its capitals. Raises MachineError."""
    files = machine_files()
    file = next((known for known in files if known.lower() == name.lower()), None)
    if file is None and not name.endswith(".toml"):
        file = next((known for known in files if load_machine(known).name.lower() == name.lower()), None)
    return load_machine(file or name)


def _run(
    wanted: Sequence[_Wanted], models: Sequence[str], engine: str, watch: Watch | None, form: str | None
) -> tuple[list[Case], dict[str, str], list[str]]:
    cases: list[Case] = []
    failed: dict[str, str] = {}
    warnings: dict[str, None] = {}
    total = sum(len(one.machines) for one in wanted)
    heard = None if watch is None else lambda events: watch("recording", events, None)
    done = 0
    for one in wanted:
        programs: dict[int | None, Program] = {}  # by the architecture that they are compiled for
        for name, machine in one.machines.items():
            architecture, notes = architecture_for(one.kernel, machine, form) if one.kernel else (None, ())
            if architecture not in programs:
                source = one.kernel or one.source
                programs[architecture] = open_program(source, one.given, heard, TRACED, machine, form)
            program = programs[architecture]
            warnings |= dict.fromkeys(notes)
            try:
                cases.append(_case(program, one.given, name, machine, models, engine))
            except (WorkloadError, MachineError) as error:
                where = ", ".join([program.name, *(f"{key}={value}" for key, value in one.given.items()), name])
                failed[where] = str(error)
            done += 1
            if watch:
                watch("comparing", done, total)
    return cases, failed, list(warnings)


def _case(
    program: Program, given: Mapping[str, Any], name: str, machine: Machine, models: Sequence[str], engine: str
) -> Case:
    prepared, trace = program.on(machine), program.trace
    counts = prepared.counts
    assert trace is not None
    assert counts is not None
    predictions, errors = {}, {}
    for model in models:
        try:
            predictions[model] = predict(model, machine, counts)
        except ModelError as error:
            errors[model] = str(error)
    result = simulate(machine, prepared.workload, engine)
    return Case(
        program=program.name,
        given=given,
        parameters=program.parameters,
        machine_name=name,
        machine=machine,
        result=result,
        counts=counts,
        predictions=predictions,
        errors=errors,
        trace=trace.info.digest,
    )


def _with_measured(cases: Sequence[Case], measured: Sequence[Timing]) -> tuple[list[Case], list[Timing]]:
    """The cases with the medians of their measured times; and the times of none of them."""
    made, used = [], set()
    for case in cases:
        changed = suffix(case.machine.changes)  # measured times are of the machine as it is
        names = (case.machine_name.removesuffix(changed), case.machine.name.removesuffix(changed))
        found = matching(measured, case.program, case.parameters, names)
        used |= set(found)
        seconds = float(np.median([measured[index].seconds for index in found])) if found else None
        made.append(replace(case, measured_seconds=seconds))
    return made, [time for index, time in enumerate(measured) if index not in used]


def _calibrated(
    cases: Sequence[Case], reference: str, constants: Mapping[str, float], unit: Unit
) -> tuple[list[Case], dict[str, dict[str, float]]]:
    """The cases with the calibrated model, where there are constants or enough cases to fit them to."""
    made: dict[int, Case] = {}
    fits: dict[str, dict[str, float]] = {}
    of = {index: (case.program, case.machine_name) for index, case in enumerate(cases)}
    for program, machine in dict.fromkeys(of.values()):
        chosen = {index: cases[index] for index, pair in of.items() if pair == (program, machine)}
        units = {
            index: calibrated(case.machine, case.counts, 1, 0, unit="cycles").cycles for index, case in chosen.items()
        }
        try:
            fit, number, own_unit = _constants(chosen, units, reference, constants, unit)
        except ModelError as error:
            errors = {CALIBRATED.name: str(error)}
            made |= {index: replace(case, errors={**case.errors, **errors}) for index, case in chosen.items()}
            continue
        for index, case in chosen.items():
            try:
                prediction = calibrated(case.machine, case.counts, **fit, unit=own_unit)
            except ModelError as error:
                made[index] = replace(case, errors={**case.errors, CALIBRATED.name: str(error)})
                continue
            if prediction.cycles <= 0:  # a0 below 0, at a size for which the line was not made
                why = f"{CALIBRATED.name}: the line gives {prediction.cycles:.4g} cycles, which is no time"
                made[index] = replace(case, errors={**case.errors, CALIBRATED.name: why})
                continue
            in_cycles = {name: prediction.symbols[name] for name in ("a1", "a0")}
            fits[f"{program} on {machine}"] = {**in_cycles, "cases": number}
            made[index] = replace(case, predictions={**case.predictions, CALIBRATED.name: prediction})
    return [made[index] for index in range(len(cases))], fits


def _constants(
    chosen: Mapping[int, Case],
    units: Mapping[int, float],
    reference: str,
    constants: Mapping[str, float],
    unit: Unit,
) -> tuple[dict[str, float], int, Unit]:
    """a1 and a0, the number of cases they were fitted to, and their unit. Raises ModelError where there are none."""
    if constants:
        if set(constants) != {"a1", "a0"}:
            raise StudyError(f"calibrated: {', '.join(sorted(constants))}: must be a1 and a0")
        return dict(constants), 0, unit
    known = {index: time for index, case in chosen.items() if (time := case.cycles(reference)) is not None}
    different = len({units[index] for index in known})
    if different < LEAST_TO_FIT:
        need = f"needs {LEAST_TO_FIT} different f_app f_sched to fit a1 and a0 to, and has {different}"
        raise ModelError(f"{CALIBRATED.name}: {need}; or give both")
    line = fit_line([units[index] for index in known], list(known.values()))
    return {"a1": line.a1, "a0": line.a0}, len(known), "cycles"

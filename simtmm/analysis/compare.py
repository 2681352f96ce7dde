"""Compare: run programs on machines, and set what simulation, models and measurements say side by side."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from simtmm.analysis.compared import Planned, planned_cases, wanted_programs
from simtmm.analysis.comparison import Absent, Case, Comparison, Unit
from simtmm.analysis.unfinished import Unfinished
from simtmm.engine import DEFAULT
from simtmm.errors import ModelError, StudyError
from simtmm.machine import Machine, load_machine
from simtmm.machine.changed import suffix
from simtmm.measurement.timings import Timing, matching
from simtmm.model import MODELS, find_model, predict
from simtmm.model.calibrated import CALIBRATED, calibrated
from simtmm.model.fit import fit_line
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.provenance import provenance
from simtmm.study.evaluation.cases import Cases, Done, Missing
from simtmm.watch import Watch

logger = logging.getLogger("simtmm")

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
    store: str | Path | None = ":memory:",
    workers: int | None = 1,
) -> Comparison:
    """Run every kernel with every set of parameters on every machine, and set all times side by side.

    sources: kernels, and traces (.parquet); if there are none, what was measured is run. machines: by name; where the
    sources are left out, those of the measured times if left out. parameters: values by name, every combination is
    run; a kernel takes those that it has. models: names in MODELS and "calibrated"; all if left out. measured: see
    simtmm.measurement.timings. reference: "simulated", "measured" or a model; measured if there are such times. form:
    "written", "compiled" or "ptx", how kernels are recorded (see simtmm.record); compiled ones are recorded once for
    each architecture that the machines have. constants: a1 and a0 of the calibrated model, in `unit`; if left out they
    are fitted to the reference's times, for each program and machine with at least three cases. store: an SQLite file
    that keeps each case as it is done, as a sweep's points; in memory if left out, and with None one for each program
    in the user's cache folder. workers: processes; with None one for each core.

    A case that fails, or that a machine can't hold, stands in `absent`, and the others go on. Raises the errors of what
    comes before the cases, StudyError where nothing is left, and Unfinished where Ctrl-C ends it after some of them.
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
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    named = machines if isinstance(machines, Mapping) else {name: load_machine(name) for name in machines}
    planned, warnings = planned_cases(list(wanted_programs(sources, named, parameters or {}, measured)), form)
    interrupted = False
    with Cases([(one.ran, one.machine) for one in planned], engine, store) as kept:
        computed: set[str] = set()
        try:
            computed = kept.compute(workers, watch)
        except KeyboardInterrupt:
            interrupted = True
        found = kept.read()
        if interrupted and not any(isinstance(made, Done) for made in found):
            raise KeyboardInterrupt
    cases, absent = _told(planned, found, [name for name in chosen if name != CALIBRATED.name], computed)
    cases, unmatched = _with_measured(cases, measured)
    if not cases:
        alike = len({one.reason for one in absent}) == 1
        reasons = absent[0].reason if alike else "; ".join(f"{one.where}: {one.reason}" for one in absent)
        raise StudyError(f"nothing to compare ({reasons or 'no kernel and no measured time is given'})")
    beside = any(case.cycles(MEASURED) is not None for case in cases)
    if reference == MEASURED and not beside and not interrupted:
        raise StudyError("reference 'measured': none of the measured times belongs to a case on a machine with a clock")
    fits: dict[str, dict[str, float]] = {}
    if CALIBRATED.name in chosen:
        cases, fits = _calibrated(cases, reference, constants or {}, unit)
    told = [name for name in known if any(case.seconds(name) or case.cycles(name) for case in cases)]
    made = Comparison(
        tuple(cases),
        tuple(told),
        reference,
        tuple(absent),
        tuple(unmatched),
        fits,
        {**provenance(), "engine": engine},
        tuple(warnings),
    )
    if interrupted:
        raise Unfinished(made, sum(not isinstance(one, Missing) or one.status != "open" for one in found), len(found))
    return made


def _told(
    planned: Sequence[Planned], found: Sequence[Done | Missing], models: Sequence[str], computed: set[str]
) -> tuple[list[Case], list[Absent]]:
    """What came of the cases. computed: the digests of programs whose recordings have said what is doubted of them."""
    cases, absent = [], []
    doubts: dict[tuple[str, str], None] = {}
    for one, made in zip(planned, found, strict=True):
        if isinstance(made, Done):
            cases.append(_case(one, made, models))
            if one.wanted.kernel is not None and one.ran.digest not in computed:
                doubts |= dict.fromkeys((made.program, doubt) for doubt in made.doubts)
        else:
            absent.append(Absent(one.name, one.wanted.given, one.machine_name, made.status, made.reason))
    for program, doubt in doubts:
        logger.warning("warning: kernel %s: %s", program, doubt)
    return cases, absent


def _case(planned: Planned, made: Done, models: Sequence[str]) -> Case:
    predictions, errors = {}, {}
    for model in models:
        try:
            predictions[model] = predict(model, planned.machine, made.counts)
        except ModelError as error:
            errors[model] = str(error)
    return Case(
        program=made.program,
        given=planned.wanted.given,
        parameters=made.parameters,
        machine_name=planned.machine_name,
        machine=planned.machine,
        result=made.result,
        counts=made.counts,
        predictions=predictions,
        errors=errors,
        trace=made.digest,
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

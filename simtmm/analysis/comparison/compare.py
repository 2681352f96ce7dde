"""Compare: run programs on machines, and compare simulation, models and measurements."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from simtmm.analysis.comparison.case import Absent, Case
from simtmm.analysis.comparison.comparison import Comparison
from simtmm.analysis.comparison.fitted_lines import Constants, fit_cases
from simtmm.analysis.comparison.programs import Planned, planned_cases, wanted_programs
from simtmm.analysis.prediction.followed import followed
from simtmm.analysis.unfinished import Unfinished
from simtmm.engine import DEFAULT
from simtmm.errors import ModelError, StudyError
from simtmm.machine import Machine, load_machine
from simtmm.measurement.timings import Timing, matching
from simtmm.model import MODELS, MODELS_OF_ALGORITHMS, find_model, predict
from simtmm.model.calibrated import CALIBRATED
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.provenance import provenance
from simtmm.study.design.by_sample import BySample
from simtmm.study.evaluation.cases import Cases, Done, Missing
from simtmm.watch import Watch

logger = logging.getLogger("simtmm")
NONE_GIVEN = Constants()


def compare(  # noqa: PLR0913, PLR0917 - each is an option of a comparison
    sources: Sequence[str],
    machines: Mapping[str, Machine] | Sequence[str] = (),
    parameters: Mapping[str, Sequence[object]] | None = None,
    models: Iterable[str] = (),
    measured: Sequence[Timing] = (),
    reference: str | None = None,
    constants: Constants = NONE_GIVEN,
    engine: str | BySample = DEFAULT,
    watch: Watch | None = None,
    form: str | None = None,
    store: str | Path | None = ":memory:",
    workers: int | None = 1,
    rules: Sequence[str | Path] = (),
) -> Comparison:
    """Run every kernel with every set of parameters on every machine, and set all times side by side.

    sources: kernels, and traces (.parquet); if there are none, what was measured is run. machines: by name; where the
    sources are left out, those of the measured times if left out. parameters: values by name, every combination is
    run; a kernel takes those that it has. models: names in MODELS and MODELS_OF_ALGORITHMS, and "calibrated"; if left
    out all, those of an algorithm for programs that follow it. measured: see
    simtmm.measurement.timings. reference: "simulated", "measured" or a model; measured if there are such times. form:
    "written", "compiled" or "ptx", how kernels are recorded (see simtmm.record); compiled ones are recorded once for
    each architecture that the machines have. constants: a1 and a0 of the calibrated model, or of the one fitted
    model that is named; if left out they are fitted to the reference's times, for each program and machine with
    at least three cases. engine: "fast", "reference", or a BySample, which takes some blocks of each program. store: an
    SQLite file that keeps each case as it is done, as a sweep's points; in memory if left out, and with None one for
    each program in the user's cache folder. workers: processes; with None one for each core. rules: names of built-in
    scheduling rules, and Python files with rules of one's own: every machine is run by each of them too, beside its
    own; those of files are simulated whole, so with no BySample.

    A case that fails, or that a machine can't hold, stands in `absent`, and the others go on. Raises the errors of what
    comes before the cases, StudyError where nothing is left, and Unfinished where Ctrl-C ends it after some of them.
    """
    named = list(models)
    chosen = named or [*MODELS, CALIBRATED.name, *MODELS_OF_ALGORITHMS]
    fitted = [name for name in chosen if find_model(name).constants]
    plain = [name for name in chosen if name not in fitted]
    known = [SIMULATED, *chosen, MEASURED]
    if reference is None:
        reference = MEASURED if measured else SIMULATED
    if reference not in known or reference in fitted:
        allowed = [name for name in known if name not in fitted]
        raise StudyError(f"reference {reference!r}: must be one of {', '.join(allowed)}")
    if reference == MEASURED and not measured:
        raise StudyError("reference 'measured': needs a file of measured times")
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    on = machines if isinstance(machines, Mapping) else {name: load_machine(name) for name in machines}
    planned, warnings = planned_cases(list(wanted_programs(sources, on, parameters or {}, measured)), form, rules)
    interrupted = False
    with Cases([one.case for one in planned], engine, store) as kept:
        computed: set[str] = set()
        try:
            computed = kept.compute(workers, watch)
        except KeyboardInterrupt:
            interrupted = True
        found = kept.read()
        if interrupted and not any(isinstance(outcome, Done) for outcome in found):
            raise KeyboardInterrupt
    cases, absent = _told(planned, found, plain, bool(named), computed)
    cases, unmatched = _with_measured(cases, measured)
    if not cases:
        alike = len({one.reason for one in absent}) == 1
        reasons = absent[0].reason if alike else "; ".join(f"{one.where}: {one.reason}" for one in absent)
        raise StudyError(f"nothing to compare ({reasons or 'no kernel and no measured time is given'})")
    beside = any(case.cycles(MEASURED) is not None for case in cases)
    if reference == MEASURED and not beside and not interrupted:
        raise StudyError("reference 'measured': no measured time matches a case on a machine with a clock")
    fits: dict[str, dict[str, float]] = {}
    for name in fitted:
        theirs = name == (CALIBRATED.name if CALIBRATED.name in fitted else fitted[0])
        cases, made_fits = fit_cases(name, cases, reference, constants if theirs else NONE_GIVEN, told_why=bool(named))
        fits |= made_fits
    timed = [name for name in known if any(case.seconds(name) or case.cycles(name) for case in cases)]
    comparison = Comparison(
        tuple(cases),
        tuple(timed),
        reference,
        tuple(absent),
        tuple(unmatched),
        fits,
        {**provenance(), "engine": str(engine)},
        tuple(warnings),
    )
    if interrupted:
        raise Unfinished(
            comparison, sum(not isinstance(one, Missing) or one.status != "open" for one in found), len(found)
        )
    return comparison


def _told(
    planned: Sequence[Planned],
    found: Sequence[Done | Missing],
    models: Sequence[str],
    named: bool,
    computed: set[str],
) -> tuple[list[Case], list[Absent]]:
    """What came of the cases. named: whether the user named these models, so that a note explains each without a
    prediction. computed: the digests of programs whose recordings have already reported their doubts.
    """
    cases, absent = [], []
    doubts: dict[tuple[str, str], None] = {}
    for one, outcome in zip(planned, found, strict=True):
        if isinstance(outcome, Done):
            cases.append(_case(one, outcome, models, named))
            if one.wanted.kernel is not None and one.ran.digest not in computed:
                doubts |= dict.fromkeys((outcome.program, doubt) for doubt in outcome.doubts)
        else:
            absent.append(Absent(one.name, one.wanted.given, one.machine_name, outcome.status, outcome.reason))
    for program, doubt in doubts:
        logger.warning("warning: kernel %s: %s", program, doubt)
    return cases, absent


def _case(planned: Planned, done: Done, models: Sequence[str], named: bool) -> Case:
    predictions, errors = {}, {}
    algorithm, symbols = followed(done.program, done.parameters, planned.wanted.kernel) or ("", {})
    for name in models:
        model = find_model(name)
        try:
            if not model.algorithm:
                predictions[name] = predict(name, planned.machine, done.counts)
            elif model.algorithm == algorithm:
                predictions[name] = model.prediction(planned.machine, done.counts, symbols)
            elif named:
                errors[name] = f"{name}: is a model of {model.algorithm}, which is not this program's algorithm"
        except ModelError as error:
            errors[name] = str(error)
    return Case(
        program=done.program,
        given=planned.wanted.given,
        parameters=done.parameters,
        machine_name=planned.machine_name,
        machine=planned.machine,
        result=done.result,
        causes=done.causes,
        sampled=done.sampled,
        counts=done.counts,
        predictions=predictions,
        errors=errors,
        trace=done.digest,
        algorithm=algorithm,
        rule=planned.rule.name if planned.rule else "",
        measured_on=planned.measured_on,
    )


def _with_measured(cases: Sequence[Case], measured: Sequence[Timing]) -> tuple[list[Case], list[Timing]]:
    """The cases with the medians of their measured times; and the times of none of them."""
    made, used = [], set()
    for case in cases:
        found = matching(measured, case.program, case.parameters, case.measured_on)
        used |= set(found)
        seconds = float(np.median([measured[index].seconds for index in found])) if found else None
        made.append(replace(case, measured_seconds=seconds))
    return made, [time for index, time in enumerate(measured) if index not in used]

"""Models that are lines through the cases of a comparison: constants given, or fitted to the reference's times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from simtmm.analysis.comparison.case import Case
from simtmm.analysis.comparison.comparison import Unit
from simtmm.errors import ModelError, StudyError
from simtmm.model import find_model
from simtmm.model.calibrated import CALIBRATED, calibrated
from simtmm.model.fit import fit_line
from simtmm.model.integrated_apsp import FITTED_APSP, fitted_apsp
from simtmm.result import Prediction

LEAST_TO_FIT = 3  # cases that two constants are fitted to: with two, the line goes through both

ABSCISSA = {CALIBRATED.name: "f_app f_sched", FITTED_APSP.name: "sqrt(B_r) / T"}


@dataclass(frozen=True)
class Constants:
    """Constants of a line that are given: a1 and a0 by name, in `unit`; none if left out. Raises StudyError."""

    values: Mapping[str, float] = field(default_factory=dict)
    unit: Unit = "cycles"

    def __post_init__(self) -> None:
        if self.unit not in ("s", "cycles"):
            raise StudyError(f"calibrated: unit = {self.unit!r}: must be 's' or 'cycles'")


def fit_cases(
    model: str, cases: Sequence[Case], reference: str, constants: Constants, told_why: bool
) -> tuple[list[Case], dict[str, dict[str, float]]]:
    """The cases with a fitted model, where there are constants or enough cases to fit them to; and what was fitted.

    told_why: whether a case that follows another algorithm gets a note. Raises
    StudyError for other constants.
    """
    fitted: dict[int, Case] = {}
    fits: dict[str, dict[str, float]] = {}
    algorithm = find_model(model).algorithm
    of = {}
    for index, case in enumerate(cases):
        if algorithm in ("", case.algorithm):
            of[index] = (case.program, case.machine_name)
        elif told_why:
            fitted[index] = _without(
                case, model, f"{model}: is a model of {algorithm}, which is not this program's algorithm"
            )
    for program, machine in dict.fromkeys(of.values()):
        chosen = {index: cases[index] for index, pair in of.items() if pair == (program, machine)}
        try:
            units = {index: _line(model, case, 1, 0).cycles for index, case in chosen.items()}
            fit, number = _constants(model, chosen, units, reference, constants)
        except ModelError as error:
            fitted |= {index: _without(case, model, str(error)) for index, case in chosen.items()}
            continue
        for index, case in chosen.items():
            try:
                prediction = _line(model, case, **fit)
            except ModelError as error:
                fitted[index] = _without(case, model, str(error))
                continue
            if prediction.cycles <= 0:  # a0 below 0, at a size outside the line's range
                why = f"{model}: the line gives {prediction.cycles:.4g} cycles: a time must be above 0"
                fitted[index] = _without(case, model, why)
                continue
            name = f"{program} on {machine}" + (f", {ABSCISSA[model]}" if algorithm else "")
            fits[name] = {**fit, "cases": number}
            fitted[index] = replace(case, predictions={**case.predictions, model: prediction})
    return [fitted.get(index, case) for index, case in enumerate(cases)], fits


def _without(case: Case, model: str, why: str) -> Case:
    return replace(case, errors={**case.errors, model: why})


def _line(model: str, case: Case, a1: float, a0: float) -> Prediction:
    """Its time, by constants in cycles. Raises ModelError."""
    if model == FITTED_APSP.name:
        return fitted_apsp(case.machine, case.counts, a1, a0)
    return calibrated(case.machine, case.counts, a1, a0, unit="cycles")


def _constants(
    model: str,
    chosen: Mapping[int, Case],
    units: Mapping[int, float],
    reference: str,
    constants: Constants,
) -> tuple[dict[str, float], int]:
    """a1 and a0 in cycles, and the number of cases they were fitted to. Raises ModelError where there are none."""
    if constants.values:
        if set(constants.values) != {"a1", "a0"}:
            raise StudyError(f"{model}: {', '.join(sorted(constants.values))}: must be a1 and a0")
        (machine,) = {case.machine_name: case.machine for case in chosen.values()}.values()
        if constants.unit == "s" and machine.clock_hz is None:
            raise ModelError(f"{model}: machine {machine.name} has no clock_hz, so a1 and a0 must be in cycles")
        scale = machine.clock_hz if constants.unit == "s" and machine.clock_hz is not None else 1.0
        return {name: value * scale for name, value in constants.values.items()}, 0
    known = {index: time for index, case in chosen.items() if (time := case.cycles(reference)) is not None}
    different = len({units[index] for index in known})
    if different < LEAST_TO_FIT:
        need = f"needs {LEAST_TO_FIT} different {ABSCISSA[model]} to fit a1 and a0, but has {different}"
        raise ModelError(f"{model}: {need}; or give both")
    line = fit_line([units[index] for index in known], list(known.values()))
    return {"a1": line.a1, "a0": line.a0}, len(known)

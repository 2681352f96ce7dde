"""All measurements of the hierarchy fitted together, from a machine that the result is never worse than.

Values that the rows do not determine stay as the machine has them. What is found counts only where it is nearer to the
measurements than the machine was, also on rows that were left out of the fit: a fifth of them at a time, by the slopes
at its end.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.calibration.hierarchy.measured import Kind, MeasuredSet
from simtmm.calibration.hierarchy.simulated import FELT, SimulatedSet
from simtmm.calibration.least_squares import Fitted, Numbers, Parameter, cost, least_squares, refitted
from simtmm.calibration.values import SetErrors, Value
from simtmm.machine import Machine
from simtmm.watch import Watch

FOLDS = 5
STEPS = 5  # of the fit, at most
TOLD = 0.01  # of a row, that a value must change when it changes by MOVED, to be told by it
MOVED = 0.25  # of a value
LEAST_WORSE = 0.0005  # of a set's mean error: what rounding makes
ALIKE = 0.01  # of a value: nearer to it than that is not told from it
WEAK = 0.5  # of a value, beyond which its standard error leaves it undetermined
SERVICE, REQUEST = "memory.l2.service", "memory.l2.request_service"
DIGITS = 4


@dataclass(frozen=True)
class Fit:
    """A value that may be fitted.

    shown_by: kinds of measurements that may determine it. how: in words. least, most: its bounds. step: over which its
    slope is taken. All three in cycles, or times the machine's own value, if `relative`.
    """

    key: str
    shown_by: tuple[Kind, ...]
    how: str
    least: float
    most: float
    step: float
    relative: bool = False


FITS = (
    Fit("memory.pipe.access_interval", ("strides", "caches"), "loads that the L1 has", 0, 4, 0.05),
    Fit("memory.pipe.tag_interval", ("strides",), "loads of several lines that the L1 has", 0, 2, 0.02),
    Fit("memory.pipe.interval", ("strides", "caches"), "passes of loads that the L1 has", 0.25, 4, 0.05),
    Fit(SERVICE, ("l2",), "buffers that the L2 holds", 0.2, 5, 0.04, relative=True),
    Fit("memory.l2.store_service", ("small",), "small kernels that store to the L2", 0.2, 5, 0.04, relative=True),
    Fit("scheduling.block_interval", ("small",), "small kernels of small blocks", 0, 1000, 10),
    Fit("scheduling.launch_overhead", ("small",), "the smallest kernels, launched", 0.2, 5, 0.04, relative=True),
    Fit("scheduling.graph_launch_overhead", ("small",), "the smallest kernels in graphs", 0.2, 5, 0.04, relative=True),
)


@dataclass(frozen=True)
class Joint:
    """What came of a fit: values that changed, the sets' errors, and notes."""

    values: tuple[Value, ...]
    sets: tuple[SetErrors, ...]
    notes: tuple[str, ...]


def fit_hierarchy(machine: Machine, measured: Sequence[MeasuredSet], watch: Watch | None = None) -> Joint:
    """Fit a machine to measurements of its hierarchy.

    machine: to begin with; it keeps what they do not determine.
    measured: sets of rows, one of a kind at most.
    watch: called as things go on.
    """
    simulated = [SimulatedSet(each, machine) for each in measured]
    told = _Told(machine, simulated, watch)
    keys = [fit for fit in FITS if _is_of(machine, fit, measured)]
    notes = []
    begin = told.residuals({})
    fitted = None
    while keys:
        fitted = _fitted(machine, keys, told, fitted)
        left_out, spreads = _folds(machine, keys, fitted, told)
        if weak := _weakest(machine, keys, fitted, spreads):
            fit, why = weak
            keys = [other for other in keys if other.key != fit.key]
            kinds = " and ".join(kind for kind in fit.shown_by if kind in {each.kind for each in measured})
            notes.append(f"{fit.key}: {why} {kinds}: stays {_own(machine, fit.key):g}")
        elif kind := _worse(keys, told, begin, fitted.residuals):
            keys = [fit for fit in keys if kind not in fit.shown_by]
            notes.append(f"{kind}: no values are nearer to these rows than {machine.name}'s own: they stay")
        else:
            break
    if not keys or fitted is None:
        return Joint((), _errors(simulated, told, begin, begin, begin), (*notes, "nothing is determined"))
    found = _rounded(fitted.values)
    end = told.residuals(found)
    if cost(end) >= cost(begin) or cost(left_out) >= cost(begin):
        reason = "on rows left out" if cost(end) < cost(begin) else "on its own rows"
        notes.append(f"no values are nearer to the measurements than {machine.name}'s own ({reason}): they stay")
        return Joint((), _errors(simulated, told, begin, begin, begin), tuple(notes))
    called = {each.kind: each.called for each in measured}
    values = tuple(
        Value(
            fit.key,
            found[fit.key],
            "cycles",
            "; ".join(called[kind] for kind in fit.shown_by if kind in called),
            f"joint fit: {fit.how}",
            True,
            spreads[fit.key],
        )
        for fit in keys
    )
    return Joint(
        (*values, *_followers(machine, found, values)),
        _errors(simulated, told, begin, end, left_out),
        tuple(notes),
    )


class _Told:
    """Residuals of all sets on a machine with other values: rows count so that each set weighs as much."""

    def __init__(self, machine: Machine, simulated: Sequence[SimulatedSet], watch: Watch | None) -> None:
        self.machine, self.simulated, self._watch, self._done = machine, simulated, watch, 0

    def residuals(self, values: Mapping[str, float]) -> Numbers:
        """float64[rows of all sets]: log(simulated / measured), of times."""
        changed = self.machine.replace({**values, **_following(self.machine, values)}) if values else self.machine
        found = np.concatenate([each.residuals(changed) for each in self.simulated])
        self._done += 1
        if self._watch:
            self._watch("fitting the hierarchy", self._done, None)
        return found

    @property
    def kinds(self) -> list[Kind]:
        """The kind of each residual."""
        return [each.measured.kind for each in self.simulated for _ in each.measured.rows]


def _is_of(machine: Machine, fit: Fit, measured: Sequence[MeasuredSet]) -> bool:
    """Whether the machine has such a value, and a set that may show it."""
    values = machine.values()
    if fit.key.startswith("memory.pipe.") and machine.memory.pipe is None:
        return False
    if fit.key.startswith("memory.l2.") and machine.memory.l2 is None:
        return False
    if fit.key == "scheduling.graph_launch_overhead" and not any(
        row.of.get("way") == "graph" for each in measured for row in each.rows
    ):
        return False
    has = values.get(fit.key) is not None and (values[fit.key] > 0 or not fit.relative)
    return has and any(each.kind in fit.shown_by for each in measured)


def _own(machine: Machine, key: str) -> float:
    return float(machine.values()[key])


def _fitted(machine: Machine, keys: Sequence[Fit], told: _Told, before: Fitted | None) -> Fitted:
    """before: a fit of these keys and others, whose values and slopes this one begins with."""
    parameters = [_parameter(machine, fit) for fit in keys]

    def residuals(sets: Sequence[Numbers]) -> list[Numbers]:
        return [told.residuals({fit.key: float(value) for fit, value in zip(keys, each, strict=True)}) for each in sets]

    if before is None:
        return least_squares(parameters, [_own(machine, fit.key) for fit in keys], residuals, STEPS)
    column = {key: at for at, key in enumerate(before.values)}
    slopes = before.slopes[:, [column[fit.key] for fit in keys]]
    return least_squares(parameters, [before.values[fit.key] for fit in keys], residuals, STEPS, slopes, 0)


def _parameter(machine: Machine, fit: Fit) -> Parameter:
    own = _own(machine, fit.key)
    scale = own if fit.relative else 1.0
    return Parameter(fit.key, fit.least * scale, max(fit.most * scale, own), fit.step * scale)


def _weakest(
    machine: Machine, keys: Sequence[Fit], fitted: Fitted, spreads: Mapping[str, float]
) -> tuple[Fit, str] | None:
    """The key that the rows determine least, if they do not determine it or agree with the machine's; and which."""
    slopes = np.abs(fitted.slopes).max(axis=0)
    worst, found = 1.0, None
    for fit, slope in zip(keys, slopes, strict=True):
        own, value = _own(machine, fit.key), fitted.values[fit.key]
        size = max(abs(value), abs(own), 1.0 / machine.ticks_per_cycle)
        felt = slope / _parameter(machine, fit).step * MOVED * size
        weakness = max(TOLD / felt if felt > 0 else math.inf, spreads[fit.key] / (WEAK * size))
        if weakness > worst:
            worst, found = weakness, (fit, "not determined by")
        elif found is None and abs(value - own) <= max(spreads[fit.key], ALIKE * own):
            found = fit, "agrees with"
    return found


def _worse(keys: Sequence[Fit], told: _Told, before: Numbers, after: Numbers) -> Kind | None:
    """A kind of measurement that the fit made worse, and that some of the keys are to be nearer to."""
    kinds = np.array(told.kinds)
    for kind in {kind for fit in keys for kind in fit.shown_by}:
        mine = kinds == kind
        if mine.any() and np.abs(after[mine]).mean() > np.abs(before[mine]).mean() + LEAST_WORSE:
            return kind
    return None


def _folds(machine: Machine, keys: Sequence[Fit], fitted: Fitted, told: _Told) -> tuple[Numbers, dict[str, float]]:
    """Residuals of rows that a fit without them had, and the spread of its values: a jackknife's standard errors."""
    parameters = [_parameter(machine, fit) for fit in keys]
    number = np.zeros(len(fitted.residuals), np.int64)
    kinds = np.array(told.kinds)
    for kind in set(told.kinds):
        number[kinds == kind] = np.arange((kinds == kind).sum()) % FOLDS
    left_out = np.array(fitted.residuals)
    each = []
    steps = np.array([parameter.step for parameter in parameters])
    at = np.array([fitted.values[parameter.name] for parameter in parameters])
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(number != fold), np.flatnonzero(number == fold)
        values, _ = refitted(parameters, fitted, inside)
        moved = np.array([values[parameter.name] for parameter in parameters])
        left_out[outside] += fitted.slopes[outside] @ ((moved - at) / steps)
        each.append(moved)
    spread = np.sqrt((FOLDS - 1) / FOLDS * ((np.array(each) - np.mean(each, axis=0)) ** 2).sum(axis=0))
    return left_out, {fit.key: float(value) for fit, value in zip(keys, spread, strict=True)}


def _following(machine: Machine, values: Mapping[str, float]) -> dict[str, float]:
    """What goes along with a fitted value: a slice's request takes the same share of a line's time."""
    l2 = machine.memory.l2
    if SERVICE not in values or l2 is None or l2.request_service is None or not l2.service:
        return {}
    return {REQUEST: round(l2.request_service / l2.service * values[SERVICE], DIGITS)}


def _followers(machine: Machine, found: Mapping[str, float], values: Sequence[Value]) -> list[Value]:
    shown = {value.key: value for value in values}
    return [
        Value(key, value, "cycles", shown[SERVICE].measurement, f"the share of {SERVICE} that {machine.name} has")
        for key, value in _following(machine, found).items()
    ]


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    """Values of as many digits as a fit knows."""
    return {key: float(f"{value:.{DIGITS}g}") for key, value in values.items()}


def _errors(
    simulated: Sequence[SimulatedSet], told: _Told, before: Numbers, after: Numbers, left_out: Numbers
) -> tuple[SetErrors, ...]:
    kinds = np.array(told.kinds)
    return tuple(
        SetErrors(
            each.measured.kind,
            each.measured.called,
            len(each.measured.rows),
            each.measured.others,
            *(float(np.abs(off[kinds == each.measured.kind]).mean()) for off in (before, after, left_out)),
        )
        for each in simulated
    )


assert all(fit.key in FELT[kind] for fit in FITS for kind in fit.shown_by)

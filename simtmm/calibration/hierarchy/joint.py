"""All measurements fitted together, from one place: streams, a chase, and those of the hierarchy, whichever there are.

Values that the rows do not determine stay as the machine has them. Errors are a jackknife's: a fifth of the rows at a
time is left out of the fit, by the slopes at its end, which also says how well rows are met that it has not seen.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from simtmm.calibration.hierarchy.fits import FITS, MEMORY_SERVICE, REQUEST, SERVICE, WRITE_SHARE, Fit
from simtmm.calibration.hierarchy.streams import LEAST_WORSE
from simtmm.calibration.least_squares import Fitted, Numbers, Parameter, cost, least_squares, refitted
from simtmm.calibration.streams.part import ATOMICS
from simtmm.machine import Machine
from simtmm.watch import Watch

LeastServices = Callable[[Machine], tuple[float, float]]  # of a chunk that is read, and of one that is written [cycles]
FOLDS = 5
STEPS = 5  # of the fit, at most
TOLD = 0.01  # of a row, that a value must change when it changes by MOVED, to be told by it
MOVED = 0.25  # of a value
ALIKE = 0.01  # of a value: nearer to it than that is not told from it
WEAK = 0.5  # of a value, beyond which its standard error leaves it undetermined
NEEDED = 0.01  # of the cost, by which a fit without a value may be worse if that value is to stay
MISSED = 0.001  # of a set's mean error, likewise
DIGITS = 4
NOTHING = "nothing is determined"


class Rows(Protocol):
    """A set of measurements. kind: what it is. rows: how many residuals it has."""

    @property
    def kind(self) -> str:
        """Strides, caches, l2, small, streams or chase."""

    @property
    def called(self) -> str:
        """What sources call it."""

    @property
    def rows(self) -> int:
        """How many residuals there are."""

    @property
    def others(self) -> Mapping[str, int]:
        """How many measured rows are not fitted, by reason."""

    def residuals(self, machine: Machine) -> Numbers:
        """float64[rows]: log(simulated / measured), of times."""


@dataclass(frozen=True)
class Start:
    """Where a fit begins. machine: what it has but for fitted values, and goes back to where rows determine none.

    values: to begin with, by key; the machine's own where there are none.
    """

    machine: Machine
    values: Mapping[str, float]


@dataclass(frozen=True)
class Found:
    """What a fit from one place found.

    start: where it began. fits, fitted: its keys, and how it went; none where nothing is determined.
    values: what it found, rounded. spreads: their standard errors. begin, end, left_out: float64[rows of all sets], the
    residuals of the given machine, at the values found, and of rows that a fit without them had. notes: in words.
    kinds: str[rows of all sets], what each is of.
    """

    start: Start
    fits: tuple[Fit, ...]
    fitted: Fitted | None
    values: Mapping[str, float]
    spreads: Mapping[str, float]
    begin: Numbers
    end: Numbers
    left_out: Numbers
    notes: tuple[str, ...]
    kinds: npt.NDArray[np.str_]

    def worse_by(self) -> float:
        """By how much the mean error of a set is larger than on the machine given, at most."""
        each = [self.kinds == kind for kind in set(self.kinds)]
        return max(float(np.abs(self.end[mine]).mean() - np.abs(self.begin[mine]).mean()) for mine in each)

    @property
    def machine(self) -> Machine:
        """The machine with the values found."""
        return _changed(self.start.machine, self.values)


class Told:
    """Residuals of all sets on a machine with other values: each row counts as much."""

    def __init__(self, sets: Sequence[Rows], watch: Watch | None) -> None:
        self.sets, self._watch, self._done = sets, watch, 0
        self.kinds = np.array([each.kind for each in sets for _ in range(each.rows)])

    def residuals(self, machine: Machine) -> Numbers:
        """float64[rows of all sets]: log(simulated / measured), of times."""
        found = np.concatenate([each.residuals(machine) for each in self.sets])
        self._done += 1
        if self._watch:
            self._watch("fitting jointly", self._done, None)
        return found

    def means(self, off: Numbers) -> dict[str, float]:
        """The mean size of residuals, by kind.

        off: float64[rows of all sets].
        """
        return {each.kind: float(np.abs(off[self.kinds == each.kind]).mean()) for each in self.sets}


class JointFit:
    """A fit of a machine to sets of measurements."""

    def __init__(self, told: Told, keys: Iterable[str], least_services: LeastServices | None = None) -> None:
        """told: gives residuals. keys: that may be fitted. least_services: bounds of `memory.service`."""
        self.told, self._keys, self._least_services = told, frozenset(keys), least_services

    def run(self, start: Start, begin: Numbers, before: Found | None = None, without: Sequence[str] = ()) -> Found:
        """Fit all keys from a start.

        begin: the residuals of the given machine. before: a fit whose slopes hold here, too. without: keys that stay.
        """
        kinds = set(self.told.kinds)
        fits = [fit for fit in FITS if fit.key in self._keys.difference(without) and kinds & set(fit.shown_by)]
        fitted = self._fitted(start, fits, _slopes_of(before, fits), start.values) if fits else None
        return self._found(start, fits, fitted, begin, [])

    def finished(self, found: Found) -> Found:
        """A fit less the values that rows do not determine, and less those by which a set would be met less well.

        found: with all of them.
        """
        fits, fitted, notes, start = list(found.fits), found.fitted, list(found.notes), found.start
        if fitted is not None:
            fits, fitted, more = self._without_weak(start, fits, fitted)
            notes += more
        while fits and fitted is not None and (kind := self._worse(fits, found.begin, fitted.residuals)):
            fits = [fit for fit in fits if kind not in fit.shown_by]
            notes.append(f"{kind}: no values are nearer to these rows than {start.machine.name}'s own: they stay")
            fitted = self._fitted(start, fits, fitted, fitted.values) if fits else None
        return self._found(start, fits, fitted, found.begin, notes)

    def _found(
        self, start: Start, fits: Sequence[Fit], fitted: Fitted | None, begin: Numbers, notes: Sequence[str]
    ) -> Found:
        if not fits or fitted is None:
            end = left_out = self.told.residuals(start.machine)
            return Found(start, (), None, {}, {}, begin, end, left_out, (*notes, NOTHING), self.told.kinds)
        left_out, spreads = self._folds(start, fits, fitted)
        values = self._bounded(start, fitted.values)
        end = self.told.residuals(_changed(start.machine, values))
        return Found(start, tuple(fits), fitted, values, spreads, begin, end, left_out, tuple(notes), self.told.kinds)

    def _without_weak(
        self, start: Start, fits: list[Fit], fitted: Fitted
    ) -> tuple[list[Fit], Fitted | None, list[str]]:
        """The fit less the keys that it does as well without, with notes on these.

        All that look so are left out at once, and fewer where that fits less well: some stand in for others.
        """
        notes: list[str] = []
        kept: set[str] = set()
        while weak := self._weak(start, [fit for fit in fits if fit.key not in kept], fits, fitted):
            while weak:
                left = [fit for fit in fits if fit not in weak]
                without = self._fitted(start, left, fitted, fitted.values) if left else None
                off = without.residuals if without is not None else self.told.residuals(start.machine)
                as_good = self._as_good(off, fitted)
                if as_good or len(weak) == 1:
                    break
                weak = dict(list(weak.items())[: len(weak) // 2])
            if not as_good:
                kept |= {fit.key for fit in weak}
                continue
            for fit, why in weak.items():
                shown = " and ".join(kind for kind in fit.shown_by if kind in set(self.told.kinds))
                notes.append(f"{fit.key}: {why} {shown}: stays {_own(start.machine, fit.key):g}")
            if without is None:
                return [], None, notes
            fits, fitted = left, without
        return fits, fitted, notes

    def _fitted(self, start: Start, fits: Sequence[Fit], before: Fitted | None, begin: Mapping[str, float]) -> Fitted:
        """before: a fit of these keys and others, whose slopes hold here, too. begin: values to begin with, by key."""
        parameters, keys = [self._parameter(start.machine, fit) for fit in fits], [fit.key for fit in fits]

        def residuals(sets: Sequence[Numbers]) -> list[Numbers]:
            return [
                self.told.residuals(
                    _changed(start.machine, self._bounded(start, dict(zip(keys, each.tolist(), strict=True))))
                )
                for each in sets
            ]

        values = [begin.get(fit.key, _own(start.machine, fit.key)) for fit in fits]
        if before is None:
            return least_squares(parameters, values, residuals, STEPS, times=1)
        column = {key: at for at, key in enumerate(before.values)}
        slopes = before.slopes[:, [column[fit.key] for fit in fits]]
        return least_squares(parameters, values, residuals, STEPS, slopes, 0)

    def _parameter(self, machine: Machine, fit: Fit) -> Parameter:
        scale = _own(machine, fit.of) if fit.of else 1.0
        own = _own(machine, fit.key)
        least, most = fit.least * scale, max(fit.most * scale, own)
        if fit.key == MEMORY_SERVICE and self._least_services is not None:
            read, written = self._least_services(machine)
            if WRITE_SHARE not in self._keys:
                read = max(read, written / machine.memory.write_share)
            least = min(read, own)
        return Parameter(fit.key, least, most, fit.step * scale)

    def _bounded(self, start: Start, values: Mapping[str, float]) -> dict[str, float]:
        """Values of a fit, rounded, by which a partition writes no faster than it may, or than the machine's does."""
        rounded = _rounded(values)
        if self._least_services is None or not {MEMORY_SERVICE, WRITE_SHARE} & rounded.keys():
            return rounded
        own = start.machine.memory
        taken = {MEMORY_SERVICE: own.service, WRITE_SHARE: own.write_share} | rounded
        least = min(self._least_services(start.machine)[1], own.write_share * own.service)
        if taken[MEMORY_SERVICE] * taken[WRITE_SHARE] < least:
            key, other = (WRITE_SHARE, MEMORY_SERVICE) if WRITE_SHARE in rounded else (MEMORY_SERVICE, WRITE_SHARE)
            rounded[key] = math.ceil(least / taken[other] * 10**DIGITS) / 10**DIGITS
        return rounded

    def _as_good(self, off: Numbers, fitted: Fitted) -> bool:
        """Whether residuals are as small as those of a fit, of each set too."""
        was, now = self.told.means(fitted.residuals), self.told.means(off)
        return cost(off) <= (1 + NEEDED) * fitted.cost and all(now[kind] <= was[kind] + MISSED for kind in was)

    def _weak(self, start: Start, among: Sequence[Fit], fits: Sequence[Fit], fitted: Fitted) -> dict[Fit, str]:
        """Keys that the rows do not determine, or that agree with the machine's, the weakest first; and which it is."""
        slopes = dict(zip([fit.key for fit in fits], np.abs(fitted.slopes).max(axis=0), strict=True))
        _, spreads = self._folds(start, fits, fitted)
        found = {}
        for fit in among:
            own, value = _own(start.machine, fit.key), fitted.values[fit.key]
            size = max(abs(value), abs(own), 1.0 / start.machine.ticks_per_cycle)
            felt = slopes[fit.key] / self._parameter(start.machine, fit).step * MOVED * size
            weakness = max(TOLD / felt if felt > 0 else math.inf, spreads[fit.key] / (WEAK * size))
            if weakness > 1:
                found[fit] = (weakness, "not determined by")
            elif abs(value - own) <= max(spreads[fit.key], ALIKE * own):
                found[fit] = (abs(value - own) / (1e-9 + max(spreads[fit.key], ALIKE * own)) - 1, "agrees with")
        return {fit: why for fit, (_, why) in sorted(found.items(), key=lambda entry: -entry[1][0])}

    def _worse(self, fits: Sequence[Fit], before: Numbers, after: Numbers) -> str | None:
        """A kind of measurement that the fit made worse, and that some of the keys are to be nearer to."""
        was, now = self.told.means(before), self.told.means(after)
        shown = {kind for fit in fits for kind in fit.shown_by}
        return next((kind for kind in was if kind in shown and now[kind] > was[kind] + LEAST_WORSE), None)

    def _folds(self, start: Start, fits: Sequence[Fit], fitted: Fitted) -> tuple[Numbers, dict[str, float]]:
        """Residuals of rows that a fit without them had, and the spread of its values: a jackknife's errors."""
        parameters = [self._parameter(start.machine, fit) for fit in fits]
        number = np.zeros(len(fitted.residuals), np.int64)
        kinds = self.told.kinds
        for kind in set(kinds):
            number[kinds == kind] = np.arange((kinds == kind).sum()) % FOLDS
        left_out = np.array(fitted.residuals)
        each = []
        steps = np.array([parameter.step for parameter in parameters])
        at = np.array([fitted.values[parameter.name] for parameter in parameters])
        for fold in range(FOLDS):
            inside, outside = np.flatnonzero(number != fold), np.flatnonzero(number == fold)
            if not len(inside):  # of nothing the machine's own values are known
                each.append(np.array([_own(start.machine, parameter.name) for parameter in parameters]))
                left_out[outside] = self.told.residuals(start.machine)[outside]
                continue
            values, _ = refitted(parameters, fitted, inside)
            moved = np.array([values[parameter.name] for parameter in parameters])
            left_out[outside] += fitted.slopes[outside] @ ((moved - at) / steps)
            each.append(moved)
        spread = np.sqrt((FOLDS - 1) / FOLDS * ((np.array(each) - np.mean(each, axis=0)) ** 2).sum(axis=0))
        return left_out, {fit.key: float(value) for fit, value in zip(fits, spread, strict=True)}


def is_better(found: Found) -> bool:
    """Whether a fit is nearer to the measurements than the given machine, on rows that it has not seen, too."""
    return cost(found.end) < cost(found.begin) and cost(found.left_out) < cost(found.begin)


def following(machine: Machine, values: Mapping[str, float]) -> dict[str, float]:
    """What goes along with fitted values: a slice's request takes the same share of a line's time, and atomics that end
    in memory the time of its partitions.

    machine: whose share it is. values: fitted ones, by key.
    """
    found = {}
    memory, l2 = machine.memory, machine.memory.l2
    if SERVICE in values and l2 is not None and l2.request_service is not None and l2.service:
        found[REQUEST] = round(l2.request_service / l2.service * values[SERVICE], DIGITS)
    if MEMORY_SERVICE in values and memory.atomic_service == memory.service:
        found[ATOMICS] = values[MEMORY_SERVICE]
    return found


def _changed(machine: Machine, values: Mapping[str, float]) -> Machine:
    return machine.replace({**values, **following(machine, values)}) if values else machine


def _own(machine: Machine, key: str) -> float:
    value = machine.values()[key]
    return 0.0 if value is None else float(value)


def _slopes_of(before: Found | None, fits: Sequence[Fit]) -> Fitted | None:
    """The fit whose slopes these keys may take, if it has them all."""
    if before is None or before.fitted is None or not {fit.key for fit in fits} <= before.fitted.values.keys():
        return None
    return before.fitted


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    """Values of as many digits as a fit knows."""
    return {key: float(f"{value:.{DIGITS}g}") for key, value in values.items()}

"""The points of a sheet: an algorithm's times at many points at once, and why some have none."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simtmm.errors import MachineError, ModelError, SimtmmError
from simtmm.machine import Machine
from simtmm.machine.spec import FREE
from simtmm.model.algorithm_times import times_of_algorithm
from simtmm.model.algorithms import find
from simtmm.model.machine_letters import KEYS, letters
from simtmm.study.columns import Integers
from simtmm.study.grid import Places
from simtmm.study.layout import MACHINE_AXIS, Layout
from simtmm.study.subject import THREADS, VARIANT

CLOCK = "clock_hz"
GOOD = -1  # in the place of a reason


class PointsOf:
    """Computes points of a study; what many of them share, machines and conditions, is made once."""

    def __init__(self, laid: Layout) -> None:
        self._laid, self._places, self._algorithm = laid, Places(laid), find(laid.program.source)
        own = set(laid.program.parameters)
        self._of_program = [name for name in laid.axes if name in own]
        self._of_machine = [name for name in laid.axes if name not in own and name != MACHINE_AXIS]
        self._fixed = laid.program.resolve(laid.study.parameters)
        self._machines = [_Machines(machine, laid.changes, self._of_machine, self._places)
                          for machine in laid.machines.values()]  # fmt: skip
        self._numbers = {name: self._numbers_of(name) for name in self._of_program if name != VARIANT}
        self._arrays = {
            name: np.array([np.nan if isinstance(value, ModelError) else value for value in numbers])
            for name, numbers in self._numbers.items()
        }
        self._met: dict[tuple[int, int], bool] = {}
        self.first_refusal: SimtmmError | None = None

    def compute(self, begin: int, end: int) -> pa.Table:
        """A row a point from begin to end: see Sheet.results."""
        points = np.arange(begin, end)
        reasons: dict[str, int] = {}
        why = np.full(len(points), GOOD)
        results = _Results(self._laid.compute, len(points))

        def refuse(which: Integers, reason: str) -> None:
            why[which] = reasons.setdefault(reason, len(reasons))

        self._refuse_values(points, refuse)
        by_machine = self._places.along(0, points)
        for number, machines in enumerate(self._machines):
            mine = np.flatnonzero(by_machine == number)
            for which, error in machines.refused(points[mine]):
                self.first_refusal = self.first_refusal or error
                refuse(mine[which], str(error))
            mine = mine[why[mine] == GOOD]
            for which, reason in self._unmet(machines, points[mine]):
                refuse(mine[which], reason)
            mine = mine[why[mine] == GOOD]
            for variant, which in self._variants(points[mine]):
                self._times(machines, variant, points, mine[which], results, refuse)
        words = pa.array([*reasons, ""]).take(pa.array(np.where(why == GOOD, len(reasons), why)))
        status = pa.array(["done", "skipped"]).take(pa.array((why != GOOD).astype(np.int64)))
        return pa.table({"status": status, "reason": words, **results.columns()})

    def _numbers_of(self, name: str) -> "list[float | ModelError]":
        """The values of a parameter at each place of its axis."""
        made: list[float | ModelError] = []
        for value in self._places.axes[name][1]:
            try:
                made.append(self._laid.program.resolve({name: value})[name])
            except ModelError as error:
                made.append(error)
        return made

    def _refuse_values(self, points: Integers, refuse: Any) -> None:
        """Values that are no numbers."""
        for name, numbers in self._numbers.items():
            for place in np.flatnonzero(np.isnan(self._arrays[name])).tolist():
                value = numbers[place]
                if isinstance(value, ModelError):
                    self.first_refusal = self.first_refusal or value
                    dimension = self._places.axes[name][0]
                    refuse(np.flatnonzero(self._places.along(dimension, points) == place), str(value))

    def _unmet(self, machines: "_Machines", points: Integers) -> list[tuple[Integers, str]]:
        """Which points do not meet a condition; the first that each does not."""
        found = []
        left = np.arange(len(points))
        for index, condition in enumerate(self._laid.conditions):
            names = [name for name in self._laid.axes if name in condition.names]
            dimensions = self._places.dimensions([MACHINE_AXIS, *names])
            number, first, of = np.unique(
                self._places.together(dimensions, points[left]), return_index=True, return_inverse=True
            )
            for place, point in zip(number.tolist(), points[left[first]].tolist(), strict=True):
                if (index, place) not in self._met:
                    said = {**self._fixed, **machines.values, **self._places.of_point(names, point)}
                    self._met[index, place] = condition.holds(said)
            met = np.array([self._met[index, place] for place in number.tolist()], dtype=bool)[of]
            found.append((left[~met], f"does not meet {condition.text}"))
            left = left[met]
        return found

    def _variants(self, points: Integers) -> "list[tuple[str | None, Integers]]":
        """The variants among the points, and which have it."""
        if VARIANT not in self._of_program:
            return [(self._fixed.get(VARIANT), np.arange(len(points)))]
        dimension, values = self._places.axes[VARIANT]
        along = self._places.along(dimension, points)
        return [(str(value), np.flatnonzero(along == place)) for place, value in enumerate(values)]

    def _times(
        self, machines: "_Machines", variant: str | None, points: Integers, which: Integers, results: "_Results",
        refuse: Any,
    ) -> None:  # fmt: skip
        """Put the times of some of the points, all of a machine and a variant, among the results."""
        if not len(which):
            return
        try:
            self._algorithm.form(variant)
        except ModelError as error:
            refuse(which, str(error))
            return
        values = machines.letters(points[which])
        clock = values.pop(CLOCK)
        given = {name: np.full(len(which), value) for name, value in self._fixed.items() if name != VARIANT}
        for name, array in self._arrays.items():
            given[name] = array[self._places.along(self._places.axes[name][0], points[which])]
        threads = given.pop(THREADS, None)
        made = times_of_algorithm(self._algorithm, letters(**values), given, threads, variant)
        for reason, points_refused in made.refused:
            refuse(which[points_refused], reason)
        for quantity, evaluation in made.by_model.items():
            results.put(quantity, which[made.points], evaluation, clock[made.points])


class _Machines:
    """A machine with all values that a study's axes give its keys."""

    def __init__(self, machine: Machine, changes: Mapping[str, Any], varied: list[str], places: Places) -> None:
        self._machine, self._changes, self._varied, self._places = machine, dict(changes), varied, places
        self._refusals: dict[tuple[int, int], MachineError | None] = {}
        self._arrays: dict[str, npt.NDArray[np.float64]] = {}
        self._base: dict[str, Any] = {}
        made = None
        for share in (0.0, 0.5, 1.0):  # some point whose machine is not refused
            self._base = {name: places.axes[name][1][int(share * (len(places.axes[name][1]) - 1))] for name in varied}
            made = self._made({})
            if isinstance(made, Machine):
                break
        # A key's values are refused whatever the others are, if no rule ties it to them and the others are all right
        self._sets = _tied(varied) if isinstance(made, Machine) else [tuple(varied)]
        self.values = made.values() if isinstance(made, Machine) else {}

    def refused(self, points: Integers) -> list[tuple[Integers, MachineError]]:
        """Which points have a machine that is refused, and why."""
        found = []
        for index, keys in enumerate(self._sets):
            dimensions = self._places.dimensions(keys)
            number, first, of = np.unique(
                self._places.together(dimensions, points), return_index=True, return_inverse=True
            )
            bad = []
            for order, (place, point) in enumerate(zip(number.tolist(), points[first].tolist(), strict=True)):
                if (index, place) not in self._refusals:
                    made = self._made(self._places.of_point(keys, point))
                    self._refusals[index, place] = made if isinstance(made, MachineError) else None
                    if isinstance(made, Machine) and not self.values:
                        self.values = made.values()
                if self._refusals[index, place]:
                    bad.append((order, self._refusals[index, place]))
            found += [(np.flatnonzero(of == order), error) for order, error in bad if error]
        return found

    def letters(self, points: Integers) -> dict[str, npt.NDArray[np.float64]]:
        """The values of these points that letters are made of, by the names in KEYS, and the clock; nan for none."""
        made = {}
        for key, name in {**KEYS, CLOCK: CLOCK}.items():
            if key in self._varied:
                dimension, values = self._places.axes[key]
                if key not in self._arrays:
                    self._arrays[key] = np.array([_number(value) for value in values])
                made[name] = self._arrays[key][self._places.along(dimension, points)]
            else:
                made[name] = np.full(len(points), _number(self.values.get(key)))
        return made

    def _made(self, values: Mapping[str, Any]) -> Machine | MachineError:
        wanted = {**self._changes, **self._base, **values}
        try:
            return self._machine.replace({key: None if value == "none" else value for key, value in wanted.items()})
        except MachineError as error:
            return error


class _Results:
    """The columns of results, filled a few points at a time."""

    def __init__(self, quantities: tuple[str, ...], size: int) -> None:
        self._size, self._quantities = size, quantities
        self._columns: dict[str, npt.NDArray[np.float64]] = {}
        self._bounds = {quantity: np.full(size, -1, dtype=np.int32) for quantity in quantities}
        self._names: dict[str, dict[str, int]] = {quantity: {} for quantity in quantities}

    def put(self, quantity: str, which: Integers, evaluation: Any, clock: npt.NDArray[np.float64]) -> None:
        """The times of some points by a model, if it was asked for."""
        if quantity not in self._quantities:
            return
        total = np.broadcast_to(evaluation.total, which.shape)
        self._column(f"{quantity}.cycles")[which] = total
        self._column(f"{quantity}.seconds")[which] = total / clock
        names = self._names[quantity]
        places = np.array([names.setdefault(name, len(names)) for name in evaluation.terms], dtype=np.int32)
        self._bounds[quantity][which] = np.broadcast_to(places[evaluation.largest], which.shape)
        for name, term in evaluation.terms.items():
            self._column(f"{quantity}.terms.{name}")[which] = term

    def columns(self) -> dict[str, pa.Array]:
        """In the order of a study's table: of each quantity cycles, seconds, bound, terms."""
        made = {}
        for quantity in self._quantities:
            names = [*self._names[quantity], ""]
            places = pa.array(self._bounds[quantity], mask=self._bounds[quantity] < 0)
            made[f"{quantity}.cycles"] = self._array(f"{quantity}.cycles")
            made[f"{quantity}.seconds"] = self._array(f"{quantity}.seconds")
            made[f"{quantity}.bound"] = pa.DictionaryArray.from_arrays(places, pa.array(names))
            made |= {f"{quantity}.terms.{name}": self._array(f"{quantity}.terms.{name}") for name in names[:-1]}
        return made

    def _column(self, name: str) -> npt.NDArray[np.float64]:
        return self._columns.setdefault(name, np.full(self._size, np.nan))

    def _array(self, name: str) -> pa.Array:
        return pa.array(self._column(name), from_pandas=True)  # nan is null


def _number(value: Any) -> float:
    """nan for none, and for a word, which a machine refuses."""
    return float(value) if isinstance(value, (int, float)) else np.nan


def _tied(keys: list[str]) -> list[tuple[str, ...]]:
    """The keys in sets, such that no rule ties a key to one of another set."""
    tied = tuple(key for key in keys if key not in FREE)
    return [(key,) for key in keys if key in FREE] + ([tied] if tied else [])

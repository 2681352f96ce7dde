"""The times of an algorithm at many points of a study at once, as columns, and why some have none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simtmm.errors import ModelError, SimtmmError
from simtmm.model.algorithms import find
from simtmm.model.algorithms.machine_letters import letters
from simtmm.model.algorithms.times import times_of_algorithm
from simtmm.model.series import MEASURED
from simtmm.study.design.columns import Integers
from simtmm.study.design.design import MACHINE_AXIS, Design
from simtmm.study.design.grid import Grid
from simtmm.study.design.subject import THREADS, VARIANT
from simtmm.study.evaluation.varied_machine import CLOCK, VariedMachine
from simtmm.study.results import LARGE

GOOD = -1  # in the place of a reason


class ClosedFormTimes:
    """Computes points of a study; what many of them share, machines and conditions, is computed once."""

    def __init__(self, design: Design) -> None:
        self._design, self._grid, self._algorithm = design, Grid(design), find(design.subject.source)
        own = set(design.subject.parameters)
        self._of_program = [name for name in design.axes if name in own]
        self._of_machine = [name for name in design.axes if name not in own and name != MACHINE_AXIS]
        self._fixed = design.subject.resolve(design.study.parameters)
        self._machines = [VariedMachine(machine, design.changes, self._of_machine, self._grid)
                          for machine in design.machines.values()]  # fmt: skip
        self._numbers = {name: self._numbers_of(name) for name in self._of_program if name != VARIANT}
        self._arrays = {
            name: np.array([np.nan if isinstance(value, ModelError) else value for value in numbers])
            for name, numbers in self._numbers.items()
        }
        self._met: dict[tuple[int, int], bool] = {}
        self.first_refusal: SimtmmError | None = None

    def compute(self, begin: int, end: int) -> pa.Table:
        """A row a point from begin to end: status, reason, and of each quantity cycles, seconds, bound and terms."""
        points = np.arange(begin, end)
        reasons: dict[str, int] = {}
        why = np.full(len(points), GOOD)
        results = _Results([name for name in self._design.compute if name != MEASURED], len(points))

        def refuse(which: Integers, reason: str) -> None:
            why[which] = reasons.setdefault(reason, len(reasons))

        self._refuse_values(points, refuse)
        by_machine = self._grid.along(0, points)
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
        resolved: list[float | ModelError] = []
        for value in self._grid.axes[name][1]:
            try:
                resolved.append(self._design.subject.resolve({name: value})[name])
            except ModelError as error:
                resolved.append(error)
        return resolved

    def _refuse_values(self, points: Integers, refuse: Any) -> None:
        """Values that are no numbers."""
        for name, numbers in self._numbers.items():
            for place in np.flatnonzero(np.isnan(self._arrays[name])).tolist():
                value = numbers[place]
                if isinstance(value, ModelError):
                    self.first_refusal = self.first_refusal or value
                    dimension = self._grid.axes[name][0]
                    refuse(np.flatnonzero(self._grid.along(dimension, points) == place), str(value))

    def _unmet(self, machines: VariedMachine, points: Integers) -> list[tuple[Integers, str]]:
        """Which points do not meet a condition; the first that each does not."""
        found = []
        left = np.arange(len(points))
        for index, condition in enumerate(self._design.conditions):
            names = [name for name in self._design.axes if name in condition.names]
            dimensions = self._grid.dimensions([MACHINE_AXIS, *names])
            number, first, of = np.unique(
                self._grid.together(dimensions, points[left]), return_index=True, return_inverse=True
            )
            for place, point in zip(number.tolist(), points[left[first]].tolist(), strict=True):
                if (index, place) not in self._met:
                    values = {**self._fixed, **machines.values, **self._grid.of_point(names, point)}
                    self._met[index, place] = condition.holds(values)
            met = np.array([self._met[index, place] for place in number.tolist()], dtype=bool)[of]
            found.append((left[~met], f"does not meet {condition.text}"))
            left = left[met]
        return found

    def _variants(self, points: Integers) -> "list[tuple[str | None, Integers]]":
        """The variants among the points, and which have it."""
        if VARIANT not in self._of_program:
            return [(self._fixed.get(VARIANT), np.arange(len(points)))]
        dimension, values = self._grid.axes[VARIANT]
        along = self._grid.along(dimension, points)
        return [(str(value), np.flatnonzero(along == place)) for place, value in enumerate(values)]

    def _times(
        self, machines: VariedMachine, variant: str | None, points: Integers, which: Integers, results: "_Results",
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
            given[name] = array[self._grid.along(self._grid.axes[name][0], points[which])]
        threads = given.pop(THREADS, None)
        times = times_of_algorithm(self._algorithm, letters(**values), given, threads, variant, machines.label)
        for refusal in times.refusals:
            if self._design.size >= LARGE:  # there might be as many reasons as points
                refuse(which[refusal.points], refusal.reason)
                continue
            for place, point in enumerate(which[refusal.points]):
                refuse(np.array([point]), refusal.message(place))
        for quantity, evaluation in times.by_model.items():
            results.put(quantity, which[times.points], evaluation, clock[times.points])


class _Results:
    """The columns of results, filled a few points at a time."""

    def __init__(self, quantities: Sequence[str], size: int) -> None:
        self._size, self._quantities = size, quantities
        self._columns: dict[str, npt.NDArray[np.float64]] = {}
        self._bounds = {quantity: np.full(size, -1, dtype=np.int32) for quantity in quantities}
        self._names: dict[str, dict[str, int]] = {quantity: {} for quantity in quantities}

    def put(self, quantity: str, which: Integers, evaluation: Any, clock: npt.NDArray[np.float64]) -> None:
        """The times of some points by a model, if the study computes it."""
        if quantity not in self._quantities:
            return
        total = np.broadcast_to(evaluation.total, which.shape)
        self._column(f"{quantity}.cycles")[which] = total
        self._column(f"{quantity}.seconds")[which] = total / clock
        names = self._names[quantity]
        places = np.array([names.setdefault(name, len(names)) for name in evaluation.terms])
        self._bounds[quantity][which] = np.broadcast_to(places[evaluation.largest], which.shape)
        for name, term in evaluation.terms.items():
            self._column(f"{quantity}.terms.{name}")[which] = term

    def columns(self) -> dict[str, pa.Array]:
        """In the order of a study's table: of each quantity cycles, seconds, bound, terms."""
        columns = {}
        for quantity in self._quantities:
            names = [*self._names[quantity], ""]
            places = pa.array(self._bounds[quantity], mask=self._bounds[quantity] < 0)
            columns[f"{quantity}.cycles"] = self._array(f"{quantity}.cycles")
            columns[f"{quantity}.seconds"] = self._array(f"{quantity}.seconds")
            columns[f"{quantity}.bound"] = pa.DictionaryArray.from_arrays(places, pa.array(names))
            columns |= {f"{quantity}.terms.{name}": self._array(f"{quantity}.terms.{name}") for name in names[:-1]}
        return columns

    def _column(self, name: str) -> npt.NDArray[np.float64]:
        return self._columns.setdefault(name, np.full(self._size, np.nan))

    def _array(self, name: str) -> pa.Array:
        return pa.array(self._column(name), from_pandas=True)  # nan is null

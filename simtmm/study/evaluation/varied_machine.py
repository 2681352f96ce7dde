"""A machine with all values that a study's axes give its keys: which are refused, and the letters of the others."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.machine.bandwidth import BANDWIDTH
from simtmm.machine.rules import FREE
from simtmm.model.algorithms.machine_letters import KEYS
from simtmm.study.design.columns import Integers
from simtmm.study.design.grid import Grid

CLOCK = "clock_hz"


class VariedMachine:
    """A machine with all values that a study's axes give its keys."""

    def __init__(self, machine: Machine, changes: Mapping[str, Any], varied: list[str], grid: Grid) -> None:
        self._machine, self._changes, self._varied, self._grid = machine, dict(changes), varied, grid
        self._refusals: dict[tuple[int, int], MachineError | None] = {}
        self._arrays: dict[str, npt.NDArray[np.float64]] = {}
        self._base: dict[str, Any] = {}
        own = None
        for share in (0.0, 0.5, 1.0):  # some point whose machine is not refused
            self._base = {name: grid.axes[name][1][int(share * (len(grid.axes[name][1]) - 1))] for name in varied}
            own = self._machine_at({})
            if isinstance(own, Machine):
                break
        # A key's values are refused whatever the others are, if no rule ties it to them and the others are all right
        self._sets = _tied(varied, own) if isinstance(own, Machine) else [tuple(varied)]
        self.values = own.values() if isinstance(own, Machine) else {}

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"machine {self._machine.name}"

    def refused(self, points: Integers) -> list[tuple[Integers, MachineError]]:
        """Which points have a machine that is refused, and why."""
        found = []
        for index, keys in enumerate(self._sets):
            dimensions = self._grid.dimensions(keys)
            number, first, of = np.unique(
                self._grid.together(dimensions, points), return_index=True, return_inverse=True
            )
            bad = []
            for order, (place, point) in enumerate(zip(number.tolist(), points[first].tolist(), strict=True)):
                if (index, place) not in self._refusals:
                    variant = self._machine_at(self._grid.of_point(keys, point))
                    self._refusals[index, place] = variant if isinstance(variant, MachineError) else None
                    if isinstance(variant, Machine) and not self.values:
                        self.values = variant.values()
                if self._refusals[index, place]:
                    bad.append((order, self._refusals[index, place]))
            found += [(np.flatnonzero(of == order), error) for order, error in bad if error]
        return found

    def letters(self, points: Integers) -> dict[str, npt.NDArray[np.float64]]:
        """Values of these points that letters are computed from, by the names in KEYS, and the clock; nan for none."""
        letters = {}
        for key, name in {**KEYS, CLOCK: CLOCK}.items():
            if key in self._varied:
                dimension, values = self._grid.axes[key]
                if key not in self._arrays:
                    self._arrays[key] = np.array([_number(value) for value in values])
                letters[name] = self._arrays[key][self._grid.along(dimension, points)]
            else:
                letters[name] = np.full(len(points), _number(self.values.get(key)))
        return letters

    def _machine_at(self, values: Mapping[str, Any]) -> Machine | MachineError:
        wanted = {**self._changes, **self._base, **values}
        try:
            return self._machine.replace({key: None if value == "none" else value for key, value in wanted.items()})
        except MachineError as error:
            return error


def _number(value: Any) -> float:
    """nan for none, and for a word, which a machine refuses."""
    return float(value) if isinstance(value, (int, float)) else np.nan


def _tied(keys: list[str], machine: Machine) -> list[tuple[str, ...]]:
    """The keys in sets, such that no rule ties a key to one of another set."""
    # From a bandwidth and the clock follows a service, which may be too short for whole ticks
    free = FREE - {CLOCK} if BANDWIDTH in keys or machine.memory.bandwidth is not None else FREE
    tied = tuple(key for key in keys if key not in free)
    return [(key,) for key in keys if key in free] + ([tied] if tied else [])

"""What of a program is imported: launches, blocks, and registers where the file has them wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError, shown

Item = TypeVar("Item")
_RANGES = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*")
MOST_REGISTERS = 255  # of a thread


@dataclass(frozen=True)
class Chosen:
    """What is taken.

    launches: their numbers from 0, as "0-3,7"; all if None.
    blocks: at most so many of each launch, spread evenly over its grid; all if None.
    registers: of a thread, instead of what the file says.
    """

    launches: str | None = None
    blocks: int | None = None
    registers: int | None = None

    def __post_init__(self) -> None:
        if self.launches is not None and not (
            isinstance(self.launches, str) and _RANGES.fullmatch(self.launches.replace(" ", ""))
        ):
            raise TraceError(f"launches = {shown(self.launches)}: must be numbers from 0 and ranges, as 0-3,7")
        for name, value, least, most in (
            ("blocks", self.blocks, 1, 2**31 - 1),
            ("registers", self.registers, 0, MOST_REGISTERS),
        ):
            whole = isinstance(value, int) and not isinstance(value, bool)
            if value is not None and not (whole and least <= value <= most):
                raise TraceError(f"{name} = {shown(value)}: must be a whole number from {least} to {most:,}")

    def of(self, launches: Sequence[Item]) -> list[Item]:
        """Those of a program's launches that are taken. Raises TraceError for a number that none has."""
        return [launches[number] for number in self._numbers(len(launches))]

    def new_numbers(self, count: int) -> npt.NDArray[np.int32]:
        """The number that each of so many launches has in the trace; -1 if it is left out."""
        numbers = np.full(count, -1, np.int32)
        taken = self._numbers(count)
        numbers[taken] = np.arange(len(taken))
        return numbers

    def _numbers(self, count: int) -> list[int]:
        if self.launches is None:
            return list(range(count))
        taken: set[int] = set()
        for part in self.launches.replace(" ", "").split(","):
            first, _, last = part.partition("-")
            low, high = int(first), int(last or first)
            if low > high or high >= count:
                raise TraceError(f"launches = {self.launches}: {part}: the program has launches 0 to {count - 1}")
            taken.update(range(low, high + 1))
        return sorted(taken)


ALL = Chosen()

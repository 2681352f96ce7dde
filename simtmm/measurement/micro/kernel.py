"""A micro-kernel as data: how it is launched, what a repetition is, what limits it, and how near it comes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from simtmm.kernel import Array
from simtmm.machine import Machine

WARP = 32  # lanes: micro-kernels are NVIDIA's CUDA
TRIPS, IN, OUT = "trips", "in", "out"  # what stands for the number of trips and for the arrays among arguments

Shape = tuple[int, int]


@dataclass(frozen=True)
class Limit:
    """What nothing is faster than.

    cycles: of one repetition, on a machine. source: where that comes from. within: how many times as long a repetition
        may take where the limit is to be reached; None where it is a floor alone. why: the reason for either.
    """

    cycles: Callable[[Machine], float]
    source: str
    within: float | None
    why: str


@dataclass(frozen=True)
class MicroKernel:
    """One row of the table: a kernel, launched as one block on one multiprocessor.

    name: of the row, unique. source: a file beside this one. kernel: a function in it. block: threads in x and y.
    arguments: numbers, and TRIPS, IN and OUT. trips: of two launches; what the longer one takes more is time in the
        steady state.
    repetition: what is counted. each: repetitions of a trip, by each warp or by the whole block (`by`).
    limit: of a repetition. answer: what OUT must hold at the end, of IN and a number of trips.
    bytes: that a repetition moves, 0 where that says nothing. capability: the least compute capability.
    """

    name: str
    source: str
    kernel: str
    block: Shape
    arguments: tuple[str | int | np.generic, ...]
    trips: tuple[int, int]
    repetition: str
    each: int
    limit: Limit
    answer: Callable[[Array, int], Array] = field(repr=False)
    by: Literal["warp", "block"] = "warp"
    bytes: int = 0
    capability: tuple[int, int] = (0, 0)

    @property
    def threads(self) -> int:
        """Of its block."""
        return self.block[0] * self.block[1]

    def repetitions(self, trips: int) -> int:
        """Those of so many trips.

        trips: of the kernel's loop.
        """
        return trips * self.each * (self.threads // WARP if self.by == "warp" else 1)

    def of_one(self, fewer: float, more: float, scale: int = 1) -> float:
        """Time of a repetition in the steady state, from that of both launches, their trips taken `scale` times.

        fewer, more: times of the launches with fewer and with more trips, in one unit.
        """
        short, long = self.trips
        return (more - fewer) / self.repetitions((long - short) * scale)

"""A measured case: a file of CUDA, its arrays and launches, and what must come out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from simtmm.kernel import Array, Kernel, Launch, expect_equal
from simtmm.parameter import SEED, Parameter

TOLERANCE = 1e-3  # relative, of float32 sums in whatever order


@dataclass(frozen=True)
class Case:
    """A measured case.

    source: the file's name. arrays: what launches work on. expected: what some of these must be afterwards.
    """

    source: str
    arrays: Mapping[str, Array]
    launches: tuple[Launch, ...]
    expected: Mapping[str, Array]


def case_kernel(
    name: str,
    source: Path,
    case: Callable[[Any], Case],
    parameters: Mapping[str, Parameter] | None = None,
    about: str = "Launched as it was measured.",
) -> Kernel:
    """The program of a case, its answer checked when it is recorded or timed.

    source: the file of CUDA. case: makes the case of the parameters, by attribute. parameters: beside the seed.
    name: of the case.
    about: what it is, in a sentence.
    """
    return Kernel(name, source.parent, {**(parameters or {}), "seed": SEED}, "", CaseHost(case, about), (source,))


class CaseHost(ModuleType):
    """What host.py is to a folder's kernel."""

    def __init__(self, case: Callable[[Any], Case], about: str) -> None:
        super().__init__("host", about)
        self.case = case

    def inputs(self, parameters: Any) -> dict[str, Array]:
        """The arrays before the first launch."""
        return {name: array.copy() for name, array in self.case(parameters).arrays.items()}

    def launches(self, parameters: Any, memory: Mapping[str, Array]) -> tuple[Launch, ...]:
        """All launches, in order."""
        return self.case(parameters).launches

    def check(self, parameters: Any, before: Mapping[str, Array], after: Mapping[str, Array]) -> None:
        """What came out against what was expected."""
        for name, array in self.case(parameters).expected.items():
            expect_equal(name, after[name], array, 0.0 if array.dtype.kind in "iu" else TOLERANCE)

"""A law that the author of a scheduling rule may promise, and what is said of a rule that breaks it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simtmm.errors import SimtmmError
from simtmm.testing.grants import Grants


@dataclass(frozen=True)
class Breach:
    """Where a law is broken.

    what: a sentence. turn: the index of the turn that shows it, since: of the first one that has to do with it, in the
    turns of the run; of a run without turns both are 0. warps: the numbers of those it is about.
    """

    what: str
    turn: int
    since: int
    warps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Law:
    """A law of the turns of a run.

    name: as a promise is written, as "bounded_wait(16)". function: of the Grants of a run, and with `pair` of two;
    gives a Breach, or None where it holds. kinds: of the workloads that are drawn for it (simtmm.testing.cases.KINDS).
    pair: how the second run's workload differs from the first's: "same" not at all, "future" behind some point of its
    warps, "others" in the blocks of other groups; empty for a law of one run.
    """

    name: str
    function: Callable[..., Breach | None]
    kinds: tuple[str, ...]
    pair: str = ""

    def __call__(self, *runs: Grants) -> Breach | None:
        """Where the turns of these runs break it; None where they don't."""
        return self.function(*runs)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)

    @property
    def summary(self) -> str:
        """What it says, in the words of its docstring's first paragraph."""
        return _paragraphs(self.function)[0]

    @property
    def formula(self) -> str:
        """The paragraph of its docstring that is a formula."""
        found = (text for text in _paragraphs(self.function) if text.startswith("Formula: "))
        return next(found, "").removeprefix("Formula: ")

    def __repr__(self) -> str:
        return self.name


def _paragraphs(function: Callable[..., Any]) -> list[str]:
    return [" ".join(text.split()) for text in (function.__doc__ or "").split("\n\n")]


def law(*kinds: str, pair: str = "") -> Callable[[Callable[..., Breach | None]], Law]:
    """Make a law of a function of Grants; see Law."""
    return lambda function: Law(function.__name__, function, kinds, pair)


def family(*kinds: str) -> Callable[[Callable[..., Callable[[Grants], Breach | None]]], Callable[..., Law]]:
    """Make a family of laws, as bounded_wait(turns), of a function of its numbers that gives a function of Grants."""

    def decorated(make: Callable[..., Callable[[Grants], Breach | None]]) -> Callable[..., Law]:
        def member(*numbers: int) -> Law:
            for number in numbers:
                if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                    raise SimtmmError(f"{make.__name__}: {number!r}: must be a whole number of at least 0")
            function = make(*numbers)
            function.__doc__ = make.__doc__
            written = ", ".join(str(number) for number in numbers)
            return Law(f"{make.__name__}({written})", function, kinds)

        member.__name__, member.__doc__ = make.__name__, make.__doc__
        return member

    return decorated

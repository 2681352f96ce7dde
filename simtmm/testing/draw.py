"""What draws the parts of machines and workloads: Hypothesis, or random numbers at twenty times its speed."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")

ALIKE = 0.2  # of a list's elements that repeat one before them: warps and blocks of real programs are often alike

EMPTY = 0.05  # of lists that may be empty


class Draw(Protocol):
    """What the functions of simtmm.testing.space ask for their values."""

    def one_of(self, values: Sequence[T]) -> T:
        """One of some values; a value that is listed twice comes twice as often."""
        ...

    def whole(self, least: int, most: int) -> int:
        """A whole number from least to most, both included."""
        ...

    def flag(self) -> bool:
        """True or False."""
        ...

    def many(self, one: Callable[["Draw"], T], least: int, most: int) -> list[T]:
        """From least to most values, each of which `one` draws."""
        ...


class HypothesisDraw:
    """Draws by Hypothesis, which makes what fails smaller."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def one_of(self, values: Sequence[T]) -> T:
        """One of some values."""
        return self._draw(st.sampled_from(values))

    def whole(self, least: int, most: int) -> int:
        """A whole number of a range."""
        return self._draw(st.integers(least, most))

    def flag(self) -> bool:
        """True or False."""
        return self._draw(st.booleans())

    def many(self, one: Callable[[Draw], T], least: int, most: int) -> list[T]:
        """Some values."""
        return self._draw(st.lists(strategy_of(one), min_size=least, max_size=most))


class RandomDraw:
    """Draws by a generator of random numbers, each value as likely as another.

    seed: gives the same draws again, in any version of Python from 3.11 on.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311 - no secret

    def one_of(self, values: Sequence[T]) -> T:
        """One of some values."""
        return values[int(self._random() * len(values))]

    def whole(self, least: int, most: int) -> int:
        """A whole number of a range."""
        return least + int(self._random() * (most - least + 1))

    def flag(self) -> bool:
        """True or False."""
        return self._random() < 0.5

    def many(self, one: Callable[[Draw], T], least: int, most: int) -> list[T]:
        """Some values, of which one in five or so is one of those before it; long lists are rarer than short ones."""
        found: list[T] = []
        few = max(least, 0 if self._random() < EMPTY else 1)
        for _ in range(min(self.whole(few, most), self.whole(few, most)) if few else 0):
            found.append(self.one_of(found) if found and self._random() < ALIKE else one(self))
        return found


def strategy_of(one: Callable[[Draw], T]) -> SearchStrategy[T]:
    """Hypothesis's strategy for what a function draws."""

    @st.composite
    def drawn(draw: DrawFn) -> T:
        return one(HypothesisDraw(draw))

    return drawn()

"""The search for counter-examples to laws."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from simtmm.errors import SimtmmError

MOST_DRAWS = 10**6
MOST_SHRINKS = 200  # runs in which a counter-example is made smaller

CONTRACT = "every rule's contract"
"""The promise that a rule breaks when it gives what no rule may; no author needs to promise it."""

Promised = TypeVar("Promised")


class Sized(Protocol):
    """A counter-example. size: its order, by which one is smaller than another of the same search."""

    @property
    def size(self) -> tuple[int, ...]:
        """The order of size."""
        ...


Found = TypeVar("Found", bound=Sized)
Drawn = TypeVar("Drawn")


def laws_of(
    promises: Iterable[Promised | str], kind: type[Promised], named: Callable[[str], Promised], known: Iterable[str]
) -> list[Promised]:
    """The laws that are promised, given as laws or by name.

    promises: what the author gave. kind: the class of the laws. named: gives the law of a name, or raises SimtmmError.
    known: names of such laws.

    Raises SimtmmError where nothing is promised, or something that is no law of this kind.
    """
    laws = [named(each) if isinstance(each, str) else each for each in promises]
    if not laws:
        raise SimtmmError(f"promises: must have at least one of {', '.join(known)}")
    for law in laws:
        if not isinstance(law, kind):
            raise SimtmmError(f"promises: {law!r}: must be a law or its name; a family needs its number")
    return laws


def check_search(draws: object, seed: object) -> None:
    """Raise SimtmmError unless draws is a number of draws, and seed a seed."""
    if isinstance(draws, bool) or not isinstance(draws, int) or not 1 <= draws <= MOST_DRAWS:
        raise SimtmmError(f"draws = {draws!r}: must be a whole number from 1 to {MOST_DRAWS}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SimtmmError(f"seed = {seed!r}: must be a whole number of at least 0")


class _FoundError(Exception):
    """Tells Hypothesis that an example fails."""


class _EnoughError(BaseException):
    """Ends Hypothesis, which would take an Exception for another failing example."""


def smallest_found(
    drawn: SearchStrategy[Drawn], judge: Callable[[Drawn], Found | None], draws: int, seed: int
) -> Found | None:
    """The smallest counter-example that was seen, None if there was none.

    drawn: what a case is drawn from. judge: the counter-example that a case is, or None. draws: how many cases are
    drawn until one fails, of which at most MOST_SHRINKS smaller ones are tried. The same seed draws the same cases.
    """
    smallest: Found | None = None
    shrinks = 0

    @seeded(seed)
    @_searching(draws)
    @given(drawn)
    def try_one(case: Any) -> None:
        nonlocal smallest, shrinks
        if smallest is not None:
            shrinks += 1
            if shrinks > MOST_SHRINKS:
                raise _EnoughError
        found = judge(case)
        if found is None:
            return
        if smallest is None or found.size < smallest.size:
            smallest = found
        raise _FoundError

    try:
        try_one()
    except (_FoundError, _EnoughError, HypothesisException, BaseExceptionGroup):
        # A rule that hangs on luck does not fail twice alike, which Hypothesis says; what it did stands.
        if smallest is None:
            raise
    return smallest


def _searching(draws: int) -> settings:
    """Settings of Hypothesis: so many draws, the same for a seed, of which a failing one is made smaller.

    Nothing passes from one search to the next, and no draw is too slow.
    """
    return settings(
        max_examples=draws,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )

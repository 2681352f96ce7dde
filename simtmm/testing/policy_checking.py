"""Whether a replacement policy keeps what its author promises: accesses are drawn for each law."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from simtmm.errors import SimtmmError, nearest
from simtmm.replacement import Access, CacheSet, Policy
from simtmm.rules import rule_name
from simtmm.testing.checking import BrokenPromiseError
from simtmm.testing.policy_laws import POLICY_LAWS, PolicyLaw
from simtmm.testing.searching import check_search, laws_of, smallest_found

LONGEST = 24  # accesses
Case = tuple[int, list[int], list[int]]  # ways, accesses, and those of the second run


@dataclass(frozen=True)
class Example:
    """A counter-example. wrong: the number of the access that shows it. accesses: those of the first run."""

    promise: str
    what: str
    ways: int
    wrong: int
    accesses: tuple[Access, ...]

    @property
    def size(self) -> tuple[int, ...]:
        """By which one counter-example is smaller than another."""
        return self.ways, self.wrong

    def __str__(self) -> str:
        rows = [("access", "chunk", "lines", "")]
        for access in self.accesses[: self.wrong + 1]:
            lines = " ".join(str(line.chunk) for line in access.lines)
            came = "hit" if access.hit else "miss" if access.dropped is None else f"miss, drops {access.dropped}"
            rows.append((str(access.number), str(access.chunk), lines, came))
        wide = [max(len(row[column]) for row in rows) for column in range(4)]
        table = [f"{row[0]:>{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:<{wide[2]}}  {row[3]}".rstrip() for row in rows]
        return "\n".join([f"a set of {self.ways} ways", *table])


def check_policy(policy: Policy, promises: Iterable[PolicyLaw | str], *, draws: int = 200, seed: int = 0) -> None:
    """Look for accesses at which a replacement policy breaks a promise of its author's.

    policy: a function of the lines of a full set and the chunk that comes, or a class of such (simtmm.replacement).
    promises: laws of simtmm.testing.policy_laws, or their names. draws: of ways and accesses, for each promise, at
    least 1. seed: of the draws.

    Raises BrokenPromiseError, an AssertionError, with the smallest counter-example that was seen; SimtmmError for a
    promise or a number that is none.
    """
    laws = laws_of(promises, PolicyLaw, _law_named, POLICY_LAWS)
    check_search(draws, seed)
    for law in laws:
        found = smallest_found(_cases(law.pair), partial(_judged, policy, law), draws, seed)
        if found:
            raise BrokenPromiseError(rule_name(policy), found, found.what, kind="policy")


def _law_named(name: str) -> PolicyLaw:
    if name not in POLICY_LAWS:
        raise SimtmmError(f"promise {name!r}: unknown{nearest(name, POLICY_LAWS)}")
    return POLICY_LAWS[name]


@st.composite
def _cases(draw: DrawFn, pair: str) -> Case:
    """Few chunks, so that they come again; scans of many; loops a little longer than the set; two in turn."""
    ways = draw(st.integers(2, 4))
    few = st.lists(st.integers(0, ways + 1), min_size=ways, max_size=LONGEST)
    loop = st.integers(ways, ways + 2).map(lambda length: [number % length for number in range(LONGEST)])
    scan = st.tuples(few, st.integers(1, 6), few).map(lambda parts: [*parts[0], *range(10, 10 + parts[1]), *parts[2]])
    pair_in_turn = st.just([*range(ways), *[8, 9] * LONGEST])
    accesses = draw(st.one_of(few, scan, loop, pair_in_turn))
    if pair != "future":
        return ways, accesses, accesses
    kept = draw(st.integers(0, len(accesses)))
    return ways, accesses, accesses[:kept] + draw(few)


def _run(policy: Policy, ways: int, chunks: list[int]) -> list[Access]:
    cache = CacheSet(policy, ways)
    for chunk in chunks:
        cache.access(chunk)
    return cache.accesses


def _judged(policy: Policy, law: PolicyLaw, case: Case) -> Example | None:
    """The counter-example that a case is, None if the policy keeps the law in it."""
    ways, chunks, others = case
    runs = [_run(policy, ways, chunks)]
    if law.pair:
        runs.append(_run(policy, ways + (law.pair == "wider"), others))
    found = law.function(*runs)
    return None if found is None else Example(law.name, found[1], ways, found[0], tuple(runs[0]))

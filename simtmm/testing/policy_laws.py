"""Laws that the author of a replacement policy may promise.

In the formulas t is an access, c(t) its chunk, S(t) the lines that the set has before it, d(t) the line that it drops.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simtmm.replacement import Access, Line

Accesses = Sequence[Access]
Found = tuple[int, str] | None  # the number of the access that breaks it, and a sentence


@dataclass(frozen=True)
class PolicyLaw:
    """A law of accesses to a set.

    function: of the accesses of a run; with `pair` of two runs: "same" of the same accesses, "wider" of the same on a
    set of one way more, "future" of accesses that differ behind some point. Gives the number of the access that breaks
    it and a sentence, or None.
    """

    name: str
    function: Callable[..., Found]
    pair: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)

    def __repr__(self) -> str:
        return self.name


def _law(pair: str = "") -> Callable[[Callable[..., Found]], PolicyLaw]:
    return lambda function: PolicyLaw(function.__name__, function, pair)


def _drops(accesses: Accesses, right: Callable[[Access], set[int]], why: str) -> Found:
    for access in accesses:
        if access.dropped is not None and access.dropped not in (chunks := right(access)):
            expected = " or ".join(str(chunk) for chunk in sorted(chunks))
            return access.number, f"chunk {access.dropped} was dropped instead of {expected}: {why}"
    return None


def _least(lines: Sequence[Line], key: Callable[[Line], int]) -> set[int]:
    return {min(lines, key=key).chunk}


@_law()
def drops_least_recent(accesses: Accesses) -> Found:
    """The line whose last use is longest ago is dropped.

    Formula: d(t) = argmin {used(l): l in S(t)}
    """
    return _drops(accesses, lambda access: _least(access.lines, lambda line: line.used), "its last use is longest ago")


@_law()
def drops_first_come(accesses: Accesses) -> Found:
    """The line that came first is dropped.

    Formula: d(t) = argmin {came(l): l in S(t)}
    """
    return _drops(accesses, lambda access: _least(access.lines, lambda line: line.came), "it came first")


@_law()
def keeps_latest(accesses: Accesses) -> Found:
    """What was accessed just before is not dropped, in a set of two ways or more.

    Formula: d(t) != c(t - 1)
    """

    def others(access: Access) -> set[int]:
        chunks = {line.chunk for line in access.lines}
        return chunks - {accesses[access.number - 1].chunk} or chunks

    return _drops(accesses, others, "the other was accessed just before")


@_law()
def spares_reused(accesses: Accesses) -> Found:
    """While a line has been used once, no line is dropped that has been used again: a scan drives out no reused line.

    Formula: uses(d(t)) = 1 if some l in S(t) has uses(l) = 1
    """

    def once(access: Access) -> set[int]:
        return {line.chunk for line in access.lines if line.uses == 1} or {line.chunk for line in access.lines}

    return _drops(accesses, once, "it has been used once")


@_law(pair="wider")
def inclusion(accesses: Accesses, wider: Accesses) -> Found:
    """A set of one way more hits whatever this one hits: no anomaly of Belady's (Mattson et al., 1970).

    Formula: hit(t) implies hit'(t), ' with one way more
    """
    for one, other in zip(accesses, wider, strict=True):
        if one.hit and not other.hit:
            return one.number, f"chunk {one.chunk} hits, but misses with one more way"
    return None


@_law()
def competitive(accesses: Accesses) -> Found:
    """With k ways it misses at most k times as often as any policy must, and k times more (Sleator and Tarjan, 1985).

    Formula: |{s <= t: not hit(s)}| <= k (opt(t) + 1), opt(t) = misses of Belady's policy, which knows the future
    """
    ways = max((len(access.lines) for access in accesses), default=0)
    if not any(access.dropped is not None for access in accesses):
        return None
    misses = sum(not access.hit for access in accesses)
    least = fewest_misses([access.chunk for access in accesses], ways)
    if misses > ways * (least + 1):
        return len(accesses) - 1, f"{misses} misses, where {least} suffice: at most {ways * (least + 1)} are allowed"
    return None


@_law(pair="same")
def same_drops(accesses: Accesses, again: Accesses) -> Found:
    """The same accesses, made twice, have the same drops.

    Formula: c = c' implies d = d'
    """
    return _other_drop(accesses, again)


@_law(pair="future")
def no_future(accesses: Accesses, again: Accesses) -> Found:
    """The dropped line depends on the accesses so far, not on those to come.

    Formula: c(s) = c'(s) for all s <= t implies d(t) = d'(t)
    """
    return _other_drop(accesses, again)


def _other_drop(first: Accesses, second: Accesses) -> Found:
    for one, other in zip(first, second, strict=False):
        if one.chunk != other.chunk:
            return None
        if one.dropped != other.dropped:
            return one.number, f"chunk {one.dropped} was dropped, but {other.dropped} in the second run"
    return None


def fewest_misses(chunks: Sequence[int], ways: int) -> int:
    """The misses of Belady's policy, which drops what is used again last: no policy has fewer.

    chunks: in the order of accesses to a set. ways: lines that it holds.
    """
    held: set[int] = set()
    misses = 0
    for number, chunk in enumerate(chunks):
        if chunk in held:
            continue
        misses += 1
        if len(held) == ways:
            to_come = chunks[number + 1 :]
            held.remove(max(held, key=lambda each: to_come.index(each) if each in to_come else len(chunks)))
        held.add(chunk)
    return misses


POLICY_LAWS: dict[str, PolicyLaw] = {
    each.name: each
    for each in (
        drops_least_recent, drops_first_come, keeps_latest, spares_reused, inclusion, competitive, same_drops, no_future
    )
}  # fmt: skip
POLICY_PROMISES: dict[str, tuple[PolicyLaw, ...]] = {
    "least_recently_used": (same_drops, no_future, drops_least_recent, keeps_latest, inclusion, competitive),
    "first_in_first_out": (same_drops, no_future, drops_first_come, competitive),
    "random_line": (same_drops, no_future),
    "two_queues": (same_drops, no_future, spares_reused),
}
"""What the policies of simtmm.replacement promise."""

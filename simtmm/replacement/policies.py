"""Policies of replacement: each gives the line that a full set drops."""

from collections.abc import Sequence

from simtmm.replacement.cache_set import Line, Policy


def least_recently_used(lines: Sequence[Line], chunk: int) -> Line:
    """The line whose last use is longest ago (LRU): `replacement = "lru"` of a machine's L2."""
    return min(lines, key=lambda line: line.used)


def first_in_first_out(lines: Sequence[Line], chunk: int) -> Line:
    """The line that came first, however often it was used since (FIFO)."""
    return min(lines, key=lambda line: line.came)


def random_line(lines: Sequence[Line], chunk: int) -> Line:
    """Any line, as a hash of what comes and of the latest use decides: the same each time, as a simulation must be."""
    mixed = (chunk * 0x9E3779B97F4A7C15 + max(line.used for line in lines)) & 0xFFFFFFFFFFFFFFFF
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return lines[(mixed ^ (mixed >> 31)) % len(lines)]


def two_queues(lines: Sequence[Line], chunk: int) -> Line:
    """The first that came of those used once, and only where there is none the least recently used of the others.

    After 2Q (Johnson and Shasha, VLDB 1994): what is read once, as by a scan, drives out nothing that is used again.
    """
    once = [line for line in lines if line.uses == 1]
    return min(once, key=lambda line: line.came) if once else least_recently_used(lines, chunk)


POLICIES: dict[str, Policy] = {
    each.__name__: each for each in (least_recently_used, first_in_first_out, random_line, two_queues)
}

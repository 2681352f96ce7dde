"""Changes of what is computed: in another type, or without what takes many instructions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

import numpy as np

from simtmm.analysis.source_changes import changes
from simtmm.analysis.source_changes.lines import ESTIMATE, WORTH_TRYING, Candidate
from simtmm.analysis.source_changes.operations import Flags, Operations
from simtmm.machine import Machine
from simtmm.stalls import FLOATING_POINT, Count, Place, Reason, Stalls
from simtmm.workload import Workload

OF_A_DIVISION = 5  # times as many instructions as a product and a shift, with which a compiler divides by a constant
OF_CHAIN = 0.3  # of warps' time, that they wait for results of their own at a line
OF_A_FUNCTION = 8  # times as many instructions as those that only ask the hardware: logf has 24 on sm_90, __logf 2
OF_AN_EXPONENTIAL = 3  # likewise: expf has 7, __expf 2
DIVISION = 20  # instructions of one, about
OF_A_QUOTIENT = 2  # instructions of floats, at least, for each special one, that make a reciprocal precise
_COMMENTS = re.compile(r"/\*.*?(?:\*/|$)|//.*")  # of a line of source
_DIVIDES = re.compile(r"(?<!\*)/|%")  # in a line's code; behind a star a slash ends a comment of lines before
_FUNCTIONS = re.compile(r"(?<![\w.])(sincos|sin|cos|tan|pow|log10|log2|log|exp10|exp)f?\(")  # of floats, and fast ones
_WHOLE_POWER = re.compile(r"(?<![\w.])powf?\([^;]*,\s*([2-4])(?:\.0*)?f?\s*\)")
_OF_A_ROOT = re.compile(r"/\s*sqrtf?\(")
_SLASH = re.compile(r"(?<!\*)/")


def of_arithmetic(machine: Machine, stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """All of them that may help. whole: ticks of all warps."""
    yield from _of_doubles(machine, stalls, whole)
    yield from _of_divisions(stalls, whole)
    yield from _of_real_divisions(stalls, whole)
    yield from _of_functions(stalls, whole)
    yield from _of_chains(stalls, whole)


def _of_doubles(machine: Machine, stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether doubles are computed with, and take longer than floats."""
    pipe, other = (None, None) if machine.pipes is None else (machine.pipes.fp64, machine.pipes.fp32)
    if pipe is None or (other is not None and pipe.interval / pipe.count <= other.interval / other.count):
        return
    found = _hottest(stalls, [number for number, site in _works(stalls) if _has(site, "fp64")], whole)
    if found is None:
        return
    at, weight, numbers = found
    yield Candidate(
        "float",
        "compute with float where that is precise enough: these are instructions of doubles, of which this machine "
        "does few at a time; a constant without f (0.5) or a function for doubles (sqrt, pow) makes doubles of floats",
        at, 2 * weight, ESTIMATE, numbers,
        changes.in_floats,
    )  # fmt: skip


def _of_divisions(stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether integers are divided: by a reciprocal, with many instructions, unless the compiler knows the divisor."""
    of_lines: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number, site in _works(stalls):
        if site.line and divides(site.source):
            of_lines[site.file, site.line].append(number)
    of_divisions: list[int] = []
    for of_line in of_lines.values():
        sites = [stalls.places.work(number) for number in of_line]
        is_real = any(_has(site, name) for site in sites for name in FLOATING_POINT)
        has_remainder = "%" in _code(sites[0].source)  # of integers, whatever else the line computes
        if any(_has(site, "special") for site in sites) and (has_remainder or not is_real):
            of_divisions += of_line
    found = _hottest(stalls, of_divisions, whole)
    if found is None:
        return
    at, weight, numbers = found
    yield Candidate(
        "divide",
        "divide integers, or take remainders, by what the compiler knows (a constant, a template's argument, a power "
        "of two), or count along instead: each is some twenty instructions here",
        at, 2 * weight, ESTIMATE, numbers,
        lambda of, chosen: changes.with_fewer_instructions(of, chosen, OF_A_DIVISION),
    )  # fmt: skip


def _of_chains(stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether warps wait for results of their own instructions most: each needs the one before."""
    arrays = len(stalls.places.arrays)
    waits = stalls.ticks[: len(stalls.places), Reason.INSTRUCTION_LATENCY].reshape(-1, arrays).sum(axis=1)
    of_lines: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number, site in _works(stalls):
        of_lines[site.file, site.line].append(number)
    for at, sites in of_lines.items():
        own = [stalls.places.work(number) for number in sites]
        share = int(waits[sites].sum()) / whole
        if share < OF_CHAIN or not at[1] or not any(_has(site, name) for site in own for name in FLOATING_POINT):
            continue
        numbers = (np.array(sites)[:, None] * arrays + np.arange(arrays)).ravel()
        yield Candidate(
            "chains",
            "let instructions need one another less (a few sums that are added up at the end, say, instead of one), or "
            "have more warps that work meanwhile: an instruction waits for the one before "
            f"{100 * share:.0f} % of warps' time here",
            (*at, ""), share, ESTIMATE, tuple(numbers.tolist()), changes.without_pauses,
        )  # fmt: skip


def _of_real_divisions(stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether floats are divided with all their digits: by a reciprocal, which is then made better, and checks."""
    of_lines: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number, site in _works(stalls):
        if site.line and _SLASH.search(_code(site.source)) and "%" not in _code(site.source):
            of_lines[site.file, site.line].append(number)
    of_divisions: list[int] = []
    for of_line in of_lines.values():
        sites = [stalls.places.work(number) for number in of_line]
        counts = Counter[str]()
        for site in sites:
            counts.update(dict(site.work))
        is_checked = counts["control"] and counts["fp32"] >= OF_A_QUOTIENT * counts["special"] > 0
        if is_checked and not counts["fp64"]:
            of_divisions += of_line
    found = _hottest(stalls, of_divisions, whole)
    if found is None:
        return
    at, weight, numbers = found
    lines = [site.source for _, site in _works(stalls) if (site.file, site.line) == at[:2]]
    is_of_a_root = any(_OF_A_ROOT.search(_code(line)) for line in lines)
    instead = "call rsqrtf instead of dividing by sqrtf" if is_of_a_root else "divide floats by __fdividef"
    yield Candidate(
        "fast division",
        f"{instead}, multiply by a reciprocal that is computed once, or compile with -use_fast_math "
        "(--prec-div=false), where some last digits don't matter: a precise quotient is some ten instructions here",
        at, weight, ESTIMATE, numbers, changes.in_fast_divisions,
    )  # fmt: skip


def _of_functions(stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether functions of floats are computed to all their digits, with many instructions."""
    arrays = len(stalls.places.arrays)
    instructions = stalls.counts[: len(stalls.places), Count.INSTRUCTIONS].reshape(-1, arrays).sum(axis=1)
    calls: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    sources: dict[tuple[str, int], tuple[str, str]] = {}  # the function's name, and the line's code
    for number, site in _works(stalls):
        code = _code(site.source)
        if site.line and (called := _FUNCTIONS.search(code)):
            calls[site.file, site.line].append(number)
            sources[site.file, site.line] = called[1], code
    of_floats = {
        at: own
        for at, own in calls.items()
        if not any(_has(stalls.places.sites[each], "fp64") for each in own if instructions[each])
    }
    for times, is_short in ((OF_A_FUNCTION, False), (OF_AN_EXPONENTIAL, True)):
        chosen = [each for at, own in of_floats.items() if sources[at][0].startswith("exp") == is_short for each in own]
        found = _hottest(stalls, chosen, whole)
        if found is None:
            continue
        at, weight, numbers = found
        name, code = sources[at[:2]]
        power = _WHOLE_POWER.search(code)
        fast = f"call __{name}f, or compile with -use_fast_math, where last digits don't matter and arguments are small"
        instead = f"multiply {power[1]} factors instead of calling powf" if power else fast
        yield Candidate(
            "fast function",
            f"{instead}: {name}f is {'several' if is_short else 'dozens of'} instructions here",
            at, weight, ESTIMATE, numbers,
            partial(changes.with_fewer_instructions, times=times),
        )  # fmt: skip


def without_divisions(of: Operations, chosen: Flags) -> Workload:
    """Lines that divide, without doing so."""
    return changes.with_fewer_instructions(of, chosen, DIVISION)


def divides(source: str) -> bool:
    """Whether a line of source divides, or takes a remainder.

    source: the line's text.
    """
    return _DIVIDES.search(_code(source)) is not None


def _works(stalls: Stalls) -> Iterator[tuple[int, Place]]:
    """Each site's number, and its work's place."""
    return ((number, stalls.places.work(number)) for number in range(len(stalls.places.sites)))


def _code(source: str) -> str:
    """A line of source without its comments."""
    return _COMMENTS.sub(" ", source)


def _has(site: Place, name: str) -> bool:
    return any(of_class == name for of_class, _ in site.work)


def _hottest(
    stalls: Stalls, sites: list[int], whole: int
) -> tuple[tuple[str, int, str], float, tuple[int, ...]] | None:
    """Of some places the line with most time, the part of the time of all of them, and their numbers; None where that
    is too little.
    """
    arrays = len(stalls.places.arrays)
    ticks = stalls.ticks.sum(axis=1)[: len(stalls.places)].reshape(-1, arrays).sum(axis=1)
    of_lines: defaultdict[tuple[str, int], int] = defaultdict(int)
    for number in sites:
        site = stalls.places.work(number)
        of_lines[site.file, site.line] += int(ticks[number])
    share = sum(of_lines.values()) / whole
    if not of_lines or share < WORTH_TRYING:
        return None
    file, line = max(of_lines, key=lambda at: (at[1] > 0, of_lines[at]))
    numbers = (np.array(sites)[:, None] * arrays + np.arange(arrays)).ravel()
    return (file, line, ""), share, tuple(numbers.tolist())

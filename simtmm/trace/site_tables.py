"""The work, stalls and values of a program's sites, as flat arrays that compiled loops read."""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simtmm.stalls import CLASSES, Place, Places, class_among
from simtmm.trace.info import TraceInfo
from simtmm.trace.own_lines import Line, computed_at, own_lines
from simtmm.trace.schema import WORK_CLASSES, TraceArray, TraceSite
from simtmm.workload import OF_CLASS, STEPS_SHIFT

Integers = npt.NDArray[np.int64]

MOST_PLACES = 1 << 16  # of a trace: arrays beyond are one
NO_WAIT = -1
PRODUCT_COLUMNS = 8  # of a step of a product


class SiteTables(NamedTuple):
    """By the number of a site; of a site beyond them nothing is known. Values are numbered anew, without gaps."""

    work: Any  # int64[sites]: instructions that an event issues before its access, but for those of a class with a pipe
    piped: Any  # int64[sites, classes with a pipe]: those of each such class
    operations: Any  # int64[classes with a pipe]: their computes, as operations of a workload
    stall: Any  # int64[sites]: cycles that it then holds its warp
    hides: (
        Any  # int64[classes with a pipe]: of these, what each instruction but the first takes its pipe, in thousandths
    )
    needs_end: Any  # int64[sites + 1]: where in `needs` those of the site end, one further on
    needs: Any  # int64: values
    gives_end: Any  # int64[sites + 1], likewise of `gives`
    gives: Any  # int64: values
    unused: Any  # int64[sites up to the last such]: whether nobody uses what an atomic there gives
    commits_end: Any  # int64[sites + 1], likewise of `commits`
    commits: Any  # int64: values
    in_flight: Any  # int64[sites]: groups that a site's wait leaves under way, NO_WAIT where it waits for none
    sync: Any  # int64[sites]: 1 for barriers that wait for no loads
    results_end: Any  # int64[sites + 1], likewise of `results`
    results: Any  # int64: values that instructions give which are to be waited for
    result_cycles: Any  # int64: for each, cycles from the end of the site's work and stall until it is there
    product: (
        Any  # int64[sites]: of a product, as the amount of a workload's, 0 where it is none or where they are works
    )
    again: Any  # int64[sites]: likewise of what work needs that it gives itself, where it is done once more
    cluster: Any  # int64[sites]: of a barrier, as TraceSite has it
    groups: int  # that are to be known of a warp, the latest
    values: int  # how many there are
    sites: int  # that the trace describes: their numbers are below this
    arrays: Any  # int64[arrays, ARRAY_*], of simtmm/trace/warps/layout.py: where they lie, by address
    places: int  # of each site: for no array, for each of them, and for local memory
    names: tuple[str, ...]  # of these
    mbarriers: Any  # int64: the bytes of shared memory at which mbarriers lie that have a place each, ascending
    first_mbarrier: int  # the number of the first one among the places of a site


def site_tables(  # noqa: PLR0913, PLR0917 - each is a part of a lowering's specification
    sites: Sequence[TraceSite],
    arrays: Sequence[TraceArray] = (),
    holds: Sequence[tuple[str, float]] = (),
    pipes: Sequence[str] = (),
    stalls: str = "",
    hides: Sequence[float] = (),
    latencies: Sequence[tuple[str, int]] = (),
    operands: Sequence[tuple[str, float]] = (),
    pass_bytes: int = 0,
    fences: Sequence[tuple[str, int]] = (),
    mbarriers: Sequence[int] = (),
) -> SiteTables:
    """The tables of some sites, and of the arrays that they access.

    holds: by class of work, cycles that an instruction holds its warp, where no site says what it stalls.
    pipes: classes of work that have one. stalls, hides, latencies, operands, pass_bytes, fences: see
    LoweringSpecification.
    sites, arrays, mbarriers: as in TraceInfo.
    """
    stalled = stalls != "none" and any(site.stall or site.results for site in sites)
    cycles, of_fences = {} if stalled else dict(holds), dict(fences)
    known = max((site.site for site in sites), default=-1) + 1
    named = mbarriers if (known + 1) * (len(mbarriers) + 4) <= MOST_PLACES else ()
    bounds, names = _arrays(arrays, max(1, MOST_PLACES // (known + 1) - 3 - len(named)))
    first_mbarrier = len(names) - 1  # local memory stays the last
    names = (*names[:-1], *(f"mbarrier {offset:#x}" for offset in named), names[-1])
    by_number = {site.site: site for site in sites if _has_details(site)}
    products = _products(by_number.values(), pass_bytes)
    by_number |= {number: replace(by_number[number], work=_ISSUED) for number, amount in products.items() if amount}
    count = max(by_number, default=-1) + 1
    work, stall = np.zeros(count, np.int64), np.zeros(count, np.int64)
    piped = np.zeros((count, len(pipes)), np.int64)
    for number, site in by_number.items():
        of_pipes, of_cycles = _in_classes(site.work, pipes), _in_classes(site.work, cycles)
        piped[number] = [of_pipes.get(name, 0) for name in pipes]
        work[number] = sum(instructions for _, instructions in site.work) - piped[number].sum()
        held = sum(cycles.get(name, 0.0) * instructions for name, instructions in of_cycles.items())
        stall[number] = (site.stall if stalled else 0) + math.floor(held + 0.5)
        if site.operand_cycles and operands:
            cycles_of_operands = _beyond_pipes(site, dict(operands))
            work[number] += cycles_of_operands
            stall[number] = max(0, stall[number] - cycles_of_operands)  # they are not waited for
        if site.cluster <= 1:  # a barrier that orders memory has a time of its own for that
            stall[number] += sum(of_fences.get(name, 0) * times for name, times in site.fences)
    needs_end, needs = _listed(by_number, count, lambda site: site.needs)
    gives_end, gives = _listed(by_number, count, lambda site: site.gives)
    commits_end, commits = _listed(by_number, count, lambda site: site.commits)
    left = {number: _under_way(site, dict(latencies) if stalled else {}) for number, site in by_number.items()}
    results_end, results = _listed(by_number, count, lambda site: tuple(left[site.site]))
    result_cycles = np.array([cycles for _, own in sorted(left.items()) for cycles in own.values()], np.int64)
    again = np.zeros(count, np.int64)
    for number, own in left.items():
        again[number] = max((own[value] for value in by_number[number].needs if value in own), default=0)
    listed = [needs, gives, commits, results]
    values, anew = np.unique(np.concatenate(listed), return_inverse=True)
    needs, gives, commits, results = np.split(
        anew.astype(np.int64).reshape(-1), np.cumsum([len(each) for each in listed[:-1]])
    )
    in_flight, sync, cluster = np.full(count, NO_WAIT, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for number, site in by_number.items():
        in_flight[number] = NO_WAIT if site.in_flight is None else site.in_flight
        sync[number], cluster[number] = site.sync, site.cluster
    product = np.zeros(count, np.int64)
    product[list(products)] = list(products.values())
    groups = 1 + int(in_flight.max(initial=NO_WAIT))
    hidden = np.zeros(len(pipes), np.int64)
    if stalled and hides:
        hidden[:] = [round(1000 * each) for each in hides]
    operations = np.array([OF_CLASS + CLASSES.index(name) for name in pipes], np.int64)
    return SiteTables(
        work, piped, operations, stall, hidden, needs_end, needs, gives_end, gives, _unused(sites), commits_end,
        commits, in_flight, sync, results_end, results, result_cycles, product, again, cluster, groups, len(values),
        known, bounds, len(names), names, np.array(named, np.int64), first_mbarrier,
    )  # fmt: skip


_ISSUED = (("control", 1),)  # of a product that a pipe does beside the warp


def _products(sites: Iterable[TraceSite], pass_bytes: int) -> dict[int, int]:
    """The amounts of products, by site. pass_bytes: that the banks give in a pass; 0 where no pipe does products."""
    found = {}
    for site in sites:
        columns, read = site.product
        if columns and pass_bytes:
            found[site.site] = -(-columns // PRODUCT_COLUMNS) + (-(-read // pass_bytes) << STEPS_SHIFT)
    return found


def _beyond_pipes(site: TraceSite, hidden: Mapping[str, float]) -> int:
    """Cycles that a site's instructions take to read their registers beyond what they take their pipes."""
    counts = dict(site.work)
    left = (cycles - hidden.get(name, 0.0) * counts[name] for name, cycles in site.operand_cycles)
    return math.floor(sum(max(0.0, each) for each in left) + 0.5)


def _under_way(site: TraceSite, latencies: Mapping[str, int]) -> dict[int, int]:
    """Values that are not there yet when a site's work and stall are over, and for how many cycles."""
    found: dict[int, int] = {}
    for name, value, cycles in site.results:
        left = latencies.get(name, 0) - cycles
        if left > max(0, found.get(value, 0)):
            found[value] = left
    return found


def _in_classes(work: Iterable[tuple[str, int]], known: Container[str]) -> dict[str, int]:
    """Instructions by the class, of those known, that they count in."""
    counts: Counter[str] = Counter()
    for name, instructions in work:
        counts[class_among(name, known)] += instructions
    return counts


def _unused(sites: Sequence[TraceSite]) -> Integers:
    numbers = [site.site for site in sites if site.unused]
    flags = np.zeros(max(numbers, default=-1) + 1, np.int64)
    flags[numbers] = 1
    return flags


def _arrays(arrays: Sequence[TraceArray], most: int) -> tuple[Integers, tuple[str, ...]]:
    """Where arrays lie, by address, with their numbers; and the names that the numbers stand for.

    The largest have a number each, at most so many; the others share one.
    """
    own = sorted((array for array in arrays if array.space == "global"), key=lambda array: -array.bytes)
    numbers = {array.base: 1 + min(number, most) for number, array in enumerate(own)}
    names = ["", *(array.name for array in own[:most])]
    if len(own) > most:
        names.append("other arrays")
    by_address = sorted(own, key=lambda array: array.base)
    rows = [(array.base, array.base + array.bytes, numbers[array.base]) for array in by_address]
    return np.array(rows, np.int64).reshape(-1, 3), (*names, "local memory")


def has_places(info: TraceInfo) -> bool:
    """Whether there is room for a row of each place: numbers of sites may be as large as a file says."""
    return max((site.site for site in info.sites), default=0) < 16 * MOST_PLACES


def places_of(info: TraceInfo) -> Places:
    """The places of a trace's operations, as lowering numbers them; what threads did there is not known."""
    tables = site_tables(info.sites, info.arrays, mbarriers=info.mbarriers)
    known = {site.site: site for site in info.sites}
    nowhere = Place("unknown")
    lines = own_lines(info.sites)
    computed = computed_at(lines, info.listings)
    sites = (
        _place(known[number], lines[number], computed.get(number)) if number in known else nowhere
        for number in range(tables.sites)
    )
    return Places((*sites, nowhere), tables.names)


def _place(site: TraceSite, line: Line, computed: Line | None) -> Place:
    return Place(site.kind, *line, site.function, site.instruction, site.work, computed)


def work_by_class(sites: Sequence[TraceSite], executions: Integers) -> dict[str, int]:
    """Instructions by class, none left out that is 0; executions: int64[sites], how often each site's work was done."""
    counts = dict.fromkeys(WORK_CLASSES, 0)
    for site in sites:
        for name, instructions in site.work:
            counts[name] += instructions * int(executions[site.site])
    return {name: count for name, count in counts.items() if count}


def _has_details(site: TraceSite) -> bool:
    return bool(
        site.work
        or site.needs
        or site.gives
        or site.stall
        or site.commits
        or site.sync
        or site.results
        or any(site.product)
        or site.fences
        or site.in_flight is not None
    )


def _listed(
    by_number: dict[int, TraceSite], count: int, values_of: Callable[[TraceSite], tuple[int, ...]]
) -> tuple[Integers, Integers]:
    """The values of all sites after one another, and where those of each site end, one further on."""
    end = np.zeros(count + 1, np.int64)
    values: list[int] = []
    for number, site in sorted(by_number.items()):
        own = values_of(site)
        end[number + 1] = len(own)
        values += own
    return np.cumsum(end), np.array(values, np.int64)

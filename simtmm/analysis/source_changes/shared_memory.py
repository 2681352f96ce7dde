"""Changes of how shared memory is accessed."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from simtmm.analysis.source_changes import changes, regrouped
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import BOUND, ESTIMATE, SIMULATED, VECTOR_BYTES, WORTH_TRYING, Candidate, Line
from simtmm.analysis.source_changes.operations import Flags, Operations
from simtmm.stalls import LOADS, STORES, Stalls
from simtmm.stalls.places import THREADS
from simtmm.workload import LISTED, PASSES_SHIFT, SHARED, Workload

ACCESSES = ("shared_load", "shared_store")
COMPUTED = 0.4  # floating-point instructions for each value that is read from shared memory
ENOUGH = 4.0  # likewise, where values are used for several results already
REDUCED = 0.25  # of what is loaded, that is stored at most where it is added up
STRIDES = 3  # numbers of passes, at least, of accesses whose stride is multiplied by two again and again
REUSED = 3  # times that what is written to shared memory is read: a tree or a scan reads each value once or twice
IN_REGISTERS = 8  # results for which a value is used


def of_shared_memory(stalls: Stalls, lines: Sequence[Line], whole: int, part: Excerpt) -> Iterator[Candidate]:
    """All of them that may help. whole: ticks of all warps."""
    stored, loaded = (sum(line.bytes_asked for line in lines if line.kind in kinds) for kinds in (STORES, LOADS))
    yield from of_banks([line for line in lines if line.kind in ACCESSES], whole, part, stored <= REDUCED * loaded)
    yield from _of_updates(stalls, lines, whole)
    yield from _of_registers(stalls, lines, whole)
    yield from _of_vectors(lines, whole)


def of_banks(lines: Sequence[Line], whole: int, part: Excerpt, is_reduced: bool = False) -> Iterator[Candidate]:
    """Whether accesses have bank conflicts: those of an array change together, at all lines.

    Where threads are a distance apart that doubles or halves as a loop goes on, no row length helps: an index is then
    computed anew for each access. is_reduced: whether little of what is loaded is left, as of a sum: then elements may
    be combined in another order instead, in which consecutive threads access consecutive words.
    """
    of_arrays: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        if line.executions and line.conflicts >= WORTH_TRYING * line.executions and line.kind != "shared_atomic":
            of_arrays[line.at[0], line.at[2]].append(line)
    for (_, array), several in of_arrays.items():
        weight = sum(line.ticks for line in several) / whole
        if weight < WORTH_TRYING:
            continue
        hottest = max(several, key=lambda line: line.conflicts)
        now = 1 + sum(line.conflicts for line in several) / sum(line.executions for line in several)
        count = len({line.at[:2] for line in several}) - 1
        where = f", here and at {count} more line{'s' * (count > 1)}" if count else ""
        numbers = tuple(number for line in several for number in line.numbers)
        if not is_reduced and _strides_double(part.workload, numbers):
            latency = 0 if part.machine.instructions is None else round(part.machine.instructions.integer or 0)
            yield Candidate(
                "pad",
                f"pad {array or 'the array'}{where}: keep its element i at i + i / {part.machine.banks.count}, as "
                f"threads are powers of two apart; bank conflicts make each access take {now:.3g} passes instead of 1",
                hottest.at, 2 * weight, ESTIMATE, numbers, partial(changes.padded_by_index, latency=latency),
            )  # fmt: skip
            continue
        yield Candidate(
            "pad",
            f"pad or swizzle {array or 'the tile'}, or let consecutive threads access consecutive words{where}: bank "
            f"conflicts make each access take {now:.3g} passes instead of 1",
            hottest.at, 2 * weight, SIMULATED, numbers, changes.without_conflicts,
        )  # fmt: skip


def _strides_double(workload: Workload, places: Sequence[int]) -> bool:
    """Whether accesses at some places, with conflicts, take several powers of two of passes, and nothing else."""
    amounts = workload.amount[np.isin(workload.place, places) & (workload.kind == SHARED)]
    passes = np.unique((amounts & LISTED) // (1 + (amounts >> PASSES_SHIFT)))
    passes = passes[passes > 1]
    return len(passes) >= STRIDES and bool((passes & (passes - 1) == 0).all())


def _of_updates(stalls: Stalls, lines: Sequence[Line], whole: int) -> Iterator[Candidate]:
    """Whether threads of a warp update the same words of shared memory, one after another.

    Updates of some types are loops, which read the word and go round until no other thread has changed it meanwhile.
    """
    for line in lines:
        if line.kind != "shared_atomic" or line.conflicts < line.executions:
            continue
        numbers = _of_line(stalls, *line.at[:2])
        weight = float(stalls.ticks[list(numbers)].sum()) / whole
        if weight < WORTH_TRYING:
            continue
        passes = 1 + line.conflicts / line.executions
        lanes = line.threads / line.executions
        rounds = 2 * lanes - 1 if any(_reads_for(line, other) for other in lines) else 1  # lanes leave one by one
        array = line.at[2] or "the words"
        yield Candidate(
            "aggregate",
            f"let each thread add up in a register, or one thread of a warp for all of it (__shfl_down_sync, "
            f"__reduce_add_sync), before updating {array} of shared memory: {passes:.3g} threads of a warp update one "
            "word one after another",
            line.at, 2 * weight, ESTIMATE, numbers, partial(regrouped.updated_once, rounds=rounds),
        )  # fmt: skip


def _reads_for(update: Line, other: Line) -> bool:
    """Whether a line reads what the update then exchanges, again and again."""
    return other.at == update.at and other.kind == "shared_load" and other.executions == update.executions


def _of_vectors(lines: Sequence[Line], whole: int) -> Iterator[Candidate]:
    """Whether threads read less at once than they could."""
    of_lines: defaultdict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in lines:
        if line.kind == "shared_load" and line.threads and line.conflicts < WORTH_TRYING * line.executions:
            of_lines[line.at[:2]].append(line)
    for (file, line_number), own in of_lines.items():
        of_thread = sum(line.bytes_asked for line in own) / sum(line.threads for line in own)
        times = int(VECTOR_BYTES // max(1.0, of_thread))
        weight = sum(line.ticks for line in own) / whole
        if times < 2 or weight < WORTH_TRYING:
            continue
        words = (
            f"read {times} elements of shared memory at once, as a vector (float4, say), from a tile in which those of "
            f"a thread are neighbours: it reads {of_thread:.3g} bytes at a time now"
        )
        numbers = tuple(number for line in own for number in line.numbers)
        yield Candidate("vectorize", words, (file, line_number, ""), weight, BOUND, numbers, _in_vectors(times))


def _in_vectors(times: int) -> Callable[[Operations, Flags], Workload]:
    return lambda of, chosen: regrouped.vectorized(of, chosen & _reads(of), times)


def _of_registers(stalls: Stalls, lines: Sequence[Line], whole: int) -> Iterator[Candidate]:
    """Whether reading shared memory takes much of the time, and each value is read again and again for one result."""
    assert stalls.places.threads is not None
    each = np.repeat([site.floating_point_instructions for site in stalls.places.sites], len(stalls.places.arrays))
    computed = int(stalls.places.threads[:, THREADS.index("times")] @ each)
    read, written = (sum(line.threads for line in lines if line.kind == kind) for kind in ACCESSES)
    if not COMPUTED * read <= computed < ENOUGH * read or read < REUSED * written:
        return
    updated = {line.at for line in lines if line.kind == "shared_atomic"}
    of_lines: defaultdict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in lines:
        if line.kind == "shared_load" and line.at not in updated:
            of_lines[line.at[:2]].append(line)
    for (file, line_number), own in of_lines.items():
        weight = sum(line.ticks for line in own) / whole
        if weight >= WORTH_TRYING:
            numbers = _of_line(stalls, file, line_number)
            yield Candidate(
                "registers",
                "compute several results in each thread, in registers, so that a value read from shared memory is used "
                f"for {IN_REGISTERS} of them or more",
                (file, line_number, ""), weight, BOUND, numbers,
                lambda of, chosen: changes.kept_in_registers(of, chosen, IN_REGISTERS),
            )  # fmt: skip


def _of_line(stalls: Stalls, file: str, line: int) -> tuple[int, ...]:
    """The numbers of all places of a line."""
    arrays = len(stalls.places.arrays)
    sites = [number for number, site in enumerate(stalls.places.sites) if (site.file, site.line) == (file, line)]
    return tuple(arrays * site + array for site in sites for array in range(arrays))


def _reads(of: Operations) -> Flags:
    found: Flags = of.workload.kind == SHARED
    return found

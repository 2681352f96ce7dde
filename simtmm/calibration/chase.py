"""What a pointer chase shows about a machine: L, and its caches' latencies and sizes."""

from collections.abc import Sequence

import numpy as np

from simtmm.calibration.latency_levels import LatencyCurve, Level, capacity_in_sets
from simtmm.calibration.translation import Translation, translation_values
from simtmm.calibration.values import Value
from simtmm.machine import Machine

WAYS = 4, 16  # of an L1 and an L2: a pointer chase in random order does not determine them
# A plateau that close before the last is global memory too, with fewer misses of address translation
SAME_MEMORY = 1.25
CACHE_WIDTH = 2  # last size over first of a cache's plateau; a narrower one is another cache's far part
FARTHEST = 4  # global memory's latency is that of buffers down to a quarter of the largest


def chase_values(
    curve: LatencyCurve,
    levels: Sequence[Level],
    called: str,
    chunk_bytes: int,
    memory: Value | None = None,
    translation: Translation | None = None,
    copies: int = 1,
) -> tuple[list[Value], list[str]]:
    """L1, L2 and global memory among the levels of a curve; whatever else there is becomes a note.

    called: the measurement. chunk_bytes: of a cache's line. memory: L, where it is from elsewhere: no cache is as slow.
    translation: what translations add to latencies, where L is to be without it. copies: of each line that the L2
    keeps, or its halves, so that a chase sees the room for one of them.
    """
    farthest = levels[-1].latency if memory is None else min(levels[-1].latency, memory.value)
    caches = [level for level in levels[:-1] if SAME_MEMORY * level.latency < farthest]
    caches = [level for level in caches if level.last >= CACHE_WIDTH * level.first]
    taken = []
    if memory is None:
        taken.append(levels[-1])
        note = f"median of buffers from {_size(curve.sizes[-1] / FARTHEST)} on"
        if translation is not None:
            note += ", less what translations add"
        memory = Value("memory.latency", round(memory_latency(curve, translation), 1), "cycles", called, note)
    values = [memory, *(translation_values(translation, called) if translation else [])]
    for key, level, ways in zip(("memory.l1", "memory.l2"), _nearest_and_farthest(caches), WAYS, strict=False):
        note = f"plateau from {_size(level.first)} to {_size(level.last)}"
        sets = capacity_in_sets(level, chunk_bytes, ways)
        in_ways = f"{note}, in {ways} ways"
        if key == "memory.l2" and copies > 1:
            sets, in_ways = sets * copies, f"{in_ways}, and room for {copies} of it"
        values += [
            Value(f"{key}.sets", sets, "sets", called, in_ways),
            Value(f"{key}.ways", ways, "chunks", called, "assumption: only sets times ways is measured", False),
            Value(f"{key}.latency", round(level.latency, 1), "cycles", called, note),
        ]
        taken.append(level)
    notes = [
        f"a level of {level.latency:.1f} cycles from {_size(level.first)} to {_size(level.last)} does not fit the "
        "machine, which has L1, L2 and global memory"
        for level in levels
        if level not in taken
    ]
    return values, notes


def memory_latency(curve: LatencyCurve, translation: Translation | None = None) -> float:
    """L [cycles]: the median of the largest buffers, less what translations add there."""
    latencies = curve.latencies
    if translation is not None:
        latencies = latencies - np.array([translation.of(size) for size in curve.sizes.tolist()])
    return float(np.median(latencies[curve.sizes >= farthest_buffer(curve)]))


def farthest_buffer(curve: LatencyCurve) -> float:
    """The least of the buffers that say what L is [bytes].

    curve: the chase.
    """
    return float(curve.sizes[-1] / FARTHEST)


def _nearest_and_farthest(caches: Sequence[Level]) -> Sequence[Level]:
    return caches if len(caches) < 2 else (caches[0], caches[-1])


def chase_errors(machine: Machine, curve: LatencyCurve) -> tuple[tuple[float, float, float], ...]:
    """For each point its bytes, its measured cycles, and the latency of the level that holds it over those, less 1."""
    memory = machine.memory
    caches = [
        (cache.sets * cache.ways * machine.chunk_bytes, cache.latency)
        for cache in (memory.l1, memory.shared_l1, memory.l2)
        if cache
    ]
    rows = []
    for size, measured in zip(curve.sizes.tolist(), curve.latencies.tolist(), strict=True):
        latency = next((latency for capacity, latency in caches if size <= capacity), memory.latency)
        if memory.tlb:  # a buffer that a cache holds is within its reach, or the L1's, which needs no translation
            latency += memory.tlb.miss * max(0.0, 1 - memory.tlb.entries * memory.tlb.page / size)
        rows.append((size, measured, latency / measured - 1))
    return tuple(rows)


def _size(size: float) -> str:
    """2 KiB, 5.9 MiB."""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1024:.3g} KiB"

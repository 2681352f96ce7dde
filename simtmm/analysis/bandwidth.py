"""Bandwidth and hits over time, from the chunks that pass each level of memory (docs/machine.md, section 7)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.machine.levels import levels_of
from simtmm.result import Result

Series = npt.NDArray[np.float64]
PORTS, L2, LAST_LEVEL, MEMORY = "memory ports", "L2", "last-level cache", "memory"
SHARED_L1 = "shared L1"


@dataclass(frozen=True, eq=False)
class OverTime:
    """Means over stretches of a run that follow one another.

    edges: int64[n + 1], ticks. bandwidth: of each level with any traffic, in bytes a second, or a cycle for a machine
    without a clock; peaks: what could pass, of those that have a limit. hits: of each cache the part of the chunks of
    loads that came there and were found, NaN where none came.
    """

    edges: npt.NDArray[np.int64]
    bandwidth: Mapping[str, Series]
    peaks: Mapping[str, float]
    hits: Mapping[str, Series]


def over_time(machine: Machine, result: Result, most: int) -> OverTime | None:
    """In at most so many stretches; None without traffic.

    most: stretches at most.
    """
    if result.traffic is None or not result.ticks:
        return None
    traffic = result.traffic.within(result.ticks, most)
    count = len(traffic.chunks)
    edges = np.minimum(np.arange(count + 1, dtype=np.int64) * traffic.stretch, result.ticks)
    clock = 1.0 if machine.clock_hz is None else machine.clock_hz
    seconds = np.maximum(np.diff(edges), 1) / (machine.ticks_per_cycle * clock)
    loads, l2_loads = traffic.of("loads"), traffic.of("l2_loads")
    levels = levels_of(machine)
    moved = {
        PORTS: (loads + traffic.of("others")) * levels.chunk_bytes,
        L2: traffic.of("l2_sectors") * levels.sector_bytes,
        MEMORY: traffic.of("memory_sectors") * levels.sector_bytes,
    }
    peaks = dict(zip(moved, levels.peaks, strict=True))
    if levels.shared_l1:
        moved[SHARED_L1] = traffic.of("shared_l1_sectors") * levels.sector_bytes
        peaks[SHARED_L1] = levels.shared_l1_peak
    if levels.last_level:
        moved[LAST_LEVEL] = traffic.of("last_level_sectors") * levels.sector_bytes
        peaks[LAST_LEVEL] = levels.last_level_peak
    looked = {
        "L1": (traffic.of("l1_hits"), loads if machine.memory.l1 else loads * 0),
        SHARED_L1: (traffic.of("shared_l1_hits"), traffic.of("shared_l1_loads")),
        "L2": (traffic.of("l2_hits"), l2_loads),
        LAST_LEVEL: (traffic.of("last_level_hits"), traffic.of("last_level_loads")),
    }
    return OverTime(
        edges,
        {name: own / seconds for name, own in moved.items() if own.any()},
        {name: peak * clock for name, peak in peaks.items() if peak is not None},
        {name: np.where(of > 0, found / np.maximum(of, 1), np.nan) for name, (found, of) in looked.items() if of.any()},
    )

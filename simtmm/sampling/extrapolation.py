"""Results and counts of a sample as those of the whole program.

Each launch of the program follows from one of the sample, several of them from the same. What a launch of the sample
counted grows with its blocks; the ticks of its groups and warps grow as its time does.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import LAUNCH_COUNTS, Stalls
from simtmm.trace.counts import Counts, LaunchCounts
from simtmm.trace.schema import TraceLaunch

# Of a launch: sums over its blocks.
SUMS = (
    "work", "memory_operations", "memory_instructions", "instructions", "uncoalesced_instructions",
    "uncoalesced_operations", "accesses", "bytes_read", "bytes_written", "store_operations", "atomic_operations",
)  # fmt: skip


@dataclass(frozen=True)
class Scaling:
    """How a launch of the program follows from one of the sample.

    launch: of the sample. blocks, time: how much more the whole launch does than what was simulated, and how much
    longer it takes. counted: how many times as many blocks it has as were counted.
    """

    launch: int
    blocks: float
    time: float
    counted: float


def extrapolated_result(result: Result, scalings: Sequence[Scaling], launch_ticks: Sequence[int]) -> Result:
    """The result of the whole program. scalings, launch_ticks: of each of its launches, ticks with overhead."""
    stalls = result.stalls
    assert stalls is not None
    names = {name: number for number, name in enumerate(LAUNCH_COUNTS)}
    of_launch = np.array([each.launch for each in scalings])
    counted = _grown(stalls.launch_counts[of_launch], np.array([each.blocks for each in scalings]))
    blocks, time = _whole_over_sample(scalings, stalls)

    def sum_of(name: str) -> int:
        return int(counted[:, names[name]].sum())

    return dataclasses.replace(
        result,
        ticks=sum(launch_ticks),
        issued=sum_of("instructions"),
        transactions=sum_of("chunks"),
        l1_hits=sum_of("l1_hits"),
        l2_hits=sum_of("l2_hits"),
        l2_sectors=sum_of("l2_sectors"),
        memory_sectors=sum_of("memory_sectors"),
        last_level_hits=sum_of("last_level_hits"),
        last_level_sectors=sum_of("last_level_sectors"),
        shared_l1_hits=sum_of("shared_l1_hits"),
        shared_l1_sectors=sum_of("shared_l1_sectors"),
        port_busy=round(result.port_busy * blocks),
        time=None if result.time is None else {name: round(ticks * time) for name, ticks in result.time.items()},
        launch_ticks=tuple(launch_ticks),
        stalls=_stalls(stalls, scalings, counted),
    )


def _whole_over_sample(scalings: Sequence[Scaling], stalls: Stalls) -> tuple[float, float]:
    """How many times as much the whole program counts, and how many times as long its warps take."""
    instructions, ticks = stalls.launch_counts[:, 0].astype(float), stalls.launches.sum(axis=1).astype(float)
    blocks = sum(each.blocks * instructions[each.launch] for each in scalings) / max(1.0, instructions.sum())
    return blocks, sum(each.time * ticks[each.launch] for each in scalings) / max(1.0, ticks.sum())


def _stalls(stalls: Stalls, scalings: Sequence[Scaling], counted: npt.NDArray[np.int64]) -> Stalls:
    """By place they may be of some launches alone: those of the others are taken to be like them."""
    of_launch = np.array([each.launch for each in scalings])
    by_time, by_counted = (np.array([getattr(each, name) for each in scalings]) for name in ("time", "counted"))
    launches = _grown(stalls.launches[of_launch], by_time)
    places = stalls.places
    if places.launches is not None:
        of_launches = _grown(places.launches[of_launch], by_counted)
        if places.threads is not None:
            more = of_launches[:, 0].sum() / max(1, places.threads[:, 0].sum())
            places = dataclasses.replace(places, threads=_grown(places.threads, more))
        places = dataclasses.replace(places, launches=of_launches)
    active = stalls.active[of_launch]
    return dataclasses.replace(
        stalls,
        ticks=_grown(stalls.ticks, launches.sum() / max(1, stalls.ticks.sum())),
        counts=_grown(stalls.counts, counted[:, 0].sum() / max(1, stalls.counts[:, 0].sum())),
        launches=launches,
        places=places,
        launch_counts=counted,
        active=np.where(active < 0, active, _grown(active, by_time)),
    )


def _grown(table: npt.NDArray[np.int64], factor: float | npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Rows times a factor, or each times its own, to whole numbers."""
    each = np.asarray(factor, float)
    shaped = each.reshape(each.shape + (1,) * (table.ndim - each.ndim)) if each.ndim else each
    grown: npt.NDArray[np.int64] = np.rint(table * shaped).astype(np.int64)
    return grown


def extrapolated_counts(
    counts: Counts, scalings: Sequence[Scaling], launches: Sequence[TraceLaunch], machine: Machine
) -> Counts:
    """The counts of the whole program. launches: of the program, as its trace describes them."""
    estimates = []
    for each, launch in zip(scalings, launches, strict=True):
        own = counts.launches[each.launch]
        in_use = min(launch.blocks, own.active_blocks * machine.cores.groups)
        warps = -(-launch.threads_per_block // machine.cores.warp_width)
        estimates.append(
            dataclasses.replace(
                own,
                threads=launch.blocks * launch.threads_per_block,
                blocks=launch.blocks,
                blocks_in_use=in_use,
                warps_in_use=in_use * warps,
                threads_per_core=in_use * launch.threads_per_block / machine.processors,
                **{name: round(getattr(own, name) * each.counted) for name in SUMS},
            )
        )
    more = _work(estimates) / max(1, _work(counts.launches))
    return Counts.of_launches(estimates, {name: round(work * more) for name, work in counts.work_by_class.items()})


def _work(launches: Sequence[LaunchCounts]) -> int:
    return sum(launch.work for launch in launches)

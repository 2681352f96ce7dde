"""Block scheduling: throughput over the blocks of a grid, which peaks where the blocks fill all core groups.

Ma's hashing on the GTX 480 (15 groups) and his Bloom filters on the Tesla C1060 (30 groups). There the same work is cut
into B_r blocks; here each of B_r blocks has the same work. Throughput is then that of Eq (5.13) just as well, and a
grid's workload is the beginning of the largest grid's, which is all that has to be recorded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simtmm.engine import simulate
from simtmm.machine import Machine, load_machine
from simtmm.model.launch.scheduling import zigzag
from simtmm.model.series import SIMULATED
from simtmm.recorder import record
from simtmm.study.curves import Floats
from simtmm.trace.lower import lower
from simtmm.trace.schema import TraceLaunch
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.papers import first_blocks, printed
from simtmm.watch import Watch

MODEL = "f_sched, Eq (5.13)"
BLOCKS = 91  # of the largest grid, one more than the papers': the peak at 90 has a fall behind it
SAMPLED_BLOCKS = 31  # the same of a sample: two periods of one machine and one of the other
FALL = 0.05  # of throughput from a grid to the next; less is no end of a wave. Eq (5.13)'s least is 13 % in this range
ACCESSES = 8192  # of a block that hashes
W_MERS = 4096  # of a block's sub-query
PROMISED = 0.01  # a peak is where the model has it or it is not: what rounding leaves

CALIBRATED = "nothing"
ONE_FACT = (
    "All points of a curve are one fact told again and again: a block fills a core group, so each wave ends after as "
    "many blocks as there are groups. Whatever hands a block to a group that is free has it, the closed form as well "
    "as the simulation, on both memories. So 0 % says nothing of times; the shape of the curves below says a little."
)


@dataclass(frozen=True)
class Sweep:
    """Throughput over grids of 1, 2, ... blocks, each block with the same work.

    throughput: blocks of work in a cycle. launch: of the largest grid.
    """

    machine: Machine
    launch: TraceLaunch
    throughput: Floats

    @property
    def blocks(self) -> list[int]:
        """The grids."""
        return list(range(1, len(self.throughput) + 1))


def reproduce(watch: Watch | None = None) -> Tables:
    """Peaks on both machines."""
    return _tables(BLOCKS, watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of smaller grids."""
    return _tables(SAMPLED_BLOCKS, watch)


def _tables(most: int, watch: Watch | None) -> Tables:
    gtx480, c1060 = printed("gtx480-zigzag"), printed("c1060-zigzag")
    hashing = {"n": ACCESSES * most, "threads": gtx480["threads"], "working_set": gtx480["working_set_bytes"]}
    c1060_peaks = [c1060["period"] * wave for wave in range(1, BLOCKS // c1060["period"] + 1)]
    return (
        _table(
            "gtx480-zigzag",
            "Hashing on a GTX 480: blocks at which throughput peaks",
            "gtx480",
            gtx480["source"],
            gtx480["blocks"],
            {
                memory: sweep("gtx480", "hashing", {**hashing, "memory": memory}, most, watch)
                for memory in ("shared", "global")
            },
        ),
        _table(
            "c1060-zigzag",
            "Bloom filters on a Tesla C1060: blocks at which throughput peaks",
            "tesla-c1060",
            c1060["source"],
            c1060_peaks,
            {"Bloom filter": sweep("tesla-c1060", "bloom-filter", bloom_filter(most), most, watch)},
            "The text states the period alone; the peaks are its multiples.",
            "Blocks have 512 threads, the most that a C1060 takes; the 1024 of the text it can't run. One block fills "
            "a group by its shared memory: a Bloom vector of 8 KB and the hash functions, of 16 KB.",
        ),
    )


def bloom_filter(blocks: int) -> dict[str, object]:
    """A sub-query for each block, and one w-mer of it for each thread."""
    return {"blocks": blocks, "sub_queries": blocks, "n": W_MERS, "threads": 512, "m": 2**16, "k": 2, "stop": "never"}


def _table(
    name: str,
    title: str,
    machine: str,
    origin: str,
    peaks: list[int],
    sweeps: Mapping[str, Sweep],
    *notes: str,
) -> Accuracy:
    points = [point for group, swept in sweeps.items() for point in _points(group, swept, peaks)]
    return Accuracy(
        name=name,
        title=title,
        quantity="blocks at a peak",
        unit="blocks",
        points=tuple(points),
        calibrated=CALIBRATED,
        origin=origin,
        machine=machine,
        along="peak",
        promised={SIMULATED: PROMISED},
        reference="stated in the text",
        notes=(ONE_FACT, *notes, *(_shape(group, swept) for group, swept in sweeps.items())),
    )


def _points(group: str, swept: Sweep, peaks: list[int]) -> Iterator[Measured]:
    """A point for the period and one for each peak, as far as the sweep goes; what is not found is left out."""
    modelled = zigzag(swept.machine, swept.launch, swept.blocks)
    found = falls(swept.throughput)
    values = {MODEL: float(modelled.period)}
    if (distance := period(found)) is not None:
        values[SIMULATED] = float(distance)
    yield Measured(f"{group}, period", peaks[0], values, group=group)
    for wave, peak in enumerate(peaks):
        if peak >= len(swept.throughput):
            return
        values = {MODEL: float(modelled.period * (wave + 1))}
        if wave < len(found):
            values[SIMULATED] = float(found[wave])
        yield Measured(f"{group}, peak {wave + 1}", peak, values, at=wave + 1, group=group)


def _shape(group: str, swept: Sweep) -> str:
    """How near the whole curve is to Eq (5.13)'s, in words."""
    modelled = zigzag(swept.machine, swept.launch, swept.blocks)
    relative = swept.throughput / swept.throughput.max()
    off = float(np.abs(relative / modelled.relative_throughput - 1).mean())
    found = falls(swept.throughput)
    after = ", ".join(f"{relative[peak] / relative[peak - 1]:.3f}" for peak in found)
    by_model = ", ".join(
        f"{modelled.relative_throughput[peak] / modelled.relative_throughput[peak - 1]:.3f}"
        for peak in range(modelled.period, len(relative), modelled.period)
    )
    return (
        f"{group}: the simulated curve is {off * 100:.1f} % off Eq (5.13)'s on average over {len(relative)} grids. "
        f"Throughput behind a peak over that at it: {after}; by Eq (5.13): {by_model}."
    )


def sweep(machine: str, kernel: str, parameters: Mapping[str, object], most: int, watch: Watch | None = None) -> Sweep:
    """Simulate a kernel of one launch with grids of 1 to `most` blocks; blocks that have the same work each."""
    opened = load_machine(machine)
    trace = record(kernel, {**parameters, "blocks": most})
    workload = lower(trace, opened)
    throughput = []
    for blocks in range(1, most + 1):
        if watch:
            watch(f"{kernel} on {opened.name}", blocks - 1, most)
        throughput.append(blocks / simulate(opened, first_blocks(workload, blocks), breakdown=False).cycles)
    return Sweep(opened, trace.info.launches[0], np.array(throughput))


def falls(throughput: Floats, least: float = FALL) -> list[int]:
    """Numbers of blocks, counted from 1, behind which throughput falls by more than that share."""
    return [int(place) + 1 for place in np.flatnonzero(throughput[1:] < (1 - least) * throughput[:-1])]


def period(places: list[int]) -> int | None:
    """The distance between places, the first one from 0; None where there are none, or distances differ."""
    distances = set(np.diff([0, *places]).tolist())
    return int(distances.pop()) if len(distances) == 1 else None

"""Bandwidth of the streaming kernels over occupancy: measured points, and the same points simulated.

A point is a block size and how many such blocks a core group holds.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.calibration.csv_rows import positive_number, read_rows, whole_number
from simtmm.calibration.streams.kernels import BYTES_A_GROUP, as_felt_by, loads_chunks_once, stream_bandwidth
from simtmm.computer import cores
from simtmm.errors import StudyError, nearest
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import OPERATIONS

COLUMN_END = "_GBs"
Run = tuple[str, int, int, str]  # a kernel, threads of a block, blocks of a group, and the machine as they feel it
Known = dict[Run, float]  # bandwidths [bytes/s]


@dataclass(frozen=True)
class StreamPoint:
    """A point of a measured curve. block_size: threads of a block. blocks_per_group: such blocks that a core group
    holds. occupancy: of a group's threads, from 0 to 1. measured: bytes a second, by kernel. threads: of the whole GPU
    as the measurement gives them, or None.
    """

    block_size: int
    blocks_per_group: int
    occupancy: float
    measured: Mapping[str, float]
    threads: int | None = None


@dataclass(frozen=True)
class Simulated:
    """A point simulated. bandwidth: bytes a second, by kernel."""

    point: StreamPoint
    bandwidth: Mapping[str, float]

    def error(self, operation: str) -> float:
        """Simulated over measured, less 1."""
        return self.bandwidth[operation] / self.point.measured[operation] - 1


@dataclass(frozen=True)
class OccupancyCurve:
    """The points of a curve, simulated on a machine."""

    machine: Machine
    points: tuple[Simulated, ...]

    @property
    def operations(self) -> tuple[str, ...]:
        """The kernels, in the order of OPERATIONS."""
        return tuple(self.points[0].bandwidth)

    def errors(self, operation: str) -> npt.NDArray[np.float64]:
        """Of each point, simulated over measured less 1.

        operation: one that was measured.
        """
        return np.array([point.error(operation) for point in self.points])

    def mean_error(self, operation: str | None = None) -> float:
        """The mean absolute error over the points, of a kernel or of all.

        operation: one that was measured; all of them if left out.
        """
        chosen = self.operations if operation is None else (operation,)
        return float(np.mean([np.abs(self.errors(each)) for each in chosen]))

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        return {
            "machine": self.machine.name,
            "mean_absolute_error": {each: self.mean_error(each) for each in self.operations},
            "mean_absolute_error_of_all": self.mean_error(),
            "points": [
                {
                    "block_size": entry.point.block_size,
                    "blocks_per_group": entry.point.blocks_per_group,
                    "occupancy": entry.point.occupancy,
                    "measured": {each: entry.point.measured[each] for each in self.operations},
                    "simulated": dict(entry.bandwidth),
                    "error": {each: entry.error(each) for each in self.operations},
                }
                for entry in self.points
            ],
        }


def load_stream(path: str | Path, gpu: str | None = None) -> tuple[StreamPoint, ...]:
    """The points of a GPU from a CSV file, in the order of their occupancy.

    Columns: block_size, blocks_per_sm, occupancy_pct, a column NAME_GBs for each kernel that was measured, and, if
    there, threads_column and gpu. gpu: needed where the file has several. Raises StudyError.
    """
    rows = read_rows(path, gpu, ("block_size", "blocks_per_sm", "occupancy_pct"))
    measured = [name for name in OPERATIONS if name + COLUMN_END in rows[0]]
    if not measured:
        raise StudyError(f"{path}: has no column NAME{COLUMN_END} with NAME of {', '.join(OPERATIONS)}")
    points = [
        StreamPoint(
            whole_number(path, row, "block_size"),
            whole_number(path, row, "blocks_per_sm"),
            positive_number(path, row, "occupancy_pct") / 100,
            {name: positive_number(path, row, name + COLUMN_END) * 1e9 for name in measured},
            whole_number(path, row, "threads_column") if row.get("threads_column") else None,
        )
        for row in rows
    ]
    return tuple(sorted(points, key=lambda point: (point.occupancy, point.block_size)))


def occupancy_curve(
    machine: Machine,
    points: Iterable[StreamPoint],
    operations: Sequence[str] | None = None,
    engine: str | None = None,
    watch: Callable[[str, int, int | None], None] | None = None,
    known: Known | None = None,
) -> OccupancyCurve:
    """Simulate the points on a machine. operations: of those measured, all if left out. watch: called as things go on.

    engine: a name in simtmm.engine.ENGINES; the fast one if left out. known: as in `bandwidths`.

    Raises StudyError where there is no point or an operation was not measured.
    """
    chosen = tuple(points)
    if not chosen:
        raise StudyError("no point to simulate")
    names = tuple(name for name in OPERATIONS if name in chosen[0].measured) if operations is None else operations
    for name in names:
        if name not in chosen[0].measured:
            raise StudyError(f"operation {name!r}: was not measured{nearest(name, chosen[0].measured)}")
    runs = [(name, point) for point in chosen for name in names]
    progress = None if watch is None else lambda done: watch("simulating", done, len(runs))
    found = iter(bandwidths([(machine, name, point) for name, point in runs], engine, progress, known=known))
    return OccupancyCurve(machine, tuple(Simulated(point, {name: next(found) for name in names}) for point in chosen))


def bandwidths(
    runs: Sequence[tuple[Machine, str, StreamPoint]],
    engine: str | None = None,
    watch: Callable[[int], None] | None = None,
    bytes_a_group: int = BYTES_A_GROUP,
    known: Known | None = None,
) -> list[float]:
    """Simulated bandwidths, in bytes a second, of machines, kernels and points, on all cores that we may use.

    Machines that a kernel can't tell apart run once. watch: called with the number of finished runs.
    bytes_a_group: how long runs are (stream_bandwidth). known: what ran before, which does not run again; takes what
    runs now. It belongs to one engine and one length of runs.
    """
    known = {} if known is None else known
    machines = _felt(runs)
    alike = defaultdict[Run, list[int]](list)
    for number, (machine, (_, name, point)) in enumerate(zip(machines, runs, strict=True)):
        alike[name, point.block_size, point.blocks_per_group, machine.digest()].append(number)

    def run(numbers: Sequence[int]) -> float:
        _, name, point = runs[numbers[0]]
        machine = machines[numbers[0]]
        return stream_bandwidth(machine, name, point.block_size, point.blocks_per_group, engine, bytes_a_group)

    # Those of a kernel and a point follow one another: they share workloads.
    new = [key for key in sorted(alike) if key not in known]
    done = sum(len(numbers) for key, numbers in alike.items() if key in known)
    # Threads: the compiled engine lets others run meanwhile.
    with ThreadPoolExecutor(cores(), "simtmm-stream") as pool:
        try:
            for key, each in zip(new, pool.map(run, [alike[key] for key in new]), strict=True):
                known[key] = each
                done += len(alike[key])
                if watch:
                    watch(done)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    found = {number: known[key] for key, numbers in alike.items() for number in numbers}
    return [found[number] for number in range(len(runs))]


def _felt(runs: Sequence[tuple[Machine, str, StreamPoint]]) -> list[Machine]:
    """Of each run, the machine as its kernel feels it: one object for all points that feel the same, since to change a
    machine, and to tell what it is to an engine, takes as long as a short run does.
    """
    passed: dict[int, Machine] = {}  # by the machine's place in memory, less its last-level cache: `with_l2_for`
    made: dict[tuple[int, str, bool], Machine] = {}
    found = []
    for machine, name, point in runs:
        of = id(machine)
        if of not in passed:
            passed[of] = machine.without_last_level
        key = of, name, loads_chunks_once(machine, name, point.block_size)
        if key not in made:
            made[key] = as_felt_by(passed[of], name, point.block_size)
        found.append(made[key])
    return found

"""Bandwidth of the streaming kernels over occupancy, simulated as it was measured.

A measured point is a block size and how many such blocks a core group holds; the kernels are those of kernels/stream,
an element of 8 bytes a thread. Many more blocks are launched than a machine holds, so start and tail hardly count. Here
two runs of different length take their place: the blocks that one has more over the time it takes longer.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine import simulate
from simtmm.errors import StudyError, nearest
from simtmm.machine import Machine
from simtmm.workload import ASYNC, COMPUTE, JOIN, LOAD, STORE, Workload

ELEMENT_BYTES = 8
LEAST_WAVES = 4  # of a machine full of blocks, in the longer run
BYTES_A_GROUP = 1 << 18  # of each array, in the longer run: a multiple of what any point keeps in flight
COLUMN_END = "_GBs"


@dataclass(frozen=True)
class _Kernel:
    """A streaming kernel as kernels/stream lowers it.

    loads: for each load the array it reads (0 is the one written) and the element beside the thread's own. together:
    whether all loads are in flight at once. instructions: between loads and store. streams: arrays that pass by.
    """

    loads: tuple[tuple[int, int], ...]
    together: bool
    instructions: int
    stores: bool
    streams: int


OPERATIONS: Mapping[str, _Kernel] = {
    "init": _Kernel((), False, 0, True, 1),
    "read": _Kernel(((0, 0),), False, 1, False, 1),
    "scale": _Kernel(((1, 0),), False, 1, True, 2),
    "triad": _Kernel(((1, 0), (2, 0), (3, 0)), True, 2, True, 4),
    "stencil3": _Kernel(tuple((1, beside) for beside in range(3)), True, 4, True, 2),
    "stencil5": _Kernel(tuple((1, beside) for beside in range(5)), True, 7, True, 2),
}


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
        """Of each point, simulated over measured less 1."""
        return np.array([point.error(operation) for point in self.points])

    def mean_error(self, operation: str | None = None) -> float:
        """The mean absolute error over the points, of a kernel or of all."""
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


def read_rows(path: str | Path, gpu: str | None, needed: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a GPU in a CSV file with these columns; lines that begin with # are comments. Raises StudyError."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    except OSError as error:
        raise StudyError(f"{path}: can't be read ({error.strerror})") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: is not CSV ({error})") from None
    if not rows:
        raise StudyError(f"{path}: has no rows")
    for column in needed:
        if column not in rows[0]:
            raise StudyError(f"{path}: has no column {column!r}{nearest(column, [str(name) for name in rows[0]])}")
    gpus = sorted({row["gpu"] or "" for row in rows}) if "gpu" in rows[0] else []
    if gpu is None and len(gpus) > 1:
        raise StudyError(f"{path}: has several GPUs: choose one of {', '.join(gpus)}")
    if gpu is not None and gpus and gpu not in gpus:
        raise StudyError(f"{path}: gpu {gpu!r}: unknown{nearest(gpu, gpus)}")
    return [row for row in rows if gpu is None or not gpus or row["gpu"] == gpu]


def positive_number(path: str | Path, row: Mapping[str, str], column: str) -> float:
    """A number above 0 of a row. Raises StudyError."""
    try:
        value = float(row[column] or "")
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise StudyError(f"{path}: {column} = {row[column]!r}: must be a number above 0")
    return value


def whole_number(path: str | Path, row: Mapping[str, str], column: str) -> int:
    """A whole number from 1 on of a row. Raises StudyError."""
    value = positive_number(path, row, column)
    if value != int(value):
        raise StudyError(f"{path}: {column} = {row[column]!r}: must be a whole number of at least 1")
    return int(value)


def stream_workload(operation: str, block_size: int, blocks: int, machine: Machine, blocks_per_group: int) -> Workload:
    """What lowering a trace of kernels/stream gives, laid out at once: `blocks` blocks, an element a thread.

    blocks_per_group: the limit that claimed local memory sets. Raises StudyError for an unknown operation.
    """
    if operation not in OPERATIONS:
        raise StudyError(f"operation {operation!r}: unknown{nearest(operation, OPERATIONS)}")
    kernel = OPERATIONS[operation]
    width, chunk_bytes = machine.cores.warp_width, machine.chunk_bytes
    first = np.arange(0, block_size, width)
    lanes = np.minimum(width, block_size - first)
    elements = np.add.outer(np.arange(blocks) * block_size, first).ravel()  # a warp's first
    last = (np.broadcast_to(lanes, (blocks, len(lanes))).ravel() + elements) - 1
    warps = len(elements)
    # Each array begins at a chunk, behind the one before it and its halo.
    array_chunks = -(-(blocks * block_size + len(kernel.loads)) * ELEMENT_BYTES // chunk_bytes)

    def access(array: int, beside: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        begin = (elements + beside) * ELEMENT_BYTES // chunk_bytes
        end = ((last + beside + 1) * ELEMENT_BYTES - 1) // chunk_bytes
        return begin + array * array_chunks, end - begin + 1

    nothing = np.zeros(warps, np.int64), np.zeros(warps, np.int64)
    listed = [(ASYNC if kernel.together else LOAD, 0, access(*load)) for load in kernel.loads]
    if kernel.together:
        listed.append((JOIN, 0, nothing))
    if kernel.instructions:
        listed.append((COMPUTE, kernel.instructions, nothing))
    if kernel.stores:
        listed.append((STORE, 0, access(0, 0)))
    begins = np.stack([where[0] for _, _, where in listed], axis=1).ravel()
    counts = np.stack([where[1] for _, _, where in listed], axis=1)
    amounts = np.array([amount for _, amount, _ in listed], dtype=np.int64)
    flat = counts.ravel()
    before = np.cumsum(flat) - flat
    return Workload(
        kind=np.tile(np.array([kind for kind, _, _ in listed], dtype=np.uint8), warps),
        amount=np.where(counts > 0, counts, amounts).ravel(),
        chunks=np.repeat(begins - before, flat) + np.arange(int(flat.sum())),
        warp_operations=np.arange(warps + 1) * len(listed),
        warp_chunks=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=1))]),
        block_warps=np.arange(blocks + 1) * len(lanes),
        launch_blocks=np.array([0, blocks]),
        launch_limits=np.array([blocks_per_group]),
        origin=f"stream {operation} of {block_size} threads a block",
    )


def stream_bandwidth(
    machine: Machine,
    operation: str,
    block_size: int,
    blocks_per_group: int,
    engine: str | None = None,
    bytes_a_group: int = BYTES_A_GROUP,
) -> float:
    """Bytes a second that a streaming kernel moves once start and tail are left out.

    A thread's own elements count, those beside them do not, as in the measurement. bytes_a_group: of each array that a
    core group goes through at least in the longer of the two runs. Raises StudyError on a machine without a clock.
    """
    if machine.clock_hz is None:
        raise StudyError(f"machine {machine.name}: clock_hz: must be there for a bandwidth")
    wave = blocks_per_group * machine.cores.groups
    waves = max(LEAST_WAVES, -(-bytes_a_group // (ELEMENT_BYTES * block_size * blocks_per_group)))
    short, long = waves // 3, waves
    ticks = [
        simulate(
            machine,
            stream_workload(operation, block_size, count * wave, machine, blocks_per_group),
            engine,
            breakdown=False,
        ).ticks
        for count in (short, long)
    ]
    moved = OPERATIONS[operation].streams * ELEMENT_BYTES * block_size * wave * (long - short)
    return moved * machine.clock_hz * machine.ticks_per_cycle / max(1, ticks[1] - ticks[0])


def occupancy_curve(
    machine: Machine,
    points: Iterable[StreamPoint],
    operations: Sequence[str] | None = None,
    engine: str | None = None,
    watch: Callable[[str, int, int | None], None] | None = None,
) -> OccupancyCurve:
    """Simulate the points on a machine. operations: of those measured, all if left out. watch: called as things go on.

    Raises StudyError where there is no point or an operation was not measured.
    """
    chosen = tuple(points)
    if not chosen:
        raise StudyError("no point to simulate")
    names = tuple(name for name in OPERATIONS if name in chosen[0].measured) if operations is None else operations
    for name in names:
        if name not in chosen[0].measured:
            raise StudyError(f"operation {name!r}: was not measured{nearest(name, chosen[0].measured)}")
    made = []
    for done, point in enumerate(chosen):
        if watch:
            watch("simulating", done, len(chosen))
        made.append(
            Simulated(
                point,
                {
                    name: stream_bandwidth(machine, name, point.block_size, point.blocks_per_group, engine)
                    for name in names
                },
            )
        )
    return OccupancyCurve(machine, tuple(made))

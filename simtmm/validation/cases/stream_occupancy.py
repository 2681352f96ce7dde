"""Bandwidth over occupancy on six GPUs: how much parallelism hides the latency of memory.

Six streaming kernels, an element of 8 bytes a thread, in 31 to 39 occupancies up to 100 %. What a warp waits for, how
long a block takes to start and what passes through the partitions decide the curve, in that order from left to right.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simtmm.calibration.streams.counts import stream_counts
from simtmm.calibration.streams.occupancy_curve import StreamPoint, load_stream, occupancy_curve
from simtmm.errors import ModelError
from simtmm.machine import Machine, load_machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS
from simtmm.model import predict
from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.measured_files import measured_file
from simtmm.watch import Watch

FILE = "stream_occupancy.csv"
COMPARED_MODELS = ("tmm", "tmm-warps", "roofline", "mwp-cwp")
WAVES = 64  # of a machine full of blocks, for the models: start and end are a small part
SAMPLE = 13  # every so-manieth point is in a sample
ORIGIN = "RRZE-HPC/gpu-benches@1038c5d (2025-02-11) gpu-stream, in traces/measured/stream_occupancy.csv"
CALIBRATED = (
    "L on a pointer chase (gpu-latency of the same project). service, block_launch, warp_launch, store_latency, "
    "turnaround, store_buffer, fetch_interval, return_delay, return_interval and store_interval on all six kernels at "
    "once, at 10 of the points, the read kernel's errors counting twice; partitions on the same points, of the number "
    "that suits the read kernel alone best and its neighbours. The pipe of L1 and shared memory has other sources "
    "(docs/families.md); all but the V100's values were fitted beside an interval of memory ports in its place, and "
    "all with hashed partitions; A100, MI210 and GH200 have rotated ones since, and the MI210's service is 2.2 % more. "
    "All by `simtmm machines calibrate` (docs/calibration.md), and each one value for all points and kernels."
)
NOTES = (
    "The TMM knows latency but no bandwidth, and counts each thread's accesses as in flight by themselves; with warps "
    "that wait as one (tmm-warps) it is nearer at low occupancy. The roofline knows bandwidth but no latency, so it is "
    "right at the saturated end alone. MWP-CWP knows both, but not what it takes to start a block, which is 26 to 42 % "
    "of a block's time at low occupancy.",
    "What the simulation misses most: on GPUs of AMD, where memory is saturated, kernels that store are too slow (init "
    "moves a tenth more than read there) and those that load three values at once too quick; on the V100 triad.",
)


class Gpu(NamedTuple):
    """A GPU in the file. promised: what the mean error of the simulation is held below."""

    column: str
    machine: str
    title: str
    promised: float


GPUS = (
    Gpu("v100", "v100", "V100", 0.03),
    Gpu("a100_80", "a100-80", "A100 80 GB", 0.03),
    Gpu("mi210", "mi210", "MI210", 0.05),
    Gpu("a40", "a40", "A40", 0.045),
    Gpu("gh200", "gh200", "GH200", 0.035),
    Gpu("mi300a", "mi300a", "MI300A", 0.07),
)


def reproduce(watch: Watch | None = None) -> Tables:
    """A table a GPU, of all points and kernels."""
    return _tables(1, watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of three points each."""
    return _tables(SAMPLE, watch)


def measured_points(column: str) -> tuple[StreamPoint, ...]:
    """A GPU's measured points. Raises StudyError where the file is not there."""
    return load_stream(measured_file(FILE), column)


def modelled(machine: Machine, operation: str, point: StreamPoint) -> dict[str, float]:
    """What the models say of a point's bandwidth, in GB/s, by model; those left out say nothing of such a program."""
    blocks = WAVES * point.blocks_per_group * machine.cores.groups
    counts = stream_counts(operation, point.block_size, blocks, machine, point.blocks_per_group)
    moved = OPERATIONS[operation].streams * ELEMENT_BYTES * point.block_size * blocks
    bandwidths: dict[str, float] = {}
    for model in COMPARED_MODELS:
        try:
            seconds = predict(model, machine, counts).seconds
        except ModelError:
            continue
        assert seconds is not None
        bandwidths[model] = moved / seconds / 1e9
    return bandwidths


def _tables(each: int, watch: Watch | None) -> Tables:
    return tuple(_table(gpu, measured_points(gpu.column)[::each], watch) for gpu in GPUS)


def _table(gpu: Gpu, points: Sequence[StreamPoint], watch: Watch | None) -> Accuracy:
    machine = load_machine(gpu.machine)
    curve = occupancy_curve(machine, points, watch=watch)
    rows = [
        _row(operation, entry.point, {SIMULATED: entry.bandwidth[operation] / 1e9}, machine)
        for operation in curve.operations
        for entry in curve.points
    ]
    return Accuracy(
        name=f"stream-{gpu.machine}",
        title=f"Streaming kernels over occupancy: {gpu.title}",
        quantity="bandwidth",
        unit="GB/s",
        points=tuple(rows),
        calibrated=CALIBRATED,
        origin=ORIGIN,
        machine=gpu.machine,
        along="occupancy, %",
        promised={SIMULATED: gpu.promised},
        notes=NOTES,
    )


def _row(operation: str, point: StreamPoint, simulated: Mapping[str, float], machine: Machine) -> Measured:
    return Measured(
        case=f"{operation}, {point.blocks_per_group} x {point.block_size} threads",
        measured=point.measured[operation] / 1e9,
        said={**simulated, **modelled(machine, operation, point)},
        at=100 * point.occupancy,
        group=operation,
    )

"""An H100 SXM that simtmm measured itself: kernels as compiled, one after another, and streams over occupancy.

The kernels are those of the other cases (simtmm/validation/compiled); the GPU ran the PTX that is simulated here as
machine code. Values of the profile come from micro-kernels and an empty kernel, none from the kernels of these tables.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

from simtmm.analysis.run import run
from simtmm.calibration.streams.occupancy_curve import load_stream, occupancy_curve
from simtmm.machine import Machine, load_machine
from simtmm.measurement.timings import Timing, load_timings
from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.h100_compiled import Suite, point, suite_tables
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.compiled.programs import program
from simtmm.watch import Watch

MACHINE = "h100-sxm"
FILE, STREAMS = "h100_sxm_kernels.csv", "h100-sxm/stream_occupancy.csv"
SAMPLE = 6  # every so-manieth point of the streams is in a sample
ORIGIN = "simtmm, NVIDIA H100 80GB HBM3 (2026-11-26, driver 580.159.04, CUDA 13.0), traces/measured/{}"
CALIBRATED = (
    "scheduling.launch_overhead, block_launch, block_interval and warp_launch on an empty kernel, which "
    "has its own table; latencies, barriers, atomics and rates of the L2 on micro-kernels (traces/measured/h100-sxm). "
    "All else comes from the family (machines/families/hopper.toml). None of these kernels decided anything."
)
STREAMS_CALIBRATED = (
    "memory.latency on a pointer chase and the bandwidth of reads at full occupancy; all else comes from the family, "
    "which a GH200 stands for."
)


SUMS = ("sum_divergent", "sum_compact", "sum_sequential", "sum_while_loading", "sum_last_warp", "sum_many")
SUITES: Mapping[str, Suite] = {
    "h100-sxm-empty": Suite(
        "An empty kernel on an H100 SXM, by which launches were fitted", ("empty",), 0.06,
        (
            "A multiprocessor starts its first eight blocks within 0.1 us (probe.csv, block_start_spread), but ends "
            "one each 80 ns; what is simulated is that it starts one each 79 ns.",
        ),
    ),
    "h100-sxm-polybench": Suite(
        "PolyBench-GPU's naive gemm, mvt and syrk on an H100 SXM", ("gemm", "mvt", "syrk"), 0.13,
        ("gemm and syrk up to n = 384, mvt up to 1024; larger ones take minutes each.",),
    ),
    "h100-sxm-sdk": Suite(
        "Kernels of the CUDA SDK and sums in shared memory on an H100 SXM",
        ("vector-add", "copy", "transpose", "scalar-product", "scan-short", *SUMS), 0.1,
        (
            "Blocks of 16 x 16 store half lines, which move and take a slice of the L2 by their sectors "
            "(memory.sectors, memory.l2.store_request_service, of the stores of a micro-kernel); as whole lines, "
            "transposes of n = 1536 and add were 29 and 46 % too slow.",
        ),
    ),
    "h100-sxm-histogram": Suite(
        "Histograms whose elements fall in one bin, on an H100 SXM", ("histogram", "histogram_of_blocks"), 0.17,
        ("That updates of one word in the L2 take 1.46 cycles was measured on a kernel of this kind.",),
    ),
    "h100-sxm-tiles": Suite(
        "Sums and products of matrices on an H100 SXM", ("add", "add_by_columns", "product", "product_in_tiles"), 0.12,
        (
            "Adding by columns loads and stores a sector of each line, word by word: words of a sector that waits join "
            "it (memory.l2.waiting_stores, found on other kernels); without that, adding was up to 87 % too slow.",
        ),
    ),
    "h100-sxm-ffma": Suite(
        "A chain of multiply-adds on an H100 SXM", ("ffma",), 0.06,
        (
            "With more than one warp a scheduler this GPU took two cycles for each of these multiply-adds, which read "
            "three registers; those that read two took one (traces/measured/h200-sxm/register_banks.csv). Two of the "
            "three lie in one bank of registers, which gives one a cycle (scheduling.operands).",
        ),
    ),
}  # fmt: skip
LARGEST = {"gemm": 384, "syrk": 384, "mvt": 1024, "vector-add": 1 << 22, "transpose": 3072, "copy": 3072,
           "product": 1024, "product_in_tiles": 1024, **dict.fromkeys(SUMS, 1 << 24)}  # fmt: skip
SMALL = {"gemm": 32, "syrk": 32, "mvt": 64, "vector-add": 1 << 17, "transpose": 512, "copy": 512, "scan-short": 4096,
         "product_in_tiles": 512, "add": 1024}  # fmt: skip
NO_ACCESS = "recorded no access to memory"  # of a warning
SAMPLED = ("scalar-product", "histogram", "ffma", "empty")  # whose points with few blocks are in a sample


def reproduce(watch: Watch | None = None) -> Tables:
    """The tables, of chosen sizes."""
    return (*_kernels([time for time in measured_times() if _size(time) <= _most(time)], watch), _streams(1, watch))


def sample(watch: Watch | None = None) -> Tables:
    """The same with a few points each."""
    return (*_kernels([time for time in measured_times() if _is_small(time)], watch), _streams(SAMPLE, watch))


def measured_times() -> list[Timing]:
    """All of them, lud apart, which is many launches of some blocks. Raises StudyError where the file is not there."""
    return [time for time in load_timings(measured_file(FILE)) if time.kernel != "lud"]


def launched(time: Timing, machine: Machine) -> Measured:
    """A measured time beside the simulated one, in microseconds."""
    with _empty_is_meant() if time.kernel == "empty" else nullcontext():
        found = run(program(time.kernel, time.parameters), machine, sample="auto", form="compiled", what_if=False)
    assert found.result.seconds is not None
    return point(time, {SIMULATED: found.result.seconds * 1e6})


@contextmanager
def _empty_is_meant() -> Iterator[None]:
    """No warning that a kernel accesses no memory: it is not to."""

    def is_other(record: logging.LogRecord) -> bool:
        return NO_ACCESS not in record.getMessage()

    logger = logging.getLogger("simtmm")
    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)


def _size(time: Timing) -> int:
    return int(time.parameters.get("n", 0))


def _most(time: Timing) -> int:
    return LARGEST.get(time.kernel, _size(time))


def _is_small(time: Timing) -> bool:
    if time.kernel in SAMPLED:
        return int(time.parameters.get("blocks", time.parameters.get("vectors", 0))) in (0, 1, 32, 100, 128)
    return _size(time) <= SMALL.get(time.kernel, 0)


def _kernels(measured: list[Timing], watch: Watch | None) -> Tables:
    machine = load_machine(MACHINE)
    suites = {kernel: name for name, suite in SUITES.items() for kernel in suite.kernels}
    points: dict[str, list[Measured]] = {name: [] for name in SUITES}
    for done, time in enumerate(measured):
        if watch:
            watch("compiled kernels on the H100 SXM", done, len(measured))
        points[suites[time.kernel]].append(launched(time, machine))
    return suite_tables(SUITES, points, CALIBRATED, ORIGIN.format(FILE), MACHINE)


def _streams(each: int, watch: Watch | None) -> Accuracy:
    curve = occupancy_curve(load_machine(MACHINE), load_stream(measured_file(STREAMS))[::each], watch=watch)
    return Accuracy(
        name="h100-sxm-streams",
        title="Streaming kernels over occupancy on an H100 SXM, never calibrated on them",
        quantity="bandwidth",
        unit="GB/s",
        points=tuple(
            Measured(
                case=f"{operation}, {entry.point.blocks_per_group} x {entry.point.block_size} threads",
                measured=entry.point.measured[operation] / 1e9,
                said={SIMULATED: entry.bandwidth[operation] / 1e9},
                at=100 * entry.point.occupancy,
                group=operation,
            )
            for operation in curve.operations
            for entry in curve.points
        ),
        calibrated=STREAMS_CALIBRATED,
        origin=ORIGIN.format(STREAMS),
        machine=MACHINE,
        along="occupancy, %",
        promised={SIMULATED: 0.085},
        notes=("Blocks of 32 to 128 threads are bound by how often a multiprocessor starts one.",),
    )

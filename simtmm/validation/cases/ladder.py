"""Versions of textbook kernels on a GeForce RTX 3080, which was never calibrated: sums, matrices, histograms.

Their sources are written anew from descriptions (simtmm/validation/compiled/ladder.cu), compiled for sm_86 and run as
machine code; of large ones some blocks are simulated (docs/sampling.md).
"""

from simtmm.analysis.run import run
from simtmm.machine import load_machine
from simtmm.measurement.timings import Timing, load_timings
from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.h100_compiled import point
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.compiled.programs import program
from simtmm.watch import Watch

MACHINE = "rtx-3080"
FILE = "rtx3080_ladder.csv"
ORIGIN = (
    "R100001/Programming-Massively-Parallel-Processors (Performance-Tests-NvBench), nvbench's GPU time on a GeForce "
    f"RTX 3080, in traces/measured/{FILE}"
)
CALIBRATED = (
    "scheduling.barrier_latency and barrier_interval on the six sums, and on short scans on an H100 PCIe "
    "(h100-compiled); banks.atomic_passes on the histogram in shared memory. All else comes from the family "
    "(machines/families/ga10x.toml) and a data sheet. Matrices and the histogram in global memory decided nothing."
)
FITTED = ("sum_divergent", "sum_compact", "sum_sequential", "sum_while_loading", "sum_last_warp", "sum_many",
          "histogram_of_blocks")  # fmt: skip
NOTES = {
    "ladder-fitted": (
        "Those that some values of the profile come from. Simulated is the time of a launch, too, 1.5 us; a fixed cost "
        "was taken off the measured sums.",
    ),
    "ladder": (
        "Those that decided nothing. Adding by columns stores parts of lines, each of which takes a slice of the L2 "
        "for as long as a line here (memory.l2.store_request_service); stores of one sector that wait there together "
        "take it once (memory.l2.waiting_stores, by a public time of a transposition on an RTX 4090).",
    ),
}
TITLES = {
    "ladder-fitted": "Sums and a histogram in shared memory on an RTX 3080, by which values were fitted",
    "ladder": "Matrices and a histogram in global memory on an RTX 3080",
}
PROMISED = {"ladder-fitted": 0.12, "ladder": 0.2}
SMALL = ("product_in_tiles", "histogram_of_blocks")  # of a sample: quick ones


def reproduce(watch: Watch | None = None) -> Tables:
    """The tables, of all measured cases."""
    return _tables(load_timings(measured_file(FILE)), watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same with those that take seconds."""
    return _tables([time for time in load_timings(measured_file(FILE)) if time.kernel in SMALL], watch)


def _tables(measured: list[Timing], watch: Watch | None) -> Tables:
    machine = load_machine(MACHINE)
    points: dict[str, list[Measured]] = {name: [] for name in TITLES}
    for done, time in enumerate(measured):
        if watch:
            watch("a ladder on the RTX 3080", done, len(measured))
        found = run(program(time.kernel, time.parameters), machine, sample="auto", form="compiled", what_if=False)
        assert found.result.seconds is not None
        name = "ladder-fitted" if time.kernel in FITTED else "ladder"
        points[name].append(point(time, {SIMULATED: found.result.seconds * 1e6}))
    return tuple(
        Accuracy(
            name=name,
            title=title,
            quantity="time",
            unit="us",
            points=tuple(points[name]),
            calibrated=CALIBRATED,
            origin=ORIGIN,
            machine=MACHINE,
            promised={SIMULATED: PROMISED[name]},
            notes=NOTES[name],
        )
        for name, title in TITLES.items()
    )

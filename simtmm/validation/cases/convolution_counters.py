"""A convolution on an RTX 2080 Ti: what a profiler counted, beside what is counted in machine code here.

The kernel is written anew from a description (simtmm/validation/counters/convolution.cu), and compiled by a compiler
some years younger. Where both give a thread as many registers, they are taken to have made much the same of its sums.
"""

from collections.abc import Sequence

from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.counters.convolution import MeasuredCounters, measured_counters
from simtmm.validation.counters.counters import counters
from simtmm.watch import Watch

FILE = "convolution_2080ti_counters.csv"
COUNTED = "counted"  # the series
EVERY = 5  # row of the file is compiled and counted
SAMPLE = (50, 80, 105)  # of these rows some that are quickly compiled
AGREE = 2.0  # registers of a thread, by which compilers may differ and are said to agree
LARGE_CODE = 46.0  # KiB; of larger code the L2 is read again and again, as these counters show

LABELS = {
    "registers_per_thread": "registers of a thread",
    "shared_bytes": "shared memory of a block",
    "warp_instructions": "instructions of warps",
    "fp32_thread_instructions": "fp32, of threads",
    "memory_thread_instructions": "memory, of threads",
    "control_thread_instructions": "control, of threads",
    "integer_thread_instructions": "integer, of threads",
    "misc_thread_instructions": "misc, of threads",
    "global_load_requests": "requests of global loads",
    "shared_load_wavefronts": "wavefronts of shared loads",
    "shared_store_wavefronts": "wavefronts of shared stores",
    "l2_write_sectors": "sectors written to the L2",
    "l2_read_sectors": "sectors read from the L2",
}
LARGE_LABEL = f"sectors read, code above {LARGE_CODE:.0f} KiB"
GROUPS = (*LABELS.values(), LARGE_LABEL)


def reproduce(watch: Watch | None = None) -> Tables:
    """Two tables of every fifth configuration: where both compilers give as many registers, and where they don't."""
    return _tables(measured()[::EVERY], watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of a few that are quickly compiled."""
    rows = measured()
    return _tables([rows[number] for number in SAMPLE], watch)


def measured() -> list[MeasuredCounters]:
    """All configurations and their counters. Raises StudyError where the file is not there."""
    return measured_counters(measured_file(FILE))


def _tables(rows: Sequence[MeasuredCounters], watch: Watch | None) -> Tables:
    points: dict[bool, list[Measured]] = {True: [], False: []}
    for done, row in enumerate(rows):
        if watch:
            watch("counters of a convolution", done, len(rows))
        found = counters(row.configuration)
        agrees = abs(found["registers_per_thread"] - row.counters["registers_per_thread"]) <= AGREE
        points[agrees] += _points(row, found)
    return tuple(
        Accuracy(
            name=f"rtx2080ti-convolution{'' if agrees else '-otherwise'}",
            title=f"Counters of a convolution on an RTX 2080 Ti, where registers {'agree' if agrees else 'differ'}",
            quantity="count",
            unit="",
            points=tuple(sorted(own, key=lambda point: GROUPS.index(point.group))),
            calibrated="nothing",
            origin=ORIGIN,
            machine="RTX 2080 Ti",
            promised={COUNTED: PROMISED[agrees]},
            notes=NOTES[agrees],
        )
        for agrees, own in points.items()
    )


def _points(row: MeasuredCounters, found: dict[str, float]) -> list[Measured]:
    large = found["code_bytes"] / 1024 > LARGE_CODE
    return [
        Measured(
            case=str(row.configuration),
            measured=row.counters[name],
            said={COUNTED: found[name]},
            group=LARGE_LABEL if large and name == "l2_read_sectors" else label,
        )
        for name, label in LABELS.items()
    ]


ORIGIN = (
    "Nsight's counters as KTT kept them, in AutoTuningAssociation/benchmark_hub; every fifth of the 250 configurations "
    f"in traces/measured/{FILE}"
)
PROMISED = {True: 0.05, False: 1.0}
NOTES: dict[bool, tuple[str, ...]] = {True: (), False: ()}

"""A convolution on an RTX 2080 Ti: what a profiler counted, beside what is counted in machine code here.

The kernel is written anew from a description (simtmm/validation/counters/convolution.cu), and compiled by a compiler
some years younger. Where both give a thread as many registers, they are taken to have compiled its sums much alike.
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
SAMPLE = (50, 80)  # of these rows some that are quickly compiled
AGREE = 2.0  # registers of a thread, by which compilers may differ and still count as agreeing
LARGE_CODE = 48.0  # KiB; of larger code the L2 is read again and again, as these counters show

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
PROMISED = {True: 0.06, False: 1.2}  # mean over all counters: the second is of what spills, beside what does not
NOTES = {
    True: (
        "Registers agree where they are within 2. What is counted is what a few blocks of each kind, those at the "
        "borders apart, do as the machine code that NVRTC and ptxas make for sm_75, weighed by how many blocks are "
        "alike. Their outputs are compared with sums in NumPy. No time and no machine is simulated.",
        "Instructions by class are of threads with a true predicate. Those of fp32, memory and control are equal "
        "to the last one, and so are requests, but for a few configurations of 24 outputs a thread. What differs "
        "are instructions that compute addresses, integer and misc together a tenth of all. The compiler of the "
        "measurements made others, above all where pixels are loaded by __ldg (integer: 21 % apart in the median, "
        "5 % elsewhere). CUDA 11.8's compiler, tried by hand on three of those, comes nearer: 11 to 18 % apart "
        "where today's is 17 to 28 %. Other types of indices, orders of loops and of terms, and __restrict__ gave "
        "the same code, or one that agrees less.",
        "Wavefronts of shared memory are those that banks ask for. The GPU took as many in a fifth of the "
        "configurations. In the others, whose loops are long enough to be unrolled by four, so that a warp's "
        "stores follow on one another, it took up to 14 % more of stores, and some more of loads: by what, the "
        "counters do not tell.",
        "Sectors are read as if the L1 kept what a block loads until the block has it all, and nothing for another "
        "block. Where small tiles of many blocks share the L1, up to 15 % more were read. Code is read through the "
        "L2 as well, and where it has more than 48 KiB it is read again and again, which is most of what is "
        "missing there. Sectors are written once for each store of a warp: of blocks 2 or 4 threads wide the GPU "
        "joined some parts of a sector.",
    ),
    False: (
        "Tiles of 12 outputs a thread and more: today's compiler takes up to 255 registers for what the older one "
        "did with 55 to 156, keeps what it has loaded, and spills. A spilled register is written to the L2 at each "
        "store, which comes to 39 times what outputs take.",
    ),
}

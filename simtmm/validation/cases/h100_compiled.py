"""Kernels on an H100 PCIe as NVIDIA's compiler makes them: an empty one, multiply-adds, PolyBench, the SDK, lud.

Their sources are written anew from descriptions (simtmm/validation/compiled), compiled for sm_90 and recorded as
machine code. The profile's values hold for all points; those from which some of them come have a table of their own.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simtmm.engine import simulate
from simtmm.errors import ModelError
from simtmm.machine import Machine, load_machine
from simtmm.measurement.timings import Timing, load_timings
from simtmm.model import predict
from simtmm.model.series import SIMULATED
from simtmm.program import architecture_for, open_program
from simtmm.recorder.compiled.record import record
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.compiled.programs import program
from simtmm.watch import Watch

MACHINE = "h100-pcie"
FILES = ("h100_pcie_micro.csv", "h100_pcie_kernels.csv", "h100_pcie_more.csv")
COMPARED_MODELS = ("pram", "tmm", "tmm-warps", "roofline", "mwp-cwp")
AS_TRANSPOSE = "simulated, transposed"  # where it is not known whether a kernel copies or transposes
ORIGIN = "sarchlab/mgpusim, nvidia/eval: times on an H100 PCIe, in traces/measured/" + ", ".join(FILES)
CALIBRATED = (
    "launch_overhead, block_launch, block_interval and warp_launch on five times of an empty kernel, which stand in a "
    "table of their own; l2.latency on a step of gemm and mvt with blocks of side 8, store_interval on gemm of n = "
    "384; first_access and l2.service on vectorAdd as written in the papers' form (h100-kernels); the scheduler on 600 "
    "blocks of the chain of multiply-adds, in a table of its own. The L1's tags come from strides on A100 and H200; "
    "barriers, banks.latency and atomics of shared memory from micro-kernels on an H100 SXM. "
    "That blocks keep their places until their stores have ended was chosen for transpose of n = 1024 to 2048 and "
    "vectorAdd of n = 2^19 to 2^21, and is no number. Other blocks of the chain, scalarProd, lud and syrk decided "
    "nothing."
)

# Of the empty kernel, threads and blocks that machines/h100-pcie.toml takes its launch from
EMPTY_CALIBRATION = ((256, 1), (256, 16384), (544, 16384), (704, 16384), (1024, 16384))
# What is simulated of the measured cases: the largest n or number of blocks, which take minutes each beyond, and where
# there are hundreds of points some of them.
LARGEST = {"gemm": 192, "syrk": 384, "mvt": 512, "vector-add": 1 << 22, "transpose": 3072, "convolution-3d": 128}
WALSH_KERNEL = 12  # log2 of the second array's numbers, on which no time depends
EMPTY_THREADS, EMPTY_BLOCKS = (32, 256, 512, 544, 704, 1024), (1, 16, 128, 512, 2048, 16384)
FFMA_CALIBRATION = 600  # blocks from which the profile has its scheduler
FFMA_BLOCKS, FFMA_ITERATIONS = (1, 100, 300, 400, 600, 1000, 1400, 2000, 3000), (10, 20)
SMALL = {"gemm": 32, "syrk": 32, "mvt": 48, "vector-add": 1 << 16, "lud": 16, "scan-short": 8192, "convolution-3d": 32,
         "sort-short": 8192}  # of a sample  # fmt: skip
SMALL_WALSH = 14  # log2 of its numbers


class Suite(NamedTuple):
    """A table. kernels: names of files beside which it stands. promised: the simulation's mean error, at most."""

    title: str
    kernels: tuple[str, ...]
    promised: float
    notes: tuple[str, ...]


SUITES = {
    "h100-empty-calibration": Suite(
        "An empty kernel on an H100 PCIe, points of calibration",
        ("empty",),
        0.03,
        ("The profile's four values of a launch come from these five times.",),
    ),
    "h100-empty": Suite(
        "An empty kernel on an H100 PCIe",
        ("empty",),
        0.05,
        (
            "A group starts a block every 130 cycles, however many threads it has, and a block keeps its places for "
            "some 425 cycles and 7 more for each warp: from 544 threads on, fewer than four blocks fit a group, and "
            "places bind. The first eight blocks or so of a group follow one another in 85 cycles, so a few hundred "
            "blocks are simulated too slow. With scheduling.block_burst = 8 they are up to 16 % too quick: blocks that "
            "begin at once still end one after another.",
            "36 of 561 measured points: 32 to 1024 threads, 1 to 16,384 blocks.",
        ),
    ),
    "h100-ffma-calibration": Suite(
        "A chain of multiply-adds on an H100 PCIe, points of calibration",
        ("ffma",),
        0.03,
        (
            "600 blocks of four warps are up to six warps a scheduler. Four keep it busy, so six would take half "
            "as long again as four if they took turns; they take almost twice as long, as they do where the oldest go "
            "first. Of the four rules of docs/schedulers.md, greedy-oldest is one of the two that do so.",
        ),
    ),
    "h100-ffma": Suite(
        "A chain of multiply-adds on an H100 PCIe",
        ("ffma",),
        0.03,
        (
            "An iteration is 131 instructions, of which the assembler has a lone warp take 515 cycles; it was measured "
            "to take 522 at 1.755 GHz. With up to four warps a scheduler, blocks of the machine take no longer than "
            "one, and with five to eight twice as long.",
        ),
    ),
    "h100-polybench-compiled": Suite(
        "PolyBench-GPU's naive gemm, mvt and syrk, as compiled, on an H100 PCIe",
        ("gemm", "mvt", "syrk"),
        0.25,
        (
            "gemm up to n = 192, syrk up to 384, mvt up to 512; larger ones take minutes each.",
            "syrk's warps read up to 32 rows at once. Their lines are looked up one after another in the group's "
            "pipe, and where n is a multiple of 32, the words lie in one bank, so that a load takes a pass for each "
            "row; where it is an odd multiple of 16, for each second one. Stores have a port of their own behind it.",
            "As measured, and less 1.8 us of a launch, a step of one of the 32 warps of a block of side 32 takes its "
            "core group 7 to 10 cycles for n = 32, 64, 96 and 128, 4 for 48, 19 for 192 and 27 to 31 for 256 and 384."
            " So from n = 256 on it takes the passes that it is simulated to take, and up to 128 a fourth of them, "
            "which is what loads of four neighbouring words would take; the code that is compiled here has none. What"
            " does that is not known. Without passes over the banks n = 128 was 4 % too slow, and 256 and more three "
            "times too quick.",
        ),
    ),
    "h100-sdk-compiled": Suite(
        "Kernels of the CUDA SDK and Rodinia's lud, as compiled, on an H100 PCIe",
        ("vector-add", "transpose", "scalar-product", "scan-short", "lud"),
        0.12,
        (
            "The measurement does not tell whether transpose (kernelID = 1) copies or transposes: what is simulated "
            "copies, the series beside it transposes, both in tiles of 16 x 16.",
            "scalarProd and lud go through chains of accesses to shared memory, whose values take banks.latency, 19 "
            "cycles as on an H100 SXM; with 28, another measurement's, lud was 6 % too slow and is 5 % too quick.",
            "transpose and vectorAdd from some 30 MB on take more of the L2 than it is simulated to need. Tried in "
            "vain, since nothing suits both: an L2 of half the size (vectorAdd of n = 2^22 28 % too slow instead of 22 "
            "% too quick, transpose of 3072 as before), one of 40 MiB whose sets are hashed (5 % too slow, and "
            "transpose 15 % too quick), a turnaround of 1 cycle (transpose to 1 %, vectorAdd of 2^23 25 % too slow).",
            "Times of lud are of single cold runs, its kernels' together.",
        ),
    ),
    "h100-more-compiled": Suite(
        "PolyBench's 3dconv, the CUDA SDK's Walsh transform and sort in shared memory, as compiled, on an H100 PCIe",
        ("convolution-3d", "walsh", "sort-short"),
        0.07,
        (
            "No value was fitted to these times. But 3dconv and the Walsh transform, of several launches each, "
            "showed that only a run's first launch pays first_access (memory.translations).",
            "3dconv is a launch for each of n - 2 planes; its n is known to the compiler, as PolyBench-GPU's macros. "
            "With n as an argument, blocks of side 32 are 24 % too slow instead of 13 %. Of n, up to 128.",
            "A Walsh transform's times do not depend on the second array's size, of which one is simulated.",
        ),
    ),
}


def reproduce(watch: Watch | None = None) -> Tables:
    """The tables, of chosen sizes."""
    return _tables([time for time in measured_times() if _is_chosen(time)], watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of the smallest sizes."""
    return _tables([time for time in measured_times() if _is_chosen(time) and _is_small(time)], watch)


def measured_times() -> list[Timing]:
    """The measured times, of all files. Raises StudyError where one is not there."""
    return [time for name in FILES for time in load_timings(measured_file(name))]


def times(time: Timing, machine: Machine) -> dict[str, float]:
    """What the simulation and the models say of a measured case, in microseconds, by series."""
    if time.kernel == "transpose":
        values = _times("copy", time, machine)
        return values | {AS_TRANSPOSE: _times("transpose", time, machine)[SIMULATED]}
    return _times(time.kernel, time, machine)


def _times(kernel: str, time: Timing, machine: Machine) -> dict[str, float]:
    measured = program(kernel, time.parameters)
    architecture, _ = architecture_for(measured, machine, "compiled")
    trace = record(measured, measured.resolve({}), architecture=architecture)  # an empty kernel is meant: no warning
    prepared = open_program(trace).on(machine)
    assert machine.clock_hz is not None
    assert prepared.counts is not None
    unit = 1e6 / machine.clock_hz
    values = {SIMULATED: simulate(machine, prepared.workload, breakdown=False).cycles * unit}
    for model in COMPARED_MODELS:
        try:
            values[model] = predict(model, machine, prepared.counts).cycles * unit
        except ModelError:  # it says nothing of such a program
            continue
    return values


def _numbers(time: Timing) -> dict[str, int]:
    return {name: int(value) for name, value in time.parameters.items()}


def _is_chosen(time: Timing) -> bool:
    numbers = _numbers(time)
    if time.kernel == "walsh":
        return numbers["log2kernel"] == WALSH_KERNEL
    if time.kernel == "empty":
        return numbers["threads"] in EMPTY_THREADS and numbers["blocks"] in EMPTY_BLOCKS
    if time.kernel == "ffma":
        return numbers["blocks"] in FFMA_BLOCKS and numbers["iterations"] in FFMA_ITERATIONS
    return numbers.get("n", 0) <= LARGEST.get(time.kernel, numbers.get("n", 0))


def _is_small(time: Timing) -> bool:
    numbers = _numbers(time)
    if time.kernel == "scalar-product":
        return numbers["vectors"] == numbers["elements"] // 64
    if time.kernel == "walsh":
        return numbers["log2data"] <= SMALL_WALSH
    if time.kernel == "ffma":
        return numbers["blocks"] <= 100 or (numbers["blocks"], numbers["iterations"]) == (FFMA_CALIBRATION, 10)
    if time.kernel == "empty":
        return numbers["threads"] in (256, 1024) and numbers["blocks"] in (1, 512, 16384)
    return numbers["n"] <= SMALL.get(time.kernel, 1024)


def _tables(measured: Sequence[Timing], watch: Watch | None) -> Tables:
    machine = load_machine(MACHINE)
    points: dict[str, list[Measured]] = {name: [] for name in SUITES}
    for done, time in enumerate(measured):
        if watch:
            watch("compiled kernels on the H100 PCIe", done, len(measured))
        points[_suite(time)].append(point(time, times(time, machine)))
    return suite_tables(SUITES, points, CALIBRATED, ORIGIN, MACHINE)


def suite_tables(
    suites: Mapping[str, Suite], points: Mapping[str, Sequence[Measured]], calibrated: str, origin: str, machine: str
) -> Tables:
    """A table of times in microseconds for each suite, of the points under its name."""
    return tuple(
        Accuracy(
            name=name,
            title=suite.title,
            quantity="time",
            unit="us",
            points=tuple(points[name]),
            calibrated=calibrated,
            origin=origin,
            machine=machine,
            promised={SIMULATED: suite.promised},
            notes=suite.notes,
        )
        for name, suite in suites.items()
    )


def _suite(time: Timing) -> str:
    if time.kernel == "empty":
        numbers = _numbers(time)
        fitted = (numbers["threads"], numbers["blocks"]) in EMPTY_CALIBRATION
        return "h100-empty-calibration" if fitted else "h100-empty"
    if time.kernel == "ffma":
        return "h100-ffma-calibration" if _numbers(time)["blocks"] == FFMA_CALIBRATION else "h100-ffma"
    return next(name for name, suite in SUITES.items() if time.kernel in suite.kernels)


def point(time: Timing, values: dict[str, float]) -> Measured:
    """A measured time beside what each series says of it, in microseconds."""
    case = ", ".join(f"{name} = {value}" for name, value in time.parameters.items())
    return Measured(f"{time.kernel}, {case}", time.seconds * 1e6, values, group=time.kernel)

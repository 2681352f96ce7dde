"""Naive kernels on an H100 PCIe: PolyBench-GPU's gemm and mvt, and the CUDA SDK's vectorAdd.

gemm and mvt store their sum in each step, and as their source is written load it again. What they measure is a chain
of trips to the caches, n steps long, until gemm has so many threads that the L2 cannot take the stores any faster.
"""

from collections.abc import Sequence
from typing import NamedTuple

from simtmm.engine import simulate
from simtmm.errors import ModelError
from simtmm.machine import Machine, load_machine
from simtmm.measurement.timings import Timing, load_timings
from simtmm.model import predict
from simtmm.model.series import SIMULATED
from simtmm.recorder.kernel_to_workload import workload_and_counts
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.measured_files import measured_file
from simtmm.watch import Watch

MACHINE = "h100-pcie"
FILE = "h100_pcie_kernels.csv"
COMPARED_MODELS = ("pram", "tmm", "tmm-warps", "roofline", "mwp-cwp")
SMALL = {"gemm": 48, "mvt": 64, "vector-add": 65536}  # n of a sample's largest point
ORIGIN = "sarchlab/mgpusim, nvidia/eval: times on an H100 PCIe, in traces/measured/h100_pcie_kernels.csv"
CALIBRATED = (
    "some values of the profile on a few of these times: first_access on vectoradd's smallest, l2.service on its slope "
    "from n = 2^18 to 2^20, store_interval on gemm at n = 384 with blocks of 8 x 8, l2.writes and l2.start on what "
    "global memory could not do; that blocks keep their places until their stores have ended was chosen for n = 2^19 "
    "to 2^21 and for transpose (h100-compiled). l2.latency comes from a step of gemm and of mvt with blocks of side 8, "
    "as compiled (h100-compiled), tags of the L1 from strides on A100 and H200. Latency of the L1 and of global "
    "memory, bandwidth and sizes come from elsewhere (machines/h100-pcie.toml), and what a launch takes from an empty "
    "kernel (h100-compiled)."
)


class Table(NamedTuple):
    """What a table says beside its points. side: the words for a block of such a side; "" if there is none."""

    title: str
    side: str
    promised: float
    notes: tuple[str, ...]


TABLES = {
    "gemm": Table(
        "gemm (PolyBench-GPU, naive) on an H100 PCIe",
        "{0} x {0} threads",
        0.12,
        (
            "A step loads a row of B, which is new to the L1, so it takes a trip to the L2; what it loads of A and C "
            "is nearly always in the L1. At n = 384 and 512 the stores, a line at a time, bind as well; n = 512 has "
            "1.12 times as many threads as the machine holds.",
            "A compiler knows what it has just stored, and may keep the sum in a register (sum = register): a step "
            "then takes a trip to the L1 less, some 8 % of its time.",
        ),
    ),
    "mvt": Table(
        "mvt (PolyBench-GPU, naive) on an H100 PCIe",
        "{0} threads",
        0.12,
        (
            "Two launches of n steps. By rows, a warp's threads share no line, but find the words of eight steps in a "
            "sector: a step takes two trips to the L1, and lines pass its port one by one. By columns, a step takes a "
            "trip to the L2 and one to the L1. Together they take 250 to 300 ns a step whatever n is, 130 on average.",
            "Where a store takes its line out of the L1 (l1_after_store = drop), the sum is a trip to the L2 of its "
            "own in each step: two trips a step in gemm, three in mvt's two launches, so mvt would take 1.5 times as "
            "long as gemm. It takes 1.12 to 1.24 times as long. No latency of the L2 serves both: with the 200 cycles "
            "that suit gemm, mvt is simulated 41 % too slow. So lines stay.",
            "The latency of the L2 suits what a compiler makes of both kernels (h100-compiled), where the sum stays in "
            "a register. As the source is written a step loads it again, and mvt is simulated some 10 % too slow.",
            "Times grow by 6 and 14 % from 8 to 16 and 32 threads a block, at each n alike. Blocks of 64, 256 and 1024 "
            "threads would all be made of whole warps, and differ only where several share a core group: so a block "
            "is taken to have 8, 16 or 32 threads in a line, as PolyBench-GPU's DIM_THREAD_BLOCK_Y = 1 has it.",
        ),
    ),
    "vector-add": Table(
        "vectorAdd (CUDA SDK) on an H100 PCIe",
        "",
        0.09,
        (
            "A launch is that of an empty kernel; what loads takes some 0.38 us more, once and whatever its size, "
            "which first_access stands for.",
            "Small sizes show the launch, those of up to 25 MB the L2, which still holds what an earlier run or a copy "
            "left there, and the largest global memory. At n = 2^22, 50 MB, the whole L2 is used, and simulated times "
            "are too short: the real one keeps less of arrays that fill it.",
            "Blocks have 256 threads, as in the SDK; the measurement does not tell.",
        ),
    ),
}


def reproduce(watch: Watch | None = None) -> Tables:
    """A table a kernel, of all measured points."""
    return _tables(measured_times(), watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of the smallest sizes."""
    return _tables([time for time in measured_times() if int(time.parameters["n"]) <= SMALL[time.kernel]], watch)


def measured_times() -> list[Timing]:
    """The measured times, of the parameters n and side. Raises StudyError where the file is not there."""
    return load_timings(measured_file(FILE))


def times(time: Timing, machine: Machine) -> dict[str, float]:
    """What the simulation and the models say of a measured case, in microseconds, by series."""
    workload, counts = workload_and_counts(time.kernel, time.parameters, machine)
    assert machine.clock_hz is not None
    unit = 1e6 / machine.clock_hz
    values = {SIMULATED: simulate(machine, workload, breakdown=False).cycles * unit}
    for model in COMPARED_MODELS:
        try:
            values[model] = predict(model, machine, counts).cycles * unit
        except ModelError:  # it says nothing of such a program
            continue
    return values


def _tables(measured: Sequence[Timing], watch: Watch | None) -> Tables:
    machine = load_machine(MACHINE)
    points: dict[str, list[Measured]] = {kernel: [] for kernel in TABLES}
    for done, time in enumerate(measured):
        if watch:
            watch("kernels on the H100 PCIe", done, len(measured))
        points[time.kernel].append(_point(time, times(time, machine)))
    return tuple(
        Accuracy(
            name=f"h100-{kernel}",
            title=table.title,
            quantity="time",
            unit="us",
            points=tuple(points[kernel]),
            calibrated=CALIBRATED,
            origin=ORIGIN,
            machine=MACHINE,
            along="n",
            promised={SIMULATED: table.promised},
            notes=table.notes,
        )
        for kernel, table in TABLES.items()
    )


def _point(time: Timing, values: dict[str, float]) -> Measured:
    n = int(time.parameters["n"])
    group = TABLES[time.kernel].side.format(time.parameters.get("side"))
    case = f"n = {n}, blocks of {group}" if group else f"n = {n}"
    return Measured(case, time.seconds * 1e6, values, at=float(n), group=group)

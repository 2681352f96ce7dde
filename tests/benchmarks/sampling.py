"""Samples beside whole runs, as Markdown for docs/scaling.md: python -m tests.benchmarks.sampling [TABLE]

TABLE is small, differing, large, long or rough; all of them if it is left out.

Each pair of a kernel with its size and a machine is simulated whole, and by a sample (--sample auto, --error 3%). Told
is what the sample is off, the interval that it states, and the seconds of processors of both, recording included.
Pairs of which the sample would have more than half are left out: all of them is simulated then. Those of the first
two tables are sampled though simulating all of them takes no longer. `differing` are programs whose blocks or launches
differ (tests/sampling/differing). `long` are launches of long blocks by their pace, of a sixteenth of their operations.
`rough` are times by a part of the machine, as a search begins with (--error 12%): of shipped kernels, of one whose
blocks read most of what their neighbours do, and of configurations of the convolution of docs/tune.md, which
SIMTMM_CUDA's compiler makes.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np

import simtmm.validation.counters
from simtmm import load_machine, record, simulate
from simtmm.kernel import load_kernel
from simtmm.program import open_program
from simtmm.recorder import form_of
from simtmm.recorder.sources import opened_kernel
from simtmm.sampling import program
from simtmm.sampling.long.steady import steady
from simtmm.sampling.recording import KernelSource
from simtmm.sampling.sampled import sampled_kernel
from simtmm.trace.counts import lower_and_count
from tests.benchmarks.scaling import clock

ERROR = 0.03
DIFFER = str(Path(__file__).parents[1] / "sampling" / "differing")
STREAMS = (
    ("stream", {"n": 1 << 22}), ("stream", {"n": 1 << 22, "operation": "stencil5"}), ("vector-add", {"n": 1 << 22}),
    ("copy", {"n": 1 << 22, "offset": 3}), ("copy", {"n": 1 << 21, "pattern": "stride", "stride": 3}),
    ("reduce", {"n": 1 << 23}), ("spmv-csr", {"n": 1 << 21, "nonzeros": 4}), ("scan", {"n": 1 << 22}),
    ("transpose", {"n": 4096, "columns": 4096}), ("transpose", {"n": 4096, "columns": 2048, "way": "naive"}),
    ("atomic-update", {"n": 1 << 22, "counters": 4096}), ("fft", {"n": 1 << 20}),
)  # fmt: skip
LOOPS = (
    ("gemm", {"n": 384, "side": 4}), ("matrix-multiplication", {"n": 512, "sub_block": 8}),
    ("list-ranking-wyllie", {"n": 1 << 20}),
)  # fmt: skip
FEW = {"cores.groups": 4, "memory.partitions": 2}  # so that what loops for long has many waves
PAIRS = {
    "gtx280": ({}, STREAMS), "gtx480": ({}, STREAMS), "gtx680": ({}, STREAMS), "t4": ({}, STREAMS),
    "v100": ({}, [(name, {**given, "n": 4 * given["n"]}) for name, given in STREAMS[:6]]),
    "gtx480 of 4 groups": (FEW, LOOPS), "v100 of 4 groups": (FEW, LOOPS), "ideal": ({}, STREAMS[:3]),
}  # fmt: skip

DIFFERING = {
    "gtx480 of 4 groups": (FEW, (
        ("triangle", {"blocks": 32768, "turns": 24}), ("every", {"blocks": 32768, "turns": 20}),
        ("half", {"blocks": 32768, "turns": 256}), ("island", {"blocks": 65536, "turns": 256}),
        ("strided", {"blocks": 32768}), ("random rows", {"blocks": 16384}), ("sorted rows", {"blocks": 32768}),
        ("alternate", {"blocks": 64, "launches": 96, "turns": 256}), ("halo", {"n": 2048}),
    )),
    "gtx480 of 2 groups": ({"cores.groups": 2, "memory.partitions": 2}, (
        ("eliminate", {"n": 384, "launches": 384}), ("shrink", {"n": 512, "launches": 256}),
        ("wavefront", {"launches": 192}),
    )),
    "v100 of 4 groups": (FEW, (
        ("triangle", {"blocks": 65536, "turns": 24}), ("half", {"blocks": 65536, "turns": 256}),
        ("strided", {"blocks": 65536}), ("halo", {"n": 4096}),
    )),
}  # fmt: skip
LARGE = {
    "gtx480": ({}, (
        ("stream", {"n": 1 << 26}), ("transpose", {"n": 16384, "columns": 8192}), ("scan", {"n": 1 << 25}),
    )),
    "gtx480 of 4 groups": (FEW, (("matrix-multiplication", {"n": 1024, "sub_block": 8}),)),
}  # fmt: skip

EIGHT = {"cores.groups": 8, "memory.partitions": 8}
LONG = (
    ("gtx480", {}, "gemm", {"n": 512}), ("gtx480", {}, "gemm", {"n": 512, "sum": "register"}),
    ("gtx480 of 4 groups", FEW, "gemm", {"n": 512}), ("gtx280", {}, "gemm", {"n": 512}),
    ("v100 of 8 groups", EIGHT, "gemm", {"n": 512}), ("a100-40 of 8 groups", EIGHT, "gemm", {"n": 512}),
    ("gtx480", {}, "matrix-multiplication", {"n": 512, "sub_block": 16}),
    ("gtx480 of 4 groups", FEW, "mvt", {"n": 4096}),
)  # fmt: skip


ROUGH = 0.12  # what the first step of a search asks for
CONVOLUTION = str(Path(simtmm.validation.counters.__file__).with_name("convolution.toml"))
CONVOLUTIONS = (
    (192, 3, 2), (96, 3, 2), (208, 2, 2), (32, 1, 2), (128, 2, 4), (128, 3, 2), (16, 2, 1), (64, 2, 1), (144, 3, 2),
    (256, 2, 2), (240, 2, 4),
)  # fmt: skip
WINDOW = {"case": "window"}
ROUGH_PAIRS = {
    "gtx480": ({}, (("transpose", {"n": 4096, "columns": 4096}), ("stream", {"n": 1 << 23}))),
    "v100": ({}, (
        ("transpose", {"n": 8192, "columns": 4096}), ("vector-add", {"n": 1 << 25}),
        ("matrix-multiplication", {"n": 1024, "sub_block": 8}), (DIFFER, {**WINDOW, "n": 1024, "blocks": 8192}),
        (DIFFER, {"case": "halo", "n": 8192}),
    )),
    "mi210": ({}, (("transpose", {"n": 8192, "columns": 4096}), (DIFFER, {**WINDOW, "n": 768, "blocks": 16384}))),
    "rtx-a4000": ({}, (
        (DIFFER, {**WINDOW, "n": 1024, "blocks": 8192}), (DIFFER, {**WINDOW, "n": 384, "blocks": 16384}),
        *((CONVOLUTION, {
            "HEIGHT": 1024, "BLOCK_SIZE_X": x, "BLOCK_SIZE_Y": 1, "TILE_SIZE_X": across, "TILE_SIZE_Y": down
        }) for x, across, down in CONVOLUTIONS),
    )),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pair:
    """What came of a pair. off, error: as parts of the whole time. whole, sample: seconds of processors."""

    off: float
    error: float
    blocks: int
    simulated: int
    whole: float
    sample: float


def compared(kernel, parameters, machine, error=ERROR):
    """A pair; None where all would be simulated."""
    opened = opened_kernel(kernel)
    with clock() as sampling:
        found = sampled_kernel(opened, parameters, machine, error=error).sampled
    if found is None:
        return None
    with clock() as running:
        if form_of(opened) == "written":
            trace = record(kernel, parameters, most_events=1 << 40)
        else:  # for the machine's architecture, as the sample is
            trace = open_program(opened, parameters, machine=machine).trace
        workload, _ = lower_and_count(trace, machine, places=True)
        whole = simulate(machine, workload, stalls=True)
    off = found.result.ticks / whole.ticks - 1
    return Pair(off, found.error, found.blocks, found.simulated_blocks, running.cpu, sampling.cpu)


def compared_by_pace(kernel, parameters, machine):
    """A pair whose launch is told by its pace, by a sixteenth of its operations; and its waves."""
    trace = record(kernel, parameters, most_events=1 << 40)
    with clock() as running:
        workload, _ = lower_and_count(trace, machine, places=True)
        whole = simulate(machine, workload, stalls=True)
    with clock() as sampling:
        source = KernelSource(load_kernel(kernel), parameters, "written")
        launch = source.launches[0]
        of_group = machine.active_blocks(
            launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes
        )
        wave = of_group * machine.cores.groups
        made = steady(source, machine, 0, wave, workload.tallies[0].operations // 16)
    off = made.ticks / whole.launch_ticks[0] - 1
    pair = Pair(off, made.half / made.ticks, launch.blocks, made.simulated, running.cpu, sampling.cpu)
    return pair, launch.blocks / wave


def told(name, kernel, parameters, pair):
    """A row of a table."""
    said = ", ".join(
        f"{key} = {value:,}" if isinstance(value, int) else str(value) for key, value in parameters.items()
    )
    return (
        f"| {name} | {kernel}, {said} | {pair.blocks:,} | {pair.simulated:,} | {100 * pair.off:+.2f} % | "
        f"{100 * pair.error:.2f} % | {pair.whole:.2f} | {pair.sample:.2f} | {pair.whole / pair.sample:.1f} |"
    )


def summed_up(pairs):
    """What pairs have in common, in words."""
    off = np.array([abs(pair.off) for pair in pairs])
    within = sum(abs(pair.off) <= pair.error for pair in pairs)
    faster = np.array([pair.whole / pair.sample for pair in pairs])
    return (
        f"{len(pairs)} pairs: {within} ({within / len(pairs):.0%}) within the interval that was stated; off by "
        f"{100 * off.mean():.2f} % on average, {100 * off.max():.2f} % at most; {np.exp(np.log(faster).mean()):.1f} "
        f"times faster (geometric mean), {faster.min():.1f} to {faster.max():.1f}."
    )


HEAD = (
    "| machine | kernel | blocks | simulated | off | stated | whole, s | sample, s | times faster |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|"
)


def table(machines, kernel_of=str, error=ERROR):
    """Print a table of pairs, and what they have in common.

    kernel_of: a kernel, and parameters, by a row's name. error: that samples are asked for.
    """
    print(HEAD, flush=True)
    pairs = []
    for name, (changed, programs) in machines.items():
        for row, parameters in programs:
            kernel, more = (row, {}) if kernel_of is str else kernel_of(row)
            pair = compared(kernel, {**parameters, **more}, machine_of(name, changed), error)
            if pair is not None:
                pairs.append(pair)
                print(told(name, Path(row).stem, parameters, pair), flush=True)
    print(f"\n{summed_up(pairs)}\n", flush=True)


def long_table():
    """Print the table of launches by their pace."""
    print(HEAD)
    pairs = []
    for name, changed, kernel, parameters in LONG:
        pair, waves = compared_by_pace(kernel, parameters, machine_of(name, changed))
        pairs.append(pair)
        print(told(f"{name}, {waves:.1f} waves", kernel, parameters, pair), flush=True)
    print(f"\n{summed_up(pairs)}")


def main(names):
    """Print the tables, or those named."""
    compared("vector-add", {"n": 1 << 20}, machine_of("gtx480", {}))  # loops are compiled before seconds are counted
    if not names or "large" in names:
        table(LARGE)
    usual, program.QUICK = program.QUICK, 0
    if not names or "small" in names:
        table(PAIRS)
    if not names or "differing" in names:
        table(DIFFERING, lambda case: (DIFFER, {"case": case}))
    if not names or "rough" in names:
        table(ROUGH_PAIRS, error=ROUGH)
    program.QUICK = usual
    if not names or "long" in names:
        long_table()


def machine_of(name, changed):
    """The machine that a row names."""
    machine = load_machine(name.split(" ")[0])
    return machine.replace(changed) if changed else machine


if __name__ == "__main__":
    main(sys.argv[1:])

"""The ladder of Hopper's products, simulated beside what an H100 SXM took: the table of docs/hopper.md.

`python -m tests.validation.hopper_ladder [--n 2048] [--kernels 123456]` simulates whole launches. `--part` runs the
first rows of blocks alone, which makes 8,192 bearable, and takes the rest of the launch at their pace.
"""

import argparse
import csv
import dataclasses
from pathlib import Path

import numpy as np

from simtmm.analysis.sustained_clock import LOWERS, share_of_products
from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.programs.program import cuda_program
from simtmm.trace.counts import lower_and_count

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "validation" / "hopper_ladder.cu"
KERNELS = {
    1: "`mma.sync`, `cp.async`",
    2: "TMA, `wgmma`, one stage",
    3: "a pipeline, filled by one warp",
    4: "tiles of 128 by 256, two groups of consumers",
    5: "clusters of two, multicast",
    6: "persistent, stores by TMA",
}
PERSISTENT = 6
HEIGHTS = {5: 256, PERSISTENT: 256}  # of a row of blocks, or of the last one's tiles; 128 of the others


@dataclasses.dataclass(frozen=True)
class Part:
    """The rows of a launch that run, of how many. times: as many rows as that there are."""

    rows: int
    whole: int

    @classmethod
    def of(cls, kernel, n):
        """About four waves: 512 blocks, or 256 tiles of the persistent one, whose order is that of the whole."""
        whole = n // HEIGHTS.get(kernel, 128)
        return cls(min(whole, 16 if kernel == 4 else 8), whole)


def measured(machine, n):
    """Microseconds by kernel, for matrices of a size, of a GPU that they were measured on."""
    path = ROOT / "traces" / "measured" / machine / "hopper_ladder.csv"
    with path.open(encoding="utf-8") as file:
        return {int(row["kernel"]): float(row["median_us"]) for row in csv.DictReader(file) if int(row["n"]) == n}


def simulated(machine, kernel, n, part=None):
    """Microseconds of one launch that finds the L2 as launches before it left it, and whether its clock is sustained.

    It is where its pipes multiply matrices for so much of the time that the report says so.
    part: that runs, if not all.
    """
    words = [str(kernel), str(n), *([str(part.rows)] if part else [])]
    outcome = cuda_program([SOURCE], words).run(machine)
    assert outcome.status == 0
    warm = machine.replace({"memory.l2.start": "cold" if part else "warm"})
    seconds, share = launch_seconds(outcome.trace, warm, kernel, part)
    if share < LOWERS:
        return 1e6 * seconds, False
    slower = warm.replace({"clock_hz": "sustained"})
    return 1e6 * launch_seconds(outcome.trace, slower, kernel, part)[0], True


def launch_seconds(trace, machine, kernel, part):
    """The time of a whole launch by that of a part, and the part of its own time in which pipes multiply."""
    workload, counts = lower_and_count(trace, machine)
    begun = np.zeros(workload.blocks, np.int64)
    result = simulate(machine, workload, "fast", begun=begun)
    ticks, share = result.ticks, share_of_products(machine, result, counts)
    if part and kernel == PERSISTENT:
        overhead = machine.durations.launch_overhead
        ticks = overhead + (ticks - overhead) * part.whole / part.rows
    elif part:
        launch = trace.info.launches[0]
        active = machine.active_blocks(
            launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes
        )  # fmt: skip
        wave = active * machine.cores.groups
        first = np.sort(begun)[: len(begun) // wave * wave].reshape(-1, wave).mean(axis=1)  # of each whole wave
        pace = (first[-1] - first[1]) / (len(first) - 2) / wave  # the blocks of the first one begin together
        ticks += pace * len(begun) * (part.whole / part.rows - 1)
    return ticks / machine.ticks_per_cycle / machine.clock_hz, share


def main():
    """Print a row of each kernel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2048, help="rows and columns: 512, 2048, 4096 or 8192")
    parser.add_argument("--machine", choices=["h100-sxm", "h200-sxm"], default="h100-sxm")
    parser.add_argument("--kernels", default="123456", help="their numbers")
    parser.add_argument("--part", action="store_true", help="run the first rows of blocks alone")
    parser.add_argument("--host", type=float, default=0, help="microseconds of the host between two events")
    parser.add_argument("--sustained", type=float, help="Hz, of the limit of power, if not the machine's")
    asked = parser.parse_args()
    times = measured(asked.machine, asked.n)
    machine = load_machine(asked.machine if asked.machine == "h100-sxm" else "h200")
    if asked.sustained:
        machine = machine.replace({"sustained_clock_hz": asked.sustained})
    for kernel in map(int, asked.kernels):
        part = Part.of(kernel, asked.n) if asked.part else None
        found, slower = simulated(machine, kernel, asked.n, part)
        found += asked.host
        clock = "sustained" if slower else "boost"
        off = f"{found / times[kernel] - 1:+.0%}".replace("%", " %")
        print(f"| {KERNELS[kernel]} | {asked.n} | {times[kernel]:.1f} | {found:.1f} | {clock} | {off} |", flush=True)


if __name__ == "__main__":
    main()

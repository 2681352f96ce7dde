"""The ladder of Hopper's products, simulated beside what an H100 SXM took: the table of docs/hopper.md.

`python -m tests.validation.hopper_ladder [--n 2048] [--machine h100-sxm]`
"""

import argparse
import csv
from pathlib import Path

import simtmm
from simtmm.analysis.sustained_clock import LOWERS, share_of_products

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


def measured(machine, n):
    """Microseconds by kernel, for matrices of a size, of a GPU that they were measured on."""
    path = ROOT / "traces" / "measured" / machine / "hopper_ladder.csv"
    with path.open(encoding="utf-8") as file:
        return {int(row["kernel"]): float(row["median_us"]) for row in csv.DictReader(file) if int(row["n"]) == n}


def simulated(machine, kernel, n):
    """Microseconds of one launch that finds the L2 as launches before it left it, and whether its clock is sustained.

    It is where its pipes multiply matrices for so much of the time that the report says so.
    """
    found = simtmm.run(SOURCE, machine, arguments=[str(kernel), str(n)], start="warm", what_if=False)
    slower = share_of_products(found.machine, found.result, found.counts) >= LOWERS
    if slower:
        found = simtmm.run(
            SOURCE, machine, arguments=[str(kernel), str(n)], start="warm", what_if=False,
            set={"clock_hz": "sustained"},
        )  # fmt: skip
    return 1e6 * found.result.seconds, slower


def main():
    """Print a row of each kernel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2048, help="rows and columns: 512, 2048, 4096 or 8192")
    parser.add_argument("--machine", choices=["h100-sxm", "h200-sxm"], default="h100-sxm")
    asked = parser.parse_args()
    times = measured(asked.machine, asked.n)
    machine = asked.machine if asked.machine == "h100-sxm" else "h200"
    for kernel, name in KERNELS.items():
        found, slower = simulated(machine, kernel, asked.n)
        clock = "sustained" if slower else "boost"
        off = f"{found / times[kernel] - 1:+.0%}".replace("%", " %")
        print(f"| {name} | {times[kernel]:.1f} | {found:.1f} | {clock} | {off} |", flush=True)


if __name__ == "__main__":
    main()

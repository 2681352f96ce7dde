"""Loads that the L1 has, by strides and blocks, beside what was measured on GPUs (traces/measured/l1_strides.csv).

The measured kernel: a block of 1,024 threads on one multiprocessor; each thread loads eight elements of four or eight
bytes from a place of its own, again and again. Tags of A100 and H200 were fitted (machines/families/nvidia.toml), and
the banks of the MI210's tags found by these points; passes over the banks follow from the addresses alone.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine, lower
from simtmm.calibration.hierarchy.measured import ELEMENT_BYTES, MeasuredSet, Row
from simtmm.calibration.hierarchy.simulated import SimulatedSet
from simtmm.calibration.hierarchy.workloads import ELEMENTS, trace_of_strides

MEASURED = Path(__file__).parents[3] / "traces" / "measured"
WARPS = 32
EVERY = {"a100": 9, "h200": 4, "mi210": 9}  # rows of the file are looked at


def rows_of(gpu, each=1):
    with (MEASURED / "l1_strides.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["gpu"] == gpu][::each]


def cycles_of_a_load(name, rows):
    """Of 32 lanes, in the steady state: what two trips more take."""
    machine = load_machine(name)
    return np.exp(SimulatedSet(MeasuredSet("strides", "", tuple(map(row_of, rows)), {}), machine).residuals(machine))


def row_of(row):
    """A row whose load took one cycle, so that its residual is what is simulated."""
    of = {"type": row["type"], "kernel": row["kernel"], "parameter": row["parameter"], "pitch": row.get("pitch") or 0}
    return Row("", of, 1.0)


@pytest.mark.parametrize(("name", "gpu", "most"), [("a100-40", "a100", 0.08), ("h200", "h200", 0.06),
                                                   ("mi210", "mi210", 0.07)])  # fmt: skip
def test_strides_and_blocks_take_what_was_measured(name, gpu, most):
    """In the mean over all that was measured, of the logarithm of simulated over measured."""
    rows = rows_of(gpu, EVERY[gpu])
    off = np.log(cycles_of_a_load(name, rows) / [float(row["cycles_per_warp_load"]) for row in rows])
    assert len(rows) >= 11
    assert np.abs(off).mean() <= most


@pytest.mark.parametrize("gpu", ["a100", "h200"])
def test_passes_are_the_wavefronts_that_nsight_counts(gpu):
    rows = [row for row in rows_of(gpu) if row["wavefronts_data_pipe"]]
    machine = load_machine(gpu if gpu == "h200" else "a100-40")
    workload = lower(trace_of_strides([row_of(row) for row in rows], (1,)), machine)
    for number, row in enumerate(rows):
        (block,) = range(*workload.launch_blocks[number : number + 2])
        warps = range(*workload.block_warps[block : block + 2])
        passes = [op[2] if len(op) > 2 else 1 for warp in warps for op in workload.warp(warp) if op[0] == "async"]
        assert len(passes) == WARPS * len(ELEMENTS)
        assert np.mean(passes) == pytest.approx(float(row["wavefronts_data_pipe"]), rel=0.01), row
    assert len(rows) > 40


@pytest.mark.parametrize(
    ("name", "gpu", "groups", "element", "largest"),
    [("v100", "v100", 80, "float", 64), ("a100-80", "a100_80", 108, "float", 64), ("a40", "a40", 84, "float", 64),
     ("mi210", "mi210", 104, "float4", 16)],
)  # fmt: skip
def test_the_l1_moves_what_was_measured(name, gpu, groups, element, largest):
    """Neighbouring elements that each block's L1 has: the median over buffers of 8 kB and more, to 10 %."""
    with (MEASURED / "l1_bandwidth.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["gpu"] == gpu and 8 <= int(row["kB_per_block"]) <= largest]
    measured = sorted(float(row["GB_per_s"]) for row in rows)[len(rows) // 2] * 1e9
    machine = load_machine(name)
    (cycles,) = cycles_of_a_load(name, [{"type": element, "kernel": "stride", "parameter": "1"}])
    bandwidth = groups * 32 * ELEMENT_BYTES[element] / cycles * machine.clock_hz
    assert abs(math.log(bandwidth / measured)) <= 0.1

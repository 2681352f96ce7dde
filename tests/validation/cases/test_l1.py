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

from simtmm import load_machine, lower, simulate
from simtmm.trace.digest import TraceDigest
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch, TraceSite

MEASURED = Path(__file__).parents[3] / "traces" / "measured"
ELEMENTS = (0, 4, 8, 12, 20, 16, 24, 28)
TRIPS = (6, 14)  # the first loads are on their way through the others up to there
WARPS = 32
BYTES = {"float": 4, "double": 8, "float4": 16}
EVERY = {"a100": 9, "h200": 4, "mi210": 9}  # rows of the file are looked at


def rows_of(gpu, each=1):
    with (MEASURED / "l1_strides.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["gpu"] == gpu][::each]


def addresses(row):
    """Of each thread, the byte that its loads count from."""
    thread, parameter = np.arange(1024), int(row["parameter"])
    size = BYTES[row["type"]]
    if row["kernel"] == "stride":
        return thread % 64 * parameter * size, size
    x, y, pitch = thread % parameter, thread // parameter, int(row["pitch"])
    return (x % 64 + y % 32 * pitch + pitch) * size, size


def trace_of(rows, of_trips=TRIPS):
    """A launch for each row and number of trips."""
    launches, batches, digest = [], [], TraceDigest()
    for row in rows:
        begin, size = addresses(row)
        for trips in of_trips:
            number = len(launches)
            launches.append(TraceLaunch("loads", (1, 1, 1), (1024, 1, 1), 0, 0))
            loads = len(ELEMENTS) * trips
            events = np.zeros((1024, loads), EVENT)
            offsets = np.tile(np.array(ELEMENTS) * size, trips)
            events["value"] = (1 << 20) + begin[:, np.newaxis] + offsets
            events["site"] = np.tile(np.arange(len(ELEMENTS)), trips)
            events["thread"] = np.arange(1024)[:, np.newaxis]
            events["kind"], events["bytes"] = int(Kind.ASYNC), size
            one = (np.array([number], np.int32), np.zeros(1, np.int32), np.array([1024 * loads], np.int64))
            batches.append(Batch(events.reshape(-1), *one))
            digest.add(batches[-1])
    sites = tuple(TraceSite(number, "async", "loads.cu", 1, "") for number in range(len(ELEMENTS)))
    total = sum(len(batch.events) for batch in batches)
    digests = digest.finish(launches, (), sites)
    return Trace(TraceInfo("loads", {}, tuple(launches), (), sites, total, digests, {}), batches)


def cycles_of_a_load(name, rows):
    """Of 32 lanes, in the steady state: what two trips more take."""
    machine = load_machine(name)
    ticks = np.array(simulate(machine, lower(trace_of(rows), machine)).launch_ticks).reshape(-1, len(TRIPS))
    return np.diff(ticks)[:, 0] / machine.ticks_per_cycle / (WARPS * len(ELEMENTS) * (TRIPS[1] - TRIPS[0]))


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
    workload = lower(trace_of(rows, (1,)), machine)
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
    bandwidth = groups * 32 * BYTES[element] / cycles * machine.clock_hz
    assert abs(math.log(bandwidth / measured)) <= 0.1

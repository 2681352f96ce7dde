"""The reach of address translation and the cost of a miss, read off a pointer chase."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.calibration.calibrate import calibrate
from simtmm.calibration.latency_levels import LatencyCurve, find_levels, load_latency
from simtmm.calibration.translation import PAGE, find_translation

CURVES = Path(__file__).parents[2] / "traces" / "measured" / "latency_curves.csv"


def found_on(gpu):
    curve = load_latency(CURVES, gpu)
    return find_translation(curve, find_levels(curve))


def made(reach, miss, latency=600.0, noise=0.0):
    """A curve of an L1 up to 16 KiB, an L2 up to 8 MiB and memory that translations reach a part of."""
    sizes = 1024 * 2 ** np.arange(0, 21, 0.1)
    cycles = np.select([sizes <= 2**14, sizes <= 2**23], [100.0, 250.0], latency)
    cycles = cycles + np.where(sizes > 2**23, miss * np.maximum(0, 1 - reach / sizes), 0)
    return LatencyCurve(sizes, cycles * (1 + noise * np.random.default_rng(3).standard_normal(len(sizes))), 1e9)


@pytest.mark.parametrize("noise", [0, 0.005])
@pytest.mark.parametrize(("reach", "miss"), [(64 * 2**20, 110.0), (128 * 2**20, 90.0)])
def test_what_was_put_in_comes_back(reach, miss, noise):
    curve = made(reach, miss, noise=noise)
    found = find_translation(curve, find_levels(curve))
    # Without noise the grid of pages has the very reach; with 0.5 %, 3 cycles of some 75 points, a seventh of it
    assert found.reach == pytest.approx(reach, rel=0.15 if noise else 1e-12)
    assert found.miss == pytest.approx(miss, rel=0.05 if noise else 1e-9)
    assert found.latency == pytest.approx(600, rel=0.01 if noise else 1e-12)


def test_a_chase_without_a_rise_shows_none():
    curve = made(64 * 2**20, 0.0, noise=0.005)
    assert find_translation(curve, find_levels(curve)) is None


@pytest.mark.parametrize(("gpu", "miss"), [("mi100", 100), ("mi210", 112), ("mi300x", 105), ("mi300a", 101)])
def test_four_gpus_of_amd_reach_some_64_mib(gpu, miss):
    found = found_on(gpu)
    assert abs(found.reach - 64 * 2**20) <= PAGE
    assert found.miss == pytest.approx(miss, abs=0.5)  # as docs/calibration.md has it


@pytest.mark.parametrize("gpu", ["v100", "a100_80", "a40", "l40", "gh200", "rx6900xt"])
def test_others_show_none(gpu):
    assert found_on(gpu) is None


def test_a_chase_alone_gives_a_tlb_and_meets_the_rise():
    curve = load_latency(CURVES, "mi210")
    found = calibrate("m", curve, base=load_machine("mi210"))
    assert found.machine.memory.tlb.entries * found.machine.memory.tlb.page == 62 * 2**20
    assert found.machine.memory.latency == pytest.approx(587, rel=0.01)  # its points are some 1 % apart
    errors = [abs(error) for size, _, error in found.latency_errors if size >= 2**24]
    assert np.mean(errors) < 0.006  # measured 0.5 %; without a TLB the rise of 17 % is left
    assert "memory.tlb.page" in [value.key for value in found.undetermined]

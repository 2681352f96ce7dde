"""All-pairs shortest paths on a GTX 480: the knee of a curve, and the curves' shape with few values of T."""

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.model.series import SIMULATED
from simtmm.validation.cases import gtx480_apsp
from simtmm.validation.cases.gtx480_apsp import knee, one_group
from tests.recorder.conftest import needs_compiler

FEW = {64: [(1, 2), (1, 8), (1, 32)], 16: [(2, 1), (8, 1), (8, 4)]}  # T = 2, 8, 32 each


@pytest.mark.parametrize("share", [0.5, 0.78])
def test_a_knee_is_where_the_level_has_its_share(share):
    threads = np.array([2.0, 4, 8, 16, 32])
    found = knee(threads, 7 * (1 + 3 / threads), share)
    assert 7 / (7 * (1 + 3 / found)) == pytest.approx(share, rel=1e-9)


def test_the_printed_line_has_the_printed_knees():
    """tmm.threshold_by_SD and ma.fit6.10: the level is 78 % at 8, 16 and 32."""
    threads = np.array([2.0, 4, 8, 16, 32])
    for sub_block, printed in ((64, 8), (32, 16), (16, 32)):
        line = 0.957 * 8192 / sub_block / threads + 53.9
        assert knee(threads, line, 53.9 / 69.212) == pytest.approx(printed, rel=1e-4)


def test_a_group_has_its_share_of_the_bandwidth():
    whole = load_machine("gtx480")
    group = one_group(whole)
    bytes_a_cycle = [m.memory.partitions * m.chunk_bytes / m.memory.service for m in (whole, group)]
    assert bytes_a_cycle[0] == pytest.approx(15 * bytes_a_cycle[1], rel=1e-12)
    assert (group.cores.groups, group.memory.l2) == (1, None)


@pytest.fixture(scope="module")
def tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gtx480_apsp, "SHAPES", FEW)
        yield gtx480_apsp.reproduce()


@needs_compiler
def test_times_where_latency_binds_are_near_the_fitted_line(tables):
    """ma.fit6.10, unscaled: 15 % is what S_D = 16 misses, where a neighbour's chunk is found in the L1."""
    (times, _, _) = tables
    assert times.reference == "fitted line"
    assert [point.case for point in times.points] == [
        "S_D = 64, T = 2, B_a = 1", "S_D = 64, T = 8, B_a = 1",
        "S_D = 16, T = 2, B_a = 2", "S_D = 16, T = 8, B_a = 8", "S_D = 16, T = 32, B_a = 8",
    ]  # fmt: skip
    assert all(abs(point.said[SIMULATED] / point.measured - 1) < 0.15 for point in times.points)


@needs_compiler
def test_a_quarter_of_the_sub_block_needs_more_threads(tables):
    """tmm.threshold_by_SD: 8 and 32. 1.5: the level lacks a sixth, so that both knees lie above; neighbours' chunks."""
    (_, _, knees) = tables
    assert knees.reference == "stated in the text"
    found = {point.measured: point.said[SIMULATED] for point in knees.points}
    assert found.keys() == {8, 32}
    assert all(1 / 1.5 < simulated / measured < 1.5 for measured, simulated in found.items())
    assert found[32] > 2 * found[8]


@needs_compiler
def test_a_configuration_that_was_measured_is_held_against_that_and_not_against_the_line(monkeypatch):
    """ma.anomaly: 404 s of four blocks of one warp, 108 s of one block of four warps. The second is met, the first
    not: were it, within 15 % as all others, DEVIATIONS.md would have to say so.
    """
    monkeypatch.setattr(gtx480_apsp, "SHAPES", {32: [(2, 1), (4, 1), (4, 4)]})
    times, runs, _ = gtx480_apsp.reproduce()
    assert [point.case for point in times.points] == ["S_D = 32, T = 2, B_a = 2", "S_D = 32, T = 16, B_a = 4"]
    assert (runs.reference, [(point.case, point.measured) for point in runs.points]) == (
        "measured",
        [("S_D = 32, T = 4, B_a = 4", 404), ("S_D = 32, T = 4, B_a = 1", 108)],
    )
    anomaly, forced = (point.said[SIMULATED] / point.measured for point in runs.points)
    assert forced == pytest.approx(1, abs=0.15)
    assert anomaly == pytest.approx(108 / 404, rel=0.15)  # blocks do not slow one another down


@needs_compiler
def test_with_all_loads_in_flight_a_few_threads_hide_the_latency(monkeypatch):
    """That is why loads are waited for one by one: the measured curve falls to a quarter from T = 2 to 32."""
    monkeypatch.setattr(gtx480_apsp, "SHAPES", {16: FEW[16]})
    monkeypatch.setattr(gtx480_apsp, "LOADS", "together")
    times = [point.said[SIMULATED] for point in gtx480_apsp.reproduce()[0].points]
    assert times[1] == pytest.approx(times[2], rel=0.05)  # T = 8 and 32

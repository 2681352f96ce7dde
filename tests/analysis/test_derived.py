"""Values that follow from others, each by a formula written here, of numbers that no two values share."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.analysis.comparison.agreement import ranks
from simtmm.analysis.waves import in_waves, resident_blocks
from simtmm.sampling.outcome import Sampled
from simtmm.stalls.levels import Levels
from simtmm.stalls.reasons import REASONS
from simtmm.stalls.rows import derived, merged, with_bandwidth
from simtmm.study.regimes import _crossing

ROW = {
    "line": 1, "executions": 7, "threads": 91, "chunks": 55, "requests": 11, "loads": 37, "stores": 13, "atomics": 5,
    "l1_hits": 17, "shared_l1_hits": 0, "shared_l1_sectors": 19, "l2_hits": 3, "l2_sectors": 29, "memory_sectors": 23,
    "floating_point_instructions": 41, "thread_instructions": 43,
    **{name: 100 + number for number, name in enumerate(REASONS)},
}  # fmt: skip
LEVELS = Levels(128, 32, 1, True, True, False, 48, (2.0, 0.5, None))
BANDS = ("bandwidth", "peak")


def test_a_row_has_what_follows_from_its_sums():
    found = derived(ROW, LEVELS)
    assert {name: value for name, value in found.items() if name not in ROW} == {
        "threads_per_warp": 91 / 7,
        "chunks_per_request": 55 / 11,
        "l1_bytes": (37 + 13 + 5) * 128,
        "l2_bytes": 29 * 32,
        "memory_bytes": 23 * 32,
        "l1_hit_rate": 17 / 37,
        "l2_hit_rate": 3 / (37 - 17),
        "intensity": 41 / (23 * 32),
        "intensity_of": "floating-point instructions",
    }
    assert {name: found[name] for name in ROW} == ROW
    assert list(found)[-len(REASONS) :] == list(REASONS)  # ticks stand behind all else


@pytest.mark.parametrize(
    ("levels", "row", "expected"),
    [
        ({"atomics_stay": True}, {}, {"l2_hit_rate": 3 / (37 - 17 + 5)}),
        ({"l1": False}, {}, {"l1_hit_rate": None, "l2_hit_rate": 3 / 20}),
        (
            {"shared_l1": True},
            {"shared_l1_hits": 8},
            {"shared_l1_hit_rate": 8 / 20, "shared_l1_bytes": 19 * 32, "l2_hit_rate": 3 / 12},
        ),
        ({"l2": False}, {}, {"l1_hit_rate": 17 / 37, "l2_hit_rate": None}),
        ({}, {"floating_point_instructions": 0}, {"intensity": 43 / (23 * 32), "intensity_of": "operations"}),
        ({}, {"floating_point_instructions": None}, {"intensity": 43 / (23 * 32), "intensity_of": "operations"}),
        ({}, {"memory_sectors": 0}, {"intensity": None, "intensity_of": None, "memory_bytes": 0}),
        ({}, {"executions": None, "threads": None}, {"threads_per_warp": None}),
        ({}, {"executions": 0, "requests": 0}, {"threads_per_warp": None, "chunks_per_request": None}),
        ({}, {"loads": 17}, {"l2_hit_rate": None, "l1_hit_rate": 1.0}),
    ],
)
def test_a_ratio_of_nothing_or_of_what_is_not_known_is_none(levels, row, expected):
    found = derived({**ROW, **row}, Levels(**{**vars(LEVELS), **levels}))
    assert {name: found[name] for name in expected} == expected


def test_without_levels_a_row_has_what_needs_none():
    assert set(derived(ROW, None)) == {*ROW, "threads_per_warp", "chunks_per_request"}
    assert with_bandwidth(ROW, None, 10.0, 1e9) == ROW


@pytest.mark.parametrize(("clock", "rate"), [(None, 1.0), (3.0, 3.0)])
def test_bandwidth_is_bytes_in_a_time_and_no_more_than_there_is(clock, rate):
    row = derived(ROW, LEVELS)
    found = with_bandwidth(row, LEVELS, 5_000.0, clock)
    assert {name: found[name] for name in found if name not in row} == {
        "l1_bandwidth": 55 * 128 / 5_000 * rate,
        "l1_peak": 2.0 * rate,
        "l2_bandwidth": 29 * 32 / 5_000 * rate,
        "l2_peak": 0.5 * rate,
        "memory_bandwidth": 23 * 32 / 5_000 * rate,
        "memory_peak": None,
    }
    short = with_bandwidth(row, LEVELS, 100.0, clock)
    assert (short["l1_bandwidth"], short["l2_bandwidth"]) == (2.0 * rate, 0.5 * rate)
    assert short["memory_bandwidth"] == 23 * 32 / 100 * rate
    nothing = with_bandwidth(row, LEVELS, 0.0, clock)
    assert [nothing[f"{name}_bandwidth"] for name in ("l1", "l2", "memory")] == [None] * 3
    assert list(found)[-len(REASONS) :] == list(REASONS)


def test_rows_of_one_key_add_up_and_what_one_of_them_does_not_know_is_not_known():
    rows = [
        {"file": "a", "line": 1, "x": 2, "y": 3, "z": 1}, {"file": "a", "line": 2, "x": 5, "y": 7, "z": 1},
        {"file": "a", "line": 1, "x": 11, "y": None, "z": 1}, {"file": "a", "line": 1, "x": 13, "y": 17, "z": 1},
        {"file": "b", "line": 1, "x": 19, "y": 23, "z": 1},
    ]  # fmt: skip
    assert merged(rows, ("file", "line"), ("x", "y")) == [
        {"file": "a", "line": 1, "x": 26, "y": None}, {"file": "a", "line": 2, "x": 5, "y": 7},
        {"file": "b", "line": 1, "x": 19, "y": 23},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2], [1, 2], (None, None)),
        ([1, 2, 3], [10, 20, 30], (1, 1)),
        ([1, 2, 3], [30, 20, 10], (-1, -1)),
        ([1, 2, 3, 4], [1, 3, 2, 4], (0.8, 4 / 6)),  # one of six pairs the other way round
        ([5, 5, 5], [1, 2, 3], (None, None)),
        ([1, 2, 3], [5, 5, 5], (None, None)),
    ],
)
def test_ranks_are_those_of_three_cases_at_least_that_differ(one, other, expected):
    found = ranks(np.array(one), np.array(other))
    assert found == (expected if None in expected else pytest.approx(expected, rel=1e-12))


@pytest.mark.parametrize(
    ("changes", "warps", "held"),
    [  # 48 warps of a group, and 8 blocks
        ({}, 1, 8), ({}, 6, 8), ({}, 7, 6), ({}, 24, 2), ({}, 25, 1), ({}, 48, 1), ({}, 49, 1),
        ({"limits.blocks_per_group": 3}, 6, 3), ({"limits.warps_per_group": 12}, 5, 2),
    ],
)  # fmt: skip
def test_a_wave_is_the_blocks_that_all_groups_hold_at_once(changes, warps, held):
    machine = load_machine("gtx480").replace(changes)
    blocks = [{"warps": [[["compute", 1]]] * warps}] * 3
    workload = Workload.from_dict({"launches": [{"blocks": blocks[:1]}, {"blocks": blocks}]})
    assert resident_blocks(machine, workload, 1) == held
    assert in_waves(machine, workload, 1) == (3, machine.cores.groups * held)
    assert in_waves(machine, workload, 0) == (1, machine.cores.groups * held)


def test_a_wave_is_of_blocks_of_their_mean_size_and_of_the_launch_s_own_limit():
    machine = load_machine("gtx480")
    uneven = [
        {"warps": [[["compute", 1]]] * warps} for warps in (6, 7, 7)
    ]  # 6.67 on the mean, whole ones of which are 7
    assert resident_blocks(machine, Workload.from_dict({"blocks": uneven}), 0) == 6
    limited = {"launches": [{"blocks": uneven, "blocks_per_group": 2}]}
    assert resident_blocks(machine, Workload.from_dict(limited), 0) == 2


@pytest.mark.parametrize(
    ("at", "terms", "expected"),
    [
        ((1.0, 100.0), {}, 10.0),  # of a simulation: the middle of the logarithms
        ((1.0, 4.0), {"a": (8, 1), "b": (1, 8)}, 2.0),
        ((1.0, 16.0), {"a": (4, 1), "b": (1, 2)}, 16.0 ** (2 / 3)),  # 2 above, and 1 below, of logarithms to base 2
        ((0.0, 4.0), {"a": (8, 1), "b": (1, 8)}, 2.0),  # no logarithm of 0
        ((-2.0, 4.0), {}, 1.0),
        ((1.0, 4.0), {"a": (8, 0), "b": (1, 8)}, 2.0),
        ((1.0, 9.0), {"a": (1, 8), "b": (8, 1)}, 3.0),  # the other way round than what is said to bind
        ((1.0, 9.0), {"a": (8, 1)}, 3.0),
    ],
)
def test_terms_are_equal_where_lines_of_their_logarithms_cross(at, terms, expected):
    results = SimpleNamespace(terms={"tmm": {name: np.array(values, float) for name, values in terms.items()}})
    assert _crossing(results, "tmm", at, ("a", "b"), (0, 1)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("error", "low", "high"), [(0.25, 0.75, 1.25), (1.5, 0.0, 2.5), (0.0, 1.0, 1.0)])
def test_a_sample_s_interval_is_its_time_with_the_error_on_either_side(error, low, high):
    result = SimpleNamespace(cycles=1_000.0, seconds=0.5)
    found = Sampled(result, None, error, 0.02, 120, 30, 4, 3, 2, None, None, ("a note",), 0.125)
    assert found.to_dict() == {
        "error": error, "asked": 0.02, "counts_error": 0.125, "confidence": 0.95,
        "cycles": [1_000 * low, 1_000 * high], "seconds": [0.5 * low, 0.5 * high], "blocks": 120,
        "simulated_blocks": 30, "launches": 4, "simulated_launches": 3, "rounds": 2, "notes": ["a note"],
    }  # fmt: skip
    assert found.words == "of 120 blocks 30 were simulated, in 3 of 4 launches"
    whole = Sampled(SimpleNamespace(cycles=7.0, seconds=None), None, 0.0, 0.02, 120, 120, 1, 1, 1, None, None)
    assert whole.words == "all 120 blocks were simulated"
    assert whole.to_dict()["seconds"] is None
    assert math.isclose(whole.to_dict()["cycles"][0], 7.0)

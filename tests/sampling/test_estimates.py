"""What is made of launches that were simulated: times of others with their interval, and counts, by hand."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Machine
from simtmm.sampling.extrapolation import SUMS, Scaling, extrapolated_counts
from simtmm.sampling.interval import SYSTEMATIC, quantile
from simtmm.sampling.simulation import LaunchTime
from simtmm.sampling.strata import Stratum
from simtmm.sampling.total import LATE_SYSTEMATIC, Estimate, _notes, total
from simtmm.sampling.trend import LINE, Trend, trend
from simtmm.trace.counts import Counts, LaunchCounts
from simtmm.trace.schema import TraceLaunch

ONCE = Scaling(0, 1.0, 1.0, 1.0)


def timed(ticks, **more):
    """A launch that was simulated whole, or with what of it was not."""
    return LaunchTime(ticks, **{"half": 0.0, "left_out": 0.0, "scaling": ONCE, "simulated": 1, **more})


def test_launches_that_were_not_simulated_take_the_mean_with_the_interval_of_a_sum():
    """Of N launches n were simulated: the sum of the other N - n is off by t s sqrt((N - n) N / n).

    Their own spread is s sqrt(N - n), and the mean, (N - n) times, is off by s (N - n) / sqrt(n): both squared, added.
    """
    stratum = Stratum(tuple(range(9)), dict.fromkeys(range(9), 1.0), False)
    times = {0: timed(90.0), 3: timed(100.0), 7: timed(110.0)}
    each, half = stratum.estimated(times)
    assert each == {0: 90, 3: 100, 7: 110, **dict.fromkeys((1, 2, 4, 5, 6, 8), 100)}
    spread = 10.0
    assert half == pytest.approx(quantile(2) * spread * math.sqrt(6 + 6**2 / 3))


def test_launches_that_are_the_same_are_known_by_one_and_others_by_none():
    numbers, work = (0, 1, 2), dict.fromkeys(range(3), 1.0)
    assert Stratum(numbers, work, True).estimated({1: timed(50.0)}) == ({0: 50, 1: 50, 2: 50}, 0.0)
    assert Stratum(numbers, work, False).estimated({1: timed(50.0)})[1] == math.inf
    all_of_them = {number: timed(50.0 + number) for number in numbers}
    assert Stratum(numbers, work, False).estimated(all_of_them) == ({0: 50, 1: 51, 2: 52}, 0.0)


def test_launches_of_other_work_follow_a_line_and_a_line_takes_two_degrees_of_freedom():
    work = {number: float(number) for number in range(1, 9)}
    off = {1: 1.0, 2: -1.0, 3: -1.0, 4: 1.0}  # at right angles to a line
    times = {number: timed(100 + 10 * number + off[number]) for number in off}
    each, half = Stratum(tuple(work), work, False).estimated(times)
    assert [each[number] for number in range(5, 9)] == pytest.approx([150, 160, 170, 180])
    assert half == pytest.approx(quantile(2) * math.sqrt(4 / 2) * math.sqrt(4 * 8 / 4))


@pytest.mark.parametrize(
    ("work", "ticks", "expected"),
    [
        ([5, 5, 5, 5, 5], [1, 2, 3, 4, 5], Trend(3, 0, 1)),
        ([100, 101, 102, 101, 100], [1, 2, 3, 4, 5], Trend(3, 0, 1)),  # within 2 % of one another
        ([1, 2, 3], [10, 21, 29], Trend(0, 10, 1)),  # too few for a line: 60 ticks of work 6
        ([1, 2, 3, 4], [12, 14, 16, 18], Trend(10, 2, 2)),
        ([1, 2, 3, 4], [1, 4, 7, 10], Trend(0, 2.2, 2)),  # a line would have no time left for no work
        ([1, 2, 3, 4], [18, 16, 14, 12], Trend(15, 0, 2)),
    ],
)
def test_time_goes_up_with_work_along_a_line_in_proportion_or_not_at_all(work, ticks, expected):
    found = trend(np.array(work, float), np.array(ticks, float))
    assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(expected))
    assert LINE == 4  # as the rows above have it


def test_each_part_of_an_interval_grows_with_the_launches_that_stand_for_others():
    """Three launches are the same, and one of them was simulated, in part."""
    stratum = Stratum((0, 1, 2), dict.fromkeys(range(3), 1.0), True)
    one = timed(100.0, half=4.0, left_out=60.0, settling=3.0, warming=2.0, rest=1.0)
    for late, systematic in (((), SYSTEMATIC), ((0,), LATE_SYSTEMATIC)):
        found = total([stratum], {1: one}, late)
        # Not simulated are 60 of the one, and both others
        assert found.ticks == 300
        assert (found.chance, found.settling, found.warming) == (12, 9, 6)
        assert found.rest == pytest.approx(3 + systematic * (60 + 200))
        assert found.half == pytest.approx(12 + 9 + 6 + 3 + systematic * 260)


def test_strata_add_up_their_times_and_what_chance_makes_of_them_by_its_squares():
    strata = [Stratum((number,), {number: 1.0}, True) for number in range(2)]
    found = total(strata, {0: timed(10.0, half=3.0, settling=1.0), 1: timed(20.0, half=4.0, settling=2.0)}, ())
    assert (found.ticks, found.chance, found.settling, found.rest) == (30, 5, 3, 0)


MACHINE = Machine.from_dict(
    {
        "name": "m",
        "cores": {"groups": 4, "cores_per_group": 8, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 20, "chunk_words": 8},
    }
)


def counts_of(**more):
    """The counts of a launch of which all that is summed over blocks is a hundred times its place."""
    sums = {name: 100 * number for number, name in enumerate(SUMS, 1)}
    fields = {"span": 7, "threads": 0, "blocks": 0, "active_blocks": 3, "blocks_in_use": 0, "warps_in_use": 0}
    return LaunchCounts("f", **{**sums, **fields, "threads_per_core": 0.0, "barriers": 5, "waits": 2, **more})


def test_counts_of_a_launch_grow_with_its_blocks_and_what_is_resident_follows_from_its_shape():
    counts = Counts.of_launches([counts_of()], {"fp32": 40})
    whole = TraceLaunch("f", (10, 1, 1), (33, 1, 1), 0, 0)
    (found,) = extrapolated_counts(counts, [Scaling(0, 1.0, 1.0, 2.5)], [whole], MACHINE).launches
    assert {name: getattr(found, name) for name in SUMS} == {name: 250 * number for number, name in enumerate(SUMS, 1)}
    assert (found.threads, found.blocks, found.span, found.barriers, found.waits) == (330, 10, 7, 5, 2)
    assert found.blocks_in_use == 10  # of 4 groups of 3
    assert found.warps_in_use == 20  # of 33 threads two each
    assert found.threads_per_core == 10 * 33 / 32
    many = dataclasses.replace(whole, grid=(100, 1, 1))
    (found,) = extrapolated_counts(counts, [Scaling(0, 1.0, 1.0, 25.0)], [many], MACHINE).launches
    assert (found.blocks_in_use, found.warps_in_use, found.threads_per_core) == (12, 24, 12 * 33 / 32)


def test_launches_follow_each_from_one_of_the_sample_and_work_by_class_from_all_of_it():
    counts = Counts.of_launches([counts_of(work=100), counts_of(work=300)], {"fp32": 40, "integer": 8})
    launches = [TraceLaunch("f", (2, 1, 1), (32, 1, 1), 0, 0)] * 3
    scalings = [Scaling(of, 1.0, 1.0, counted) for of, counted in ((1, 1.0), (0, 2.0), (1, 3.0))]
    found = extrapolated_counts(counts, scalings, launches, MACHINE)
    assert [each.work for each in found.launches] == [300, 200, 900]
    assert found.work_by_class == {"fp32": 140, "integer": 28}  # 1400 for 400


@pytest.mark.parametrize(("launches", "most", "drawn"), [(6, 3, 6), (7, 3, 3), (2, 1, 2), (3, 1, 1), (100, 10, 10)])
def test_all_launches_are_simulated_where_twice_as_many_as_asked_for_or_fewer_are_there(launches, most, drawn):
    work = {launch: float(launch * 7 % 11) for launch in range(launches)}
    found = Stratum(tuple(work), work, False).spread(most, np.random.default_rng(1))
    assert len(set(found)) == drawn
    assert found == sorted(found)
    in_order = sorted(work, key=lambda launch: (work[launch], launch))
    if drawn < launches:  # one of each equal part
        parts = [in_order.index(launch) * most // launches for launch in found]
        assert sorted(parts) == list(range(most))


@pytest.mark.parametrize("is_met", [True, False])
@pytest.mark.parametrize("is_late", [True, False])
def test_what_is_not_met_or_shows_late_is_said_and_nothing_else(is_met, is_late):
    estimate = Estimate(100.0, 5.0, 0.0, 0.0, 0.0)
    found = SimpleNamespace(launches={0: timed(100.0)})
    told = _notes({}, found, estimate, 0.01, is_met, is_late)
    assert len(told) == (not is_met) + is_late
    assert any("known to 5 %, and not to the 1 % asked for" in note for note in told) == (not is_met)

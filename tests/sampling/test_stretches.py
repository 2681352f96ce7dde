"""Which blocks of a launch are simulated, and what is made of when they begin."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.sampling import program
from simtmm.sampling.interval import MANY, half_width, quantile
from simtmm.sampling.sample import sample_of
from simtmm.sampling.simulation import simulate_sample
from simtmm.sampling.stretches import HEAD, TAIL, TIMED, WARM, Form, Stretches, stretches_of
from simtmm.trace.io import Trace
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.schema import TraceLaunch
from tests.fuzz.bounds import bounded
from tests.study.programs import trace


def test_stretches_are_of_each_launchs_own_waves():
    """Whatever the number of its stratum is, which other launches have, too."""
    launches = {
        number: TraceLaunch("k", (blocks, 1, 1), (128, 1, 1), 0, 0) for number, blocks in enumerate((4000, 900, 9000))
    }
    waves = {0: 20, 1: 1, 2: 90}
    for launch in launches:
        for number in range(3):
            found = program._planned(SimpleNamespace(launches=launches), waves, launch, program._Asked(), number)
            made = stretches_of(
                launches[launch].blocks, waves[launch], program.TIMED, HEAD, np.random.default_rng(0), Form(WARM)
            )
            assert (found.begins.tolist(), found.ends.tolist()) == (made.begins.tolist(), made.ends.tolist())


@pytest.mark.parametrize(("blocks", "wave"), [(4000, 20), (4019, 20), (1000, 1), (100_000, 333)])
def test_what_is_left_out_is_whole_waves_of_the_middle(blocks, wave):
    made = stretches_of(blocks, wave, 8, HEAD, np.random.default_rng(0))
    lengths = np.diff([made.begins, made.ends], axis=0)[0]
    assert lengths[0] == HEAD * wave
    assert set(lengths[1:-1]) == {(WARM + TIMED) * wave}
    assert lengths[-1] == TAIL * wave + blocks % wave
    assert ((made.begins[1:] - made.ends[:-1]) % wave == 0).all()
    assert (made.begins[1:] >= made.ends[:-1]).all()
    assert made.ends[-1] == blocks
    assert len(made.chosen) == made.simulated


def test_a_launch_of_which_half_would_be_simulated_is_simulated_whole():
    worth = 2 * (HEAD + 8 * (WARM + TIMED) + TAIL)
    assert stretches_of(10 * worth, 10, 8, HEAD, np.random.default_rng(0)) is not None
    assert stretches_of(10 * worth - 1, 10, 8, HEAD, np.random.default_rng(0)) is None


@pytest.mark.parametrize("together", [True, False])
def test_blocks_of_an_even_pace_give_that_pace_whether_they_begin_together_or_apart(together):
    made = stretches_of(5000, 10, 8, HEAD, np.random.default_rng(0))
    order = np.arange(made.simulated)
    begun = order // 10 * 70 if together else order * 7
    assert made.paces(begun) == pytest.approx(np.full(8, 70.0))
    # All of it takes what was simulated, and this for each wave that was not.
    assert made.waves_left_out_around().sum() == pytest.approx(made.waves_left_out)


def test_the_interval_of_equal_paces_is_nothing_and_of_one_unknown():
    assert half_width(np.full(4, 3.0), np.ones(4)) == 0
    assert half_width(np.array([3.0]), np.ones(1)) == np.inf


def test_intervals_hold_nineteen_times_in_twenty():
    drawn = np.random.default_rng(1).normal(100, 5, (4000, 8))
    weights = np.full(8, 10.0)
    held = [abs((row * weights).sum() - 8000) <= half_width(row, weights) for row in drawn]
    assert np.mean(held) > 0.95  # at least: what neighbours have in common only widens them


def test_neighbours_that_depend_on_one_another_count_as_fewer_values():
    """Of a correlation r of neighbours, n (1 - r) / (1 + r) values; of few values r can't be told, and counts as 0."""
    values = np.tile([90.0, 90.0, 90.0, 110.0, 110.0, 110.0], 5)
    apart = values - 100
    correlation = (apart[1:] * apart[:-1]).sum() / (apart**2).sum()
    independent = 30 * (1 - correlation) / (1 + correlation)
    assert (0.3 < correlation < 0.4, 10 < independent < 20) == (True, True)
    mean_of = half_width(values, np.ones(30)) / 30
    # The spread is that of all values here, which is more than that of neighbours
    assert mean_of == pytest.approx(quantile(independent - 1) * values.std(ddof=1) / np.sqrt(independent))
    few = values[: MANY - 1]
    assert half_width(few, np.ones(7)) / 7 == pytest.approx(quantile(6) * few.std(ddof=1) / np.sqrt(7))


def test_neighbours_that_differ_more_than_others_count_as_no_more_values_than_there_are():
    """A correlation below 0 narrows nothing, and what is left of many values is two at least."""
    swinging = np.tile([90.0, 110.0], 8)
    neighbours = np.sqrt((np.diff(swinging) ** 2).mean() / 2)
    assert half_width(swinging, np.ones(16)) / 16 == pytest.approx(quantile(15) * neighbours / np.sqrt(16))
    steps = np.repeat([90.0, 110.0], 20)  # r is nearly 1
    assert half_width(steps, np.ones(40)) / 40 == pytest.approx(quantile(1) * steps.std(ddof=1) / np.sqrt(2))


def test_values_that_stand_for_more_than_others_widen_the_interval():
    """By how much fewer values of one weight would have the same spread: the squares of weights over their sum."""
    values, weights = np.array([90.0, 110.0, 95.0, 105.0]), np.array([1.0, 1.0, 1.0, 5.0])
    equal = half_width(values, np.full(4, 2.0))
    assert half_width(values, weights) == pytest.approx(equal * np.sqrt(28 * 4) / 8)
    assert half_width(values, 3 * weights) == pytest.approx(3 * half_width(values, weights))


@pytest.mark.parametrize(("freedom", "errors"), [(1, 12.706), (2, 4.303), (10, 2.228), (30, 2.042), (np.inf, 1.960)])
def test_an_interval_of_95_in_100_is_so_many_standard_errors_by_student_s_t(freedom, errors):
    """Student, Biometrika 6 (1908); the figures are those of any table of t for 0.975."""
    assert quantile(freedom) == pytest.approx(errors, abs=5e-4)


def test_a_trend_widens_the_interval_beyond_what_neighbours_differ_by():
    steps = np.linspace(90, 110, 16)
    assert half_width(steps, np.ones(16)) > 4 * half_width(np.tile([99.33, 100.67], 8), np.ones(16))


class _StoppedError(Exception):
    pass


class _OneLaunch:
    """A program of one launch, of which the blocks are asked for and not given."""

    def __init__(self, blocks):
        self.launches = [TraceLaunch("k", (blocks, 1, 1), (32, 1, 1), 0, 0)]

    def trace_of(self, chosen):
        raise _StoppedError({launch: len(blocks) for launch, blocks in chosen.items()})


def test_of_the_largest_grid_no_table_of_all_blocks_is_made():
    blocks = 2**31 - 1
    plan = stretches_of(blocks, 1000, 8, HEAD, np.random.default_rng(0))
    with bounded(), pytest.raises(_StoppedError) as caught:
        simulate_sample(_OneLaunch(blocks), load_machine("gtx480"), {0: plan}, {})
    assert caught.value.args == ({0: plan.simulated},)


def test_each_part_of_a_trace_is_looked_up_among_the_chosen_blocks_near_it(monkeypatch):
    """All of them for each part would take the square of the sample's size."""
    looked_up, usual = [], Runs.of_blocks
    whole, chosen = trace(blocks=64, threads=8, rounds=1), np.arange(0, 64, 2)
    eighths = [np.arange(first, first + 8, dtype=np.int32) for first in range(0, 64, 8)]
    parts = [runs.of_blocks(eighth) for runs in whole.runs() for eighth in eighths]
    monkeypatch.setattr(Runs, "of_blocks", lambda runs, chosen: looked_up.append(len(chosen)) or usual(runs, chosen))
    made = sample_of(Trace(whole.info, [part for part in parts if len(part.block)]), {0: chosen})
    assert looked_up == [4] * 8
    assert made.info.events == whole.info.events // 4  # half the blocks of one of two launches


def by_hand(head=24, timed=3):
    """A sample of waves of two blocks: the beginning, two stretches of four waves of which three are timed, the end."""
    begins = np.array([0, head + 16, head + 36, head + 56], np.int64)
    ends = np.array([head, head + 24, head + 44, head + 66], np.int64)
    return Stretches(head + 66, 2, begins, ends, Form(4 - timed, timed))


def begun_at(waves):
    """When blocks begin, two of a wave, one a tick before the other of the same mean."""
    return np.stack([np.array(waves) - 1, np.array(waves) + 1], axis=1).ravel()


def test_what_a_sample_leaves_out_and_what_each_stretch_stands_for():
    made = by_hand()
    assert made.left_out() == [(24, 40), (48, 60), (68, 80)]
    assert (made.simulated, made.waves_left_out) == (50, 20)
    assert made.chosen.tolist() == [*range(24), *range(40, 48), *range(60, 68), *range(80, 90)]
    # Gaps of 8, 6 and 6 waves: half of each on either side, and the first and the last whole
    assert made.waves_left_out_around().tolist() == [8 + 3, 3 + 6]


def test_paces_and_how_they_change_within_a_stretch():
    waves = [*range(13), 100, 110, 130, 0, 200, 230, 250, *range(5)]  # the first of a stretch is not timed
    made = by_hand()
    assert made.paces(begun_at(waves)).tolist() == [15, 25]
    assert made.changes(begun_at(waves)).tolist() == [10 - 20, 30 - 20]


def test_how_the_pace_of_a_stretch_changes_leaves_its_middle_out():
    waves = [*range(12), 100, 110, 150, 170, 200, 203, 210, 215, *range(5)]  # all four of a stretch are timed
    assert by_hand(timed=4).changes(begun_at(waves)).tolist() == [10 - 20, 3 - 5]


@pytest.mark.parametrize(("head", "first"), [(24, 14), (40, 30), (56, 42), (62, 48), (64, 48)])
def test_the_beginning_is_told_by_its_last_waves_a_quarter_or_five(head, first):
    """What is timed of it begins at the first block of these, and ends a wave before it does."""
    made = by_hand(head)
    found = made.timed_of(np.arange(made.simulated, dtype=float)).tolist()
    assert found == [(first + head - 3) / 2, head + 3.5, head + 11.5]
    waves = np.cumsum(np.arange(made.simulated // 2))
    assert made.paces_at_first(begun_at(waves)).tolist() == list(range(first // 2 + 1, head // 2))


@pytest.mark.parametrize(
    ("paces", "drift"),
    [
        # Two of eleven, a quarter, beside the two before: means 11 and 21, the error the root of (2 + 2) / 2
        ([99] * 7 + [10, 12, 20, 22], 10 / 21),
        ([99] * 7 + [20, 22, 10, 12], 10 / 11),
        ([99] * 7 + [10, 12, 12.8, 14.8], 0),  # 2.8, less than twice the error
        ([99] * 7 + [10, 12, 12.9, 14.9], 2.9 / 13.9),
        ([99] * 6 + [10, 12, 11, 20, 22, 21], 10 / 21),  # three of twelve
        ([99] * 9 + [10, 12, 11, 20, 22, 21], 10 / 21),  # and of fifteen
        ([99, 98, 97], 0),  # too few to be told
        ([10, 12, 20, 22], 10 / 21),
    ],
)
def test_a_pace_that_still_changes_where_the_beginning_ends_is_told_as_a_part_of_it(paces, drift):
    made = by_hand(2 * len(paces) + 2)
    waves = [*np.cumsum([0, *paces]), *range(made.simulated // 2 - len(paces) - 1)]
    assert made.drift_at_first(begun_at(waves)) == pytest.approx(drift, rel=1e-12)

"""Which blocks of a launch are simulated, and what is made of when they begin."""

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.sampling.interval import half_width
from simtmm.sampling.sample import sample_of
from simtmm.sampling.simulation import simulate_sample
from simtmm.sampling.stretches import HEAD, TAIL, TIMED, WARM, stretches_of
from simtmm.trace.io import Trace
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.schema import TraceLaunch
from tests.fuzz.bounds import bounded
from tests.study.programs import trace


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

"""What blocks do along a launch: when it is told to differ, and what is made of paces then."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.sampling.differing import profile as profiles
from simtmm.sampling.differing.profile import Look, probes
from simtmm.sampling.differing.signature import Signatures, _octaves
from simtmm.sampling.interval import quantile
from simtmm.sampling.paces import Timed, _of_bounds, hidden, left_out
from simtmm.sampling.stretches import Form, form_of, stretches_of

BLOCKS, WAVE = 16384, 16


def looked(work, places, chosen=None):
    """The profile of a launch. work: of each block. places: events of each by place. chosen: blocks that are seen."""
    chosen = np.arange(BLOCKS) if chosen is None else chosen
    look = Look(len(chosen), BLOCKS, WAVE)
    for half in np.array_split(chosen, 2):
        look.add(Signatures(half, work[half], places[half]))
    return look.profile()


def kinds(second):
    """Events by place of blocks of two kinds. second: bool[blocks]."""
    return np.where(second[:, None], [[1.0, 9.0]], [[9.0, 1.0]])


@pytest.fixture(params=["all", "probes"])
def chosen(request):
    return np.arange(BLOCKS) if request.param == "all" else probes(BLOCKS, 512, np.random.default_rng(1))


def test_equal_blocks_are_even(chosen):
    assert looked(np.full(BLOCKS, 7.0), kinds(np.zeros(BLOCKS, bool)), chosen).is_even


@pytest.mark.parametrize("count", [1, 7, 8, 15, 16, 2047, 8191, 8192, 9001])
@pytest.mark.parametrize("wave", [1, 3, 16])
@pytest.mark.parametrize("whole", [True, False])
def test_a_cell_has_four_waves_or_eight_probes_at_least_and_no_more_than_that_makes(count, wave, whole):
    blocks = count if whole else 4 * count
    of_cell = profiles.WAVES_OF_CELL * wave if whole else profiles.IN_CELL
    look = Look(count, blocks, wave)
    look.add(Signatures(np.arange(blocks), np.ones(blocks), np.ones((blocks, 1))))
    bounds = look.profile().bounds
    cells = len(bounds) - 1
    assert cells == 1 or cells * of_cell <= count
    assert cells == profiles.MOST_CELLS or (cells + 1) * of_cell > count
    assert bounds.tolist() == [int(place * blocks / cells) for place in range(cells + 1)]


def drawn_at_random(share, seed):
    random = np.random.default_rng(seed)
    heavy = random.random(BLOCKS) < share
    return looked(np.where(heavy, 100.0, 10.0), kinds(heavy), probes(BLOCKS, 512, random))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5])
def test_what_chance_makes_probes_differ_by_is_even(share):
    """But for one in a thousand, by what they do and by how much each: none or one of forty, seldom two."""
    assert sum(not drawn_at_random(share, seed).is_even for seed in range(40)) <= 2


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_probes_are_shuffled_until_one_differs_as_much_or_as_often_as_one_in_a_thousand_takes(share, monkeypatch):
    """1/1000 is the part of all orders, the one that was found included, that would differ so much by chance."""
    shuffles, random = [], np.random.default_rng(3)

    def permutation(rows):
        shuffles.append(1)
        return rows if share else random.permutation(rows)  # as it was, or any other

    monkeypatch.setattr(profiles.np.random, "default_rng", lambda seed: SimpleNamespace(permutation=permutation))
    chosen = probes(BLOCKS, 512, np.random.Generator(np.random.PCG64(1)))
    assert looked(np.full(BLOCKS, 7.0), kinds(np.arange(BLOCKS) < BLOCKS // 2), chosen).is_even == bool(share)
    assert len(shuffles) == (1 if share else 1000 - 1)


def test_the_work_of_probes_that_differ_is_known_no_better_than_chance_has_it():
    profile = drawn_at_random(0.1, 0)
    share = float(np.sqrt((profile.error**2).mean() / len(profile.error))) / profile.work[0]
    assert 0.02 < share < 0.2  # 27 in 19, by the root of 512


@pytest.mark.parametrize("share", [0.15, 0.3, 0.6])
def test_probes_of_kinds_that_lie_together_are_told_apart_all_the_same(share):
    """A part of the launch in which nine of ten blocks are heavy, and one of ten beside it."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        there = np.abs(np.arange(BLOCKS) / BLOCKS - 0.5) < share / 2
        heavy = random.random(BLOCKS) < np.where(there, 0.9, 0.1)
        assert not looked(np.full(BLOCKS, 10.0), kinds(heavy), probes(BLOCKS, 512, random)).is_even


def test_halves_that_do_other_things_are_two_kinds(chosen):
    profile = looked(np.full(BLOCKS, 10.0), kinds(np.arange(BLOCKS) >= BLOCKS // 2), chosen)
    assert [kind for _, _, kind in profile.segments()] == [0, 1]
    assert profile.segments()[0][1] == BLOCKS // 2


def test_work_that_goes_up_is_not_even(chosen):
    profile = looked(100 + np.arange(BLOCKS) / 100, kinds(np.zeros(BLOCKS, bool)), chosen)
    assert not profile.is_even
    assert (np.diff(profile.work) > 0).all()


def test_probes_are_drawn_so_that_no_period_hides():
    chosen = probes(BLOCKS, 256, np.random.default_rng(0))
    assert len(set((chosen // 64).tolist())) == 256  # one from each part
    assert 20 < (chosen % 2).sum() - 64 < 108  # of even ones and odd ones


def paced(pace_of, profile, plan, work, places):
    """What was left out, where each block has a pace of its own and begins as the block before it ends, in waves."""
    chosen = plan.chosen
    begun = np.concatenate([[0.0], np.cumsum(pace_of(chosen)[:-1] / WAVE)]).astype(np.int64)
    timed = Timed(plan.timed_of(work[chosen]), plan.timed_of(places[chosen]))
    return left_out(plan, begun, profile, timed)


def expected(pace_of, plan):
    gaps = np.concatenate([np.arange(*each) for each in plan.left_out()])
    return pace_of(gaps).sum() / WAVE


def test_each_kind_has_its_own_pace(chosen):
    second = np.arange(BLOCKS) >= BLOCKS // 2
    work, places = np.full(BLOCKS, 10.0), kinds(second)
    profile = looked(work, places, chosen)
    plan = stretches_of(BLOCKS, WAVE, 8, 10, np.random.default_rng(0), parts=[each[:2] for each in profile.segments()])

    def pace(blocks):
        return np.where(blocks >= BLOCKS // 2, 50_000.0, 10_000.0)

    found = paced(pace, profile, plan, work, places)
    assert found.kinds == 2
    assert abs(found.ticks - expected(pace, plan)) <= found.chance < 0.05 * found.ticks


def test_the_pace_of_a_kind_goes_up_with_its_work(chosen):
    work, places = 100 + np.arange(BLOCKS) / 50, kinds(np.zeros(BLOCKS, bool))
    profile = looked(work, places, chosen)
    plan = stretches_of(BLOCKS, WAVE, 8, 10, np.random.default_rng(3))

    def pace(blocks):
        return 2000 + 100 * work[blocks]

    found = paced(pace, profile, plan, work, places)
    assert abs(found.ticks - expected(pace, plan)) <= found.chance < 0.02 * found.ticks


def test_a_pace_that_has_changed_since_the_beginning_may_change_again():
    places = kinds(np.zeros(BLOCKS, bool))
    profile, plan = looked(np.ones(BLOCKS), places), stretches_of(BLOCKS, WAVE, 8, 10, np.random.default_rng(0))
    steady, slower = (paced(lambda blocks, by=by: np.where(blocks < 160, 9000.0, 9000.0 * by), profile, plan,
                            np.ones(BLOCKS), places) for by in (1.0, 1.1))  # fmt: skip
    assert steady.settling == 0
    assert slower.settling == pytest.approx(slower.ticks * 0.1 / 1.1, rel=0.01)


@pytest.mark.parametrize(("falls", "told"), [(0.0, 0.0), (0.1, 0.2)])
def test_a_pace_that_still_changes_where_the_beginning_ends_may_change_on(falls, told):
    """Stretches begin in step again, as the launch did, so that their pace is that of the beginning's end."""
    plan = stretches_of(BLOCKS, WAVE, 8, 10, np.random.default_rng(0))
    profile, waves = looked(np.ones(BLOCKS), kinds(np.zeros(BLOCKS, bool))), len(plan.chosen) // WAVE
    each = np.full(waves, 1000.0)
    each[:7] *= 1 + falls  # as the last four paces are looked at, two of them beside two
    begun = np.repeat(np.concatenate([[0.0], np.cumsum(each)[:-1]]), WAVE).astype(np.int64)
    found = left_out(plan, begun, profile, Timed(np.zeros(0), np.zeros((0, 0))))
    assert found.settling == pytest.approx(found.ticks * told, rel=0.01)


def test_a_pace_that_changes_within_stretches_is_told():
    plan = stretches_of(BLOCKS, WAVE, 8, 10, np.random.default_rng(0), Form(1, 3))
    profile = looked(np.ones(BLOCKS), kinds(np.zeros(BLOCKS, bool)))
    waves = len(plan.chosen) // WAVE
    each = np.full(waves, 1000.0)
    each[10 + 1 : -2 : 4] = 1100.0  # the first wave after the one that warms
    begun = np.repeat(np.concatenate([[0.0], np.cumsum(each)[:-1]]), WAVE).astype(np.int64)
    found = left_out(plan, begun, profile, Timed(np.zeros(0), np.zeros((0, 0))))
    assert found.warming == pytest.approx(found.ticks * 100 / 1050, rel=0.01)


def test_blocks_that_run_on_at_the_end_may_have_ended_before():
    plan = stretches_of(BLOCKS, WAVE, 8, 10, np.random.default_rng(0))
    begun = np.arange(plan.simulated) // WAVE * 1000
    last = int(begun.max())
    assert hidden(plan, begun, last + 1500) == 0
    assert hidden(plan, begun, last + 50_000) == 49_000
    # From STRAGGLES times a block on
    assert hidden(plan, begun, last + 2000) == 0
    assert hidden(plan, begun, last + 2001) == 1001


def test_where_a_kind_ends_is_anywhere_in_its_cell():
    """Evenly so, and a value that is anywhere in a width w has a variance of w^2 / 12; one cut adds to another's."""
    paces = {0: 100.0, 1: 130.0}
    model = SimpleNamespace(pace=lambda kind, work: paces[kind] + work)
    once = SimpleNamespace(kind=np.array([0, 0, 1, 1]), work=np.zeros(4))
    waves = np.array([5.0, 4.0, 6.0, 9.0])  # 5 of them a cell where the kinds meet
    assert _of_bounds(once, waves, model) == pytest.approx(quantile(np.inf) * 5 * 30 / np.sqrt(12))
    twice = SimpleNamespace(kind=np.array([0, 1, 1, 0]), work=np.array([0.0, 0.0, 2.0, 0.0]))
    both = np.hypot(4.5 * 30, 7.5 * 32)
    assert _of_bounds(twice, waves, model) == pytest.approx(quantile(np.inf) * both / np.sqrt(12))
    assert _of_bounds(SimpleNamespace(kind=np.zeros(4, int), work=np.zeros(4)), waves, model) == 0


@pytest.mark.parametrize(
    ("grid", "wave", "form"),
    [
        ((96, 96, 1), 32, Form(3, 4)),  # a row is three waves
        ((80, 96, 1), 32, Form(3, 6)),  # five waves are two rows
        ((4096, 1, 1), 32, Form(1, 3)),  # no rows
        ((24, 24, 1), 32, Form(1, 3)),  # less than a wave
        ((4096, 4096, 1), 32, Form(1, 3)),  # longer than stretches are
    ],
)
def test_stretches_are_as_long_as_rows_of_the_grid(grid, wave, form):
    assert form_of(grid, wave) == form


def test_strides_are_alike_within_an_octave_and_of_one_direction():
    strides = np.array([0, 1, -1, 2, -2, 3, -3, 5, 6, 64, -64])
    assert _octaves(strides).tolist() == [0, 1, -1, 2, -2, 3, -3, 3, 4, 7, -7]

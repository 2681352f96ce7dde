"""The place of a point along each dimension of a study, points that are drawn from stretches, and what holds blocks."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.study.design.grid import Grid
from simtmm.study.evaluation.estimating import MOST_TRIED, _spread
from simtmm.study.evaluation.residence import GRID, held_by
from simtmm.trace.schema import TraceLaunch


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 4, 1), (7,), (3, 1, 2, 2)])
def test_points_go_along_the_last_dimension_first(shape):
    machines, *groups, drawn = (*shape, 1) if len(shape) < 2 else shape
    design = SimpleNamespace(
        machines=range(machines),
        groups=[[SimpleNamespace(values=range(size))] for size in groups],
        drawn=range(drawn),
    )
    grid = Grid(design)
    assert grid.shape == (machines, *groups, drawn)
    places = list(product(*map(range, grid.shape)))
    points = np.arange(len(places))
    for dimension in range(len(grid.shape)):
        assert grid.along(dimension, points).tolist() == [place[dimension] for place in places]
    both = grid.together([0, len(grid.shape) - 1], points)
    keys = [(place[0], place[-1]) for place in places]
    assert [both[one] == both[other] for one, other in product(points, repeat=2)] == [
        one == other for one, other in product(keys, repeat=2)
    ]


@pytest.mark.parametrize(
    "count", [1, MOST_TRIED - 1, MOST_TRIED, MOST_TRIED + 1, 2 * MOST_TRIED - 1, 10 * MOST_TRIED + 7]
)
def test_one_point_is_tried_of_each_equal_stretch(count):
    keys = [str(number) for number in range(count)]
    drawn = [int(key) for key in _spread(keys)]
    assert _spread(keys) == [str(number) for number in drawn]
    number = min(MOST_TRIED, count)
    assert len(drawn) == number
    for place, point in enumerate(drawn):
        assert place * count // number <= point < (place + 1) * count // number


@pytest.mark.parametrize(("blocks", "is_grid"), [(1, True), (6 * 15, True), (6 * 15 + 1, False)])
def test_a_grid_of_no_more_blocks_than_fit_at_once_is_what_holds_them_down(blocks, is_grid):
    machine = load_machine("gtx480")  # 15 groups, of 1536 threads: six blocks of 256
    launch = TraceLaunch("k", (blocks, 1, 1), (256, 1, 1), 0, 0)
    small = TraceLaunch("k", (1, 1, 1), (32, 1, 1), 0, 0)
    found = held_by(SimpleNamespace(launches=[small, launch]), machine)
    assert (found == GRID) is is_grid
    assert held_by(SimpleNamespace(launches=[]), machine) == GRID

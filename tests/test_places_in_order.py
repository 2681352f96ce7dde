"""Places by their numbers, in grids of blocks and of points, or spread over what there is: counted apart."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.explorer.simulation import _spread
from simtmm.machine.part import whole
from simtmm.report.pictures.accuracy import _across
from simtmm.sampling.long.translation import corners, place_of
from simtmm.sampling.part_of_machine import strip
from simtmm.study.design.grid import Grid

GRIDS = [(1, 1, 1), (7, 1, 1), (1, 5, 1), (1, 1, 4), (7, 5, 1), (7, 1, 4), (1, 5, 4), (7, 5, 4), (2, 3, 5)]


@pytest.mark.parametrize("grid", GRIDS)
def test_blocks_are_numbered_along_x_then_y_then_z(grid):
    numbers = np.arange(np.prod(grid))
    assert place_of(numbers, grid).tolist() == np.stack(np.unravel_index(numbers, grid, "F"), axis=-1).tolist()
    assert [place_of(number, grid).tolist() for number in corners(grid)] == [
        [0, 0, 0], *([int(axis == other) for other in range(3)] for axis in range(3) if grid[axis] > 1)
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 4, 5), (3, 1, 2), (5, 4)])
def test_points_are_numbered_with_the_last_dimension_fastest(shape):
    grid, points = SimpleNamespace(shape=shape), np.arange(np.prod(shape))
    grid.along = lambda dimension, points: Grid.along(grid, dimension, points)
    places = np.unravel_index(points, shape)
    for dimension, place in enumerate(places):
        assert Grid.along(grid, dimension, points).tolist() == place.tolist()
    for some in itertools.combinations(range(len(shape)), 2):
        own = np.ravel_multi_index([places[each] for each in some], [shape[each] for each in some])
        assert Grid.together(grid, some, points).tolist() == own.tolist()


@pytest.mark.parametrize("grid", [(10, 7, 1), (11, 8, 1), (5, 4, 3), (1, 9, 6), (20, 2, 1)])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.3])
@pytest.mark.parametrize("wanted", [3, 7, 12, 17])
def test_a_strip_lies_in_the_middle_by_rows_and_columns(grid, share, wanted):
    """As many places are left before as behind, or one fewer."""
    across, down = (grid[1], grid[2]) if grid[0] == 1 else (grid[0], grid[1] * grid[2])
    width = max(whole(across * share), min(each for each in range(1, wanted + 1) if each * down >= wanted))
    blocks = strip(grid, share, wanted)
    assert len(blocks) == wanted
    assert (np.diff(blocks) > 0).all()
    rows, columns = np.divmod(blocks, across)
    assert np.bincount(rows - rows.min()).tolist()[:-1] == [width] * (np.ptp(rows))  # all but the last are full
    for places, number, used in ((rows, down, np.ptp(rows) + 1), (columns, across, width)):
        before = int(places.min())
        assert number - used - before - before in (0, 1)


@pytest.mark.parametrize("grid", [(100, 1, 1), (1, 100, 1), (1, 1, 100), (10, 4, 1), (2, 3, 5)])
@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_of_one_row_or_of_whole_rows_the_middle_is_taken(grid, left):
    blocks = int(np.prod(grid))
    assert strip(grid, 0.1, blocks - left).tolist() == list(range(left // 2, blocks - (left + 1) // 2))


@pytest.mark.parametrize(("number", "chosen"), [(10, 1), (10, 3), (10, 4), (7, 7), (7, 5), (3, 2)])
def test_some_of_many_are_spread_evenly_from_the_first_on(number, chosen):
    found = _spread(number, chosen)
    assert found == [int(place * number / chosen) for place in range(chosen)]
    assert len(set(found)) == chosen
    assert max(found) < number


def test_panels_stand_in_few_rows_that_are_as_full_as_they_can_be():
    rows = [(panels, _across(panels)) for panels in range(1, 14)]
    assert rows == [
        (1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4), (9, 3), (10, 4), (11, 4), (12, 4), (13, 4)
    ]  # fmt: skip

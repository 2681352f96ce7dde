"""How fast studies are: what a point costs beside its simulation, stored points, a million of closed forms.

The figures of docs/scaling.md, with workers and clusters, are made by scaling.py.
"""

import pytest

from tests.benchmarks.scaling import CLOSED, command, run, study
from tests.study.programs import write


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path)


def test_a_point_beside_its_simulation(benchmark, folder):
    points = 1000 if benchmark.enabled else 20
    result = study(folder, points, ("simulated", "tmm"))
    run(folder, study(folder, 2), workers=1)  # compile
    took, own = benchmark.pedantic(run, (folder, result), {"workers": 1})
    assert 0 < own < took.wall
    if benchmark.enabled:
        assert (took.wall - own) / points < 5e-3


def test_stored_points_are_opened_and_reported(benchmark, folder):
    points = 10_000 if benchmark.enabled else 20
    result = study(folder, points)
    run(folder, result, workers=1)
    took = benchmark.pedantic(command, (folder, "report", "s.sqlite", "-o", "r.html"))
    assert (folder / "r.html").stat().st_size > 50 * points
    if benchmark.enabled:
        assert took.wall < 5


def test_a_million_points_of_closed_forms(benchmark, tmp_path):
    side = 1000 if benchmark.enabled else 142
    words = [word.format(side) for word in CLOSED]
    took = benchmark.pedantic(command, (tmp_path, "sweep", *words, "--store", "c.sqlite"))
    assert (tmp_path / "c.sqlite").stat().st_size > 10 * side * side
    if benchmark.enabled:
        assert took.wall < 20

"""Several programs in one study: an axis, points that are shared with studies of one, winners, and reports."""

import json

import pytest

from simtmm.errors import StudyError
from simtmm.report.page import load_table
from simtmm.study.design.design import design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import study_of
from simtmm.study.findings import findings
from simtmm.study.store.store import Store
from simtmm.study.sweep import read, sweep
from simtmm.study.winners import exchanges
from tests.study.programs import trace, write

AXES = {"memory.latency": [1, 10, 100, 1000]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Beside the trace a second one, of fewer rounds and more blocks: less latency, more work."""
    made = write(tmp_path_factory.mktemp("programs"), blocks=8, rounds=8)
    second = trace(blocks=96, rounds=1)
    second.save(made / "second.parquet")
    return made


def designed(folder, *programs, **tables):
    given = {"program": list(programs), "machines": ["small.toml"], "compute": ["simulated", "tmm"], **tables}
    return design_of(study_of(given), folder)


@pytest.fixture(scope="module")
def study(folder):
    return sweep(designed(folder, "traced.parquet", "second.parquet", axes=AXES), folder / "s.sqlite", workers=1)


def test_each_point_is_that_of_a_study_of_its_program_alone(folder, study):
    alone = points_of(designed(folder, "second.parquet", axes=AXES))
    both = [row.point for row in study.rows]
    assert [point.axes["program"] for point in both] == ["traced"] * 4 + ["second"] * 4
    assert [point.key for point in both[4:]] == [point.key for point in alone]


def test_the_fastest_program_changes_where_it_does(study):
    told = findings(study)
    for one in told.winners:
        times = {row.point.axes["program"]: row.cycles(one.series) for row in study.rows
                 if row.point.axes["memory.latency"] == one.at["memory.latency"]}  # fmt: skip
        assert one.best == (min(times, key=times.get),)
    (change,) = (one for one in exchanges(told.winners) if one.series == "simulated")
    assert (change.before, change.after) == (("traced",), ("second",))


def test_it_is_read_again_as_it_was(folder, study):
    with Store(folder / "s.sqlite", make=False) as store:
        document = store.study()
        again = read(study.design, store)
    assert json.dumps(document).count("digest") == 2
    assert again.to_table().equals(study.to_table())
    table = load_table(folder / "s.sqlite")
    assert table.columns["program"] == ["traced"] * 4 + ["second"] * 4


@pytest.mark.parametrize(
    ("tables", "line"),
    [
        ({"program": []}, "program: must name at least one"),
        ({"program": ["list-ranking", "merge-sort"], "kind": "algorithm"}, "must have only kernels and traces"),
        ({"program": ["reduce", "reduce"]}, "reduce, reduce: appears more than once"),
    ],
)
def test_what_can_not_be_together_is_refused(tables, line):
    with pytest.raises(StudyError, match=line):
        design_of(study_of(tables))

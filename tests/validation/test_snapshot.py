"""Errors of a table, and what is stale in one that was kept."""

import json
from dataclasses import replace

import pytest

from simtmm.errors import StudyError
from simtmm.validation import cases, snapshot
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.snapshot import differences, errors_follow, keep, ordered, read

TABLE = Accuracy(
    name="list",
    title="Lists",
    quantity="time",
    unit="us",
    points=(
        Measured("n = 1", 10.0, {"simulated": 11.0, "tmm": 5.0}, 1.0),
        Measured("n = 2", 20.0, {"simulated": 18.0}, 2.0),
        Measured("n = 4", 40.0, {"simulated": 36.0, "tmm": 10.0}, 4.0),
    ),
    calibrated="nothing",
    origin="a table",
    machine="gtx280",
    promised={"simulated": 0.12},
    notes=("A note.",),
)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(cases, "REPRODUCTIONS", names := {"lists": "", "streams": ""})
    monkeypatch.setattr(snapshot, "REPRODUCTIONS", names)


def changed(case, **said):
    """The table with other values of a point."""
    points = [replace(point, said={**point.said, **said}) if point.case == case else point for point in TABLE.points]
    return replace(TABLE, points=tuple(points))


def found(old, new):
    return differences(keep({"lists": old}), {"lists": new})


def test_errors_are_those_of_the_points_that_a_series_speaks_of():
    errors = TABLE.errors("tmm")
    assert (errors.points, errors.mean, errors.median, errors.largest, errors.worst) == (
        2,
        0.625,
        0.625,
        -0.75,
        "n = 4",
    )
    assert errors.spearman is None
    own = TABLE.errors("simulated")
    assert own.mean == pytest.approx(0.1)
    assert own.bias == pytest.approx(-0.1 / 3)
    assert own.spearman == pytest.approx(1.0)


def test_what_is_computed_as_it_was_kept_differs_in_nothing():
    assert found((TABLE,), (TABLE,)) == ()


def test_a_rounding_is_no_difference_and_more_is():
    assert found((TABLE,), (changed("n = 2", simulated=18.0 * (1 + 1e-7)),)) == ()
    assert found((TABLE,), (changed("n = 2", simulated=18.0 * (1 + 3e-6)),)) == (
        "list: n = 2: simulated: 18 is stored, 18.000054 is computed",
    )


def test_a_model_that_says_more_or_less_is_a_difference():
    more = changed("n = 2", tmm=3.0)
    assert found((TABLE,), (more,)) == ("list: n = 2: tmm: nothing is stored, 3 is computed",)
    assert found((more,), (TABLE,)) == ("list: n = 2: tmm: 3 is stored, nothing is computed",)


def test_points_that_came_and_went_are_differences():
    fewer = replace(TABLE, points=TABLE.points[:2])
    assert found((TABLE,), (fewer,)) == ("list: n = 4: is stored, but no longer computed",)
    assert found((fewer,), (TABLE,)) == ("list: n = 4: is computed, but not stored",)


def test_points_of_two_groups_may_have_a_name_in_common():
    one, other = (Measured("n = 1", value, {"simulated": value}, group=f"block {value:g}") for value in (8.0, 16.0))
    both = replace(TABLE, points=(one, other))
    wrong = replace(TABLE, points=(one, replace(other, said={"simulated": 20.0})))
    assert found((both,), (both,)) == ()
    assert "list: block 16 n = 1: simulated: 16 is stored, 20 is computed" in found((both,), (wrong,))


@pytest.mark.parametrize("key", ["title", "origin", "calibrated", "machine", "unit"])
def test_another_word_is_a_difference(key):
    assert found((replace(TABLE, **{key: "gtx480"}),), (TABLE,)) == (f"list: {key}: differs from the stored one",)


def test_an_error_above_its_promise_is_reported():
    strict = replace(TABLE, promised={"simulated": 0.09})
    assert found((strict,), (strict,)) == ("list: simulated: mean error 10.00%, promised at most 9.00%",)


def test_a_promise_of_a_series_that_is_not_there_is_reported():
    empty = replace(TABLE, promised={"rehman": 0.5})
    assert found((empty,), (empty,)) == ("list: rehman: a mean error is promised, and no value is there",)


def test_tables_that_came_and_went_are_reported():
    other = replace(TABLE, name="other")
    assert found((TABLE,), (TABLE, other)) == ("other: is reproduced, and not kept",)
    assert found((TABLE, other), (TABLE,)) == ("other: is stored, but no longer reproduced",)


def test_what_was_not_run_is_left_alone():
    kept = keep({"lists": (TABLE,), "streams": (replace(TABLE, name="stream", promised={"simulated": 0.0}),)})
    assert differences(kept, {"lists": (TABLE,)}) == ()


def test_what_nothing_makes_any_longer_is_reported():
    kept = keep({"lists": (TABLE,), "sorts": (replace(TABLE, name="sort"),)})
    assert differences(kept, {"lists": (TABLE,)}) == ("sort: no reproduction 'sorts' makes it any longer",)


def test_tables_stand_in_the_order_of_the_reproductions():
    first, second = replace(TABLE, name="z"), replace(TABLE, name="a")
    kept = keep({"streams": (TABLE,), "gone": (TABLE,), "lists": (first, second)})
    assert [(one.reproduction, one.accuracy.name) for one in ordered(kept)] == [
        ("lists", "z"), ("lists", "a"), ("streams", "list"), ("gone", "list"),
    ]  # fmt: skip


def written(folder, table=TABLE):
    (kept,) = keep({"lists": (table,)})
    (folder / f"{table.name}.json").write_text(kept.to_json())
    return kept


def test_a_file_gives_back_what_was_written(tmp_path):
    kept = written(tmp_path)
    assert read(tmp_path) == (kept,)
    assert kept.provenance["machine_digest"]


def test_a_file_has_a_line_a_point_so_that_changes_can_be_read(tmp_path):
    written(tmp_path)
    lines = (tmp_path / "list.json").read_text().splitlines()
    assert sum(line.startswith('    {"case"') for line in lines) == 3


def test_errors_that_do_not_follow_from_the_points_are_seen():
    reported = TABLE.to_dict()["errors"]
    assert errors_follow(json.loads(json.dumps(reported)), TABLE)
    reported["simulated"]["mean"] *= 0.9
    assert not errors_follow(reported, TABLE)
    assert not errors_follow(None, TABLE)


def test_a_value_that_is_no_number_is_not_written():
    (kept,) = keep({"lists": (changed("n = 1", tmm=float("inf")),)})
    with pytest.raises(StudyError, match="list: its values must be finite numbers"):
        kept.to_json()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[:-20], "list.json: no table of `simtmm paper reproduce`"),
        (lambda text: text.replace('"unit"', '"units"'), "key 'unit': missing"),
        (lambda text: text.replace('"measured": 10.0', '"measured": "ten"'), "list.json: no table"),
        (lambda text: text.replace('"measured": 10.0', '"measured": 0.0'), "list.json: no table"),
        (lambda text: text.replace('"name": "list"', '"name": "lost"'), "name = 'lost': must be 'list', as the file's"),
        (lambda text: "[]", "list.json: no table of `simtmm paper reproduce`"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(tmp_path, damage, reason):
    written(tmp_path)
    path = tmp_path / "list.json"
    path.write_text(damage(path.read_text()))
    with pytest.raises(StudyError, match=reason) as caught:
        read(tmp_path)
    assert "\n" not in str(caught.value)

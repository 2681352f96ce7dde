"""Figures of the papers: all are listed, those that are made say what was fitted, and some have the papers' values."""

import csv
import io
import json
from importlib import import_module
from pathlib import Path

import pytest

from simtmm.errors import StudyError
from simtmm.report.figures.folder import read, write
from simtmm.validation.figures import ITEMS, drawable_names, figures, makers
from simtmm.validation.figures.figure import Curve, Figure, curve
from tests.recorder.conftest import needs_compiler

LIGHT = ("ma-fig-4.9", "ma-table-4.1", "ma-table-4.4", "ma-fig-6.1")
DOCUMENTS = {  # figures and tables of each, by their numbers in the text
    "ma-fig": ["1.1", "1.2", "2.1", "2.2", "3.1", *(f"4.{n}" for n in range(1, 15)), *(f"5.{n}" for n in range(1, 17)),
               *(f"6.{n}" for n in range(1, 6))],
    "ma-table": ["3.1", "3.2", *(f"4.{n}" for n in range(1, 5)), *(f"5.{n}" for n in range(1, 5))],
    "rehman-fig": [*(f"{c}.{n}" for c in (1, 3) for n in range(1, 7)), *(f"2.{n}" for n in range(1, 5)),
                   *(f"4.{n}" for n in range(1, 7)), *(f"5.{n}" for n in range(1, 10)),
                   *(f"6.{n}" for n in range(1, 5))],
    "rehman-table": ["2.1", "4.1", "6.1", "6.2"],
    "asap-fig": [str(n) for n in range(1, 10)],
    "asap-table": [str(n) for n in range(1, 5)],
}  # fmt: skip


@pytest.fixture(scope="module")
def reproduced():
    return figures(LIGHT, workers=1)


@pytest.mark.parametrize(("kind", "number"), [(kind, number) for kind, of in DOCUMENTS.items() for number in of])
def test_every_figure_and_table_of_the_papers_is_listed(kind, number):
    assert [name for name in ITEMS if name.rstrip("ab") == f"{kind}-{number}"]


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.name)
def test_an_item_is_made_or_says_why_not(item):
    assert sum(map(bool, (item.makes, item.reason, item.same))) == 1
    assert not item.same or ITEMS[item.same].makes or ITEMS[item.same].reason
    if item.makes:
        assert item.title
        module, _, function = item.makes.partition(" ")[0].partition(":")
        assert callable(getattr(import_module(f"simtmm.validation.figures.{module}"), function))


def test_what_is_requested_is_given_in_the_papers_order(reproduced):
    assert list(reproduced) == sorted(LIGHT, key=list(ITEMS).index)
    assert all(figure.fitted and figure.predicted and figure.source for figure in reproduced.values())


def test_a_suffix_array_has_the_two_misprints(reproduced):
    assert [row[0] for row in reproduced["ma-fig-4.9"].rows if row[3]] == ["issippi", "ppi"]


def test_f_sched_is_1_where_waves_are_full(reproduced):
    (curve_,) = reproduced["ma-fig-6.1"].curves
    assert [x for x, y in zip(curve_.x, curve_.y, strict=True) if y == 1] == [15, 30, 45, 60, 75, 90]


def test_table_4_4_has_twelve_algorithms(reproduced):
    assert len(reproduced["ma-table-4.4"].rows) == 12


def test_same_items_are_made_by_their_name_elsewhere():
    assert makers(["asap-fig-5", "ma-fig-5.3"]) == {"blocks:caches": ("ma-fig-5.3",)}


def test_each_name_that_is_made_once_is_in_its_makers_module():
    for name in drawable_names():
        if ITEMS[name].makes.endswith(f" {name}"):  # which is what its maker is called with
            continue
        module = import_module(f"simtmm.validation.figures.{ITEMS[name].makes.partition(':')[0]}")
        text = Path(module.__file__).read_text(encoding="utf-8")
        assert f'"{name}"' in text or f'f"{name[:-1]}{{part}}"' in text


@pytest.mark.parametrize(
    ("name", "said"),
    [("ma-fig-9.9", "figure 'ma-fig-9.9': unknown"), ("ma-fig-3.1", "ma-fig-3.1: is not reproduced: a drawing"),
     ("asap-fig-8", "asap-fig-8: is not reproduced: a drawing")],
)  # fmt: skip
def test_what_is_not_made_is_refused_with_the_reason(name, said):
    with pytest.raises(StudyError) as caught:
        makers([name])
    assert str(caught.value).startswith(said)


def test_a_curve_has_as_many_x_as_y_and_a_known_kind():
    with pytest.raises(ValueError, match="must be as many"):
        Curve("a", "model", (1.0,), (1.0, 2.0))
    with pytest.raises(ValueError, match="must be one of"):
        Curve("a", "guessed", (1.0,), (1.0,))


FIGURE = Figure(
    "ma-fig-4.1", "A figure", "000 Fig 4.1", "nothing", "all", x="n", y="s",
    curves=(curve("one", "simulated", {1: 2.0, 2: 3.5}),), notes=("A note.",),
)  # fmt: skip


def test_a_figure_comes_back_from_its_document():
    assert Figure.from_dict(json.loads(json.dumps(FIGURE.to_dict()))) == FIGURE


def test_its_csv_has_a_row_a_point():
    rows = list(csv.reader(io.StringIO(FIGURE.to_csv())))
    assert rows == [["curve", "kind", "n", "s"], ["one", "simulated", "1", "2"], ["one", "simulated", "2", "3.5"]]


def test_a_folder_keeps_what_was_there_and_its_index_tells_all(tmp_path, reproduced):
    pytest.importorskip("matplotlib")
    write(tmp_path, [reproduced["ma-fig-4.9"]], ["ma-fig-4.9"])
    write(tmp_path, [FIGURE], ["ma-fig-4.1"])
    assert [figure.name for figure in read(tmp_path)] == ["ma-fig-4.1", "ma-fig-4.9"]
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "## ma-fig-4.1: A figure" in page
    assert "- Fitted: nothing" in page
    assert "- ma-fig-3.1: a drawing" in page
    for line in page.splitlines():
        for link in (part.split(")")[0] for part in line.split("](")[1:]):
            assert (tmp_path / link).exists()


def test_a_file_that_is_no_figure_is_reported(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "x.json").write_text('{"name": "x"}')
    with pytest.raises(StudyError, match="is not a figure"):
        list(read(tmp_path))


@needs_compiler
def test_simulated_hit_rates_are_near_eq_5_10():
    """ma.cache_rates: within 0.09 of r_H; positions that stream through the L1 take room, and few sets are uneven."""
    by_name = figures(["ma-fig-5.3"], workers=1)["ma-fig-5.3"].curves
    simulated, model = ([c for c in by_name if c.kind == kind] for kind in ("simulated", "model"))
    assert len(simulated) == len(model) == 2
    for one, other in zip(simulated, model, strict=True):
        assert one.x == other.x
        assert all(abs(a - b) < 0.09 for a, b in zip(one.y, other.y, strict=True))

"""The table of a study's page: what of a study each part of it is."""

from types import SimpleNamespace

import pyarrow
import pytest

from simtmm.report.page import EARLIER, Table
from simtmm.report.studies import answers as of_studies
from simtmm.study import findings
from simtmm.study.design import in_common


@pytest.mark.parametrize("is_earlier", [False, True])
def test_a_study_s_axes_units_and_counts_are_its_own(monkeypatch, is_earlier):
    """An axis may stand behind a result."""
    columns = {"number": [0, 1], "n": [8, 16], "cycles": [90.0, 80.0], "memory.latency": [100.0, 200.0]}
    counts = {"done": 1200, "skipped": 0, "failed": 3, "open": 0}
    design = SimpleNamespace(
        axes={"n": (8, 16), "memory.latency": (100.0, 200.0)},
        subject=SimpleNamespace(name="stream"),
        study=SimpleNamespace(model_dump=lambda **given: {"given": sorted(given)}),
    )
    study = SimpleNamespace(
        design=design, number=counts.__getitem__, to_table=lambda: pyarrow.table(columns), earlier=is_earlier
    )
    monkeypatch.setattr(in_common, "in_common", lambda of: {"fixed of": of})
    monkeypatch.setattr(in_common, "scales", lambda of: {"scales of": of})
    monkeypatch.setattr(findings, "findings", lambda of: ["found", of])
    monkeypatch.setattr(of_studies, "reasons", lambda of: ["a reason", of])
    monkeypatch.setattr(of_studies, "answers", lambda of, found: ["an answer", of, *found])
    monkeypatch.setattr(of_studies, "earlier", lambda of: ["one", "two"])
    table = Table.from_study(study)
    assert table.title == "stream"
    assert list(table.axes) == ["n", "memory.latency"]
    assert table.columns == {name: values for name, values in columns.items() if name != "number"}
    assert table.units == {"memory.latency": "cycles"}  # n is no key of a machine
    assert (table.fixed, table.scales) == ({"fixed of": design}, {"scales of": design})
    assert table.answers() == ["a reason", study, "an answer", study, "found", study]
    expected = {
        "program": "stream",
        "points": "1,200 done, 3 failed",
        "study": '{"given": ["by_alias", "exclude_defaults"]}',
    }
    assert table.about == expected | ({EARLIER: "one; two"} if is_earlier else {})


def test_without_axes_they_are_the_columns_before_the_first_result():
    table = pyarrow.table({"number": [0], "a": [1], "b": [2], "cycles": [3.0], "c": [4]})
    assert list(Table.from_arrow("t", table).axes) == ["a", "b"]
    assert list(Table.from_arrow("t", table, ["c"]).axes) == ["c"]
    assert list(Table.from_arrow("t", table, []).axes) == []
    assert list(Table.from_arrow("t", pyarrow.table({"a": [1]})).axes) == []

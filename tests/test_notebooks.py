"""The notebooks give what they show."""

import json

import pytest

from tests.notebooks.comparison import differences, write
from tests.notebooks.execution import notebooks
from tests.recorder.conftest import needs_compiler

RECORDS = ("simtmm.record(", '"program": "transpose"')  # of a kernel: a C++ compiler is needed


def marked(path):
    records = any(word in path.read_text(encoding="utf-8") for word in RECORDS)
    return pytest.param(path, id=path.stem, marks=needs_compiler if records else ())


@pytest.mark.parametrize("path", [marked(path) for path in notebooks()])
def test_a_notebook_gives_what_it_shows(path):
    assert differences(path) == []


def test_a_difference_is_found_and_written(tmp_path):
    cell = {"cell_type": "code", "id": "one", "source": ["print(1 + 1)\n", "'x'"], "outputs": [], "metadata": {}}
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    (line,) = differences(path)
    assert line.startswith("a.ipynb, one: is stored as []")
    assert "2" in line
    write(path)
    assert differences(path) == []


def test_there_are_three_and_each_has_outputs():
    assert [path.stem[0] for path in notebooks()] == ["1", "2", "3"]
    for path in notebooks():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert sum(bool(cell.get("outputs")) for cell in cells) >= 5

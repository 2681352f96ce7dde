"""What docs/studies.md says holds."""

import re
import tomllib
from pathlib import Path

from simtmm.study.design.axes import axis
from simtmm.study.design.design import design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import SampleFile, StudyFile, study_of

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_study_file_has_the_points_that_the_page_tells():
    points = points_of(design_of(study_of(tomllib.loads(block("toml")))))
    told = re.search(r"(\d+) points: (\d+) done, (\d+) skipped", PAGE)
    skipped = sum(bool(point.skipped) for point in points)
    assert [len(points), len(points) - skipped, skipped] == [int(number) for number in told.groups()]


def test_every_key_is_told():
    for name, field in StudyFile.model_fields.items():
        assert f"| `{field.alias or name}` |" in PAGE
    for name in SampleFile.model_fields:
        assert f"`{name}`" in PAGE


def test_ranges_have_the_values_that_the_page_tells():
    rows = re.findall(r'^\| `"([0-9.:a-z]+)"` \| ([0-9., ]+) \|$', PAGE, re.MULTILINE)
    assert len(rows) == 5
    for written, values in rows:
        assert axis("x", written).values == tuple(float(value) for value in values.split(", "))


def test_the_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = block("toml").replace("log:11", "log:5").replace("n = 64", "n = 16")  # the same, sooner done
    (tmp_path / "latency.toml").write_text(text, encoding="utf-8")
    names = {"__name__": "__main__"}
    exec(compile(block("python").replace("workers=2", "workers=1"), "studies.md", "exec"), names)
    assert len(names["frame"]) == 20
    assert names["closed_forms"].number("done") == 14
    assert (tmp_path / "latency.sqlite").exists()

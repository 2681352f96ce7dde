"""Scheduling rules along an axis: given in the call, named in the study, run on the reference engine."""

import pytest

from simtmm import load_machine, load_trace, simulate
from simtmm.errors import StudyError
from simtmm.report.page import load_table
from simtmm.study.design.rules import rules_in
from simtmm.study.sweep import sweep
from simtmm.trace.lower import lower
from tests.study.programs import designed, write

RULES = """
seen = []


def youngest(ready, group):
    seen.append(group.number)  # what is remembered of a run must not last
    return max(ready, key=lambda warp: warp.age) if len(seen) < 1000 else ready[0]


def broken(ready, group):
    return ready[99]


def _helper(one, other):
    raise RuntimeError
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = write(tmp_path_factory.mktemp("rules"))
    (made / "rules.py").write_text(RULES, encoding="utf-8")
    return made


def test_a_rule_is_a_value_of_the_axis_and_stays_readable_without_its_file(folder, tmp_path):
    axes = {"scheduling.scheduler": ["fifo", "youngest", "broken"]}
    path = tmp_path / "s.sqlite"
    study = sweep(designed(folder, axes=axes), path, workers=1, rules=[folder / "rules.py"])
    plain, own, failed = study.rows
    machine, trace = load_machine(folder / "small.toml"), load_trace(folder / "traced.parquet")

    def youngest(ready, group):
        return max(ready, key=lambda warp: warp.age)

    expected = simulate(machine, lower(trace, machine), scheduler=youngest)
    assert own.cycles("simulated") == expected.cycles
    assert (plain.results["simulated"]["engine"], own.results["simulated"]["engine"]) == ("fast", "reference")
    assert "rule broken: IndexError: " in failed.reason
    table = load_table(path)  # in which nothing of the file is run
    assert table.columns["simulated.cycles"][:2] == [plain.cycles("simulated"), own.cycles("simulated")]


def test_another_content_is_another_point(folder, tmp_path):
    design = designed(folder, axes={"scheduling.scheduler": ["youngest"]})
    other = tmp_path / "other.py"
    other.write_text("def youngest(ready, group):\n    return ready[0]\n", encoding="utf-8")
    keys = [sweep(design, workers=1, rules=[path]).rows[0].point.key for path in (folder / "rules.py", other)]
    assert len(set(keys)) == 2
    before = rules_in([other])["youngest"].content()
    other.write_text("# the last one\n" + other.read_text(encoding="utf-8"), encoding="utf-8")
    assert rules_in([other])["youngest"].content() == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def fifo(ready, group): ...", "fifo: is the name of another rule"),
        ("x = 1", "has no function of two arguments"),
        ("def f(:", "can't be read"),
    ],
)
def test_a_file_without_rules_is_refused(folder, tmp_path, text, line):
    path = tmp_path / "r.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=line):
        sweep(designed(folder), workers=1, rules=[path])


def test_a_study_names_rules_and_does_not_bring_them(folder):
    study = sweep(designed(folder, axes={"scheduling.scheduler": ["fifo", "youngest"]}), workers=1)
    assert [row.status for row in study.rows] == ["done", "skipped"]

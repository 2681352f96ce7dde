"""Scheduling rules along an axis: given in the call, named in the study, run on the engine that takes them."""

from dataclasses import replace

import pytest

from simtmm import compare, load_machine, load_trace, simulate
from simtmm.errors import MachineError, StudyError
from simtmm.report.compare import describe_comparison
from simtmm.report.page import load_table
from simtmm.study.design.rules import rules_in
from simtmm.study.store.store import Store
from simtmm.study.sweep import read, sweep
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
    assert "line 6: is list, which is not compiled: seen" in own.results["simulated"]["engine_reason"]
    assert "rule broken: IndexError: " in failed.reason
    table = load_table(path)  # in which nothing of the file is run
    assert table.columns["simulated.cycles"][:2] == [plain.cycles("simulated"), own.cycles("simulated")]


def test_a_class_of_rules_is_a_rule_too(folder, tmp_path):
    (tmp_path / "classes.py").write_text(
        "class ByTurns:\n    def __init__(self):\n        self.asked = 0\n\n"
        "    def __call__(self, ready, group):\n        self.asked += 1\n"
        "        return ready[self.asked % len(ready)]\n\n"
        "class Other:\n    def __call__(self, ready):\n        return ready[0]\n",
        encoding="utf-8",
    )
    assert list(rules_in([tmp_path / "classes.py"])) == ["ByTurns"]
    axes = {"scheduling.scheduler": ["ByTurns"]}
    (row,) = sweep(designed(folder, axes=axes), workers=1, rules=[tmp_path / "classes.py"]).rows
    assert row.results["simulated"]["engine"] == "fast"


def test_another_content_is_another_point(folder, tmp_path):
    design = designed(folder, axes={"scheduling.scheduler": ["youngest"]})
    other = tmp_path / "other.py"
    other.write_text("def youngest(ready, group):\n    return ready[0]\n", encoding="utf-8")
    keys = [sweep(design, workers=1, rules=[path]).rows[0].point.key for path in (folder / "rules.py", other)]
    assert len(set(keys)) == 2
    before = rules_in([other])["youngest"].content()
    other.write_text("# the last one\n" + other.read_text(encoding="utf-8"), encoding="utf-8")
    assert rules_in([other])["youngest"].content() == before


def test_what_an_earlier_simtmm_computed_by_a_rule_is_told_of_that_rule_alone(folder, tmp_path, monkeypatch):
    axes, path = {"scheduling.scheduler": ["fifo", "youngest"]}, tmp_path / "s.sqlite"
    other = tmp_path / "other.py"
    other.write_text("def youngest(ready, group):\n    return ready[0]\n", encoding="utf-8")
    own, another = (
        replace(designed(folder, axes=axes), rules=rules_in([file])) for file in (folder / "rules.py", other)
    )
    first = sweep(own, path, workers=1)
    monkeypatch.setattr("simtmm.provenance.sources", lambda *parts: "edited")
    with Store(path, make=False) as store:
        found, without = read(own, store), read(another, store)
    assert [row.status for row in found.rows] == ["done", "done"]
    assert [row.results for row in found.rows] == [row.results for row in first.rows]
    assert all(row.computed_by.startswith("run 1: simtmm") for row in found.rows)
    assert [row.status for row in without.rows] == ["done", "open"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def fifo(ready, group): ...", "fifo: is also the name of another rule"),
        ("x = 1", "has no function of two arguments"),
        ("def f(:", "can't be read"),
        ("x = " + "(" * 5000, "can't be read"),
    ],
)
def test_a_file_without_rules_is_refused(folder, tmp_path, text, line):
    path = tmp_path / "r.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=line):
        sweep(designed(folder), workers=1, rules=[path])


def test_a_file_of_rules_that_never_ends_is_refused():
    with pytest.raises(StudyError, match="/dev/zero: is too large: must be at most 4 MiB"):
        rules_in(["/dev/zero"])


def test_a_list_is_no_rule_and_is_refused(folder):
    with pytest.raises(MachineError, match=r"scheduling\.scheduler = "):
        sweep(designed(folder, set={"scheduling.scheduler": ["fifo"]}), workers=1)


def test_a_comparison_refuses_a_rule_that_is_neither_built_in_nor_a_file(folder):
    with pytest.raises(StudyError, match=r"--rule greedy-odlest: neither .*; did you mean 'greedy-oldest'"):
        compare(folder / "traced.parquet", folder / "small.toml", rules="greedy-odlest")


def test_a_study_names_rules_and_does_not_bring_them(folder):
    study = sweep(designed(folder, axes={"scheduling.scheduler": ["fifo", "youngest"]}), workers=1)
    assert [row.status for row in study.rows] == ["done", "skipped"]


def test_a_comparison_runs_every_rule_beside_the_machine_s_own(folder, tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("kernel,machine,seconds\ntraced,small,1e-6\n", encoding="utf-8")
    path, store = folder / "traced.parquet", tmp_path / "s.sqlite"
    machine, trace = load_machine(folder / "small.toml"), load_trace(path)
    rules = ["fifo", "round-robin", folder / "rules.py"]  # fifo is the machine's own
    made = compare(path, folder / "small.toml", models="tmm", measured=times, rules=rules, store=store)
    assert [case.machine_name for case in made.cases] == ["small", "small, round-robin", "small, youngest"]
    assert {case.measured_seconds for case in made.cases} == {1e-6}
    for case, scheduler in zip(made.cases, ("fifo", "round-robin"), strict=False):
        ruled = machine.replace({"scheduling.scheduler": scheduler})
        assert case.result.ticks == simulate(ruled, lower(trace, ruled)).ticks
    youngest = simulate(machine, lower(trace, machine), scheduler=lambda ready, _: max(ready, key=lambda one: one.age))
    assert made.cases[2].result.ticks == youngest.ticks
    (heading, *_) = describe_comparison(made)
    assert str(heading) == "3 cases on small by 3 scheduling rules, against measured times"  # and not on 3 machines
    (broken,) = made.absent
    assert broken.where == "traced, small, broken"
    assert "rule broken: IndexError: " in broken.reason
    # A sweep's point of the same rule is the same, and is there
    swept = sweep(designed(folder, axes={"scheduling.scheduler": ["youngest"]}), store, workers=1, rules=rules[2:])
    assert swept.rows[0].cycles("simulated") == youngest.cycles

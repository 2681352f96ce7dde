"""`simtmm kernels rules`, `simtmm kernels test` and `simtmm kernels compare`."""

import json

import pytest

from simtmm import Workload
from simtmm.analysis import scheduling_rules

OWN = '''
"""Rules of a person's own."""
from simtmm.rules import Idle, oldest as borrowed
NUMBER = 7

def youngest(ready, group):
    """The youngest."""
    return max(ready, key=lambda warp: warp.age)

class InTurn:
    """By turns of its own."""
    def __init__(self):
        self.asked = 0
    def __call__(self, ready, group):
        self.asked += 1
        return ready[self.asked % len(ready)]

def every_third(ready, group):
    return ready[0] if group.now % 3 == 0 else Idle(group.now + 1)

def crashes(ready, group):
    return ready[9]

def one(ready):
    return ready[0]

class Needs:
    def __init__(self, size): ...
    def __call__(self, ready, group): ...
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    """An empty folder with a file of rules and a workload."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "single.py").write_text("def only(ready, group):\n    return ready[0]\n")
    blocks = [{"warps": [[["compute", 3], ["load", [number]], ["compute", 1]]]} for number in range(4)]
    Workload.from_dict({"blocks": blocks}).save(tmp_path / "small.json")
    return tmp_path


def test_the_list_has_rules_and_laws(called):
    for words in (["rules"], ["rules", "list"]):
        status, out, _ = called(*words)
        assert status == 0
        for name in ("round-robin", "two_level(8)", "bounded_wait(turns)", "no_starvation"):
            assert f"\n{name} " in out


def test_the_list_as_json_has_promises_and_formulas(called):
    document = json.loads(called("kernels", "rules", "--json")[1])
    assert document["rules"]["greedy-oldest"]["engines"] == ["fast", "reference"]
    assert document["rules"]["fewer_warps(4)"]["promises"][-1] == "admits_at_most(4)"
    assert all(law["summary"] and law["formula"] for law in document["laws"].values())


def test_one_rule_is_shown_with_its_promises_by_its_numbers(called):
    status, out, _ = called("kernels", "rules", "two_level(3)")
    assert status == 0
    assert out.startswith("two_level(3)\nRound-robin within the current set")
    assert "stays_in_set(3)" in out
    assert called("kernels", "rules", "two-level(3)")[:2] == (0, out.replace("two_level(3)", "two-level(3)", 1))


def test_a_rule_that_keeps_its_promises(called, own):
    status, out, _ = called("kernels", "test", "two_level(2)", "--draws", 3)
    assert status == 0
    assert out.splitlines()[0] == "Rule two_level(2)"
    assert out.count(" kept ") == 5


def test_a_rule_of_a_file_that_breaks_a_promise(called, own):
    words = ["rules", "test", "own.py:youngest", "--promise", "bounded_wait(3)", "--promise", "work_conserving"]
    status, out, _ = called(*words, "--draws", 30, "--picture", "starved.svg")
    assert status == 1
    assert "rule youngest breaks bounded_wait(3): 4 turns went to others while warp 0 was ready" in out
    assert "<- here" in out
    assert [line.split()[:3] for line in out.splitlines()[3:4]] == [["work_conserving", "kept", "30"]]
    assert (own / "starved.svg").read_text().startswith("<svg ")


def test_the_same_as_json(called, own):
    status, out, _ = called("kernels", "test", "own.py:youngest", "--promise", "bounded_wait(3)", "--json")
    (promise,) = json.loads(out)["promises"]
    assert status == 1
    assert not promise["kept"]
    assert "Formula: " in promise["counter_example"]


@pytest.mark.parametrize("name", ["own.py:InTurn", "own.py:borrowed", "single.py", "single.py:only", "fifo"])
def test_what_may_be_named(called, own, name):
    status, out, _ = called("kernels", "test", name, "--promise", "work_conserving", "--draws", 2)
    assert (status, " kept " in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fifi"], "rule 'fifi': unknown rule, and not FILE.py:NAME; did you mean 'fifo'?"),
        (["two_level(0)"], "rule 'two_level(0)': write two_level(8), "),
        (["own.py"], "own.py: must be FILE.py:NAME; the rules of this file are youngest, InTurn, every_third, crashes"),
        (["own.py:yungest"], "own.py: has no 'yungest'; did you mean 'youngest'?"),
        (["own.py:one"], "own.py: one: must be a function of two arguments, "),
        (["own.py:Needs"], "own.py: Needs: must be a function of two arguments, "),
        (["own.py:NUMBER"], "own.py: NUMBER: must be a function of two arguments, "),
        (["none.py:youngest"], "none.py: can't be read (No such file or directory)"),
        (["broken.py:x"], "broken.py: can't be run (SyntaxError: "),
        (["own.py:youngest"], "rule own.py:youngest: has no known promises: name some, such as --promise "),
        (["own.py:youngest", "--promise", "fair"], "promise 'fair': unknown; "),
        (["own.py:youngest", "--promise", "fair_within(x)"], "promise 'fair_within(x)': unknown; "),
        (["fifo", "--draws", "0"], "draws = 0: must be a whole number from 1 to 1000000"),
        (["fifo", "--engine", "slow"], "engine 'slow': unknown"),
        (["two_level", "--engine", "fast"], "engine 'fast': promises of your own rules are tested in Python"),
        (["fifo", "--picture", "x.png"], "--picture x.png: must end in .svg"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(called, own, words, said):
    (own / "broken.py").write_text("def x(:\n")
    status, out, err = called("kernels", "test", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_programs_are_run_by_the_machines_own_rule_and_by_others(called, own, monkeypatch, engine):
    """A small program on the engine that has the result first, which is no reason to give."""
    monkeypatch.setattr(scheduling_rules, "quickest", lambda machine, workload, own_rule=False: engine)
    words = ["rules", "compare", "small.json", "--rule", "own.py:every_third", "--rule", "fifo", "--rule", "oldest"]
    status, out, _ = called(*words, "--json")
    assert status == 0
    document = json.loads(out)
    runs = {run["rule"]: run for run in document["runs"]}
    assert list(runs) == ["fifo", "own.py:every_third", "oldest"]
    assert {run["engine"] for run in runs.values()} == {engine}
    assert {run["engine_reason"] for run in runs.values()} == {""}
    assert runs["own.py:every_third"]["cycles"] > runs["fifo"]["cycles"]


def test_a_rule_that_is_not_compiled_says_why_behind_the_table(called, own):
    (own / "halves.py").write_text("def half(ready, group):\n    return ready[int(0.5 * len(ready))]\n")
    status, out, _ = called("kernels", "compare", "small.json", "--rule", "halves.py:half", "--rule", "oldest")
    assert status == 0
    why = "only numbers of 64 bits, truths, texts and None are compiled: 0.5"
    assert out.splitlines()[-1] == f"On the reference engine: rule half is not compiled: halves.py, line 2: {why}"


def test_the_four_rules_of_machines_are_compared_where_none_is_named(called, own):
    out = called("kernels", "compare", "small.json")[1]
    assert [line.split()[1] for line in out.splitlines()[2:]] == ["fifo", "oldest", "greedy-oldest", "round-robin"]


def test_what_goes_wrong_in_a_rule_is_said_in_a_line(called, own):
    status, _, err = called("kernels", "compare", "small.json", "--rule", "own.py:crashes")
    assert status == 2
    assert err == "simtmm: error: rule own.py:crashes: IndexError: tuple index out of range\n"

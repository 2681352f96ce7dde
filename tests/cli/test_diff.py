"""`simtmm diff`: programs, saved runs, and what it refuses."""

import json

import pytest

WORKLOAD = {"blocks": [{"warps": [[["compute", 4], ["load", [0, 1]]] * 20]}] * 8}


@pytest.fixture
def command(called, monkeypatch, tmp_path):
    """The command in an empty folder but for a workload."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    return called


def test_a_program_beside_itself_on_a_changed_machine(command):
    status, out, _ = command("diff", "w.json", "w.json", "--set-b", "memory.latency=x0.5", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["words"].startswith(f"B takes {found['ratio']:.3g} of A's time; ")
    assert found["cause"]["reason"] == "memory_latency"
    assert found["b"]["machine"] == "GeForce GTX 280 (memory.latency x0.5)"
    assert sum(entry["difference"] for entry in found["reasons"]) == pytest.approx(found["difference"], rel=1e-12)
    status, out, _ = command("diff", "w.json", "w.json", "--set-b", "memory.latency=x0.5")
    assert out.splitlines()[0] == found["words"]
    assert "memory.latency   500   250" in out


def test_saved_runs_are_what_was_run(command, tmp_path):
    command("run", "w.json", "--machine", "v100", "-o", "a.json")
    command("run", "--lines", "w.json", "--machine", "h100-sxm", "-o", "b.json")
    _, saved, _ = command("diff", "a.json", "b.json", "--json", "-o", "d.json")
    _, reported, _ = command("diff", "w.json", "w.json", "--machine-a", "v100", "--machine-b", "h100-sxm", "--json")
    saved, reported = json.loads(saved), json.loads(reported)
    assert [saved["a"].pop("origin"), saved["b"].pop("origin")] == ["a.json", "b.json"]
    assert [reported["a"].pop("origin"), reported["b"].pop("origin")] == ["w.json", "w.json"]
    assert saved == reported
    assert saved["unit"] == "s"
    assert json.loads((tmp_path / "d.json").read_text())["words"] == saved["words"]
    _, mixed, _ = command("diff", "a.json", "w.json", "--machine", "h100-sxm", "--json")
    assert json.loads(mixed)["words"] == saved["words"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.json", "w.json", "--set-a", "memory.latency=1"), "--set-a memory.latency=1: a.json is a saved run"),
        (("w.json", "a.json", "--machine-b", "v100"), "--machine-b v100: a.json is a saved run, which can't"),
        (("a.json", "a.json", "--machine", "v100"), "--machine v100: a.json and a.json are saved runs, "),
        (("a.json", "no.json"), "no.json: can't be read (No such file or directory)"),
        (("a.json", "t.json"), "t.json: is not the output of `simtmm run --json`: program is missing"),
        (("a.json", "list.json"), "list.json: the workload: must be an object with "),
        (("a.json", "bad.json"), "bad.json: is not JSON ("),
        (("w.json", "w.json", "--param-b", "n=64"), "w.json: parameters (n) can only be given to a kernel"),
        (("w.json", "w.json", "--set-b", "memory.latncy=1"), "machine GeForce GTX 280: memory.latncy: unknown key"),
        (("w.json", "w.json", "--set-b", "x"), "--set x: must be of the form KEY=VALUE"),
        (("w.json", "nothing"), "kernel 'nothing': unknown"),
        (("w.json", "w.json", "-o", "no/d.json"), "no/d.json: can't be written (there is no folder no)"),
    ],
)
def test_mistakes_are_told_in_a_line(command, tmp_path, words, said):
    command("run", "w.json", "--no-what-if", "-o", "a.json")
    (tmp_path / "t.json").write_text("{}")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "bad.json").write_text("{")
    status, out, err = command("diff", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: {said}"), err
    assert err.count("\n") == 1


def test_a_run_is_needed_for_each_side(command):
    status, _, err = command("diff", "w.json")
    assert status == 2
    assert err.count("\n") == 1

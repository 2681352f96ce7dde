"""`simtmm run --timeline`."""

import gzip
import json
import sys

import pytest

from simtmm.__main__ import main

WORKLOAD = {"blocks": [{"warps": [[["compute", 4], ["load", [0, 1]]] * 20]}] * 8}


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder but for a workload: status, output, errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


def test_it_writes_the_timeline_and_is_reported(command, tmp_path):
    status, out, _ = command("run", "w.json", "--timeline", "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert status == 0
    assert out.splitlines()[-1] == f"Timeline: t.json: {len(timed):,} events"
    assert document["otherData"]["program"] == "w.json"
    assert document["otherData"]["provenance"]["workload"]


def test_a_sample_is_called_one(command):
    status, out, _ = command("run", "w.json", "--timeline", "t.json", "--timeline-events", "50")
    assert status == 0
    assert "Timeline: t.json: a sample, " in out.splitlines()[-1]


def test_json_has_it_too_and_nothing_else_is_printed(command):
    status, out, err = command("run", "w.json", "--timeline", "t.json", "--json")
    assert status == 0
    assert err == ""
    assert json.loads(out)["timeline"]["path"] == "t.json"


def test_without_the_option_nothing_is_reported_of_it(command, tmp_path):
    status, out, _ = command("run", "w.json", "--json")
    assert status == 0
    assert "timeline" not in json.loads(out)
    assert [path.name for path in tmp_path.iterdir()] == ["w.json"]


def test_a_folder_that_is_not_there_is_refused_before_the_run(command):
    status, out, err = command("run", "w.json", "--timeline", "no/t.json")
    assert (status, out) == (2, "")
    assert err == "simtmm: error: no/t.json: can't be written (there is no folder no)\n"


def test_no_events_at_all_are_refused(command):
    status, _, err = command("run", "w.json", "--timeline", "t.json", "--timeline-events", "0")
    assert status == 2
    assert err.count("\n") == 1


def test_slices_have_their_block_and_operation(command, tmp_path):
    command("run", "w.json", "--timeline", "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    waits = [event["args"] for event in document["traceEvents"] if event["name"] == "memory latency"]
    assert {args["block"] for args in waits} == set(range(8))
    assert all(args["block"] == args["warp"] and args["at"] == "load" for args in waits)


def test_core_groups_and_cycles_are_chosen_and_it_is_compressed(command, tmp_path):
    words = ("--timeline-groups", "0,2-3", "--timeline-from", "10", "--timeline-to", "300")
    status, out, _ = command("run", "w.json", "--timeline", "t.json.gz", *words)
    assert status == 0
    assert "Timeline: t.json.gz: core groups 0,2-3 of 30, cycles 10 to 300 of " in out.splitlines()[-1]
    document = json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))
    assert {event["pid"] for event in document["traceEvents"]} == {1, 2, 4, 5, 32}
    assert document["otherData"]["complete"].startswith("core groups 0,2-3 of 30, cycles 10 to 300 of ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--timeline-groups", "30"), "timeline of core group 30: GeForce GTX 280 has the core groups 0 to 29"),
        (("--timeline-groups", "x"), "--timeline-groups 'x': must be core groups, such as 0,1,5-7"),
        (("--timeline-from", "1e12"), "timeline from cycle 1e+12: the run ends at cycle "),
        (("--timeline-from", "9", "--timeline-to", "8"), "timeline from cycle 9 to 8: must end after it begins"),
    ],
)
def test_mistakes_are_reported_in_a_line(command, tmp_path, words, said):
    status, out, err = command("run", "w.json", "--timeline", "t.json", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"simtmm: error: {said}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["w.json"]


@pytest.mark.parametrize("option", ["--timeline-events", "--timeline-groups", "--timeline-from", "--timeline-to"])
def test_an_option_of_a_timeline_that_nobody_asked_for_is_refused(command, option):
    status, _, err = command("run", "w.json", option, "1")
    assert status == 2
    assert err.startswith(f"simtmm: error: {option} 1")
    assert err.endswith(": needs --timeline FILE\n")

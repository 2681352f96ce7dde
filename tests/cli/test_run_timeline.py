"""`simtmm run --timeline`."""

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


def test_it_writes_the_timeline_and_says_so(command, tmp_path):
    status, out, _ = command("run", "w.json", "--timeline", "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert status == 0
    assert out.splitlines()[-1] == f"Timeline: t.json: {len(timed)} events"
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


def test_without_the_option_nothing_is_said_of_it(command, tmp_path):
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

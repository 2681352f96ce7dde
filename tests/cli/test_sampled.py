"""A trace of some blocks only: every command that reads one says so."""

import json
import sys

import numpy as np
import pytest

from simtmm.__main__ import main
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.sampled_blocks import sampled_blocks
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch

BLOCKS = 8
WARNING = "a sampled trace: 6 of 8 blocks were left out and count as blocks that do nothing"


def traced(path, sample_blocks):
    """A launch whose threads each load a word, as a recorder samples it."""
    recorder = TraceRecorder()
    launches = [TraceLaunch("step", (BLOCKS, 1, 1), (32, 1, 1), 0, 0)]
    for block in sampled_blocks(BLOCKS, sample_blocks):
        events = np.zeros(32, dtype=EVENT)
        events["thread"], events["kind"], events["bytes"] = np.arange(32), Kind.LOAD, 4
        events["value"] = 512 + 4 * (block * 32 + np.arange(32))
        recorder.add(Batch(events, np.zeros(1, np.int32), np.array([block], np.int32), np.array([32])), launches)
    recorder.finish("traced", {}, launches, [], [], {"recorder": "test"}, sample_blocks).save(path)
    return path


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder: output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code in (None, 0)
        return capsys.readouterr()

    return call


@pytest.mark.parametrize("verb", ["run", "predict"])
def test_a_report_of_a_sampled_trace_is_reported_in_words_and_in_json(verb, command, tmp_path):
    path = traced(tmp_path / "t.parquet", 2)
    assert f"Warning: {WARNING}" in command(verb, path).out
    message = json.loads(command(verb, path, "--json").out)["sampling"]
    assert message == {"sample_blocks": 2, "recorded": 2, "left_out": 6, "warning": WARNING}


@pytest.mark.parametrize("verb", ["run", "predict"])
def test_a_report_of_a_whole_trace_warns_of_nothing(verb, command, tmp_path):
    path = traced(tmp_path / "t.parquet", None)
    assert "Warning" not in command(verb, path).out
    assert json.loads(command(verb, path, "--json").out)["sampling"] is None


@pytest.mark.parametrize(
    "words",
    [("threads",), ("compare",), ("sweep", "--vary", "memory.latency=100,200", "-j", "1")],
    ids=lambda words: words[0],
)
def test_a_table_made_of_a_sampled_trace_has_the_warning_beside_it(words, command, tmp_path):
    verb, *options = words
    path = traced(tmp_path / "t.parquet", 2)
    assert f"t.parquet: {WARNING}" in command(verb, path, *options).err
    assert command(verb, traced(tmp_path / "all.parquet", None), *options).err == ""

"""Small programs for studies: traces that are available at once, without a compiler."""

import numpy as np

from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch

MACHINE = """
name = "small"
clock_hz = 1e9

[cores]
groups = 2
cores_per_group = 8
warp_width = 8
max_threads_per_core = 16

[memory]
latency = 100
chunk_words = 8

[limits]
blocks_per_group = 8

[resources]
shared_memory = 1024
"""


def trace(blocks=8, threads=16, rounds=4, shared_memory=128):
    """Each thread does two operations, loads a word of its own, and does one operation, some rounds over."""
    recorder = TraceRecorder()
    launches = [TraceLaunch("step", (blocks, 1, 1), (threads, 1, 1), 0, shared_memory)] * 2
    for number in range(len(launches)):
        for block in range(blocks):
            events = np.zeros((threads, rounds, 3), dtype=EVENT)
            events["thread"] = np.arange(threads)[:, None, None]
            events["site"] = np.arange(3 * rounds).reshape(rounds, 3)
            events["kind"] = [Kind.WORK, Kind.LOAD, Kind.WORK]
            events["bytes"] = [0, 4, 0]
            words = (block * threads + np.arange(threads))[:, None] * rounds + np.arange(rounds)
            events["value"][:, :, 0] = 2
            events["value"][:, :, 1] = 512 + 4 * words
            events["value"][:, :, 2] = 1
            ends = np.array([events.size], dtype=np.int64)
            batch = Batch(events.ravel(), np.array([number], np.int32), np.array([block], np.int32), ends)
            recorder.add(batch, launches)
    return recorder.finish("traced", {"n": blocks * threads}, launches, [], [], {"recorder": "test"})


def write(folder, **shape):
    """The trace and the machine, as files in a folder: traced.parquet and small.toml."""
    trace(**shape).save(folder / "traced.parquet")
    (folder / "small.toml").write_text(MACHINE, encoding="utf-8")
    return folder


def designed(folder, **tables):
    """A study of the trace in a folder on the machine in it."""
    return design_of(study_of({"program": "traced.parquet", "machines": ["small.toml"], **tables}), folder)

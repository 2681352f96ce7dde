"""Runs in files: what was written comes back, and what is none is told, whoever wrote it."""

import dataclasses
import json
import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, load_trace, lower
from simtmm.errors import SimtmmError, TraceError
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.runs import encoder
from simtmm.trace.runs import file as of_file
from simtmm.trace.runs.file import COLUMNS, STEPS
from simtmm.trace.runs.layout import LOOP
from simtmm.trace.schema import EVENT, METADATA_KEY, Batch, Kind, TraceLaunch
from tests.examples import examples
from tests.trace.test_runs import machine_with, programs, trace_of

PARTS = ("values", "nodes", "threads", "steps")


def digested(trace):
    """The trace with its own digest, as if it had been recorded."""
    from simtmm.trace.digest import TraceDigest

    digest = TraceDigest()
    for runs in trace.runs():
        digest.add(runs)
    info = trace.info
    return Trace(dataclasses.replace(info, digest=digest.finish(info.launches, info.arrays, info.sites)), trace._source)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@examples(40)
@given(program=programs)
def test_what_was_saved_comes_back(program, folder):
    trace = digested(trace_of(program))
    path = folder / "t.parquet"
    trace.save(path)
    back = load_trace(path)
    assert back.info == trace.info
    assert back.to_table().equals(trace.to_table())
    machine = machine_with(32)
    assert lower(back, machine) == lower(trace, machine)


def looping(many=40, threads=64, trips=50):
    """Blocks of a loop over two loads, one of them at addresses of no order."""
    random = np.random.default_rng(7)
    rows = []
    for block in range(many):
        where = 4 * random.integers(0, 1 << 20, threads)
        for thread in range(threads):
            for trip in range(trips):
                rows.append((4096 + 4 * thread + 256 * block + 64 * trip, 0, thread, int(Kind.LOAD), 4))
                rows.append((int(where[thread]) + 512 * trip, 1, thread, int(Kind.LOAD), 4))
            if thread % 3 == 0:
                rows.append((0, 2, thread, int(Kind.BARRIER), 0))
    events = np.array(rows, EVENT)
    ends = np.arange(1, many + 1) * (len(rows) // many)
    batch = Batch(events, np.zeros(many, np.int32), np.arange(many, dtype=np.int32), ends)
    launch = TraceLaunch("f", (many, 1, 1), (threads, 1, 1), 0, 0)
    return digested(Trace(TraceInfo("drawn", {}, (launch,), (), (), len(events), "", {}), [batch]))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "t.parquet"
    looping().save(path)
    return path


def test_the_columns_are_those_of_the_page(saved):
    table = pq.read_table(saved)
    assert table.schema.remove_metadata().equals(COLUMNS)
    assert table.column("structure").to_pylist() == [0] * 40
    assert [row is None for row in table.column("steps").to_pylist()] == [False] + [True] * 39
    assert saved.stat().st_size < 0.1 * looping().info.events  # a loop's values stand once


@pytest.mark.parametrize(("values", "groups"), [(1, 20), (500, 4), (10_000, 1)])
def test_row_groups_of_any_size_read_alike(tmp_path, monkeypatch, values, groups):
    monkeypatch.setattr("simtmm.trace.runs.writing.ROW_GROUP_VALUES", values)
    for name in ("PIECE", "TOGETHER"):
        monkeypatch.setattr(encoder, name, 2 * 6422)  # two blocks
    trace = looping()
    trace.save(tmp_path / "t.parquet")
    found = pq.ParquetFile(tmp_path / "t.parquet").num_row_groups
    assert groups / 2 <= found <= 2 * groups
    assert load_trace(tmp_path / "t.parquet").to_table().equals(trace.to_table())


def refused(path):
    with pytest.raises(TraceError) as caught:
        list(load_trace(path).runs())
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def rewrite(path, change):
    """Write the file anew with its columns, as lists of Python, changed."""
    file = pq.ParquetFile(path)
    document = file.metadata.metadata[METADATA_KEY]
    columns = file.read().to_pydict()
    change(columns)
    table = pa.table(columns, schema=COLUMNS.with_metadata({METADATA_KEY: document}))
    pq.write_table(table, path)


def first_step(columns, name, value):
    """Change a column of the first step that is no loop."""
    steps = columns["steps"][0]
    row = next(at for at in range(0, len(steps), len(STEPS)) if steps[at] != LOOP)
    steps[row + STEPS.index(name)] = value


CHANGES = {
    "another value": (lambda columns: columns["values"][3].__setitem__(0, 1), "metadata's digest"),
    "a value too many": (lambda columns: columns["values"][3].append(1), "has another number of threads"),
    "a value too few": (lambda columns: columns["values"][3].pop(), "has another number of threads"),
    "a block twice": (lambda columns: columns["block"].__setitem__(3, 2), "in the order"),
    "a block beyond the grid": (lambda columns: columns["block"].__setitem__(39, 40), "names a launch or block"),
    "another launch": (lambda columns: columns["launch"].__setitem__(39, 1), "names a launch or block"),
    "a structure that is not there": (lambda columns: columns["structure"].__setitem__(3, 1), "in order of appearance"),
    "a plain block of values": (
        lambda columns: columns["structure"].__setitem__(3, -1),
        "has another number of threads|it was truncated",
    ),
    "no structure": (lambda columns: columns["nodes"].__setitem__(0, None), "or none"),
    "no steps": (lambda columns: columns["steps"].__setitem__(0, []), "contradicts itself"),
    "half a step": (lambda columns: columns["steps"][0].pop(), "must be 8 numbers each"),
    "half a node": (lambda columns: columns["nodes"][0].pop(), "must be 2 numbers each"),
    "a node that is its own parent": (lambda columns: columns["nodes"][0].__setitem__(2, 1), "contradicts itself"),
    "steps that end beyond": (lambda columns: columns["nodes"][0].__setitem__(1, 99), "contradicts itself"),
    "a thread of nobody": (lambda columns: columns["threads"][0].__setitem__(0, 1), "contradicts itself"),
    "a loop of no trips": (lambda columns: columns["steps"][0].__setitem__(1, 0), "contradicts itself"),
    "a loop without end": (lambda columns: columns["steps"][0].__setitem__(1, 1 << 61), "contradicts itself"),
    "a loop of too many rows": (lambda columns: columns["steps"][0].__setitem__(2, 9), "contradicts itself"),
    "a loop of no rows": (lambda columns: columns["steps"][0].__setitem__(2, 0), "contradicts itself"),
    "more trips": (lambda columns: columns["steps"][0].__setitem__(1, 51), "it was truncated or changed"),
    "a kind that is none": (lambda columns: first_step(columns, 0, 77 << 48), "contradicts itself"),
    "a form that is none": (lambda columns: first_step(columns, 8, 2), "contradicts itself"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_contradicts_itself_is_reported(saved, change):
    rewrite(saved, CHANGES[change][0])
    assert re.search(CHANGES[change][1], refused(saved))


def test_rows_that_are_missing_are_noticed(saved):
    def cut(columns):
        for column in columns.values():
            del column[-1]

    rewrite(saved, cut)
    assert "it was truncated or changed" in refused(saved)


@examples(200)
@given(data=st.data())
def test_no_number_of_a_file_takes_the_tool_down(data, folder):
    """What is read may be refused, or be another trace; it is never read beyond, whatever the digest says."""
    path = folder / "fuzz.parquet"
    looping(many=2, threads=40, trips=5).save(path)
    places = data.draw(st.lists(st.tuples(st.sampled_from(PARTS), st.integers(0, 10**6)), min_size=1, max_size=4))
    numbers = st.one_of(st.integers(-3, 70), st.sampled_from([-(1 << 63), 1 << 62, (1 << 63) - 1, 1 << 48, 1 << 32]))

    def change(columns):
        for name, at in places:
            row = columns[name][0]
            number = data.draw(numbers)
            row[at % len(row)] = number % (1 << 64) if name == "threads" else number

    rewrite(path, change)
    try:
        info = load_trace(path).info
        pieces = list(of_file.read_runs(path, info))
    except SimtmmError:
        return
    if sum(int(runs.events.sum()) for runs in pieces) > 100_000:
        return
    trace = Trace(dataclasses.replace(info, events=sum(int(runs.events.sum()) for runs in pieces)), pieces)
    trace.to_table()
    for runs in pieces:
        runs.sums()
    for machine in (machine_with(32), machine_with(32, chunk_words=32, coalescing="half-warp-segments")):
        try:
            lower(trace, machine)
            count(trace, machine)
        except SimtmmError:
            continue


def test_metadata_of_runs_on_rows_of_another_kind_is_refused(saved):
    document = pq.ParquetFile(saved).metadata.metadata[METADATA_KEY]
    pq.write_table(pa.table({"a": [1, 2]}).replace_schema_metadata({METADATA_KEY: document}), saved)
    assert "is not a simtmm trace" in refused(saved)
    assert json.loads(document)["events"] == looping().info.events


def three_launches(tmp_path, monkeypatch):
    """A file of three launches of the same, a row group each; the trace, its blocks, and what is read of row groups."""
    monkeypatch.setattr("simtmm.trace.runs.writing.ROW_GROUP_BLOCKS", 1)
    monkeypatch.setattr(encoder, "TOGETHER", 1)
    (one,) = looping(4).batches()
    launch = looping(4).info.launches[0]
    pieces = [dataclasses.replace(one, launch=np.full(4, number, np.int32)) for number in range(3)]
    info = TraceInfo("drawn", {}, (launch,) * 3, (), (), 3 * len(one.events), "", {})
    digested(Trace(info, pieces)).save(tmp_path / "t.parquet")
    assert pq.ParquetFile(tmp_path / "t.parquet").num_row_groups == 3
    trace, read = load_trace(tmp_path / "t.parquet"), []
    assert [len(list(trace.runs_of(number))) > 0 for number in range(3)] == [True] * 3  # which looks at all of it
    group = pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *given: read.append(given[1]) or group(*given))
    return trace, one, read


def content(pieces):
    return b"".join(runs.to_batch().events.tobytes() for runs in pieces)


def test_a_launch_is_read_without_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr("simtmm.trace.io.MOST_SMALL", -1)
    trace, one, read = three_launches(tmp_path, monkeypatch)
    assert [content(trace.runs_of(number)) for number in range(3)] == [one.events.tobytes()] * 3
    assert sorted(read) == [0, 1, 2]
    assert content(trace.runs()) == one.events.tobytes() * 3
    assert sorted(read) == [0, 0, 1, 1, 2, 2]


def test_a_small_file_is_read_once(tmp_path, monkeypatch):
    trace, one, read = three_launches(tmp_path, monkeypatch)
    assert [content(trace.runs_of(number)) for number in range(3)] == [one.events.tobytes()] * 3
    assert content(trace.runs()) == content(trace.runs()) == one.events.tobytes() * 3
    assert read == []
    other = pickle.loads(pickle.dumps(trace))  # which takes no blocks along
    assert content(other.runs()) == one.events.tobytes() * 3
    assert read == [0, 1, 2]

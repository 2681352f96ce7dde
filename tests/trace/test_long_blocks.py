"""Blocks with more events than should lie in memory: in a file, and in rows that follow one another, they say the same.

Here they are long from some twenty events on.
"""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, load_trace, lower
from simtmm.errors import TraceError
from simtmm.native import Loop
from simtmm.trace import thread_counts
from simtmm.trace.digest import TraceDigest
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.runs import blocks as made_of
from simtmm.trace.runs import encoder, long_block, mapped
from simtmm.trace.runs.encoder import Encoder, runs_of
from simtmm.trace.runs.layout import PLAIN
from simtmm.trace.runs.long_block import LongBlock
from simtmm.trace.runs.mapped import Spool
from simtmm.trace.runs.writing import RunWriter
from simtmm.trace.schema import EVENT
from simtmm.trace.warps import lowering, windows
from simtmm.trace.warps.walk import MOST_OPERATIONS
from tests.examples import examples
from tests.trace.programs import Program
from tests.trace.test_runs import RULES, machine_with, programs, trace_of, wild_programs

LONG, STRETCH = 20, 62

any_programs = st.one_of(programs, wild_programs)


@pytest.fixture(scope="module", params=["as they are", "plain"])
def long_blocks(request):
    """Blocks of more than a few events lie in files; all of those as they are, or as far as that is shorter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "LONG", LONG)
        patch.setattr(made_of, "STRETCH", STRETCH)
        patch.setattr(encoder, "STRETCH", STRETCH)
        if request.param == "plain":
            patch.setattr(Encoder, "_grown", lambda *_: False)
        yield request.param == "plain"


def pieces_of(batch, shape):
    return list(runs_of([batch], [shape]))


def joined(pieces):
    """The events of all, and the blocks that they are of."""
    batches = [runs.to_batch() for runs in pieces]
    blocks = [block for batch in batches for block in batch.block.tolist()]
    counts = [count for batch in batches for count in np.diff(batch.ends, prepend=0).tolist()]
    return b"".join(batch.events.tobytes() for batch in batches), blocks, counts


@examples(50)
@given(program=any_programs)
def test_events_come_back_as_they_were(program, long_blocks):
    batch = program.batch(3)
    pieces = pieces_of(batch, program._shape)
    events, blocks, counts = joined(pieces)
    assert events == batch.events.tobytes()
    assert (blocks, counts) == (batch.block.tolist(), np.diff(batch.ends, prepend=0).tolist())
    assert all(runs.is_long == (counts[runs.block[0]] > LONG) for runs in pieces if long_blocks)
    assert all(runs.bytes < 64 + 16 * counts[runs.block[0]] // 64 for runs in pieces if runs.is_long)


@examples(30)
@given(program=any_programs)
def test_digests_and_counts_are_those_of_any_other_form(program, long_blocks):
    batch = program.batch(3)
    short = Encoder().runs(batch, 0, program._shape)
    pieces = pieces_of(batch, program._shape)
    assert np.concatenate([runs.sums() for runs in pieces]).tolist() == short.sums().tolist()
    digests = TraceDigest(), TraceDigest()
    for digest, given_runs in zip(digests, ([short], pieces), strict=True):
        for runs in given_runs:
            digest.add(runs)
    assert len({digest.finish([], []) for digest in digests}) == 1


@pytest.mark.parametrize("rules", [RULES[0], RULES[2], RULES[4]], ids=str)
@examples(30)
@given(program=programs)
def test_operations_and_counts_are_the_same(program, rules, long_blocks):
    whole, machine = trace_of(program), machine_with(**rules)
    (batch,) = whole.batches()
    short = Trace(whole.info, [Encoder().runs(batch, 0, program._shape)])
    long = Trace(whole.info, pieces_of(batch, program._shape))
    assert lower(long, machine) == lower(short, machine)
    assert count(long, machine) == count(short, machine)


@pytest.mark.parametrize("rules", [RULES[0], RULES[2]], ids=str)
def test_operations_made_in_parts_add_up_to_the_same(rules, monkeypatch):
    """A warp's operations come in several parts, and its waits go on from each to the next."""
    machine, parts = machine_with(**rules, stores="blocking"), []

    @examples(30)
    @given(program=programs)
    def agree(program):
        trace = trace_of(program)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lowering, "FIRST_ROOM", 1)
            patch.setattr(lowering, "MOST_ROOM", 1)
            patch.setattr(lowering, "most_chunks", lambda specification, lanes: 20 * lanes)
            lowered_output = lowering.Lowering._lowered_output
            patch.setattr(
                lowering.Lowering,
                "_lowered_output",
                lambda *given, **named: parts.append(1) or lowered_output(*given, **named),
            )
            workload, tallies = lower_or_stream(trace, machine)
            counts = count(trace, machine)
        assert workload == lower(trace, machine)
        assert tallies == workload.tallies
        assert counts == count(trace, machine)

    agree()
    assert len(parts) > 30  # more of them than traces


@examples(15)
@given(program=programs)
def test_a_file_holds_a_long_block_in_several_rows(program, long_blocks, tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "t.parquet"
    whole = trace_of(program)
    (batch,) = whole.batches()
    pieces = pieces_of(batch, program._shape)
    digest = TraceDigest()
    for runs in pieces:
        digest.add(runs)
    info = whole.info
    info = dataclasses.replace(info, digest=digest.finish(info.launches, info.arrays, info.sites))
    Trace(info, pieces).save(path)
    again = list(load_trace(path).runs())
    assert joined(again)[0] == batch.events.tobytes()
    longest = max([len(runs.values) for runs in pieces if runs.is_long], default=0)
    assert pq.ParquetFile(path).metadata.num_rows >= len(pieces) + (longest > STRETCH)


def test_rows_of_a_block_whose_threads_go_back_are_refused(tmp_path):
    trace = trace_of(Program(5, (2, 1, 1)), blocks=1)
    events = np.zeros(2, EVENT)
    events["thread"] = 1, 0
    nothing = Encoder().runs(dataclasses.replace(trace._source[0], events=events[:0], ends=np.zeros(1, np.int64)), 0,
                             (2, 1, 1))  # fmt: skip
    info = dataclasses.replace(trace.info, events=2)
    with RunWriter(tmp_path / "t.parquet") as writer:
        for event in events:
            words = event.reshape(1).view(np.int64)
            writer.add(
                dataclasses.replace(nothing, structure=np.array([PLAIN]), value_ends=np.array([2]), values=words)
            )
            writer._write()
        writer.close_with(info)
    with pytest.raises(TraceError, match="launch 0, block 0: threads must be in their order"):
        list(load_trace(tmp_path / "t.parquet").runs())


def test_no_index_is_outside_of_its_array(long_blocks, monkeypatch):
    for module, name in ((encoder, "_GROW_STRETCH"), (made_of, "_SUM_STRETCH"), (encoder, "_ENCODE"),
                         (thread_counts, "_COUNT_STRETCH")):  # fmt: skip
        monkeypatch.setattr(module, name, Loop(getattr(module, name).function, checked=True))

    @examples(20)
    @given(program=programs)
    def within(program):
        whole = trace_of(program)
        (batch,) = whole.batches()
        pieces = pieces_of(batch, program._shape)
        assert sum(len(runs.sums()) for runs in pieces) == 3
        count(Trace(whole.info, pieces), machine_with(32))

    within()


@pytest.mark.parametrize("part", [1, 5, 1000])
def test_events_that_come_between_barriers_are_put_in_the_order_of_threads(part, monkeypatch):
    monkeypatch.setattr(long_block, "LONG", 7)
    events = np.zeros(100, EVENT)
    events["value"] = np.arange(100)
    events["thread"] = np.random.default_rng(1).integers(0, 9, 100)
    block = LongBlock()
    for begin in range(0, 100, part):
        block.add(events[begin : begin + part])
    batch = block.batch(2, 5)
    assert batch.events.tolist() == events[np.argsort(events["thread"], kind="stable")].tolist()
    assert (batch.launch.tolist(), batch.block.tolist(), batch.ends.tolist()) == ([2], [5], [100])


def test_a_folder_without_room_is_reported_in_a_line(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    spool = Spool()
    monkeypatch.setattr(mapped.os, "pwrite", full)
    with pytest.raises(TraceError, match=r"set TMPDIR to a folder with more space") as caught:
        spool.append(np.zeros(3))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("free", "most"),
    [(0, mapped.LONG), (64 * mapped.LONG, mapped.LONG), (128 * mapped.LONG, 2 * mapped.LONG), (None, mapped.LONG)],
)
def test_a_block_may_have_the_events_that_half_of_the_free_space_holds_twice(monkeypatch, free, most):
    """Of 16 bytes each, in two files; where nobody knows how much is free, as many as memory may hold."""

    def usage(folder):
        if free is None:
            raise FileNotFoundError(folder)
        return SimpleNamespace(total=2 * free, used=free, free=free)

    monkeypatch.setattr(long_block.shutil, "disk_usage", usage)
    assert long_block.most_of_a_block() == most


def test_what_lies_in_a_file_may_be_let_go_of_at_any_time():
    spool = Spool()
    spool.append(np.arange(100_000))
    array = spool.mapped(np.int64)
    array[7] = -1
    mapped.let_go(array[:5])
    assert array[:9].tolist() == [0, 1, 2, 3, 4, 5, 6, -1, 8]
    mapped.let_go(np.zeros(3))


def test_windows_have_room_for_the_widest_step():
    """With less, a warp's window never has room for its next step, and is filled for ever."""
    assert windows.FEWEST > MOST_OPERATIONS

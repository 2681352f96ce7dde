"""Runs: blocks held by what their threads have in common say the same as their events."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, lower
from simtmm.machine import Machine
from simtmm.native import Loop
from simtmm.trace import thread_counts
from simtmm.trace.digest import TraceDigest
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.runs import blocks as made_of
from simtmm.trace.runs import encoder
from simtmm.trace.runs.encoder import Encoder, runs_of
from simtmm.trace.runs.encoding import MOST_ENTRIES
from simtmm.trace.runs.layout import LOOP, PLAIN, Node, Step
from simtmm.trace.runs.summing import FACTORS, PRIME, SUMS
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch
from simtmm.trace.warps import lowering
from tests.examples import examples
from tests.trace.plain_lockstep import operations_of
from tests.trace.programs import Program

SHAPES = [(1, 1, 1), (7, 1, 1), (32, 1, 1), (96, 1, 1), (8, 4, 1), (5, 3, 2), (1, 9, 1), (2, 2, 17)]
programs = st.builds(Program, st.integers(0, 2**32), st.sampled_from(SHAPES))
wild_programs = st.builds(Program, st.integers(0, 2**32), st.sampled_from(SHAPES), wild=st.just(True))


def encoded(program, blocks=3):
    batch = program.batch(blocks)
    return batch, Encoder().runs(batch, 0, program._shape)


def same(batch, other):
    return all(
        np.array_equal(getattr(batch, name), getattr(other, name)) for name in ("events", "launch", "block", "ends")
    )


@examples(150)
@given(program=st.one_of(programs, wild_programs))
def test_events_come_back_as_they_were(program):
    batch, runs = encoded(program)
    assert same(runs.to_batch(), batch)
    assert runs.events.tolist() == np.diff(batch.ends, prepend=0).tolist()


def in_step(shape, steps, changes):
    """A block whose threads all do the same, at values that go up by even steps but for the changes."""
    x, y, _ = shape
    thread = np.arange(np.prod(shape))[:, None]
    step = np.arange(steps)
    events = np.zeros((thread.size, steps), EVENT)
    events["value"] = 64 * step + (step % 5) * (thread % x) + (step % 3) * (thread // x % y) + thread // (x * y)
    events["site"] = step % 7
    events["thread"] = thread
    events["kind"], events["bytes"] = Kind.LOAD, 4
    for first, threads, at, field in changes:
        events[field][first % thread.size :, at % steps][:threads] += 7
    blocks = np.zeros(1, np.int32)
    return Batch(events.reshape(-1), blocks, blocks, np.array([events.size]))


CHANGES = st.tuples(*map(st.integers, (0, 0, 0), (50, 9, 200)), st.sampled_from(["value", "site"]))


@examples(80)
@given(shape=st.sampled_from(SHAPES), steps=st.integers(1, 200), changes=st.lists(CHANGES, max_size=4))
def test_many_events_in_step_with_the_thread_before_come_back_as_they_were(shape, steps, changes):
    batch = in_step(shape, steps, changes)
    assert same(Encoder().runs(batch, 0, shape).to_batch(), batch)


@examples(80)
@given(
    shape=st.sampled_from(SHAPES),
    steps=st.integers(1, 12),
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 40)), min_size=1, max_size=6),
    changes=st.lists(CHANGES, max_size=3),
)
def test_threads_of_a_row_that_end_at_different_steps_come_back_as_they_were(shape, steps, rows, changes):
    """rows: after how many steps threads end, and how many of them after one another."""
    whole = in_step(shape, steps, changes)
    ends = np.resize(np.repeat(*np.array(rows).T), np.prod(shape))
    events = whole.events[np.tile(np.arange(steps), len(ends)) < ends[whole.events["thread"]]]
    batch = Batch(events, whole.launch, whole.block, np.array([len(events)]))
    assert same(Encoder().runs(batch, 0, shape).to_batch(), batch)


def test_what_threads_in_step_do_stands_once():
    x, y, z = shape = (8, 4, 2)
    runs = Encoder().runs(in_step(shape, 100, []), 0, shape)
    assert (len(runs.structures.node), len(runs.values)) == (1, 100)
    one_apart = Encoder().runs(in_step(shape, 100, [(11, 1, 70, "site")]), 0, shape)
    assert one_apart.structures.node[:, Node.threads].tolist() == [64, 63, 1]
    listed = Encoder().runs(in_step(shape, 100, [(11, 1, 70, "value")]), 0, shape)
    assert (len(listed.structures.node), len(listed.values)) == (1, 99 + x * y * z)


@pytest.fixture(scope="module")
def checked_loops():
    """Have the loops look after their indices."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((encoder, "_ENCODE"), (made_of, "_DECODE"), (made_of, "_SUM"), (lowering, "_WALK"),
                             (thread_counts, "_COUNT")):  # fmt: skip
            patch.setattr(module, name, Loop(getattr(module, name).function, checked=True))
        yield


@examples(20)
@given(program=programs)
def test_no_index_is_outside_of_its_array(program, checked_loops):
    batch, runs = encoded(program)
    assert same(runs.to_batch(), batch)
    assert runs.sums().shape == (3, SUMS)
    trace = trace_of(program)
    for rules in RULES[:2]:
        count(trace, machine_with(**rules))


def plain_sums(batch):
    """As the page of runs/summing.py has them, event by event."""
    sums, begin = [], 0
    for end in batch.ends.tolist():
        total, passed = [0] * SUMS, {}
        for value, word in batch.events[begin:end].view(np.int64).reshape(-1, 2).tolist():
            thread, what = word >> 32 & 0xFFFF, word & ~(0xFFFF << 32)
            at = passed[thread] = passed.get(thread, -1) + 1
            for which, (a, c, r, q) in enumerate(FACTORS.tolist()):
                total[which] += (value + a * what + c) * pow(r, at, PRIME) * pow(q, thread, PRIME)
        sums.append([each % PRIME for each in total])
        begin = end
    return sums


@examples(30)
@given(program=st.one_of(programs, wild_programs))
def test_sums_are_those_of_the_events(program):
    batch, runs = encoded(program, blocks=2)
    assert runs.sums().tolist() == plain_sums(batch)


@pytest.mark.parametrize("base", [0, (1 << 45) - 1, 1 << 45, (1 << 63) - 100, -(1 << 45), 90 - (1 << 63)])
@pytest.mark.parametrize("by", [4, -4])
def test_sums_of_blocks_that_do_the_same_anywhere_are_those_of_their_events(base, by):
    """Those after the second are summed at once, unless a thread's value may go beyond 64 bits."""
    events = np.zeros(32 * 6, EVENT)
    thread, block = np.tile(np.arange(32), 6), np.repeat(np.arange(6), 32)
    events["value"] = (np.int64(base) + by * thread + 8 * block).astype(np.int64)  # beyond 64 bits from the other end
    events["site"], events["thread"], events["kind"], events["bytes"] = 3, thread, int(Kind.LOAD), 4
    batch = Batch(events, np.zeros(6, np.int32), np.arange(6, dtype=np.int32), np.arange(32, 193, 32))
    runs = Encoder().runs(batch, 0, (32, 1, 1))
    assert len(runs.structures.structure) == 1
    assert runs.sums().tolist() == plain_sums(batch)


@examples(30)
@given(program=programs, other=st.sampled_from(SHAPES), cut=st.integers(0, 3))
def test_a_digest_does_not_depend_on_how_runs_were_found(program, other, cut):
    batch, runs = encoded(program)
    digests = [TraceDigest() for _ in range(3)]
    digests[0].add(runs)
    digests[1].add(batch)  # as if it had another shape
    for chosen in (np.arange(cut), np.arange(cut, 3)):
        digests[2].add(runs.of_blocks(chosen.astype(np.int32)))
    assert len({digest.finish([], []) for digest in digests}) == 1


@examples(30)
@given(program=programs, data=st.data())
def test_a_digest_tells_any_change_of_an_event(program, data):
    batch, runs = encoded(program, blocks=1)
    if not len(batch.events):
        return
    events = batch.events.copy()
    at = data.draw(st.integers(0, len(events) - 1))
    name = data.draw(st.sampled_from(["value", "site", "kind", "bytes"]))
    events[name][at] ^= 1
    digest, changed = TraceDigest(), TraceDigest()
    digest.add(runs)
    changed.add(dataclasses.replace(batch, events=events))
    assert digest.finish([], []) != changed.finish([], [])


def trace_of(program, blocks=3):
    batch = program.batch(blocks)
    launch = TraceLaunch("f", (blocks, 1, 1), program._shape, 0, 0)
    return Trace(TraceInfo("drawn", {}, (launch,), (), (), len(batch.events), "", {}), [batch])


def machine_with(warp_width, chunk_words=8, **memory):
    cores = {"groups": 2, "cores_per_group": 4, "warp_width": warp_width, "max_threads_per_core": 256}
    return Machine.from_dict(
        {"name": "m", "cores": cores, "memory": {"latency": 100, "chunk_words": chunk_words, "word_bytes": 4, **memory}}
    )


RULES = [
    {"warp_width": 32},
    {"warp_width": 4, "chunk_words": 3},
    {"warp_width": 1},
    {"warp_width": 64, "chunk_words": 32},
    {"warp_width": 32, "chunk_words": 32, "coalescing": "half-warp-segments"},
    {"warp_width": 32, "atomics": "by-word"},
    {"warp_width": 32, "chunk_words": 32, "coalescing": "half-warp-segments", "atomics": "by-word"},
    {"warp_width": 32, "chunk_words": 32, "pipe": {}},
    {"warp_width": 64, "chunk_words": 32, "pipe": {"lanes": 4, "run": 16, "banks": 4}},
    {"warp_width": 64, "chunk_words": 32, "pipe": {"lanes": 4, "run": 16, "banks": 16, "tag_banks": 4}},
    {"warp_width": 32, "chunk_words": 32, "pipe": {"lanes": 8, "run": 24, "banks": 3, "tag_banks": 5}},
    {"warp_width": 32, "pipe": {"lanes": 16, "phase_bytes": 64}},
]


@pytest.mark.parametrize("rules", RULES, ids=str)
@examples(40)
@given(program=programs)
def test_lowering_does_what_its_page_says(program, rules):
    trace, machine = trace_of(program), machine_with(**rules)
    result, expected = lower(trace, machine), operations_of(trace, machine)
    assert [list(result.warp(warp)) for warp in range(result.warps)] == expected


STEPS = st.tuples(*[st.sampled_from([0, 4, 8, 12, 128, 1000, -4, -36, 1 << 33])] * 3)
SHARED = st.tuples(
    st.sampled_from([Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC, Kind.LOAD, Kind.STORE]),
    st.integers(0, 20),  # bytes
    st.sampled_from([0, 4, 60, 4096, (1 << 32) - 300, (1 << 32) + 40]),
    STEPS,
    st.sampled_from([0, 4, 128, 1 << 20]),  # with each time around
)
BANKS = [
    {}, {"banks.count": 12}, {"banks.count": 16, "banks.lanes": 16}, {"banks.word_bytes": 8},
    {"memory.pipe.phase_bytes": 128}, {"memory.pipe.lanes": 4, "memory.pipe.run": 16, "memory.pipe.banks": 4},
    {"memory.pipe.lanes": 4, "memory.pipe.run": 8, "memory.pipe.banks": 16, "memory.pipe.tag_banks": 2},
]  # fmt: skip


@pytest.mark.parametrize("banks", BANKS, ids=str)
@examples(40)
@given(st.lists(SHARED, min_size=1, max_size=4), st.sampled_from([(8, 8, 1), (16, 3, 2), (40, 1, 1), (3, 5, 2)]))
def test_conflicts_that_come_again_and_again_are_as_at_first(banks, accesses, shape):
    check_conflicts(banks, accesses, shape)


def test_conflicts_are_those_of_the_place_in_a_word_of_the_ends_of_rows_and_of_all_lanes():
    load = Kind.SHARED_LOAD
    check_conflicts({"banks.word_bytes": 8}, [(load, 8, 0, (8, 0, 0), 4)], (32, 1, 1))
    check_conflicts({}, [(load, 4, 0, (8, 404, 0), 128)], (24, 4, 1))
    check_conflicts({}, [(load, 4, 0, (128, 0, 0), 0)] * 2, (32, 1, 1), others=8)


def check_conflicts(banks, accesses, shape, others=1 << 16):
    """others: how many threads do the accesses behind the first one."""
    x, y, z = shape
    rows = []
    for thread in range(x * y * z):
        place = thread % x, thread // x % y, thread // (x * y)
        for trip in range(6):
            for site, (kind, size, base, steps, more) in enumerate(accesses if thread < others else accesses[:1]):
                value = base + more * trip + sum(step * at for step, at in zip(steps, place, strict=True))
                rows.append((max(value, 0), site, thread, int(kind), size))
    events = np.array(rows, EVENT)
    batch = Batch(events, np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([len(events)], np.int64))
    launch = TraceLaunch("f", (1, 1, 1), shape, 0, 0)
    trace = Trace(TraceInfo("drawn", {}, (launch,), (), (), len(events), "", {}), [batch])
    machine = machine_with(32).replace(banks)
    result = lower(trace, machine)
    assert [list(result.warp(warp)) for warp in range(result.warps)] == operations_of(trace, machine)


def test_runs_that_come_from_another_process_may_lie_anywhere():
    batch, runs = encoded(Program(11, (8, 4, 1)))
    buffers = []
    text = pickle.dumps(runs, protocol=5, buffer_callback=buffers.append)
    moved = [memoryview(b"x" + buffer.raw())[1:] for buffer in buffers]
    assert len(moved) > 5
    assert same(pickle.loads(text, buffers=moved).to_batch(), batch)


def test_a_loop_over_rows_and_columns_takes_a_few_rows():
    rows = [
        (4096 + 4 * (x + 64 * (y + 16 * k)) if site else 1 << 20 | 4 * k, site, x + 16 * y, int(Kind.LOAD), 4)
        for y in range(16)
        for x in range(16)
        for k in range(100)
        for site in (0, 1)
    ]
    one = np.zeros(1, np.int32)
    runs = Encoder().runs(Batch(np.array(rows, EVENT), one, one, np.array([len(rows)])), 0, (16, 16, 1))
    assert len(runs.structures.node) == 1
    assert [row[Step.what] == LOOP for row in runs.structures.step] == [True, False, False]
    assert len(runs.values) == 2
    assert runs.bytes < 1000


def test_blocks_that_do_the_same_elsewhere_share_all_but_their_values():
    events = [(512 + 4 * thread + 128 * block, 3, thread, 1, 4) for block in range(50) for thread in range(32)]
    batch = Batch(
        np.array(events, EVENT), np.zeros(50, np.int32), np.arange(50, dtype=np.int32), np.arange(32, 1601, 32)
    )
    runs = Encoder().runs(batch, 0, (32, 1, 1))
    assert len(runs.structures.structure) == 1
    assert runs.values.tolist() == [512 + 128 * block for block in range(50)]


def test_a_block_whose_threads_have_nothing_in_common_stands_as_its_events():
    random = np.random.default_rng(5)
    events = np.zeros(640, EVENT)
    events["thread"] = np.arange(640) // 20
    events["site"], events["value"] = random.integers(0, 1 << 20, 640), random.integers(0, 1 << 40, 640)
    runs = Encoder().runs(Batch(events, np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([640])), 0, (32, 1, 1))
    assert runs.structure.tolist() == [PLAIN]
    assert runs.values.nbytes == events.nbytes
    assert runs.to_batch().events.tobytes() == events.tobytes()


def test_batches_of_several_launches_come_as_runs_of_one_each():
    events = np.zeros(6, EVENT)
    batch = Batch(events, np.array([0, 0, 2], np.int32), np.array([0, 4, 1], np.int32), np.array([2, 4, 6]))
    pieces = list(runs_of([batch], [(1, 1, 1), (1, 1, 1), (2, 1, 1)]))
    assert [(runs.launch, runs.block.tolist(), runs.shape) for runs in pieces] == [
        (0, [0, 4], (1, 1, 1)),
        (2, [1], (2, 1, 1)),
    ]


def test_a_block_whose_tree_would_be_too_large_stands_as_its_events():
    """Two blocks that do the same over and over, but in too many steps to look for that; and one behind them."""
    count = MOST_ENTRIES + 5
    events = np.zeros(2 * count + 3, EVENT)
    events["value"] = 4 * (np.arange(len(events)) * 2654435761 % 1_000_003)
    ends = np.array([count, 2 * count, 2 * count + 3], np.int64)
    batch = Batch(events, np.zeros(3, np.int32), np.arange(3, dtype=np.int32), ends)
    runs = Encoder().runs(batch, 0, (1, 1, 1))
    assert runs.structure.tolist()[:2] == [PLAIN, PLAIN]
    assert same(runs.to_batch(), batch)
    assert runs.value_ends.tolist()[:2] == [2 * count, 4 * count]

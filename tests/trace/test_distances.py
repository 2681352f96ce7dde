"""Blocks that stand as distances from the one before are taken in as the events that they stand for are."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.native import Loop
from simtmm.trace.runs import blocks as made_of
from simtmm.trace.runs import encoder
from simtmm.trace.runs.encoder import Encoder, runs_of
from simtmm.trace.runs.layout import DISTANCE, PLAIN
from simtmm.trace.schema import EVENT, Batch, Kind
from tests.examples import examples
from tests.trace.programs import Program

SHAPES = [(1, 1, 1), (7, 1, 1), (96, 1, 1), (5, 3, 2)]
programs = st.builds(Program, st.integers(0, 2**32), st.sampled_from(SHAPES), wild=st.booleans())
FAR = st.integers(-(2**63), 2**63 - 1)
# Of each block: which of a few it does as, and by how much the values of its sites differ from that one's
DISTANCES = st.lists(st.one_of(st.just(0), st.just(512), FAR), min_size=1, max_size=5)
BLOCKS = st.lists(st.tuples(st.integers(0, 2), DISTANCES), min_size=1, max_size=12)


def moved(events, distances):
    """The same events, each value as far from what it was as its site's distance says."""
    of_site = np.array(distances, np.int64).view(np.uint64)
    events = events.copy()
    events["value"] += of_site[events["site"] % len(of_site)]
    return events


def whole(pieces, drawn):
    """The batch of blocks that do as these pieces do."""
    parts = [moved(pieces[which], distances) for which, distances in drawn]
    count = len(parts)
    ends = np.cumsum([len(part) for part in parts])
    return Batch(np.concatenate(parts), np.zeros(count, np.int32), np.arange(count, dtype=np.int32), ends)


def as_distances(batch):
    """The same batch, with distances wherever a block does as the last one before it that stands as its events."""
    parts, spared, model, begin = [], 0, np.empty(0, EVENT), 0
    for end in batch.ends.tolist():
        own, begin = batch.events[begin:end], end
        distances = distances_of(model, own)
        if distances is None:
            model = own
            parts.append(own)
        else:
            spared += len(own) - len(distances)
            parts.append(distances)
    ends = np.cumsum([len(part) for part in parts])
    return dataclasses.replace(batch, events=np.concatenate(parts), ends=ends, spared=spared)


def distances_of(model, own):
    """An event for each site, or None where a block does other things, or a site's values are not all as far off."""
    if len(own) == 0 or len(own) != len(model):
        return None
    if any((own[name] != model[name]).any() for name in ("site", "thread", "kind", "bytes")):
        return None
    sites, firsts = np.unique(own["site"], return_index=True)
    apart = own["value"] - model["value"]
    if (apart != apart[firsts][np.searchsorted(sites, own["site"])]).any():
        return None
    told = np.zeros(len(sites), EVENT)
    told["value"], told["site"], told["kind"] = apart[firsts], sites, DISTANCE
    return told[::-1]  # in no order that matters


def tables(pieces):
    """All that runs consist of."""
    return [(runs.launch, runs.block.tolist(), runs.structure.tolist(), runs.value_ends.tolist(), runs.values.tolist(),
             *(table.tolist() for table in runs.structures)) for runs in pieces]  # fmt: skip


def drawn_batch(program, drawn):
    three = program.batch(3)
    begins = [0, *three.ends[:-1].tolist()]
    pieces = [three.events[begin:end] for begin, end in zip(begins, three.ends.tolist(), strict=True)]
    return whole(pieces, drawn)


@examples(150)
@given(program=programs, drawn=BLOCKS)
def test_runs_are_the_same(program, drawn):
    batch = drawn_batch(program, drawn)
    found = Encoder().runs(as_distances(batch), 0, program._shape)
    assert tables([found]) == tables([Encoder().runs(batch, 0, program._shape)])
    assert found.to_batch().events.tolist() == batch.events.tolist()


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(encoder, "_ENCODE", Loop(encoder._ENCODE.function, checked=True))
    monkeypatch.setattr(made_of, "_SUM", Loop(made_of._SUM.function, checked=True))


def test_no_index_is_outside_of_its_array(checked):
    @examples(30)
    @given(program=programs, drawn=BLOCKS)
    def within(program, drawn):
        batch = drawn_batch(program, drawn)
        pieces = [Encoder().runs(each, 0, program._shape) for each in (as_distances(batch), batch)]
        sums = [runs.sums().tolist() for runs in pieces]
        assert sums[0] == sums[1]

    within()


def alike(blocks, irregular=False, threads=64, steps=3):
    """Blocks that do the same, far apart; irregular: each at addresses of which no thread's follows from another's."""
    events = np.zeros((threads, steps), EVENT)
    events["thread"], events["site"] = np.arange(threads)[:, None], np.arange(steps)
    events["kind"], events["bytes"] = Kind.LOAD, 4
    draw = np.random.default_rng(1)
    events["value"] = draw.integers(0, 1 << 20, events.shape) if irregular else 4 * events["thread"]
    if irregular:
        events["bytes"] = draw.integers(1, 200, events.shape)  # so many different events that it had better be plain
    return whole([events.reshape(-1)], [(0, [4096 * block, 8 * block]) for block in range(blocks)])


@pytest.mark.parametrize("irregular", [False, True])
def test_room_is_made_for_any_number_of_blocks(irregular):
    batch = alike(5000, irregular)
    told = as_distances(batch)
    assert told.count == len(batch.events)
    assert len(told.events) == 64 * 3 + 4999 * 3
    found, plain = (list(runs_of([each], [(64, 1, 1)])) for each in (told, batch))
    for name in ("block", "structure", "values"):
        assert np.array_equal(*(np.concatenate([getattr(runs, name) for runs in each]) for each in (found, plain)))
    assert (found[0].structure == PLAIN).all() == irregular
    assert np.array_equal(*(np.concatenate([runs.sums() for runs in each]) for each in (found, plain)))


def test_a_batch_is_never_parted_between_a_block_and_those_that_stand_as_distances_from_it(monkeypatch):
    monkeypatch.setattr(encoder, "PIECE", 50)
    monkeypatch.setattr(encoder, "TOGETHER", 100)
    batch = alike(40)
    pieces = list(runs_of([as_distances(batch), as_distances(batch)], [(64, 1, 1)]))
    assert sum(len(runs.block) for runs in pieces) == 80
    assert all(runs.to_batch().events.tolist() == batch.events.tolist() for runs in pieces)


def test_where_values_come_near_the_ends_of_64_bits_sums_are_as_without_weights():
    for far in (1 << 44, 1 << 46, 1 << 62, -(1 << 46)):
        events = np.zeros(8, EVENT)
        events["thread"], events["kind"] = np.arange(8), Kind.LOAD
        events["value"] = np.uint64(far & 0xFFFFFFFFFFFFFFFF) + np.uint64(4) * events["thread"]
        batch = whole([events], [(0, [0])] * 4)
        (first, *others) = Encoder().runs(batch, 0, (8, 1, 1)).sums().tolist()
        alone = Encoder().runs(whole([events], [(0, [0])]), 0, (8, 1, 1)).sums().tolist()
        assert [first] == alone
        assert others == 3 * alone

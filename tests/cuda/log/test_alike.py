"""Blocks that log what one before them does, further on: as distances they say what their own events would."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.cuda.execution.layout import COPIER_BIT, LANES, NEW_BLOCK, NEW_WARP, PEER_BIT, SHARED_WINDOW, TOLD_WIDTH
from simtmm.cuda.log import alike, events
from simtmm.cuda.log.events import LogReader, SiteTable
from simtmm.native import Loop
from simtmm.recorder.compiled.spins import without_spins
from simtmm.trace.runs.distances import spelled_out
from simtmm.trace.runs.layout import DISTANCE
from simtmm.trace.schema import GRID_WORKSPACE, Kind
from tests.examples import examples

THREADS = 40  # of a block: the second warp is not full
SITES = [Kind.WORK, Kind.BARRIER, Kind.ASYNC, Kind.STORE, Kind.SHARED_LOAD, Kind.ASYNC, Kind.COPY, Kind.WORK]
GENERIC = 5  # the site whose addresses tell the space
IN_TRACE = [9, 4, 5, 6, 7, 8, 3, 5]  # an access may have a site together with work
FAR = st.one_of(st.just(0), st.just(256), st.integers(-(1 << 12), 1 << 12))
CHANGES = ["none", "none", "none", "lane", "mask", "site", "more", "fewer", "warp", "space"]
BLOCKS = st.lists(st.tuples(st.sampled_from(CHANGES), st.lists(FAR, min_size=3, max_size=3)), min_size=1, max_size=9)


@pytest.fixture(autouse=True)
def all_blocks(monkeypatch):
    """Those are compared, too, that do next to nothing."""
    monkeypatch.setattr(events, "LEAST_COMPARED", 0)


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(alike, "FIND_DISTANCES", Loop(alike.find_distances, checked=True))


def table():
    kinds = np.array(SITES, np.uint8)
    generic = np.arange(len(SITES)) == GENERIC
    width = np.where(np.isin(kinds, [Kind.WORK, Kind.BARRIER]), 0, 4).astype(np.uint8)
    return SiteTable(np.array(IN_TRACE), kinds, width, generic, np.arange(len(SITES)) != 7, 77)


def entries_of(chance):
    """What a block does: (warp, site, mask, addresses) of each entry."""
    entries = []
    for _ in range(chance.randint(1, 14)):
        warp, site = chance.randrange(2), chance.randrange(len(SITES))
        mask = (1 << (LANES if warp == 0 else THREADS - LANES)) - 1
        if chance.random() < 0.4:
            mask &= chance.getrandbits(LANES)
        base = (1 << 16) + 128 * chance.randrange(100)
        addresses = [base + chance.choice([4 * lane, 0, 64 * lane]) for lane in range(LANES)]
        entries.append((warp, site, mask, addresses))
    return entries


def changed(entries, change, distances, chance):
    """What another block does: the same, each site's addresses further on; but for one change."""
    found = []
    for warp, site, mask, addresses in entries:
        apart = 0 if SITES[site] == Kind.COPY else distances[site % len(distances)]
        found.append((warp, site, mask, [address + apart for address in addresses]))
    at = chance.randrange(len(found))
    warp, site, mask, addresses = found[at]
    if change == "lane":
        lane = chance.randrange(LANES)
        addresses = [address + 4 * (each == lane) for each, address in enumerate(addresses)]
    elif change == "mask":
        mask &= chance.getrandbits(LANES)
    elif change == "site":
        site = chance.randrange(len(SITES))
    elif change == "warp":
        warp = 1 - warp
        mask &= (1 << (LANES if warp == 0 else THREADS - LANES)) - 1
    elif change == "space" and site == GENERIC:
        addresses = [address + SHARED_WINDOW for address in addresses]
    found[at] = warp, site, mask, addresses
    if change == "more":
        found.append(found[at])
    return found[:-1] if change == "fewer" else found


def log_of(blocks, chance):
    """Pieces of a log of such blocks, cut and marked anywhere."""
    pieces, words = [], []
    for number, entries in enumerate(blocks):
        words += [NEW_BLOCK & 0xFFFFFFFF, number]
        known = None
        for warp, site, mask, addresses in entries:
            if chance.random() < 0.1:  # the log was full
                pieces.append(words)
                words, known = [NEW_BLOCK & 0xFFFFFFFF, number], None
            if warp != known or chance.random() < 0.1:
                words.append(warp << 32 | NEW_WARP & 0xFFFFFFFF)
            known = warp
            words.append(mask << 32 | site)
            if SITES[site] not in (Kind.WORK, Kind.BARRIER):
                words += [
                    address if mask >> lane & 1 else chance.getrandbits(60) for lane, address in enumerate(addresses)
                ]
    return [np.array(piece, np.uint64).view(np.uint8) for piece in [*pieces, words]]


def read(pieces, blocks, compares):
    reader = LogReader(table(), THREADS, compares=compares)
    ended = [int(piece.view(np.int64)[1]) for piece in pieces[1:]] + [blocks]  # a piece begins with its block's mark
    batches = [batch for piece, before in zip(pieces, ended, strict=True) for batch in reader.add(piece, before)]
    return reader, batches + list(reader.rest())


def all_of(batches):
    """Events and blocks of batches, in order, all spelled out."""
    batches = list(map(spelled_out, batches))
    blocks = [block for batch in batches for block in batch.block.tolist()]
    counts = [count for batch in batches for count in np.diff(batch.ends, prepend=0).tolist()]
    return b"".join(batch.events.tobytes() for batch in batches), blocks, counts


def as_told(seed, drawn, monkeypatch, group):
    """Blocks read with distances and without: (reader, batches) each."""
    chance = random.Random(seed)
    first = entries_of(chance)
    blocks = [changed(first, change, distances, chance) for change, distances in drawn]
    pieces = log_of(blocks, chance)
    monkeypatch.setattr(events, "GROUP", group)
    return read(pieces, len(blocks), True), read(pieces, len(blocks), False)


def hold(seed, drawn, group):
    with pytest.MonkeyPatch.context() as monkeypatch:
        (reader, batches), (plain, whole) = as_told(seed, drawn, monkeypatch, group)
        assert all_of(batches) == all_of(whole)
        assert (reader.events, reader.held_bytes) == (plain.events, 0)
        assert reader.events == sum(batch.count for batch in batches)


@examples(300)
@given(seed=st.integers(0, 2**32), drawn=BLOCKS, group=st.sampled_from([1, 2000, 1 << 22]))
def test_events_are_those_of_each_block_alone(seed, drawn, group):
    hold(seed, drawn, group)


def test_no_index_is_outside_of_its_array(checked):
    @examples(60)
    @given(seed=st.integers(0, 2**32), drawn=BLOCKS)
    def within(seed, drawn):
        hold(seed, drawn, 1 << 22)

    within()


def two(one, other):
    """Two blocks with an entry each: how many stand as distances."""
    pieces = log_of([[one], [other]], random.Random(1))
    _, batches = read(pieces, 2, True)
    plain = read(pieces, 2, False)[1]
    assert all_of(batches) == all_of(plain)
    return sum((batch.events["kind"] == DISTANCE).any() for batch in batches)


ALL = (1 << LANES) - 1


def access(site, base, mask=ALL, step=4):
    return 0, site, mask, [base + step * lane for lane in range(LANES)]


def test_a_block_of_as_many_events_as_sites_is_not_worth_it():
    assert two(access(2, 4096, 1 << 31), access(2, 8192, 1 << 31)) == 0


@pytest.mark.parametrize("mask", [ALL, 0b1011])
def test_a_block_whose_addresses_are_all_further_on_stands_as_distances(mask):
    assert two(access(2, 4096, mask), access(2, 8192, mask)) == 1
    assert two(access(4, 64, mask), access(4, 192, mask)) == 1  # in shared memory
    assert two(access(5, SHARED_WINDOW + 64, mask), access(5, SHARED_WINDOW + 64, mask)) == 1


@pytest.mark.parametrize(
    ("site", "one", "other"),
    [
        (5, 4096, SHARED_WINDOW + 4096),  # another space
        (5, SHARED_WINDOW + 64, SHARED_WINDOW + 128),  # which may become one of several
        (4, 64, (1 << PEER_BIT) + 64),  # another block's memory
        (2, (4 << TOLD_WIDTH) + 64, (8 << TOLD_WIDTH) + 64),  # texels of other sizes
        (6, (1 << COPIER_BIT) + 64, (1 << COPIER_BIT) + 160),  # copies in bulk, of which events are parts
        (6, 64, 128),
    ],
)
def test_addresses_that_say_more_than_where_stand_as_events(site, one, other):
    table_of_one = (access(site, one, 1, 0), access(site, other, 1, 0))
    pieces = log_of([[entry] for entry in table_of_one], random.Random(1))
    _, batches = read(pieces, 2, True)
    assert not any((batch.events["kind"] == DISTANCE).any() for batch in batches)


def test_blocks_that_never_are_alike_are_not_compared_for_long(monkeypatch):
    asked = []
    found = alike.distances_of
    monkeypatch.setattr(alike, "distances_of", lambda *given: asked.append(1) or found(*given))
    blocks = [[access(2, 4096, ALL, 4 * number)] for number in range(30)]
    _, batches = read(log_of(blocks, random.Random(1)), 30, True)
    assert len(asked) == events.GIVE_UP
    assert sum(len(batch.block) for batch in batches) == 30


def test_a_block_that_looks_for_others_is_spelled_out():
    barrier, look = (0, 1, ALL, []), access(2, GRID_WORKSPACE, 1, 0)
    pieces = log_of([[barrier, look, look, look], [barrier, look, look, look]], random.Random(4))
    _, (batch,) = read(pieces, 2, True)
    assert batch.spared > 0
    found = without_spins(batch)
    assert (found.spared, found.count) == (0, without_spins(spelled_out(batch)).count)
    assert found.count == 2 * (32 + 1)

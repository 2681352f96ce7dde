"""The log of a launch as events: entries drawn by chance, read one by one beside the compiled loops."""

import random

import numpy as np
import pytest

from simtmm.cuda.execution.layout import (
    LANES,
    LOCAL_WINDOW,
    NEW_BLOCK,
    NEW_WARP,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    TOLD_WIDTH,
)
from simtmm.cuda.log import events
from simtmm.cuda.log import loops as log_loops
from simtmm.cuda.log.events import LogReader, SiteTable
from simtmm.native import Loop
from simtmm.trace.schema import Kind

THREADS = 40  # of a block: the second warp is not full
SHARED_SITE = 77
# Of each site: kind, width, whether its address tells the space, whether it has instructions of its own
SITES = [
    (Kind.WORK, 0, False, True), (Kind.WORK, 0, False, False), (Kind.BARRIER, 0, False, True),
    (Kind.ASYNC, 4, False, True), (Kind.STORE, 255, False, True), (Kind.ATOMIC, 8, False, True),
    (Kind.ASYNC, 8, True, True), (Kind.STORE, 4, True, True), (Kind.ATOMIC, 4, True, True),
    (Kind.SHARED_LOAD, 4, False, True), (Kind.ASYNC, 0, False, True),
]  # fmt: skip
IN_SHARED = {
    Kind.ASYNC: Kind.SHARED_LOAD, Kind.STORE: Kind.SHARED_STORE, Kind.ATOMIC: Kind.SHARED_ATOMIC,
    Kind.SHARED_LOAD: Kind.SHARED_LOAD,
}  # fmt: skip


@pytest.fixture(params=[False, True], ids=["as it runs", "checked"])
def loops(request, monkeypatch):
    if request.param:  # an index outside of its array raises
        for name in ("FIND_BLOCKS", "SIZE_EVENTS", "FILL_EVENTS"):
            monkeypatch.setattr(log_loops, name, Loop(getattr(log_loops, name).function, checked=True))


def table():
    kind, width, generic, issues = zip(*SITES, strict=True)
    return SiteTable(
        np.arange(len(SITES)) + 1000, np.array(kind, np.uint8), np.array(width, np.uint8), np.array(generic),
        np.array(issues), SHARED_SITE,
    )  # fmt: skip


def drawn(chance):
    """Pieces of a log, and what they say: (block, warp, site, lanes, addresses) of each entry."""
    pieces, entries = [], []
    for _ in range(3):
        words = []
        for block in chance.sample(range(6), 4):
            words += [(0, NEW_BLOCK), block]
            for warp in chance.choices(range(2), k=3):
                words.append((warp, NEW_WARP))
                for site in chance.choices(range(len(SITES)), k=chance.randint(0, 12)):
                    mask = chance.getrandbits(LANES if warp == 0 else THREADS - LANES)
                    words.append((mask, site))
                    addresses = []
                    if SITES[site][0] not in (Kind.WORK, Kind.BARRIER):
                        addresses = [address_at(chance, site) for _ in range(LANES)]
                        words += addresses
                    lanes = [lane for lane in range(LANES) if mask >> lane & 1]
                    entries.append((block, warp, site, lanes, addresses))
        flat = [word if isinstance(word, int) else word[0] << 32 | word[1] & 0xFFFFFFFF for word in words]
        pieces.append(np.array(flat, dtype=np.uint64).view(np.uint8))
    return pieces, entries


def address_at(chance, site):
    kind, width, generic, _ = SITES[site]
    if kind == Kind.ASYNC and width == 0:  # a texel's, whose bytes it tells
        return chance.choice([1, 4, 16, 255]) << TOLD_WIDTH | chance.randrange(SHARED_WINDOW)
    windows = [0]
    if generic:
        windows += [SHARED_WINDOW] + [LOCAL_WINDOW] * (kind != Kind.ATOMIC) + [PARAMETER_WINDOW] * (kind == Kind.ASYNC)
    return chance.choice(windows) + chance.randrange(1 << 20)


def expected(entries):
    """The events of each thread by block: [value, site, kind, bytes]."""
    events = {}
    for block, warp, site, lanes, addresses in entries:
        kind, width, generic, issues = SITES[site]
        for lane in lanes:
            own = events.setdefault(block, [[] for _ in range(THREADS)])[LANES * warp + lane]
            if kind == Kind.WORK and own and own[-1][1] == 1000 + site:
                own[-1][0] += issues
            elif kind in (Kind.WORK, Kind.BARRIER):
                own.append([int(kind == Kind.WORK and issues), 1000 + site, kind, width])
            else:
                own.append(access(addresses[lane], kind, width, generic, site))
    return events


def access(address, kind, width, generic, site):
    if width == 0:
        address, width = address & (1 << TOLD_WIDTH) - 1, address >> TOLD_WIDTH
    if generic and address >= PARAMETER_WINDOW:
        kind = Kind.CONSTANT_LOAD
    elif generic and address >= LOCAL_WINDOW:
        address, kind = address - LOCAL_WINDOW, Kind.LOCAL_LOAD if kind == Kind.ASYNC else Kind.LOCAL_STORE
    elif generic and address >= SHARED_WINDOW:
        address, kind = address - SHARED_WINDOW, IN_SHARED[kind]
    if kind in IN_SHARED.values():
        address += SHARED_SITE << 32
    return [address, 1000 + site, kind, width]


@pytest.mark.parametrize("seed", range(20))
def test_events_are_those_of_the_entries_by_block_and_thread(loops, seed):
    pieces, entries = drawn(random.Random(seed))
    reader = LogReader(table(), THREADS)
    batches = [batch for piece in pieces for batch in reader.add(piece, 0)] + list(reader.rest())
    found, begin = {}, 0
    (batch,) = batches
    for block, end in zip(batch.block.tolist(), batch.ends.tolist(), strict=True):
        own = found[block] = [[] for _ in range(THREADS)]
        rows = batch.events[begin:end]
        assert (np.diff(rows["thread"].astype(int)) >= 0).all()
        for value, site, thread, kind, size in rows.tolist():
            own[thread].append([value, site, kind, size])
        begin = end
    right = expected(entries)
    assert {block: own for block, own in found.items() if any(own)} == right
    assert reader.events == begin == sum(len(own) for threads in right.values() for own in threads)
    accesses = [
        kind not in (Kind.WORK, Kind.BARRIER) for own in right.values() for thread in own for _, _, kind, _ in thread
    ]
    assert reader.accesses == sum(accesses)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [1, 1000, 4000])
def test_a_long_log_becomes_the_same_events_piece_by_piece(loops, seed, most, monkeypatch):
    pieces, _ = drawn(random.Random(seed))
    whole, parts = LogReader(table(), THREADS), LogReader(table(), THREADS)
    (batch,) = [batch for piece in pieces for batch in whole.add(piece, 0)] + list(whole.rest())
    monkeypatch.setattr(events, "LONG_LOG", most)
    result = [batch for piece in pieces for batch in parts.add(piece, 0)] + list(parts.rest())
    assert b"".join(one.events.tobytes() for one in result) == batch.events.tobytes()
    assert [block for one in result for block in one.block.tolist()] == batch.block.tolist()
    counts = [count for one in result for count in np.diff(one.ends, prepend=0).tolist()]
    assert counts == np.diff(batch.ends, prepend=0).tolist()
    assert (parts.events, parts.accesses, parts.held_bytes) == (whole.events, whole.accesses, 0)
    assert parts.longest == 0

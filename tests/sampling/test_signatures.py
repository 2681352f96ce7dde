"""What blocks do at which place: each event of a trace is counted once, in its block and at its site."""

import numpy as np
import pytest

from simtmm.sampling.differing.signature import MOST_PLACES, Places, joined, signatures
from simtmm.trace.io import Trace
from simtmm.trace.runs import encoder, layout
from simtmm.trace.schema import Batch
from tests.trace.build import load, trace, work


def drawn(seed, blocks=12, threads=32):
    """Blocks without order, but that every third of them does the same at each thread."""
    random = np.random.default_rng(seed)

    def events(number):
        return [
            load(int(site), 64 * int(address)) if address % 3 else work(int(site), 5)
            for site, address in zip(random.integers(0, 7, number), random.integers(0, 999, number), strict=True)
        ]

    regular = [[load(8, 4096 + 4 * lane), *[load(9, 8192 + 256 * lane)] * 3] for lane in range(threads)]
    return [
        regular if block % 3 == 0 else [events(int(random.integers(1, 12))) for _ in range(threads)]
        for block in range(blocks)
    ]


def counted(blocks):
    """Events of each block by site."""
    return [
        {site: sum(event[0] == site for thread in block for event in thread) for site in range(10)} for block in blocks
    ]


def in_one(given):
    """A trace whose blocks come together."""
    made = trace(given)
    parts = list(made.batches())
    events, blocks = (np.concatenate([getattr(part, name) for part in parts]) for name in ("events", "block"))
    ends = np.cumsum([len(part.events) for part in parts])
    return Trace(made.info, [Batch(events, np.zeros(len(parts), np.int32), blocks, ends)])


def found_of(given):
    places = Places()
    made = in_one(given)
    found = joined(part for launch, part in signatures(made, {0: places}) if launch == 0)
    sums = [
        {site: sum(row[column] for (own, _), column in places.columns.items() if own == site) for site in range(10)}
        for row in found.places
    ]
    return made, found, places, sums


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [None, 150])
def test_each_event_is_counted_in_its_block_and_at_its_site(seed, most, monkeypatch):
    if most:
        monkeypatch.setattr(encoder, "LONG", most)  # events, from which on a block is held in stretches
    blocks = drawn(seed)
    made, found, _, sums = found_of(blocks)
    structures = np.concatenate([runs.structure for runs in made.runs()])
    assert 0 < (structures == layout.PLAIN).sum() < len(blocks)  # both kinds
    assert any(runs.is_long for runs in made.runs()) == bool(most)
    assert found.block.tolist() == list(range(len(blocks)))
    assert sums == counted(blocks)
    assert found.work.tolist() == [
        sum(event[2] if event[1] == "work" else 1 for thread in block for event in thread) for block in blocks
    ]


def test_a_stride_is_a_place_of_its_own():
    block = [[load(8, 4096 + 4 * lane), load(8, 65536 + 256 * lane)] for lane in range(32)]
    _, found, places, _ = found_of([block] * 4)
    assert {stride: found.places[0][column] for (_, stride), column in places.columns.items()} == {3: 32, 9: 32}


def test_places_beyond_the_last_column_are_none():
    places = Places({(site, 0): site for site in range(MOST_PLACES)})
    assert [places.column(MOST_PLACES - 1, 0), places.column(5, 0), places.column(5, 1)] == [MOST_PLACES - 1, 5, -1]
    places.columns.popitem()
    assert [places.column(5, 1), places.column(5, 2)] == [MOST_PLACES - 1, -1]

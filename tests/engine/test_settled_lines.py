"""Lines of a cache that say themselves which of their sectors they have, once all of these are filled: nobody finds
anything else in them than if each sector's fill time were looked up for ever.
"""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.engine.fast.layout import ABSENT, WRITTEN, Line
from simtmm.engine.fast.memory.cache import drop_line, find_line
from simtmm.engine.fast.memory.sectors import (
    bytes_of_sector,
    clean_line,
    fill_of,
    insert_empty,
    is_apart,
    is_settled,
    lacking_of,
    put_sectors,
    settle_line,
    store_sectors,
    stored_of,
    written_of,
)
from simtmm.native import Rows
from simtmm.workload import SECTOR_BITS

WAYS, CHUNKS = 3, 4


class Set:
    """A set of a cache. settles: whether its lines are settled where loads find all that they want."""

    def __init__(self, sectors, settles):
        self.parameters = SimpleNamespace(sectors=sectors, sector_bytes=32, fetch_sectors=1)
        self.kept = np.full((1, WAYS, len(Line)), -1, dtype=np.int64)
        self.lines = Rows(self.kept, Line)
        self.sectors = np.full((1, WAYS, sectors + 1), -1, dtype=np.int64)
        self.settles = settles
        self.kinds = set()

    def load(self, chunk, wanted, filled, t):
        """What is lacking, and when what is there is filled, if that is not past."""
        line = self._find(chunk)
        lacking = lacking_of(self.parameters, self.sectors, 0, line, wanted)
        if lacking:
            put_sectors(self.parameters, self.lines, self.sectors, 0, lacking, filled)
            return lacking, None
        fill = fill_of(self.parameters, self.sectors, 0, line, wanted)
        if self.settles:
            settle_line(self.parameters, self.lines, self.sectors, 0, line, t)
            after = self.kept[0, 0, Line.fill]
            self.kinds.add("settled" if is_settled(after) else "apart" if is_apart(after) else "whole")
        return lacking, max(fill, t)

    def store(self, chunk, accessed, finish):
        self._find(chunk)
        store_sectors(self.parameters, self.lines, self.sectors, 0, accessed, finish)

    def drop(self, chunk):
        drop_line(self.lines, 0, chunk, WAYS)

    def clean(self, way):
        """What is written down of the line at a place: bytes of each of its sectors."""
        if self.kept[0, way, Line.chunk] < 0 or not self.kept[0, way, Line.fill] & WRITTEN:
            return None
        line = self.kept[0, way, Line.fill]
        written = written_of(self.parameters, self.sectors, 0, line)
        stored = stored_of(self.parameters, self.sectors, 0, line)
        clean_line(self.parameters, self.lines, self.sectors, 0, way)
        return written, [bytes_of_sector(self.parameters, stored, n) for n in range(self.parameters.sectors)]

    def _find(self, chunk):
        line = find_line(self.lines, 0, chunk, WAYS)
        if line == ABSENT:
            insert_empty(self.lines, 0, chunk, WAYS - 1)
        return line


@pytest.mark.parametrize("sectors", [2, 4])
@pytest.mark.parametrize("seed", range(8))
def test_a_settled_line_has_what_it_had(sectors, seed):
    chance = random.Random(seed)
    plain, settled = both = Set(sectors, False), Set(sectors, True)
    t = 0
    for _ in range(1500):
        t += chance.choice([0, 0, 1, 5, 40])
        chunk = np.int64(chance.randrange(CHUNKS))
        match chance.choice(["load", "load", "load", "store", "store whole", "clean", "drop"]):
            case "load":
                wanted, filled = np.int64(chance.randrange(1, 1 << sectors)), np.int64(t + chance.choice([1, 30]))
                found = [each.load(chunk, wanted, filled, np.int64(t)) for each in both]
            case "store":
                of_each = [chance.choice([0, 0, 4, 32]) for _ in range(sectors)]
                accessed = np.int64(sum(count << SECTOR_BITS * place for place, count in enumerate(of_each)))
                found = [each.store(chunk, accessed, np.int64(t + 20)) for each in both] if accessed else [0, 0]
            case "store whole":
                found = [each.store(chunk, np.int64(0), np.int64(t + 20)) for each in both]
            case "clean":
                way = chance.randrange(WAYS)
                found = [each.clean(way) for each in both]
            case _:
                found = [each.drop(chunk) for each in both]
        assert found[0] == found[1]
        assert plain.kept[..., Line.chunk].tolist() == settled.kept[..., Line.chunk].tolist()
    assert settled.kinds == {"settled", "apart", "whole"}

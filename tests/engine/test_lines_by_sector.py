"""Lines of a cache whose sectors come one by one: what is found in them is what was put into them, whether a line says
itself which sectors it has and since when, or they have a row in a table.
"""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.engine.fast.layout import ABSENT, LATEST_JOINT, WRITTEN, Line
from simtmm.engine.fast.memory.cache import drop_line, find_line
from simtmm.engine.fast.memory.sectors import (
    bytes_of_sector,
    clean_line,
    fill_of,
    insert_empty,
    is_apart,
    is_joint,
    lacking_of,
    put_sectors,
    settle_line,
    store_sectors,
    stored_of,
    written_of,
)
from simtmm.native import Rows
from simtmm.workload import SECTOR_BITS

WAYS, CHUNKS, BYTES = 3, 4, 32


class Plain:
    """A set of a cache: of each chunk, latest used first, when each sector was filled, None if it is not there, and how
    many of its bytes are to be written down.
    """

    def __init__(self, sectors):
        self.sectors = sectors
        self.lines = []  # of (chunk, fills, bytes)

    def load(self, chunk, wanted, filled, t):
        """What is lacking, and when what is there is filled, if that is not past."""
        _, fills, _ = self._find(chunk)
        chosen = [place for place in range(self.sectors) if wanted >> place & 1]
        lacking = [place for place in chosen if fills[place] is None]
        for place in lacking:
            fills[place] = filled
        if lacking:
            return sum(1 << place for place in lacking), None
        return 0, max(t, *(fills[place] for place in chosen))

    def store(self, chunk, accessed, finish):
        """So many bytes of each sector are stored; one that is whole by that is there."""
        _, fills, stored = self._find(chunk)
        for place, count in enumerate(accessed):
            stored[place] = min(BYTES, stored[place] + count)
            if stored[place] == BYTES and fills[place] is None:
                fills[place] = finish

    def drop(self, chunk):
        """Take a line out."""
        self.lines = [line for line in self.lines if line[0] != chunk]

    def clean(self, way):
        """What is written down of the line at a place: bytes of each of its sectors."""
        if way >= len(self.lines) or not any(self.lines[way][2]):
            return None
        stored = list(self.lines[way][2])
        self.lines[way][2][:] = [0] * self.sectors
        return stored

    def chunks(self):
        """Of each place."""
        return [line[0] for line in self.lines] + [-1] * (WAYS - len(self.lines))

    def _find(self, chunk):
        found = next((line for line in self.lines if line[0] == chunk), None)
        if found:
            self.lines.remove(found)
        self.lines = [found or (chunk, [None] * self.sectors, [0] * self.sectors), *self.lines][:WAYS]
        return self.lines[0]


class Set:
    """The same as the engine keeps it."""

    def __init__(self, sectors):
        self.parameters = SimpleNamespace(sectors=sectors, sector_bytes=BYTES, fetch_sectors=1)
        self.kept = np.full((1, WAYS, len(Line)), -1, dtype=np.int64)
        self.lines = Rows(self.kept, Line)
        self.sectors = np.full((1, WAYS, sectors + 1), -1, dtype=np.int64)
        self.kinds = set()

    def load(self, chunk, wanted, filled, t):
        line = self._find(chunk)
        lacking = lacking_of(self.parameters, self.sectors, 0, line, wanted)
        if lacking:
            put_sectors(self.parameters, self.lines, self.sectors, 0, lacking, filled)
            return lacking, None
        fill = fill_of(self.parameters, self.sectors, 0, line, wanted)
        settle_line(self.parameters, self.lines, self.sectors, 0, line, t)
        after = self.kept[0, 0, Line.fill]
        self.kinds.add("joint" if is_joint(after) else "apart" if is_apart(after) else "whole")
        return lacking, max(fill, t)

    def store(self, chunk, accessed, finish):
        self._find(chunk)
        packed = sum(count << SECTOR_BITS * place for place, count in enumerate(accessed))
        whole = all(count == BYTES for count in accessed)
        store_sectors(self.parameters, self.lines, self.sectors, 0, np.int64(0 if whole else packed), finish)

    def drop(self, chunk):
        drop_line(self.lines, 0, chunk, WAYS)

    def clean(self, way):
        if self.kept[0, way, Line.chunk] < 0 or not self.kept[0, way, Line.fill] & WRITTEN:
            return None
        line = self.kept[0, way, Line.fill]
        written = written_of(self.parameters, self.sectors, 0, line)
        stored = stored_of(self.parameters, self.sectors, 0, line)
        clean_line(self.parameters, self.lines, self.sectors, 0, way)
        of_each = [int(bytes_of_sector(self.parameters, stored, place)) for place in range(self.parameters.sectors)]
        assert written == sum(1 << place for place, count in enumerate(of_each) if count)
        return of_each

    def chunks(self):
        return self.kept[0, :, Line.chunk].tolist()

    def _find(self, chunk):
        line = find_line(self.lines, 0, chunk, WAYS)
        if line == ABSENT:
            insert_empty(self.lines, 0, chunk, WAYS - 1)
        return line


@pytest.mark.parametrize("start", [0, int(LATEST_JOINT) - 600])
@pytest.mark.parametrize("sectors", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_line_has_what_was_put_into_it(start, sectors, seed):
    chance = random.Random(seed)
    plain, kept = both = Plain(sectors), Set(sectors)
    t = start
    for _ in range(1500):
        t += chance.choice([0, 0, 1, 5, 40])
        chunk, now, later = np.int64(chance.randrange(CHUNKS)), np.int64(t), np.int64(t + chance.choice([1, 30]))
        match chance.choice(["load", "load", "load", "store", "store whole", "clean", "drop"]):
            case "load":
                wanted = np.int64(chance.randrange(1, 1 << sectors))
                found = [each.load(chunk, wanted, later, now) for each in both]
            case "store":
                accessed = [chance.choice([0, 4, BYTES]) for _ in range(sectors - 1)] + [4]
                found = [each.store(chunk, accessed, later) for each in both]
            case "store whole":
                found = [each.store(chunk, [BYTES] * sectors, later) for each in both]
            case "clean":
                way = chance.randrange(WAYS)
                found = [each.clean(way) for each in both]
            case _:
                found = [each.drop(chunk) for each in both]
        assert found[0] == found[1]
        assert plain.chunks() == kept.chunks()
    assert kept.kinds == {"joint", "apart", "whole"}

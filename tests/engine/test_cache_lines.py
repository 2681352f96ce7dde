"""A set of a cache as the fast engine keeps it: lines in the order of their use, in as many places as it has ways."""

import random

import numpy as np
import pytest

from simtmm.engine.fast.layout import ABSENT, EMPTY, Line
from simtmm.engine.fast.memory.cache import drop_line, find_line, insert_line, mix, victim_of
from simtmm.engine.fast.memory.sectors import insert_empty
from simtmm.native import Rows

NO_LINE = (-1, -1)


def sets(ways):
    """Three sets, and no place behind the last one: an index outside would be an error."""
    return np.full((3, ways, len(Line)), -1, dtype=np.int64)


class Listed:
    """The same as a list of (chunk, fill), latest used first."""

    def __init__(self, ways):
        self.lines = [NO_LINE] * ways

    def find(self, chunk):
        found = next((line for line in self.lines if line[0] == chunk), None)
        if found is None:
            return ABSENT
        self.lines.remove(found)
        self.lines.insert(0, found)
        return found[1]

    def insert(self, chunk, fill):
        self.lines = [(chunk, fill), *self.lines[:-1]]

    def drop(self, chunk):
        """Its place stays empty, as the one used longest ago."""
        kept = [line for line in self.lines if line[0] != chunk]
        self.lines = kept + [(-1, self.lines[-1][1])] * (len(self.lines) - len(kept))

    def choose(self, chunk, t):
        if NO_LINE[0] not in [line[0] for line in self.lines]:
            self.lines.append(self.lines.pop(int(mix(chunk + t)) % len(self.lines)))


@pytest.mark.parametrize("ways", [1, 2, 3, 8])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashes wrap around
def test_lines_are_in_the_order_of_their_use_and_no_other_set_is_touched(ways):
    chance = random.Random(ways)
    kept = sets(ways)
    lines = Rows(kept, Line)
    listed = [Listed(ways) for _ in range(3)]
    for t in range(400):
        row, chunk = chance.randrange(3), chance.randrange(ways + 2)
        own = listed[row]
        match chance.choice(["use", "use", "use", "drop", "choose"]):
            case "use":
                fill = find_line(lines, row, chunk, ways)
                assert fill == own.find(chunk)
                if fill == ABSENT:
                    insert_line(lines, row, chunk, t, ways)
                    own.insert(chunk, t)
            case "drop":
                drop_line(lines, row, chunk, ways)
                own.drop(chunk)
            case _:
                if find_line(lines, row, chunk, ways) == ABSENT:
                    insert_empty(lines, row, chunk, victim_of(lines, row, chunk, t, ways, 1))
                    own.choose(chunk, t)
                    own.insert(chunk, int(EMPTY))
                else:
                    own.find(chunk)
        chunks = kept[..., Line.chunk]
        assert chunks.tolist() == [[line[0] for line in each.lines] for each in listed]
        is_there = chunks >= 0
        fills = [line[1] for each in listed for line in each.lines if line[0] >= 0]
        assert kept[..., Line.fill][is_there].tolist() == fills

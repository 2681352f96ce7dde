"""Lines of caches, pages of TLBs, open rows of partitions, least recently used first (docs/machine.md, section 4)."""

from collections import OrderedDict, defaultdict

from simtmm.machine.tables.memory import Cache, GroupCache, LastLevelCache, Rows, SharedCache, Tlb
from simtmm.replacement import Chooser, Policy


def mix(x: int) -> int:
    """The finaliser of SplitMix64, by which addresses spread."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return x ^ (x >> 31)


def home_of(chunk: int) -> int:
    """The half of an L2 that a chunk's home is."""
    return mix(chunk) >> 63


class Line:
    """A chunk in a cache: of each of its sectors the fill time, if it is there, and how many of its bytes were stored
    that what lies below lacks.
    """

    def __init__(self, sectors: int) -> None:
        self.fill: list[int | None] = [None] * sectors
        self.stored = [0] * sectors

    def lacks(self, wanted: list[int]) -> list[int]:
        """Which of these sectors are not there, or not as a whole."""
        return [sector for sector in wanted if self.fill[sector] is None]

    def filled(self, wanted: list[int]) -> int:
        """When the last of these sectors, all of which are there, is filled."""
        return max(fill for sector in wanted if (fill := self.fill[sector]) is not None)

    def put(self, sectors: list[int], fill: int) -> None:
        """Sectors come, filled at `fill`; those that are there stay as they are."""
        for sector in self.lacks(sectors):
            self.fill[sector] = fill

    def store(self, accessed: list[int], sector_bytes: int, finish: int) -> None:
        """So many bytes of each sector are stored; one that is whole by that is there from `finish` on."""
        for sector, stored in enumerate(accessed):
            self.stored[sector] += stored
            if self.stored[sector] >= sector_bytes:
                self.put([sector], finish)

    def settle(self) -> None:
        """What is there was filled long ago."""
        self.fill = [None if fill is None else 0 for fill in self.fill]

    @property
    def written(self) -> list[int]:
        """The sectors that what lies below lacks."""
        return [sector for sector, stored in enumerate(self.stored) if stored]


class Lines:
    """The lines of a cache: which chunks it holds, least recently used first."""

    def __init__(self, cache: Cache, latency: int, sectors: int, policy: Policy | None = None) -> None:
        """policy: of somebody's own, in the place of the machine's."""
        self.latency = latency
        self.sectors = sectors
        self.sets = cache.own_sets
        self.ways = cache.ways
        self.random = isinstance(cache, SharedCache | LastLevelCache) and cache.replacement == "random"
        self.skewed = isinstance(cache, GroupCache) and cache.index == "skewed"
        self.hashed = isinstance(cache, SharedCache | LastLevelCache) and cache.index == "hash"
        self.lines: defaultdict[int, OrderedDict[int, Line]] = defaultdict(OrderedDict)
        self.choosers = None if policy is None else defaultdict[int, Chooser](lambda: Chooser(policy))

    def set_of(self, chunk: int) -> int:
        """The set that a chunk lies in."""
        if self.hashed:
            return mix(chunk) % self.sets
        return (chunk + chunk // self.sets if self.skewed else chunk) % self.sets

    def look_up(self, chunk: int) -> Line | None:
        """The chunk's line, which is used by this; None where there is none."""
        lines = self.lines[self.set_of(chunk)]
        if chunk in lines:
            lines.move_to_end(chunk)
            if self.choosers is not None:
                self.choosers[self.set_of(chunk)].use(chunk)
        return lines.get(chunk)

    def line_of(self, chunk: int) -> Line | None:
        """The chunk's line, which is not used by this; None where there is none."""
        return self.lines[self.set_of(chunk)].get(chunk)

    def drop(self, chunk: int) -> None:
        """Take the chunk's line out, if it is there."""
        self.lines[self.set_of(chunk)].pop(chunk, None)
        if self.choosers is not None:
            self.choosers[self.set_of(chunk)].leave(chunk)

    def make_room(self, chunk: int, now: int = 0) -> tuple[int, Line] | None:
        """Have room for a chunk that comes now: a full set drops its least recently used line, or any as a hash
        decides; the chunk and its line if it is written, and else None.
        """
        lines = self.lines[self.set_of(chunk)]
        chooser = None if self.choosers is None else self.choosers[self.set_of(chunk)]
        if chooser is not None and len(lines) == self.ways:
            victim = chooser.victim(chunk)
            chooser.leave(victim)
            lines.move_to_end(victim, last=False)
        elif self.random and len(lines) == self.ways:
            chosen = [*reversed(lines)][mix(chunk + now) % self.ways]
            lines.move_to_end(chosen, last=False)
        dropped = lines.popitem(last=False) if len(lines) == self.ways else None
        return dropped if dropped and dropped[1].written else None

    def keep(self, before: "Lines") -> None:
        """Have the lines of the launch before, all sectors that are there filled long ago."""
        for lines in before.lines.values():
            for line in lines.values():
                line.settle()
        self.lines, self.choosers = before.lines, before.choosers

    def clear(self) -> None:
        """Drop all lines, whatever they hold."""
        self.lines.clear()
        if self.choosers is not None:
            self.choosers.clear()

    def insert(self, chunk: int) -> Line:
        """Put the chunk in, where there is room, with none of its sectors."""
        line = self.lines[self.set_of(chunk)][chunk] = Line(self.sectors)
        if self.choosers is not None:
            self.choosers[self.set_of(chunk)].come(chunk)
        return line


class Translations:
    """The pages whose translations a group holds, each with the tick from which on it is there."""

    def __init__(self, tlb: Tlb, miss: int, chunk_bytes: int) -> None:
        self.chunks = tlb.page // chunk_bytes
        self.entries = tlb.entries
        self.miss = miss
        self.pages: OrderedDict[int, int] = OrderedDict()

    def look_up(self, chunk: int, now: int) -> int:
        """From when on the translation of the chunk's page is there; it is fetched if it is lacking."""
        page = chunk // self.chunks
        if page in self.pages:
            self.pages.move_to_end(page)
            return self.pages[page]
        if len(self.pages) == self.entries:
            self.pages.popitem(last=False)
        self.pages[page] = now + self.miss
        return now + self.miss


class OpenRows:
    """The rows of a partition that are open, least recently used first."""

    def __init__(self, rows: Rows, opening: int, partitions: int) -> None:
        self.opening = opening
        self.stretch = rows.chunks * partitions
        self.most = rows.open
        self.rows: OrderedDict[int, None] = OrderedDict()

    def open(self, chunk: int) -> int:
        """The ticks that it takes until the chunk's row is open: none if it is."""
        row = chunk // self.stretch
        if row in self.rows:
            self.rows.move_to_end(row)
            return 0
        if len(self.rows) == self.most:
            self.rows.popitem(last=False)
        self.rows[row] = None
        return self.opening

"""Lines of caches, pages of TLBs, open rows of partitions, least recently used first (docs/machine.md, section 4)."""

from collections import OrderedDict, defaultdict

from simtmm.machine.tables import Cache, GroupCache, Rows, Tlb


class Lines:
    """The lines of a cache: which chunks it holds, each with its fill time, least recently used first."""

    def __init__(self, cache: Cache, latency: int) -> None:
        self.latency = latency
        self.sets = cache.sets
        self.ways = cache.ways
        self.skewed = isinstance(cache, GroupCache) and cache.index == "skewed"
        self.lines: defaultdict[int, OrderedDict[int, int]] = defaultdict(OrderedDict)
        self.written: set[int] = set()  # chunks that global memory does not have yet

    def set_of(self, chunk: int) -> int:
        """The set that a chunk lies in."""
        return (chunk + chunk // self.sets if self.skewed else chunk) % self.sets

    def look_up(self, chunk: int) -> int | None:
        """The fill time of the chunk's line, which is used by this; None on a miss."""
        lines = self.lines[self.set_of(chunk)]
        if chunk in lines:
            lines.move_to_end(chunk)
        return lines.get(chunk)

    def drop(self, chunk: int) -> None:
        """Take the chunk's line out, if it is there."""
        self.lines[self.set_of(chunk)].pop(chunk, None)

    def insert(self, chunk: int, fill: int) -> int | None:
        """Put the chunk in, filled at `fill`; a full set drops its least recently used line, a written chunk of which
        is returned.
        """
        lines = self.lines[self.set_of(chunk)]
        dropped = lines.popitem(last=False)[0] if len(lines) == self.ways else None
        lines[chunk] = fill
        if dropped in self.written:
            self.written.remove(dropped)
            return dropped
        return None


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

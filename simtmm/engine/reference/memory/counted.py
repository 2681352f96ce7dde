"""What is counted of chunks on their path, all in all and over time (docs/machine.md, section 7)."""

from collections import Counter

from simtmm.engine.reference.traffic import OverTime
from simtmm.stalls import Count


class Counted:
    """Chunks and sectors that passed so far. over_time: takes them tick by tick, if a timeline is wanted."""

    def __init__(self, over_time: OverTime | None) -> None:
        self.over_time = over_time
        self.l1_hits = 0
        self.l2_hits = 0
        self.l1_stores = 0
        self.l2_sectors = self.memory_sectors = 0  # that moved to and from the L2, and global memory
        self.last_level_hits = self.last_level_sectors = 0
        self.shared_l1_hits = self.shared_l1_sectors = 0

    @property
    def by_place(self) -> Counter[Count]:
        """What was counted of all chunks so far, at the places of their accesses too."""
        return Counter(
            {
                Count.L1_HITS: self.l1_hits,
                Count.L2_HITS: self.l2_hits,
                Count.L1_STORES: self.l1_stores,
                Count.L2_SECTORS: self.l2_sectors,
                Count.MEMORY_SECTORS: self.memory_sectors,
                Count.LAST_LEVEL_HITS: self.last_level_hits,
                Count.LAST_LEVEL_SECTORS: self.last_level_sectors,
                Count.SHARED_L1_HITS: self.shared_l1_hits,
                Count.SHARED_L1_SECTORS: self.shared_l1_sectors,
            }
        )

    def note(self, what: str, tick: int, number: int = 1) -> None:
        """A chunk passes, or so many sectors, as the traffic over time calls it."""
        if self.over_time is not None:
            self.over_time.note(what, tick, number)

    def moves(self, what: str, tick: int, sectors: int) -> None:
        """Sectors of a chunk come to a shared L1, or move to or from the L2, the last-level cache, or global memory."""
        self.note(what, tick, sectors)
        if what == "l2_sectors":
            self.l2_sectors += sectors
        elif what == "last_level_sectors":
            self.last_level_sectors += sectors
        elif what == "shared_l1_sectors":
            self.shared_l1_sectors += sectors
        else:
            self.memory_sectors += sectors

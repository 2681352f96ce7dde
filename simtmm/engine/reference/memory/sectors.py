"""Sectors, by which chunks move and caches keep them (docs/machine.md, section 4): arithmetic."""

from simtmm.machine import Machine
from simtmm.workload import MOST_SECTOR_BYTES, SECTOR_BITS


class Sectors:
    """The sectors of a machine's chunks.

    number: of each. bytes: of one. whole: the bytes that are accessed of the sectors of a whole chunk.
    """

    def __init__(self, machine: Machine) -> None:
        self.number = machine.memory.sectors
        self.bytes = machine.sector_bytes
        self.whole = [self.bytes] * self.number
        self.fetched_together = machine.memory.fetch_sectors

    def accessed(self, word: int) -> list[int]:
        """The bytes that are accessed of each sector of a chunk, as a workload says; all of all where it says none."""
        of_each = [word >> SECTOR_BITS * sector & MOST_SECTOR_BYTES for sector in range(self.number)]
        return [min(each, self.bytes) for each in of_each] if self.number > 1 and any(of_each) else self.whole

    def part(self, duration: int, sectors: int) -> int:
        """What so many sectors of a chunk take of what it takes as a whole."""
        return -(-duration * sectors // self.number)

    def runs_of(self, lacking: list[int]) -> list[int]:
        """What global memory is read of a chunk where these sectors are lacking: aligned runs of them."""
        runs = {sector // self.fetched_together for sector in lacking}
        return [sector for sector in range(self.number) if sector // self.fetched_together in runs]

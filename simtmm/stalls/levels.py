"""What of a machine's memory decides what chunks that were counted are: bytes, hits and a part of what could be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Levels:
    """The levels of a machine's memory.

    chunk_bytes, sector_bytes: of what is moved at once to a core group, and of what moves below.
    issue: ticks of an instruction at its port.
    l1, l2: whether they are there. stores_stay, atomics_stay: whether stores, and atomics, end in the L2.
    most_warps: that a core group holds.
    peaks: bytes that could pass the memory ports of core groups, the L2 and global memory, a cycle, by the names of
        LEVELS; None where nothing limits them.
    last_level, last_level_peak: whether there is a last-level cache, and the bytes that could pass it a cycle.
    shared_l1, shared_l1_peak: likewise of the caches that groups share before the L2.
    """

    chunk_bytes: int
    sector_bytes: int
    issue: int
    l1: bool
    l2: bool
    stores_stay: bool
    most_warps: int
    peaks: tuple[float | None, float | None, float | None] = (None, None, None)
    atomics_stay: bool = False
    last_level: bool = False
    last_level_peak: float | None = None
    shared_l1: bool = False
    shared_l1_peak: float | None = None

    @property
    def peak_of(self) -> dict[str, float | None]:
        """The peak of each level, by name."""
        peaks = dict(zip(LEVELS, self.peaks, strict=True))
        if self.shared_l1:
            peaks[SHARED_L1] = self.shared_l1_peak
        return {**peaks, LAST_LEVEL: self.last_level_peak} if self.last_level else peaks


SHARED_L1, LAST_LEVEL = "shared_l1", "last_level"
LEVELS = ("l1", "l2", "memory")
"""As columns name them: memory ports, with the L1 behind them if there is one; the L2; global memory."""

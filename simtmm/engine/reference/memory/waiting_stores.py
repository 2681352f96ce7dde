"""Stores that wait for their slice of the L2: later ones of the same sectors join (docs/machine.md, section 4)."""

from simtmm.engine.reference.memory.cache import mix


class WaitingStores:
    """Of each group some lines, each with the sectors of its latest store and when its slice takes that up."""

    def __init__(self, lines: int) -> None:
        """lines: how many a group knows."""
        self.lines = lines
        self.known: dict[tuple[int, int], tuple[int, set[int], int]] = {}

    def joined(self, group: int, chunk: int, stored: set[int], start: int) -> int | None:
        """When the slice takes up the store that this one joins; None where there is none."""
        line, sectors, begin = self.known.get((group, mix(chunk) % self.lines), (-1, set(), 0))
        return begin if line == chunk and stored <= sectors and start < begin else None

    def wait(self, group: int, chunk: int, stored: set[int], begin: int) -> None:
        """A store of its own: its slice takes it up at `begin`."""
        self.known[group, mix(chunk) % self.lines] = chunk, stored, begin

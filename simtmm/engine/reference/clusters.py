"""Where the clusters of a launch are placed: each as a whole, in one neighbourhood (section 6)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simtmm.engine.reference.group import Group
    from simtmm.engine.reference.run import Run


class Clusters:
    """The neighbourhoods of a machine, and the one that takes the cluster which is being placed."""

    def __init__(self, run: "Run", size: int) -> None:
        """size: blocks of a cluster, of which the last one may have fewer."""
        self.run, self.size = run, size
        self.neighbourhoods = [run.groups[begin:end] for begin, end in pairwise(run.machine.neighbourhoods)]
        self.home: Sequence[Group] | None = None

    def group_for(self, block: int) -> "Group | None":
        """The group that takes the block; None where it, and so its cluster, has to wait."""
        if (block - self.run.first_block) % self.size == 0:
            last = min(block + self.size, self.run.first_block + len(self.run.smallest))
            warps = [self.run.warps_of(number) for number in range(block, last)]
            fitting = [groups for groups in self.neighbourhoods if self.fits(warps, groups)]
            self.home = min(fitting, key=lambda groups: sum(group.resident_blocks for group in groups), default=None)
        if self.home is None:
            return None
        return self.run.emptiest(self.run.warps_of(block), self.home)

    def fits(self, warps: Sequence[int], groups: "Sequence[Group]") -> bool:
        """Whether blocks with so many warps each can be placed in these groups one after another, as things are."""
        tried: list[tuple[Group, int]] = []
        for count in warps:
            group = self.run.emptiest(count, groups)
            if group is None:
                break
            group.resident_blocks += 1
            group.resident_warps += count
            tried.append((group, count))
        for group, count in tried:
            group.resident_blocks -= 1
            group.resident_warps -= count
        return len(tried) == len(warps)

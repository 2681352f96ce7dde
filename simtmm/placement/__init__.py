"""Placement of blocks, as small functions: which core group takes the next block of a launch.

    def rule(groups, block):           # groups: all of simtmm.placement.GroupState, block: PendingBlock
        return groups[0]               # one that has room for it, or None: the block waits

simtmm.testing.check_placement looks for launches that break what a rule's author promises (docs/rules.md). Machines
place blocks breadth-first; simtmm.simulate(..., placement=rule) has another rule instead, on the reference engine.
"""

from simtmm.placement.policies import (
    PLACEMENTS,
    breadth_first,
    depth_first,
    fewest_warps,
    in_clusters,
    taking_turns,
)
from simtmm.placement.seen import GroupState, PendingBlock, Placement, Placer

__all__ = [
    "PLACEMENTS", "GroupState", "PendingBlock", "Placement", "Placer", "breadth_first", "depth_first", "fewest_warps",
    "in_clusters", "taking_turns",
]  # fmt: skip

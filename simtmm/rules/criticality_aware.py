"""Criticality-aware: the warp that is furthest behind first, as a block ends with its slowest warp.

After CAWA (Lee et al., ISCA 2015), which predicts the slowest; a rule sees the instructions that each has issued.
"""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp


def criticality_aware(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
    """The ready warp that has issued least, the oldest of equals."""
    return min(ready, key=lambda warp: (warp.issued, warp.age))

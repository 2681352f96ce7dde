"""What a placement rule sees of core groups and of the block that is next, and what it may answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from simtmm.errors import SimtmmError, shown, shown_error


@dataclass(frozen=True)
class PendingBlock:
    """The next block of the launch. number: its own in the launch, from 0. warps: that it has."""

    number: int
    warps: int


@dataclass(frozen=True)
class GroupState:
    """A core group.

    number: its own, from 0. blocks, warps: that are resident. most_blocks, most_warps: that it holds.
    """

    number: int
    blocks: int
    warps: int
    most_blocks: int
    most_warps: int

    def fits(self, block: PendingBlock) -> bool:
        """Whether it has room for a block."""
        return self.blocks < self.most_blocks and self.warps + block.warps <= self.most_warps


Placement = Callable[[Sequence[Any], PendingBlock], GroupState | None]
"""A function of all core groups, in the order of their numbers, and the next block: the group that takes it, which must
have room, or None where the block waits until another has ended; or a class of such, made anew for each launch."""


class Placer:
    """A placement rule for one launch, whose answers are checked."""

    def __init__(self, rule: Placement) -> None:
        """rule: a function of the groups and the block, or an object with such a method."""
        made: Any = rule() if isinstance(rule, type) else rule
        self._rule: Callable[[Sequence[GroupState], PendingBlock], Any] = made
        self.name = str(getattr(rule, "__name__", type(rule).__name__))

    def ask(self, groups: Sequence[GroupState], block: PendingBlock) -> GroupState | None:
        """The group that takes the block, or None.

        groups: all of the machine, those without room among them.
        block: the next one to be placed.

        Raises SimtmmError where the rule raises anything, or gives what is no group, or one without room.
        """
        try:
            chosen = self._rule(groups, block)
        except Exception as error:
            raise SimtmmError(f"placement {self.name}: raised at block {block.number}: {shown_error(error)}") from error
        if chosen is None:
            return None
        if not any(chosen is group for group in groups):
            raise SimtmmError(
                f"placement {self.name}: gave {shown(chosen)} at block {block.number}: must be one of the groups, or "
                "None"
            )
        found: GroupState = chosen
        if not found.fits(block):
            raise SimtmmError(
                f"placement {self.name}: gave group {found.number} at block {block.number}, which has no room: it "
                f"holds {found.blocks} of {found.most_blocks} blocks and {found.warps} of {found.most_warps} warps, "
                f"and the block has {block.warps}"
            )
        return found

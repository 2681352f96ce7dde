"""A launch without a machine: blocks of given sizes and lengths are placed in core groups by a rule, turn by turn."""

from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.placement import GroupState, PendingBlock, Placement, Placer


@dataclass(frozen=True)
class Shape:
    """Core groups. groups: their number. blocks, warps: that each holds at most."""

    groups: int
    blocks: int
    warps: int


@dataclass(frozen=True)
class Work:
    """A block of a launch. warps: that it has. ticks: from its placement to its end."""

    warps: int
    ticks: int


@dataclass(frozen=True)
class Turn:
    """A question: at a tick, of the groups as they were, for a block. chosen: the number of the group, or None."""

    tick: int
    groups: tuple[GroupState, ...]
    block: PendingBlock
    chosen: int | None

    @property
    def fitting(self) -> tuple[GroupState, ...]:
        """The groups that had room."""
        return tuple(group for group in self.groups if group.fits(self.block))


@dataclass(frozen=True)
class Launched:
    """A launch. turns: all questions. unplaced: blocks that were never placed, as the rule held back for ever."""

    turns: tuple[Turn, ...]
    unplaced: int


def launched(rule: Placement, shape: Shape, work: Sequence[Work]) -> Launched:
    """Place all blocks of a launch as a machine does: at tick 0, and at each tick at which blocks end.

    Blocks are offered in their order, and none overtakes another. Raises SimtmmError for an answer that is none.
    """
    placer = Placer(rule)
    resident: list[dict[int, Work]] = [{} for _ in range(shape.groups)]
    ends: dict[int, tuple[int, int]] = {}  # of a resident block: its tick, and its group
    turns: list[Turn] = []
    tick, number = 0, 0
    while number < len(work):
        block = PendingBlock(number, work[number].warps)
        groups = tuple(
            GroupState(at, len(held), sum(each.warps for each in held.values()), shape.blocks, shape.warps)
            for at, held in enumerate(resident)
        )
        chosen = placer.ask(groups, block)
        turns.append(Turn(tick, groups, block, None if chosen is None else chosen.number))
        if chosen is not None:
            resident[chosen.number][number] = work[number]
            ends[number] = tick + work[number].ticks, chosen.number
            number += 1
            continue
        if not ends:
            break  # nothing else happens
        tick = min(end for end, _ in ends.values())
        for ended in [each for each, (end, _) in ends.items() if end == tick]:
            del resident[ends.pop(ended)[1]][ended]
    return Launched(tuple(turns), len(work) - number)

"""Which blocks of its launches a trace holds, where that is not all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.trace.schema import TraceLaunch


@dataclass(frozen=True)
class Sampling:
    """Which blocks a trace holds, where not all: of each launch at most `sample_blocks`, spread evenly over its grid.

    All blocks ran. recorded, left_out: blocks of each launch; `sampled_blocks` says which. are_first: whether these are
    the first ones instead. Counts and simulations of such a trace see blocks that do nothing in the others' place.
    """

    sample_blocks: int
    recorded: tuple[int, ...]
    left_out: tuple[int, ...]
    are_first: bool = False

    @classmethod
    def of(cls, launches: Sequence[TraceLaunch], sample_blocks: int | None) -> "Sampling | None":
        """What a recording of these launches held and left out; None if it left out nothing.

        launches: all of the run, in order.
        sample_blocks: blocks of each launch at most; None for all of them.
        """
        if sample_blocks is None:
            return None
        recorded = tuple(min(launch.blocks, sample_blocks) for launch in launches)
        left_out = tuple(launch.blocks - kept for launch, kept in zip(launches, recorded, strict=True))
        return cls(sample_blocks, recorded, left_out) if any(left_out) else None

    @classmethod
    def of_each(
        cls, launches: Sequence[TraceLaunch], kept: Sequence[int] | None, are_first: bool = False
    ) -> "Sampling | None":
        """Likewise, where so many blocks of each were kept.

        launches: all of the run, in order.
        kept: how many blocks of each launch were kept; None for all of them.
        are_first: whether they are the first ones.
        """
        if kept is None:
            return None
        left_out = tuple(launch.blocks - blocks for launch, blocks in zip(launches, kept, strict=True))
        most = max((blocks for blocks, without in zip(kept, left_out, strict=True) if without), default=0)
        return cls(most, tuple(kept), left_out, are_first) if any(left_out) else None

    @property
    def warning(self) -> str:
        """What a reader of a result of such a trace must know."""
        left_out, blocks = sum(self.left_out), sum(self.left_out) + sum(self.recorded)
        return f"a sampled trace: {left_out:,} of {blocks:,} blocks were left out and count as blocks that do nothing"

    def to_dict(self) -> dict[str, Any]:
        """For the JSON of such a result."""
        left_out, recorded = sum(self.left_out), sum(self.recorded)
        return {
            "sample_blocks": self.sample_blocks,
            "recorded": recorded,
            "left_out": left_out,
            "warning": self.warning,
        }


def sampled_blocks(blocks: int, sample_blocks: int | None) -> npt.NDArray[np.int32]:
    """The blocks that are recorded, ascending: the middles of `sample_blocks` equal parts of the grid; all for None.

    The first and the last block are often short or have a border to see to, so that parts' middles stand for a grid
    better than parts' beginnings; blocks at one stride can meet a period of the program, parts of odd sizes less so.

    blocks: how many blocks the grid has.
    sample_blocks: how many of them are recorded at most.
    """
    if sample_blocks is None or sample_blocks >= blocks:
        return np.arange(blocks, dtype=np.int32)
    part = np.arange(sample_blocks, dtype=np.int64)
    return ((2 * part + 1) * blocks // (2 * sample_blocks)).astype(np.int32)

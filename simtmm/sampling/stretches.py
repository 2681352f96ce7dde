"""Which blocks of a launch are simulated: its first waves, stretches of waves spread over its middle, and its end.

A wave is as many blocks as the machine holds at once. What is left out between two stretches is whole waves, so that
the last wave is as full as it is in the whole launch.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

HEAD = 10  # waves at the beginning: caches fill, and blocks that began together get out of step
TAIL = 2  # whole waves at the end, before the one that is partly filled
WARM = 1  # waves of a stretch before the pace is taken, in which its own neighbourhood comes into the caches
TIMED = 3  # waves of a stretch in which it is: between when the blocks of the first and of the last begin, on average
WORTH = 0.5  # of a launch: where more of it would be simulated, all of it is


@dataclass(frozen=True)
class Stretches:
    """Stretches of blocks of a launch, in ascending order; the blocks of all of them are simulated as one launch.

    blocks: of the whole launch. wave: blocks.
    begins, ends: int64[stretches + 2], the first block of each and the one behind its last; the first and the last of
        them are the launch's beginning and end, and those between are timed.
    """

    blocks: int
    wave: int
    begins: Integers
    ends: Integers

    @property
    def chosen(self) -> Integers:
        """The numbers of the blocks, ascending."""
        return np.concatenate([np.arange(begin, end) for begin, end in zip(self.begins, self.ends, strict=True)])

    @property
    def simulated(self) -> int:
        """How many blocks they are."""
        return int((self.ends - self.begins).sum())

    @property
    def waves_left_out(self) -> float:
        """Waves that are not simulated."""
        return (self.blocks - self.simulated) / self.wave

    def waves_left_out_around(self) -> npt.NDArray[np.float64]:
        """float64[stretches]: waves that each timed stretch stands for: half of what is left out on either side of it;
        the first and the last of them for all up to the launch's beginning and end.
        """
        gaps = (self.begins[1:] - self.ends[:-1]) / self.wave
        around = (gaps[:-1] + gaps[1:]) / 2
        around[0] += gaps[0] / 2
        around[-1] += gaps[-1] / 2
        return np.asarray(around)

    def paces(self, begun: Integers) -> npt.NDArray[np.float64]:
        """float64[stretches]: ticks that a wave took in each timed stretch.

        begun: int64[blocks], when each block of the sample was placed.
        """
        lengths = (self.ends - self.begins)[:-1]
        behind = np.cumsum(lengths)[1:]  # of the sample's blocks: the first behind each timed stretch

        def mean(waves: int) -> npt.NDArray[np.float64]:  # blocks begin together at first, whole waves of them
            return np.array([begun[end - waves * self.wave : end - (waves - 1) * self.wave].mean() for end in behind])

        return np.asarray((mean(1) - mean(TIMED)) / (TIMED - 1))


def stretches_of(blocks: int, wave: int, timed: int, head: int, random: np.random.Generator) -> Stretches | None:
    """Stretches of a launch; None where it is not worth it to leave anything out.

    blocks: of the launch. wave: blocks that the machine holds at once. timed: stretches in its middle. head: waves at
    its beginning. random: draws where in its part of the launch each stretch lies.
    """
    length = WARM + TIMED
    full = blocks // wave
    if head + timed * length + TAIL > WORTH * full:
        return None
    middle = full - head - TAIL
    bounds = head + np.arange(timed + 1) * middle // timed  # each part has one stretch
    room = np.diff(bounds) - length
    at = bounds[:-1] + random.integers(0, room + 1)
    begins = np.array([0, *(at * wave), (full - TAIL) * wave], np.int64)
    ends = np.array([head * wave, *((at + length) * wave), blocks], np.int64)
    return Stretches(blocks, wave, begins, ends)

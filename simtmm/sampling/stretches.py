"""Which blocks of a launch are simulated: its first waves, stretches of waves spread over its middle, and its end.

A wave is as many blocks as the machine holds at once. What is left out between two stretches is whole waves, so that
the last wave is as full as it is in the whole launch.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

HEAD = 10  # waves at the beginning: caches fill, and blocks that began together get out of step
LAST = 5  # waves of the beginning, or a quarter of it, that tell whether the pace has settled
TAIL = 2  # whole waves at the end, before the one that is partly filled
WARM = 1  # waves of a stretch before the pace is taken, in which its own neighbourhood comes into the caches
TIMED = 3  # waves of a stretch in which it is: between when the blocks of the first and of the last begin, on average
LONGEST_ROW = 8  # waves of a row of the grid, up to which a stretch is as long as its row
WORTH = 0.5  # of a launch: where more of it would be simulated, all of it is


@dataclass(frozen=True)
class Form:
    """Of how many waves a stretch is: so many before its pace is taken, and so many in which it is."""

    warm: int = WARM
    timed: int = TIMED

    @property
    def length(self) -> int:
        """Waves of a stretch."""
        return self.warm + self.timed


def form_of(grid: Sequence[int], wave: int, longer: int = 0) -> Form:
    """That of a launch's stretches. wave: blocks that the machine holds at once. longer: waves more before the pace is
    taken.

    Blocks of a row of the grid reach for what those of the row before have read. So where a row is of several waves, so
    many go before, and the pace is taken over about as many rows: waves at different places of a row may
    differ, and waves of blocks that keep in step come in the period of rows.
    """
    row = grid[0] / wave
    if grid[1] * grid[2] < 2 or not 1 < row <= LONGEST_ROW:
        return Form(WARM + longer)
    whole = range(max(TIMED - 1, math.ceil(row - 0.5)), 2 * LONGEST_ROW + 1)
    intervals = min(whole, key=lambda waves: (round(abs(waves / row - round(waves / row)), 2), waves))
    return Form(math.ceil(row) + longer, intervals + 1)


@dataclass(frozen=True)
class Stretches:
    """Stretches of blocks of a launch, in ascending order; the blocks of all of them are simulated as one launch.

    blocks: of the whole launch. wave: blocks.
    begins, ends: int64[stretches + 2], the first block of each and the one behind its last; the first and the last of
        them are the launch's beginning and end, and those between are timed.
    form: of those that are timed.
    """

    blocks: int
    wave: int
    begins: Integers
    ends: Integers
    form: Form

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
        begins = self._begins(begun)
        return np.asarray((begins[:, -1] - begins[:, 0]) / (self.form.timed - 1))

    def changes(self, begun: Integers) -> npt.NDArray[np.float64]:
        """float64[stretches]: by how much longer a wave took in the first half of a timed stretch than in the second.

        begun: see `paces`.
        """
        waves = np.diff(self._begins(begun))
        half = waves.shape[1] // 2
        return np.asarray(waves[:, :half].mean(axis=1) - waves[:, -half:].mean(axis=1))

    def _begins(self, begun: Integers) -> npt.NDArray[np.float64]:
        """float64[stretches, timed]: when the blocks of each wave begin, on average, in which a pace is taken; blocks
        begin together at first, whole waves of them.
        """
        behind = np.cumsum((self.ends - self.begins)[:-1])[1:]  # of the sample's blocks: the first behind each stretch
        waves = self.form.timed * self.wave
        own = behind[:, None] - waves + np.arange(waves)
        return np.asarray(begun[own].reshape(len(behind), self.form.timed, self.wave).mean(axis=2))

    def drift_at_first(self, begun: Integers) -> float:
        """By how much the pace was still changing where the launch's beginning ends, as a part of it: its last quarter
        of waves beside the one before, if that is more than chance. begun: see `paces`.
        """
        paces = self._paces_of_head(begun)
        waves = max(2, len(paces) // 4)
        if len(paces) < 2 * waves:
            return 0.0
        earlier, later = paces[-2 * waves : -waves], paces[-waves:]
        error = math.sqrt((float(earlier.var(ddof=1)) + float(later.var(ddof=1))) / waves)
        change = abs(float(earlier.mean() - later.mean()))
        return change / float(later.mean()) if change > 2 * error and later.mean() > 0 else 0.0

    def paces_at_first(self, begun: Integers) -> npt.NDArray[np.float64]:
        """float64[...]: ticks that each of the last waves of the launch's beginning took. begun: see `paces`."""
        return self._paces_of_head(begun)[1 - self._last_of_head :]

    def sooner_at_first(self, begun: Integers, most: float) -> float:
        """Ticks that the launch's beginning was sooner over than at the pace of its stretches, but for its first wave.

        begun: see `paces`. most: ticks, no more than which count.
        """
        paces = self._paces_of_head(begun)[1:]
        return min(most, max(0.0, float(self.paces(begun).mean()) * len(paces) - float(paces.sum())))

    def _paces_of_head(self, begun: Integers) -> npt.NDArray[np.float64]:
        """float64[...]: ticks that each wave of the launch's beginning took. begun: see `paces`."""
        return np.asarray(np.diff(begun[: int(self.ends[0])].reshape(-1, self.wave).mean(axis=1)))

    @property
    def _last_of_head(self) -> int:
        """Waves at the end of the launch's beginning."""
        return max(LAST, int(self.ends[0]) // self.wave // 4)

    def timed_of(self, each: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """float64[1 + stretches, ...]: means over the waves of which `paces_at_first` and `paces` tell.

        each: float64[blocks, ...], of each block of the sample.
        """
        ends = np.cumsum(self.ends - self.begins)
        first, last = [int(ends[0]) - self._last_of_head * self.wave], [int(ends[0]) - self.wave]
        for end in ends[1:-1].tolist():
            first.append(end - self.form.timed * self.wave)
            last.append(end - self.wave)
        return np.array([each[low:high].mean(axis=0) for low, high in zip(first, last, strict=True)])

    def left_out(self) -> list[tuple[int, int]]:
        """Blocks that are not simulated: the first of each range, and the one behind its last."""
        return list(zip(self.ends[:-1].tolist(), self.begins[1:].tolist(), strict=True))


def stretches_of(
    blocks: int,
    wave: int,
    timed: int,
    head: int,
    random: np.random.Generator,
    form: Form = Form(),
    parts: Sequence[tuple[int, int]] = (),
) -> Stretches | None:
    """Stretches of a launch; None where it is not worth it to leave anything out.

    blocks: of the launch. wave: blocks that the machine holds at once. timed: stretches in its middle. head: waves at
    its beginning. random: draws where in its part of the launch each stretch lies. form: of the stretches. parts: of
    the launch, in each of which blocks do alike, the first block and that behind the last; each has as many stretches
    as its length says, and two at least where it has room.
    """
    length = form.length
    full = blocks // wave
    if head + timed * length + TAIL > WORTH * full:
        return None
    middle = full - TAIL
    cuts = [head, *(round(first / wave) for first, _ in parts), middle]
    cuts = sorted({min(max(cut, head), middle) for cut in cuts})
    at: list[int] = []
    for first, last in itertools.pairwise(cuts):
        wanted = max(2, round(timed * (last - first) / (middle - head)))
        number = min(wanted, (last - first) // length)
        bounds = first + np.arange(number + 1) * (last - first) // max(1, number)  # each part has one stretch
        at += (bounds[:-1] + random.integers(0, np.diff(bounds) - length + 1)).tolist()
    begins = np.array([0, *(wave * each for each in at), (full - TAIL) * wave], np.int64)
    ends = np.array([head * wave, *(wave * (each + length) for each in at), blocks], np.int64)
    made = Stretches(blocks, wave, begins, ends, form)
    return made if made.simulated <= WORTH * blocks else None

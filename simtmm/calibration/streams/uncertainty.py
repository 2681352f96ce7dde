"""The uncertainty of a fit's values over all choices: points, kernels, and the number of partitions.

A standard error of least squares holds for the partitions that were chosen, and for errors that are chance. What a fit
leaves is hardly chance: other points, or other kernels, would have drawn it elsewhere. So points and kernels are drawn
anew, many times, and each time all of it is chosen again: the values with each number of partitions, as if residuals
were straight lines there (`refitted`), and the number of partitions. How far the values then lie from those that were
found is their error. Nothing is simulated for it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.calibration.least_squares import Fitted, Parameter, refitted

DRAWS = 200  # of which an error is known to a twentieth
SEED = 1  # the same draws each time: a calibration comes out as it did


@dataclass(frozen=True)
class Uncertainty:
    """errors: of the values, by name. shares: of the draws, by the number of partitions that is best in them."""

    errors: dict[str, float]
    shares: dict[int, float]


def uncertainty(
    fits: Mapping[int, tuple[Sequence[Parameter], Fitted]], chosen: int, kernels: int, points: int
) -> Uncertainty:
    """The spread of the fit that was chosen.

    fits: by number of partitions, all of the same parameters' names, kernels and points, a kernel's residuals after
    another's. chosen: the number of partitions that was. kernels, points: how many; the first kernel is always there.
    """
    chance = np.random.default_rng(SEED)
    found = fits[chosen][1].values
    off: list[list[float]] = []
    best: Counter[int] = Counter()
    for _ in range(DRAWS):
        drawn_points = chance.integers(points, size=points)
        drawn_kernels = np.concatenate([[0], chance.integers(1, kernels, size=kernels - 1)]) if kernels > 1 else [0]
        rows = np.add.outer(np.array(drawn_kernels) * points, drawn_points).ravel()
        again = {count: refitted(parameters, fitted, rows) for count, (parameters, fitted) in fits.items()}
        count = min(again, key=lambda each: again[each][1])
        best[count] += 1
        off.append([again[count][0][name] - value for name, value in found.items()])
    spread = np.sqrt(np.mean(np.square(off), axis=0))  # about what was found, not about the draws' own mean
    return Uncertainty(
        dict(zip(found, spread.tolist(), strict=True)), {count: best[count] / DRAWS for count in sorted(fits)}
    )

"""The times of an algorithm of the papers at many points at once: predict_algorithm over arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from simtmm.model.algorithm import Algorithm, arguments
from simtmm.model.formula import Evaluation, Floats, Formula
from simtmm.model.symbols import T


@dataclass(frozen=True)
class Times:
    """The times of an algorithm at many points. refused: why a point has none, and which those are.

    points: int64, the others; of those the evaluations are, in that order.
    """

    refused: tuple[tuple[str, npt.NDArray[np.int64]], ...]
    points: npt.NDArray[np.int64]
    by_model: Mapping[str, Evaluation]


def times_of_algorithm(
    algorithm: Algorithm,
    letters: Mapping[str, Floats],
    parameters: Mapping[str, Floats],
    threads_per_core: Floats | None = None,
    variant: str | None = None,
) -> Times:
    """`predict_algorithm` of many points at once: what it says of each, or that it refuses it.

    letters: as `letters_of` has them, float64[points]; Z is nan where there is no shared memory. parameters and
    threads_per_core: float64[points]; nan is no number.
    """
    name, form, given = algorithm.name, algorithm.form(variant), set(parameters)
    defaults = {key: equation for key, equation in algorithm.defaults.items() if key not in given}
    has = dict(letters) | dict(parameters)
    points = np.arange(len(letters["L"]))
    refused: list[tuple[str, npt.NDArray[np.int64]]] = []

    def keep(good: npt.NDArray[np.bool_], why: str) -> None:
        """Go on with the points that are good."""
        nonlocal points
        good = np.broadcast_to(good, points.shape)
        if not good.all():
            refused.append((why, points[~good]))
            points = points[good]
            for key in has:
                has[key] = has[key][good]

    for symbol in algorithm.symbols:
        if symbol.name in parameters:
            must = f"must be {symbol.allowed} ({symbol.meaning})"
            keep(symbol.holds(has[symbol.name]), f"{name}: {symbol.name}: {must}")
    counts, pram, tmm = (make(variant, given) for make in (algorithm.counts, algorithm.pram, algorithm.tmm))
    fits = algorithm.fits_of(variant, given)
    letters_used = {symbol.name for formula in (counts, pram, tmm) for symbol in formula.symbols}
    if "Z" in letters_used.union(*(arguments(part.limit) for part in fits)):
        keep(~np.isnan(has["Z"]), f"{name}: Z: the machine has no shared memory (resources.shared_memory)")
    for part in (*fits, *form.needs):
        limit = algorithm.value(part.limit, has, defaults)
        keep(part.holds(has[part.symbol], limit), f"{name}: {part.symbol}: must be {part.relation} {part.written}")

    def made_by(formula: Formula) -> Evaluation:
        return formula.evaluate(**{symbol.name: has[symbol.name] for symbol in formula.symbols if symbol.name in has})

    counted = {key: np.broadcast_to(term, points.shape) for key, term in made_by(counts).terms.items()}
    most = np.fmin(has["X"], has["Z"] / (has["Q"] * counted["S"]))  # T <= X and T <= Z / (Q S)
    if threads_per_core is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            feeds = np.where(counted["Tinf"] > 0, counted["T1"] / counted["Tinf"], inf)  # T <= T1 / (Tinf P)
        if form.threads:
            feeds = form.threads(**{key: has[key] for key in arguments(form.threads)})
        has["T"] = np.minimum(most, feeds / has["P"])
    else:
        has["T"] = threads_per_core[points]
        keep(~(has["T"] > most), f"{name}: T: must be at most what the machine holds, X and Z / (Q S)")
    keep(T.holds(has["T"]), f"{name}: T: must be {T.allowed} ({T.meaning})")
    return Times(tuple(refused), points, {"pram": made_by(pram), "tmm": made_by(tmm)})

"""The times of an algorithm of the papers by PRAM and TMM: at many points at once, or at one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, nan

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.model.algorithms.algorithm import NO_SHARED_MEMORY, Algorithm, Equation, Form, Need, arguments
from simtmm.model.algorithms.machine_letters import letters_of
from simtmm.model.equations.formula import Evaluation, Floats, Formula, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import T, Z
from simtmm.result import Prediction

Points = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Refusal:
    """Points that have no time, all for one reason.

    reason: what holds for all of them, without their values.
    points: which they are.
    message: a function of a place among `points`, that gives the reason with that point's value.
    """

    reason: str
    points: Points
    message: Callable[[int], str]


@dataclass(frozen=True)
class Times:
    """The times of an algorithm at many points.

    refusals: why some points have no time.
    points: the others.
    by_model: "pram" and "tmm", evaluated at `points`, in that order.
    counts: T1, Tinf, M and S at `points`, by name.
    """

    refusals: tuple[Refusal, ...]
    points: Points
    by_model: Mapping[str, Evaluation]
    counts: Mapping[str, Floats]

    @property
    def refused(self) -> tuple[tuple[str, Points], ...]:
        """The reasons, and which points each is for."""
        return tuple((refusal.reason, refusal.points) for refusal in self.refusals)


def times_of_algorithm(
    algorithm: Algorithm,
    letters: Mapping[str, Floats],
    parameters: Mapping[str, Floats],
    threads_per_core: Floats | None = None,
    variant: str | None = None,
    machine: str = "the machine",
) -> Times:
    """The times in cycles, constants being 1; a point for which there is none is refused, and the others go on.

    letters: as `letters_of` has them, float64[points]; Z [words] is nan where there is no shared memory.
    parameters: the problem's symbols by name, float64[points]; nan is refused.
    threads_per_core: T, float64[points]; if left out, the least of X, Z / (Q S) and what the algorithm can feed.
    machine: what messages call the machine.
    variant: the name of a variant; None for the first.

    Raises ModelError for an unknown variant, and for a symbol that must be given and is not.
    """
    form, given = algorithm.form(variant), set(parameters)
    defaults = {key: equation for key, equation in algorithm.defaults.items() if key not in given}
    at = _Points(algorithm.name, {"Z": np.full(len(letters["L"]), nan), **letters, **parameters})
    for symbol in algorithm.symbols:
        if symbol.name in given:
            at.keep_domain(symbol)
    for need in algorithm.fits_of(variant, given):
        at.keep_need(need, lambda equation: algorithm.value(equation, at.values, defaults))
    counts, pram, tmm = (make(variant, given) for make in (algorithm.counts, algorithm.pram, algorithm.tmm))
    in_need = [formula.name for formula in (counts, pram, tmm) if Z in formula.symbols]
    if in_need:
        at.keep_shared_memory(f"{in_need[0]}: Z: {machine} has no shared memory (resources.shared_memory)")
    counts.check_given(at.values)
    for need in form.needs:
        at.keep_need(need, lambda equation: algorithm.value(equation, at.values, defaults))
    at.counts = {key: np.broadcast_to(term, at.points.shape) for key, term in at.evaluate(counts).terms.items()}
    held, shared = at.values["X"], at.values["Z"] / (at.values["Q"] * at.counts["S"])  # T <= X and T <= Z / (Q S)
    if threads_per_core is None:
        at.values["T"] = np.minimum(np.fmin(held, shared), _threads_fed(form, at) / at.values["P"])
    else:
        at.values["T"] = threads_per_core[at.points]
        at.keep_threads(held, shared)
    at.keep_domain(T, tmm.name)
    return Times(tuple(at.refusals), at.points, {"pram": at.evaluate(pram), "tmm": at.evaluate(tmm)}, at.counts)


def predict_algorithm(
    algorithm: Algorithm,
    machine: Machine,
    parameters: Mapping[str, float],
    threads_per_core: float | None = None,
    variant: str | None = None,
) -> dict[str, Prediction]:
    """The times of an algorithm on a machine, by model: "pram" and "tmm"; in cycles, constants being 1.

    parameters: the problem's symbols by name.
    threads_per_core: T; the least of X, Z / (Q S) and what the algorithm can feed where it is left out. Z is in words.
    variant: the name of a variant; None for the first.

    Raises ModelError, with the symbol named, for parameters that are unknown, missing or outside their domain, for a T
    that the machine can't hold, and for a machine without shared memory where the algorithm needs some.
    """
    name, known = algorithm.name, {symbol.name: symbol for symbol in algorithm.symbols}
    for key in parameters:
        if key not in known:
            raise ModelError(f"{name}: {key}: unknown{nearest(key, known)}")
    own = letters_of(machine)
    times = times_of_algorithm(
        algorithm,
        {key: np.array([value]) for key, value in own.items()},
        {key: known[key].numbers(name, value).reshape(1) for key, value in parameters.items()},
        None if threads_per_core is None else T.numbers(name, threads_per_core).reshape(1),
        variant,
        f"machine {machine.name}",
    )
    if times.refusals:
        raise ModelError(times.refusals[0].message(0))
    pram, tmm = (times.by_model[model].at(0) for model in ("pram", "tmm"))
    more = {key: own[key] for key in ("X", "Q", "Z") if key in own}
    counts = {key: float(count[0]) for key, count in times.counts.items()}
    return {"pram": pram.prediction(machine.clock_hz), "tmm": tmm.prediction(machine.clock_hz, more | counts)}


class _Points:
    """The points that still have a time, with their values; what has none leaves, and its reason is stored."""

    def __init__(self, name: str, values: dict[str, Floats]) -> None:
        self.name, self.values = name, values
        self.counts: dict[str, Floats] = {}
        self.points: Points = np.arange(len(values["L"]))
        self.refusals: list[Refusal] = []

    def evaluate(self, formula: Formula) -> Evaluation:
        """A formula at all of them."""
        names = (symbol.name for symbol in formula.symbols)
        return formula.evaluate(**{name: self.values[name] for name in names if name in self.values})

    def keep(self, good: npt.NDArray[np.bool_], reason: str, message: Callable[[int], str]) -> None:
        """Go on with the points that are good. message: as the reason, with the value of one of the points."""
        if good.all():
            return
        bad = np.flatnonzero(~good)
        self.refusals.append(Refusal(f"{self.name}: {reason}", self.points[bad], lambda place: message(bad[place])))
        self.points = self.points[good]
        self.values = {name: values[good] for name, values in self.values.items()}
        self.counts = {name: values[good] for name, values in self.counts.items()}

    def keep_domain(self, symbol: Symbol, name: str = "") -> None:
        """Those whose value of a symbol is in its domain. name: that messages begin with."""
        values = self.values[symbol.name]
        self.keep(
            symbol.holds(values),
            f"{symbol.name}: must be {symbol.allowed} ({symbol.meaning})",
            lambda point: symbol.refusal(name or self.name, values[point]),
        )

    def keep_need(self, need: Need, value: Callable[[Equation], Value]) -> None:
        """Those for which something holds. value: of an equation, at all points."""
        if "Z" in arguments(need.limit):
            given = self.values[need.symbol]
            self.keep_shared_memory(
                lambda point: f"{self.name}: {need.symbol} = {given[point]:.12g}: {NO_SHARED_MEMORY}"
            )
        values = self.values[need.symbol]
        limits = np.broadcast_to(value(need.limit), values.shape)
        self.keep(
            need.holds(values, limits),
            f"{need.symbol}: must be {need.relation} {need.written}",
            lambda point: need.refusal(self.name, values[point], limits[point]),
        )

    def keep_shared_memory(self, message: str | Callable[[int], str]) -> None:
        """Those on a machine that has shared memory."""
        message_at = message if callable(message) else lambda point: message
        self.keep(~np.isnan(self.values["Z"]), NO_SHARED_MEMORY, message_at)

    def keep_threads(self, held: Floats, shared: Floats) -> None:
        """Those whose T is at most what a core may hold, and what its shared memory allows; nan where it has none."""
        threads, most = self.values["T"], np.fmin(held, shared)

        def message(point: int) -> str:
            limit = "shared memory" if shared[point] < held[point] else "threads per core"
            return f"{self.name}: T = {threads[point]:.12g}: must be at most {most[point]:.12g} (limit: {limit})"

        self.keep(~(threads > most), "T: must be at most what the machine holds, X and Z / (Q S)", message)


def _threads_fed(form: Form, at: _Points) -> Value:
    """How many threads the algorithm can use on the whole machine: T <= T1 / (Tinf P), unless its form says it."""
    if form.threads:
        return form.threads(**{key: at.values[key] for key in arguments(form.threads)})
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(at.counts["Tinf"] > 0, at.counts["T1"] / at.counts["Tinf"], inf)

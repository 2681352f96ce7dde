"""The symbols along which algorithms are followed: their ranges, and where in these the formulas evaluate."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.model.algorithms.algorithm import Algorithm, Equation
from simtmm.model.algorithms.families.shortest_paths import EDGES, VERTICES
from simtmm.model.algorithms.machine_letters import letters_of
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import Z

VARIED = ("n", "N", "m", "L", "T")  # along what two algorithms are compared, and regimes found
LARGEST = 1e12  # of a problem's size along which regimes and winners are found
MOST = 1e60  # of a symbol that is given: products of a few of them are still numbers
NOT_GIVEN = "must be given"  # the end of an error that names symbols without a value
TRIES = 241  # points of a range at which a formula is tried


def check_symbols(name: str, symbols: tuple[Symbol, ...], parameters: Mapping[str, float]) -> None:
    """Raises ModelError for parameters that are unknown, outside their domain or beyond all sizes.

    name: what messages call the formula.
    parameters: values of symbols, by name.
    """
    known = {symbol.name: symbol for symbol in symbols}
    for key, value in parameters.items():
        if key not in known:
            raise ModelError(f"{name}: {key}: unknown{nearest(key, known)}")
        known[key].check(name, value)
        if value > MOST:
            raise ModelError(f"{name}: {key} = {value:.12g}: must be at most {MOST:g} ({known[key].meaning})")
    if EDGES in symbols and {"n", "m"} <= set(parameters) and parameters["m"] > parameters["n"] ** 2:
        most = f"{parameters['n'] ** 2:.12g}"
        raise ModelError(f"{name}: m = {parameters['m']:.12g}: must be at most n^2 = {most} ({EDGES.meaning})")


def check_given(name: str, symbols: Iterable[Symbol], values: Mapping[str, float], machine: Machine) -> None:
    """Raises ModelError where a symbol has no value: the problem's, or Z of a machine that has no shared memory.

    name: what messages call the formula.
    values: of symbols, by name.
    """
    missing = [symbol for symbol in symbols if symbol.name not in values]
    if Z in missing:
        raise ModelError(f"{name}: Z: machine {machine.name} has no shared memory (resources.shared_memory)")
    if missing:
        what = ", ".join(f"{symbol.name} ({symbol.meaning})" for symbol in missing)
        raise ModelError(f"{name}: {what} {NOT_GIVEN}")


def machine_letters(machine: Machine) -> dict[str, float]:
    """The machine's letters, X being what shared memory leaves of it: T <= Z / (Q S), where every form has S = 1."""
    letters = letters_of(machine)
    return {**letters, "X": min(letters["X"], letters["Z"] / letters["Q"])} if "Z" in letters else letters


def timed(algorithm: Algorithm, variant: str | None, given: set[str], with_threads: bool) -> Formula:
    """The TMM with T given, or with as many threads as the algorithm feeds and the machine holds.

    What it feeds is T1 / Tinf where its form does not say (Table 4.1: T <= T1 / (Tinf P)).

    variant: the name of a variant; None for the first.
    given: symbols that have a value beside those of the problem.
    with_threads: whether T is given.
    """
    form = algorithm.form(variant)
    if with_threads:
        return algorithm.tmm(variant, given)
    if form.threads is not None:
        return algorithm.refined(variant, given)

    def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
        P, L, X = symbols["P"], symbols["L"], symbols["X"]
        work, span, memory = value(form.work), value(form.span), value(form.memory)
        chain = value(form.chain) if form.chain else memory * span / work
        return {"compute": work / P, "span": span, "chain": chain * L, "memory": memory * L / (X * P)}

    parts = (form.work, form.span, form.memory, *((form.chain,) if form.chain else ()))
    return algorithm.formula("TMM, refined", variant, given, terms, ("P", "L", "X"), parts)


def range_of(
    symbols: tuple[Symbol, ...], over: str, values: Mapping[str, float], machine: Machine
) -> tuple[float, float]:
    """Where a symbol may go: T up to what the machine holds, L up to a million cycles, sizes from their least on.

    A graph of n vertices has at most n^2 edges.

    over: the symbol that varies.
    values: of the other symbols, by name.
    """
    if over == "T":
        most = machine_letters(machine)["X"]
        return min(0.01, most / 2), most
    if over == "L":
        return 1.0, 1e6
    own = [symbol for symbol in symbols if symbol.name == over]
    low, high = max([2.0, *(symbol.minimum for symbol in own)]), LARGEST
    if EDGES in own and "n" in values:
        high = min(high, values["n"] ** 2)
    if VERTICES in own and EDGES in symbols and "m" in values:
        low = max(low, values["m"] ** 0.5)
    return low, high


def domain(
    formulas: tuple[Formula, ...], values: Mapping[str, float], over: str, low: float, high: float
) -> tuple[float, float]:
    """The part of a range in which the formulas evaluate, as a merge sort does above Z only; they do in one stretch.

    values: of all symbols but `over`, by name.
    over: the symbol that varies.
    low, high: its range.

    Raises ModelError where they don't evaluate at any of the points that are tried.
    """

    def refusal(point: Value) -> ModelError | None:
        try:
            for formula in formulas:
                has = {**values, over: point}
                formula.evaluate(**{symbol.name: has[symbol.name] for symbol in formula.symbols})
        except ModelError as error:
            return error
        return None

    def edge(outside: float, inside: float) -> float:
        # By halves of a step, down to the last bit of a double
        while min(outside, inside) < (middle := (outside * inside) ** 0.5) < max(outside, inside):
            outside, inside = (outside, middle) if refusal(middle) is None else (middle, inside)
        return inside

    if not low < high:
        raise ModelError(f"{' and '.join(formula.name for formula in formulas)}: {over}: no values from {low:g}")
    points = [float(point) for point in np.geomspace(low, high, TRIES)]  # both ends as they are
    if refusal(np.array(points)) is None:
        return low, high
    refusals = [refusal(point) for point in points]
    good = [number for number, refused in enumerate(refusals) if refused is None]
    if not good:
        raise next(refused for refused in refusals if refused is not None)
    first, last = good[0], good[-1]
    start = points[first] if first == 0 else edge(points[first - 1], points[first])
    return start, points[last] if last == len(points) - 1 else edge(points[last + 1], points[last])

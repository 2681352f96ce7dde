"""Where what binds changes along a symbol, and where one algorithm overtakes another.

Both are found by one search: a label (the binding term, the faster algorithm) is computed on a logarithmic grid, and
each change between neighbours is narrowed down by bisection. A stretch that begins and ends between two neighbours of
the grid is not seen. Where a change can be solved for, it is given as a formula too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError, nearest
from simtmm.model.algorithms.algorithm import Algorithm
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value

POINTS = 2001
EQUAL = 1e-12  # relative: times computed in different orders of rounding
HALVINGS = 60  # of a grid's step, down to the last bits of a double
TIE = "both"


@dataclass(frozen=True)
class Regime:
    """From `start` to `stop` along a symbol, the term `bound` is the largest.

    begins: `start` as a SymPy expression of the other symbols; None at the range's low end and where it can't be
    solved for.
    """

    bound: str
    start: float
    stop: float
    begins: Any = None


def regimes(
    model: Formula | Algorithm, values: Mapping[str, float], over: str, low: float = 1.0, high: float = 1e12
) -> list[Regime]:
    """The terms that bind along `over`, one after another, the other symbols having these values.

    An algorithm is meant by its `time`, its first variant. Raises ModelError, the symbol named.

    model: a model's formula, or an algorithm.
    values: of all symbols but `over`, by name.
    low, high: the range of `over` that is looked at.
    """
    formula = model if isinstance(model, Formula) else model.time()
    chosen = _chosen((formula,), values, over)

    def label(points: npt.NDArray[np.float64]) -> npt.NDArray[np.str_]:
        terms = formula.evaluate(**chosen[0], **{over: points}).terms
        sizes = np.stack(np.broadcast_arrays(*terms.values()))
        # The first of equals: where two terms are one and the same, rounding must not choose between them.
        names = np.array(list(terms))[np.argmax(sizes >= sizes.max(axis=0) * (1 - EQUAL), axis=0)]
        return np.asarray(names, dtype=np.str_)

    found: list[Regime] = []
    for bound, start, stop in _without_points(_stretches(label, *_range(formula.name, over, low, high))):
        begins = None
        if found:
            begins = _solved(formula, found[-1].bound, bound, over, chosen[0], start)
            start = start if begins is None else _number(begins, chosen[0]).real
            found[-1] = replace(found[-1], stop=start)
        found.append(Regime(bound, start, stop, begins))
    return found


@dataclass(frozen=True)
class Stretch:
    """From `start` to `stop`, `winner` takes less time; "both" take the same."""

    winner: str
    start: float
    stop: float


@dataclass(frozen=True)
class Crossover:
    """Which of two formulas gives the shorter time along a symbol, by name."""

    over: str
    stretches: tuple[Stretch, ...]

    @property
    def points(self) -> tuple[float, ...]:
        """Where the winner changes."""
        return tuple(stretch.start for stretch in self.stretches[1:])

    @property
    def everywhere(self) -> str | None:
        """The winner of the whole range; None where there is more than one."""
        return self.stretches[0].winner if len(self.stretches) == 1 else None

    def __str__(self) -> str:
        if self.everywhere == TIE:
            return f"both take the same time for every {self.over}"
        if self.everywhere:
            return f"{self.everywhere} wins everywhere"
        parts = []
        for stretch in self.stretches:
            verb = "take the same time" if stretch.winner == TIE else "wins"
            parts.append(f"{stretch.winner} {verb} from {self.over} = {stretch.start:,.6g} to {stretch.stop:,.6g}")
        return "; ".join(parts)


def crossover(
    first: Formula | Algorithm,
    second: Formula | Algorithm,
    over: str,
    values: Mapping[str, float],
    low: float = 1.0,
    high: float = 1e12,
) -> Crossover:
    """Where two algorithms take the same time along `over`, and which wins on which side.

    Each takes from `values` the symbols that it has. Algorithms are meant by their `time`, their first variants.
    Raises ModelError, the symbol named.

    first, second: what is compared.
    low, high: the range of `over` that is searched.
    """
    formulas = tuple(model if isinstance(model, Formula) else model.time() for model in (first, second))
    chosen = _chosen(formulas, values, over)

    def label(points: npt.NDArray[np.float64]) -> npt.NDArray[np.str_]:
        a, b = (
            formula.evaluate(**own, **({over: points} if over in _letters(formula) else {})).total
            for formula, own in zip(formulas, chosen, strict=True)
        )
        same = np.abs(a - b) <= EQUAL * np.maximum(a, b)
        return np.where(same, TIE, np.where(a < b, formulas[0].name, formulas[1].name))

    stretches = _stretches(label, *_range(" and ".join(formula.name for formula in formulas), over, low, high))
    return Crossover(over, tuple(Stretch(*stretch) for stretch in _without_points(stretches)))


def _letters(formula: Formula) -> dict[str, Symbol]:
    return {symbol.name: symbol for symbol in formula.symbols}


def _chosen(formulas: tuple[Formula, ...], values: Mapping[str, float], over: str) -> list[dict[str, Value]]:
    """Each formula's own values, `over` apart."""
    names = " and ".join(formula.name for formula in formulas)
    known = {letter for formula in formulas for letter in _letters(formula)}
    for name in (over, *values):
        if name not in known:
            raise ModelError(f"{names}: {name}: unknown{nearest(name, known)}")
    if over in values:
        raise ModelError(f"{names}: {over}: can't both vary and be given")
    return [{name: values[name] for name in _letters(formula) if name in values} for formula in formulas]


def _range(name: str, over: str, low: float, high: float) -> tuple[float, float]:
    if not 0 < low < high < np.inf:
        raise ModelError(
            f"{name}: {over} from {low:.12g} to {high:.12g}: must be a range above 0, with the low end first"
        )
    return low, high


def _stretches(
    label: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.str_]], low: float, high: float
) -> list[tuple[str, float, float]]:
    """Label, start and stop of each stretch of one label."""
    grid = np.geomspace(low, high, POINTS)
    grid[0], grid[-1] = low, high
    labels = np.broadcast_to(label(grid), grid.shape)
    edges: list[tuple[float, str]] = [(low, str(labels[0]))]
    for left, right, last in zip(grid[:-1], grid[1:], labels[1:], strict=True):
        here = float(left)
        while edges[-1][1] != last:  # several changes may lie between two neighbours
            inside, outside, new = here, float(right), str(last)
            for _ in range(HALVINGS):
                middle = float(np.sqrt(inside * outside))
                if not inside < middle < outside:
                    break
                found = str(label(np.array([middle]))[0])
                if found == edges[-1][1]:
                    inside = middle
                else:
                    outside, new = middle, found
            edges.append((outside, new))
            here = outside
    stops = [start for start, _ in edges[1:]] + [high]
    return [(name, start, stop) for (start, name), stop in zip(edges, stops, strict=True)]


def _without_points(stretches: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Without those that are wide only by rounding: a tie where two curves cross, an end where all is 0."""
    kept: list[tuple[str, float, float]] = []
    for name, start, stop in stretches:
        if len(stretches) > 1 and stop <= start * (1 + 1e3 * EQUAL):
            if kept:
                kept[-1] = (*kept[-1][:2], float(np.sqrt(start * stop)))
        elif kept and kept[-1][0] == name:
            kept[-1] = (*kept[-1][:2], stop)
        else:
            kept.append((name, kept[-1][2] if kept else stretches[0][1], stop))
    return kept


def _solved(formula: Formula, before: str, after: str, over: str, values: Mapping[str, float], at: float) -> Any:
    """The change from one term to another, solved for `over`; None where it can't be."""
    import sympy

    point = {**values, over: at}

    def active(expression: Any) -> Any:
        """Each Max and Min replaced by what it is there."""
        for choice in expression.atoms(sympy.Max, sympy.Min):
            pick = max if choice.func is sympy.Max else min
            expression = expression.subs(choice, pick(choice.args, key=lambda part: _number(part, point).real))
        return expression

    one, other = active(formula.expressions[before]), active(formula.expressions[after])
    letters = {str(letter): letter for letter in (one / other).free_symbols}
    if over not in letters:
        return None
    return next((each for each in _solutions(one / other, letters[over]) if _is_near(each, values, at)), None)


def _solutions(ratio: Any, letter: Any) -> list[Any]:
    """The values of a letter, as expressions of the others, where a ratio is 1; none where they can't be solved for.

    SymPy tells what it can't solve by NotImplementedError, and also by whatever its many ways come upon, as a recursion
    without an end. The number is known without it.
    """
    import sympy

    simple = sympy.simplify(ratio)
    if _is_mixed(simple, letter):  # what SymPy looks for in minutes, and has no elementary functions for
        return []
    try:
        return list(sympy.solve(sympy.Eq(simple, 1), letter))
    except Exception:
        return []


def _is_mixed(expression: Any, letter: Any) -> bool:
    """Whether a letter stands in a logarithm or an exponent and beside it, or in several that differ."""
    import sympy

    expanded = sympy.expand_log(expression, force=True)
    inside = {each for each in expanded.atoms(sympy.Function) if each.has(letter)}
    inside |= {each for each in expanded.atoms(sympy.Pow) if each.exp.has(letter)}
    beside = expanded.xreplace({each: sympy.Dummy() for each in inside})
    return bool(inside) and (len(inside) > 1 or beside.has(letter))


def _is_near(solution: Any, values: Mapping[str, float], at: float) -> bool:
    """Whether a solution has a value, and it is the one that was found."""
    try:
        return abs(_number(solution, values) - at) <= 1e-9 * at
    except (TypeError, ValueError, ArithmeticError):  # it has none, as an infinity or a condition
        return False


def _number(expression: Any, values: Mapping[str, float]) -> complex:
    """What an expression gives for these values; complex where it is another branch of a solution."""
    point = {letter: values[str(letter)] for letter in expression.free_symbols}
    return complex(expression.evalf(17, subs=point))

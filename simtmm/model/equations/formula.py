"""A published equation as data: its terms, what its symbols mean and allow, and where it comes from.

The terms are one Python function. Called with numbers or arrays it gives values, with symbols the formula, so what
is computed and what is shown can't drift apart.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError, nearest, shown
from simtmm.model.equations.functions import Value
from simtmm.result import Prediction

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Symbol:
    """A letter of the papers.

    name: as in code and on the command line. meaning, unit: for people. minimum, maximum: the domain, both included
    unless `above` (more than the minimum). whole: whether only whole numbers are allowed. latex: how it is printed,
    where not by its name.
    """

    name: str
    meaning: str
    unit: str = ""
    minimum: float = 0.0
    maximum: float = np.inf
    above: bool = False
    whole: bool = False
    latex: str = ""

    @property
    def printed(self) -> str:
        """In LaTeX: `latex`, or the name with all that follows an underscore below the line."""
        base, _, below = self.name.partition("_")
        return self.latex or (f"{base}_{{{below}}}" if len(below) > 1 else self.name)

    @property
    def allowed(self) -> str:
        """The domain in words."""
        kind = "whole and " if self.whole else ""
        low = "" if self.minimum == -np.inf else f"{'above' if self.above else 'at least'} {self.minimum:.12g}"
        high = "" if self.maximum == np.inf else f"at most {self.maximum:.12g}"
        return kind + (" and ".join(part for part in (low, high) if part) or "a number")

    def holds(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Which values are in the domain."""
        low = values > self.minimum if self.above else values >= self.minimum
        good: npt.NDArray[np.bool_] = low & (values <= self.maximum)
        return good & (values == np.floor(values)) if self.whole else good

    def numbers(self, model: str, value: Value) -> Floats:
        """The value as an array of float64, whatever its domain. Raises ModelError where it is no number."""
        try:
            return np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError(f"{model}: {self.name} = {shown(value)}: must be {self.allowed}") from None

    def refusal(self, model: str, value: float) -> str:
        """The message for a value outside the domain."""
        return f"{model}: {self.name} = {value:.12g}: must be {self.allowed} ({self.meaning})"

    def check(self, model: str, value: Value) -> Floats:
        """The value as an array of float64. Raises ModelError where some of it is outside the domain."""
        values = self.numbers(model, value)
        good = self.holds(values)
        if not good.all():
            raise ModelError(self.refusal(model, float(values[~good].flat[0])))
        return values


@dataclass(frozen=True)
class Formula:
    """T = max or sum of terms.

    name: of the model or algorithm. terms: a function of all symbols, by keyword, that gives a dict of term name to
    value; it uses simtmm.model.equations.functions for what operators do not do. symbols: in the order in which they
    are listed. combine: "max" where the parts overlap, "sum" where they come one after another. unit: of the terms.
    source: the document, and equation or table.
    """

    name: str
    terms: Callable[..., dict[str, Value]]
    symbols: tuple[Symbol, ...]
    source: str
    combine: Literal["max", "sum"] = "max"
    unit: str = "cycles"

    def evaluate(self, **values: Value) -> "Evaluation":
        """The terms for these values, numbers or arrays that broadcast. Raises ModelError, the symbol named."""
        checked = self._checked(values)
        terms = {name: np.asarray(term, dtype=np.float64) for name, term in self.terms(**checked).items()}
        return Evaluation(self, checked, terms)

    def check_given(self, values: Collection[str]) -> None:
        """Raises ModelError for the first symbol that is not among these names."""
        names = [symbol.name for symbol in self.symbols]
        for name in names:
            if name not in values:
                raise ModelError(f"{self.name}: {name}: must be given; the symbols are {', '.join(names)}")

    def _checked(self, values: Mapping[str, Value]) -> dict[str, Floats]:
        names = [symbol.name for symbol in self.symbols]
        for name in values:
            if name not in names:
                raise ModelError(f"{self.name}: {name}: unknown{nearest(name, names)}")
        self.check_given(values)
        return {symbol.name: symbol.check(self.name, values[symbol.name]) for symbol in self.symbols}

    @cached_property
    def expressions(self) -> dict[str, Any]:
        """The terms as SymPy expressions."""
        import sympy

        letters = {
            symbol.name: sympy.Symbol(symbol.name, positive=symbol.minimum >= 0 or None, integer=symbol.whole or None)
            for symbol in self.symbols
        }
        return {name: sympy.sympify(term) for name, term in self.terms(**letters).items()}

    @property
    def latex(self) -> str:
        """The formula for a paper."""
        import sympy

        printed = {symbol.name: symbol.printed for symbol in self.symbols}
        lg = sympy.Function("lg", nargs=1)
        parts = []
        for term in self.expressions.values():
            # SymPy has the logarithm to base 2 as log(x) / log(2).
            shown = term.replace(_is_logarithm, lambda log: lg(log.args[0]) * sympy.log(2))
            names = {letter: printed[str(letter)] for letter in term.free_symbols}
            parts.append(sympy.latex(shown, symbol_names=names).replace("\\operatorname{lg}", "\\lg"))
        if self.combine == "sum" or len(parts) == 1:
            return f"T_P = {' + '.join(parts)}"
        return f"T_P = \\max\\left({', '.join(parts)}\\right)"


def _is_logarithm(part: Any) -> bool:
    import sympy

    return part.func is sympy.log and part.args[0] != 2


@dataclass(frozen=True)
class Evaluation:
    """A formula's terms for some values; arrays of one shape after broadcasting."""

    formula: Formula
    values: Mapping[str, Floats]
    terms: Mapping[str, Floats]

    @cached_property
    def total(self) -> Floats:
        """Their maximum or sum, in the formula's unit."""
        combined = np.zeros(())
        for number, term in enumerate(self.terms.values()):
            if number == 0:
                combined = term
            else:
                combined = np.maximum(combined, term) if self.formula.combine == "max" else combined + term
        return np.asarray(combined)

    @cached_property
    def bound(self) -> npt.NDArray[np.str_]:
        """The name of the largest term, the first of equals."""
        return np.asarray(np.array(list(self.terms))[self.largest])

    @cached_property
    def largest(self) -> npt.NDArray[np.int64]:
        """The same as a place among the terms."""
        return np.asarray(np.argmax(np.stack(np.broadcast_arrays(*self.terms.values())), axis=0), dtype=np.int64)

    def at(self, point: int) -> "Evaluation":
        """Of one point of arrays of one dimension, as scalars."""

        def of(columns: Mapping[str, Floats]) -> dict[str, Floats]:
            return {name: np.asarray(column[point] if column.ndim else column) for name, column in columns.items()}

        return Evaluation(self.formula, of(self.values), of(self.terms))

    def prediction(
        self, clock_hz: float | None, more: Mapping[str, float] | None = None, source: str = ""
    ) -> Prediction:
        """As a Prediction; of scalars, in cycles. more: symbols that follow from the others and are listed as well."""
        symbols = {name: _plain(value) for name, value in self.values.items()}
        return Prediction(
            model=self.formula.name,
            cycles=float(self.total),
            bound=str(self.bound),
            terms={name: float(term) for name, term in self.terms.items()},
            symbols=symbols | dict(more or {}),
            source=source or self.formula.source,
            clock_hz=clock_hz,
        )


def _plain(value: Floats) -> float:
    """A whole number as an int."""
    number = float(value)
    return int(number) if number.is_integer() else number

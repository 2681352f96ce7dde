"""An algorithm of the papers: work, span and memory operations as equations, and the times that follow from them.

Source: Ma, dissertation (2014), chapter 3. As in tmm.py, the equations stand in O() and Omega() and their constants
are taken as 1: a time is in cycles if an operation takes one. Sizes may be fractional.

An equation is a function whose arguments are named as its symbols: those of the problem, and the machine's P, Q, L, C,
Z and X. It is written with simtmm.model.equations.functions, so that numbers, arrays and symbols go in alike.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError, nearest
from simtmm.model.equations.formula import Floats, Formula, Symbol
from simtmm.model.equations.functions import Value, is_symbolic
from simtmm.model.equations.symbols import C, L, P, Q, T, X, Z

Equation = Callable[..., Value]
OF_MACHINES = (P, Q, L, C, Z, X, T)
NO_SHARED_MEMORY = "Z: the machine has no shared memory (resources.shared_memory)"
RELATIONS = {"above": np.greater, "below": np.less, "at most": np.less_equal}


def constant() -> Value:
    """S = O(1): a thread uses a constant number of words of shared memory."""
    return 1


@dataclass(frozen=True)
class Need:
    """What must hold between symbols: `symbol` stands in `relation` (of RELATIONS) to `limit`, `written` in words."""

    symbol: str
    relation: str
    limit: Equation
    written: str

    def holds(self, value: Floats, limit: Value) -> npt.NDArray[np.bool_]:
        """Where it holds."""
        good: npt.NDArray[np.bool_] = RELATIONS[self.relation](value, limit)
        return good

    def refusal(self, name: str, value: float, limit: float) -> str:
        """The message for a value for which it does not hold."""
        return f"{name}: {self.symbol} = {value:.12g}: must be {self.relation} {self.written} = {limit:.12g}"

    def check(self, name: str, value: Floats, limit: Value) -> None:
        """Raises ModelError where it does not hold, with the first value that is wrong."""
        values, limits = np.broadcast_arrays(value, limit)
        good = self.holds(values, limits)
        if not good.all():
            raise ModelError(self.refusal(name, values[~good].flat[0], limits[~good].flat[0]))


@dataclass(frozen=True)
class Form:
    """One printed, mended or derived analysis of an algorithm.

    work: T1, operations. span: Tinf, operations. memory: M, transfers of a chunk. source: document, and equation or
    section. pram_span: Tinf on a PRAM where it is another. shared_memory: S, words a thread uses. threads: the most
    threads that the algorithm can use on the whole machine; T1 / Tinf where it is left out. chain: memory operations
    on the longest path, each of which takes L whatever T is. needs: what must hold between symbols.
    """

    work: Equation
    span: Equation
    memory: Equation
    source: str
    pram_span: Equation | None = None
    shared_memory: Equation = constant
    threads: Equation | None = None
    chain: Equation | None = None
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """An algorithm, its problem's symbols, and its forms by variant; the first is meant where no variant is named.

    defaults: equations for those symbols that need not be given. `given` names those that are: without it, formulas
    have the default in their place. fits: what must hold of such symbols on a machine, where they are given.
    """

    name: str
    title: str
    symbols: tuple[Symbol, ...]
    forms: Mapping[str, Form]
    defaults: Mapping[str, Equation] = field(default_factory=dict)
    fits: tuple[Need, ...] = ()

    def form(self, variant: str | None = None) -> Form:
        """The form of a variant.

        variant: the name of a variant; None for the first.

        Raises ModelError for an unknown one.
        """
        if variant is None:
            return next(iter(self.forms.values()))
        if variant not in self.forms:
            raise ModelError(f"{self.name}: variant {variant!r}: unknown{nearest(variant, self.forms)}")
        return self.forms[variant]

    def fits_of(self, variant: str | None, given: Collection[str]) -> tuple[Need, ...]:
        """Those of `fits` whose symbols are given and make a difference to the variant.

        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        form = self.form(variant)
        used = {name for part in (form.work, form.span, form.memory) for name in arguments(part)}
        return tuple(part for part in self.fits if part.symbol in used and part.symbol in given)

    def check_fits(self, variant: str | None, parameters: Mapping[str, Any], letters: Mapping[str, float]) -> None:
        """Raises ModelError for a symbol that is given and does not fit the machine with these letters.

        variant: the name of a variant; None for the first.
        parameters: values of the problem's symbols by name.
        letters: values of the machine's, as `letters_of` has them.
        """
        for part in self.fits_of(variant, parameters):
            missing = [name for name in arguments(part.limit) if name not in letters]
            if missing:
                raise ModelError(f"{self.name}: {part.symbol} = {parameters[part.symbol]:.12g}: {NO_SHARED_MEMORY}")
            limit = part.limit(**{name: letters[name] for name in arguments(part.limit)})
            part.check(self.name, parameters[part.symbol], limit)

    def counts(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """T1, Tinf, M and S, each a term of its own; their maximum means nothing.

        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        form = self.form(variant)
        parts = {"T1": form.work, "Tinf": form.span, "M": form.memory, "S": form.shared_memory}

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            return {name: value(part) for name, part in parts.items()}

        return self.formula("counts", variant, given, terms, (), parts.values())

    def pram(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """The time on a PRAM: T_P = max(T1 / P, Tinf).

        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        form = self.form(variant)
        span = form.pram_span or form.span

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            return {"compute": value(form.work) / symbols["P"], "span": value(span)}  # as Eq. (4.2)

        return self.formula("PRAM", variant, given, terms, ("P",), (form.work, span))

    def tmm(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """The time by the TMM, T threads a core given: T_P = max(T1 / P, Tinf, M L / (T P)).

        Where the form has a chain of memory operations, chain * L is a term as well.

        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        form = self.form(variant)

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            P, L, T = symbols["P"], symbols["L"], symbols["T"]
            chain = {"chain": value(form.chain) * L} if form.chain else {}
            expressions = {"compute": value(form.work) / P, "span": value(form.span)} | chain
            return expressions | {"memory": value(form.memory) * L / (T * P)}  # Eq. (3.2)

        chain = (form.chain,) if form.chain else ()
        parts = (form.work, form.span, form.memory, *chain)
        return self.formula("TMM", variant, given, terms, ("P", "L", "T"), parts)

    def refined(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """The time by the TMM with as many threads as the problem feeds and the machine holds.

        With at most N threads of the algorithm and X a core, T P = min(N, X P), and M L / (T P) falls into M L / N
        (chain) and M L / (X P) (memory): Eq (4.29), (4.30), (4.32), (4.35) and (4.36). A form that has its own chain
        has it instead of M / N. Raises ModelError for an algorithm whose threads are not known.

        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        form = self.form(variant)
        threads = form.threads
        if threads is None:
            raise ModelError(f"{self.name}: has no form refined over the problem's size; use the one with T given")

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            P, L, X, M = symbols["P"], symbols["L"], symbols["X"], value(form.memory)
            chain = value(form.chain) if form.chain else M / value(threads)
            expressions = {"compute": value(form.work) / P, "span": value(form.span)}
            return expressions | {"chain": chain * L, "memory": M * L / (X * P)}

        parts = (form.work, form.span, form.memory, form.chain or threads)
        return self.formula("TMM, refined", variant, given, terms, ("P", "L", "X"), parts)

    def time(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """`refined` where there is such a form, `tmm` otherwise.

        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        make = self.refined if self.form(variant).threads else self.tmm
        return make(variant, given)

    def value(self, equation: Equation, symbols: Mapping[str, Value], defaults: Mapping[str, Equation]) -> Value:
        """An equation's value; symbols that are in `defaults` have the value of the equation there.

        symbols: values by symbol, numbers or arrays that broadcast.
        defaults: equations of symbols that have no value of their own.
        """

        def of(name: str) -> Value:
            return self.value(defaults[name], symbols, defaults) if name in defaults else symbols[name]

        return equation(**{name: of(name) for name in arguments(equation)})

    def formula(
        self,
        model: str,
        variant: str | None,
        given: Collection[str],
        terms: Callable[[Callable[[Equation], Value], Mapping[str, Value]], dict[str, Value]],
        letters: Iterable[str],
        parts: Iterable[Equation],
    ) -> Formula:
        """A formula of one's own on a form: `terms` of a function that gives an equation's value, and all symbols.

        model: for its name. letters: the symbols that `terms` uses itself. parts: the equations that it asks for.
        variant: the name of a variant; None for the first.
        given: symbols that have a value beside those of the problem.
        """
        form = self.form(variant)
        defaults = {name: equation for name, equation in self.defaults.items() if name not in given}
        needed = set(letters)

        def need(equation: Equation) -> None:
            for name in arguments(equation):
                if name in defaults:
                    need(defaults[name])
                else:
                    needed.add(name)

        for equation in (*parts, *(part.limit for part in form.needs)):
            need(equation)
        needed |= {part.symbol for part in form.needs}

        def checked(**symbols: Value) -> dict[str, Value]:
            def value(equation: Equation) -> Value:
                return self.value(equation, symbols, defaults)

            if not is_symbolic(*symbols.values()):
                for part in form.needs:
                    part.check(self.name, symbols[part.symbol], value(part.limit))
            return terms(value, symbols)

        label = model if variant in (None, next(iter(self.forms))) else f"{model}, {variant}"
        symbols = tuple(symbol for symbol in (*self.symbols, *OF_MACHINES) if symbol.name in needed)
        return Formula(f"{self.name} ({label})", checked, symbols, form.source)


@functools.cache
def arguments(equation: Equation) -> tuple[str, ...]:
    """The names of the symbols that an equation is written in."""
    return tuple(inspect.signature(equation).parameters)

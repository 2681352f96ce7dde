"""An algorithm of the papers: work, span and memory operations as equations, and the times that follow from them.

Source: Ma, dissertation (2014), chapter 3. As in tmm.py, the equations stand in O() and Omega() and their constants
are taken as 1: a time is in cycles if an operation takes one. Sizes may be fractional.

An equation is a function whose arguments are named as its symbols: those of the problem, and the machine's P, Q, L, C,
Z and X. It is written with simtmm.model.functions, so that numbers, arrays and symbols go in alike.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.model.formula import Floats, Formula, Symbol
from simtmm.model.functions import Value, is_symbolic
from simtmm.model.symbols import C, L, P, Q, T, X, Z
from simtmm.result import Prediction

Equation = Callable[..., Value]
OF_MACHINES = (P, Q, L, C, Z, X, T)
RELATIONS = {"above": np.greater, "below": np.less, "at most": np.less_equal}


def constant() -> Value:
    """S = O(1): a thread uses a constant number of words of local memory."""
    return 1


@dataclass(frozen=True)
class Need:
    """What must hold between symbols: `symbol` stands in `relation` (of RELATIONS) to `limit`, `written` in words."""

    symbol: str
    relation: str
    limit: Equation
    written: str

    def check(self, name: str, value: Floats, limit: Value) -> None:
        """Raises ModelError where it does not hold, with the first value that is wrong."""
        values, limits = np.broadcast_arrays(value, limit)
        good = RELATIONS[self.relation](values, limits)
        if not good.all():
            wrong, bound = values[~good].flat[0], limits[~good].flat[0]
            must = f"must be {self.relation} {self.written} = {bound:.12g}"
            raise ModelError(f"{name}: {self.symbol} = {wrong:.12g}: {must}")


@dataclass(frozen=True)
class Form:
    """One printed, mended or derived analysis of an algorithm.

    work: T1, operations. span: Tinf, operations. memory: M, transfers of a chunk. source: document, and equation or
    section. pram_span: Tinf on a PRAM where it is another. local_memory: S, words a thread uses. threads: the most
    threads that the algorithm can use on the whole machine; T1 / Tinf where it is left out. chain: memory operations
    on the longest path, each of which takes L whatever T is. needs: what must hold between symbols.
    """

    work: Equation
    span: Equation
    memory: Equation
    source: str
    pram_span: Equation | None = None
    local_memory: Equation = constant
    threads: Equation | None = None
    chain: Equation | None = None
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """An algorithm, its problem's symbols, and its forms by variant; the first is meant where no variant is named.

    defaults: equations for those symbols that need not be given. `given` names those that are: without it, formulas
    have the default in their place.
    """

    name: str
    title: str
    symbols: tuple[Symbol, ...]
    forms: Mapping[str, Form]
    defaults: Mapping[str, Equation] = field(default_factory=dict)

    def form(self, variant: str | None = None) -> Form:
        """The form of a variant. Raises ModelError for an unknown one."""
        if variant is None:
            return next(iter(self.forms.values()))
        if variant not in self.forms:
            raise ModelError(f"{self.name}: variant {variant!r}: unknown{nearest(variant, self.forms)}")
        return self.forms[variant]

    def counts(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """T1, Tinf, M and S, each a term of its own; their maximum means nothing."""
        form = self.form(variant)
        parts = {"T1": form.work, "Tinf": form.span, "M": form.memory, "S": form.local_memory}

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            return {name: value(part) for name, part in parts.items()}

        return self.formula("counts", variant, given, terms, (), parts.values())

    def pram(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """The time on a PRAM: T_P = max(T1 / P, Tinf)."""
        form = self.form(variant)
        span = form.pram_span or form.span

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            return {"compute": value(form.work) / symbols["P"], "span": value(span)}  # as Eq. (4.2)

        return self.formula("PRAM", variant, given, terms, ("P",), (form.work, span))

    def tmm(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """The time by the TMM, T threads a core given: T_P = max(T1 / P, Tinf, M L / (T P)).

        Where the form has a chain of memory operations, chain * L is a term as well.
        """
        form = self.form(variant)

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            P, L, T = symbols["P"], symbols["L"], symbols["T"]
            chain = {"chain": value(form.chain) * L} if form.chain else {}
            made = {"compute": value(form.work) / P, "span": value(form.span)} | chain
            return made | {"memory": value(form.memory) * L / (T * P)}  # Eq. (3.2)

        chain = (form.chain,) if form.chain else ()
        parts = (form.work, form.span, form.memory, *chain)
        return self.formula("TMM", variant, given, terms, ("P", "L", "T"), parts)

    def refined(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """The time by the TMM with as many threads as the problem feeds and the machine holds.

        With at most N threads of the algorithm and X a core, T P = min(N, X P), and M L / (T P) falls into M L / N
        (chain) and M L / (X P) (memory): Eq (4.29), (4.30), (4.32), (4.35) and (4.36). A form that has its own chain
        has it in the place of M / N. Raises ModelError for an algorithm whose threads are not known.
        """
        form = self.form(variant)
        threads = form.threads
        if threads is None:
            raise ModelError(f"{self.name}: has no form refined over the problem's size; use the one with T given")

        def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
            P, L, X, M = symbols["P"], symbols["L"], symbols["X"], value(form.memory)
            chain = value(form.chain) if form.chain else M / value(threads)
            made = {"compute": value(form.work) / P, "span": value(form.span)}
            return made | {"chain": chain * L, "memory": M * L / (X * P)}

        parts = (form.work, form.span, form.memory, form.chain or threads)
        return self.formula("TMM, refined", variant, given, terms, ("P", "L", "X"), parts)

    def time(self, variant: str | None = None, given: Collection[str] = ()) -> Formula:
        """`refined` where there is such a form, `tmm` otherwise."""
        make = self.refined if self.form(variant).threads else self.tmm
        return make(variant, given)

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
                names = arguments(equation)
                return equation(
                    **{name: value(defaults[name]) if name in defaults else symbols[name] for name in names}
                )

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


def predict_algorithm(
    algorithm: Algorithm,
    machine: Machine,
    parameters: Mapping[str, float],
    threads_per_core: float | None = None,
    variant: str | None = None,
) -> dict[str, Prediction]:
    """The times of an algorithm on a machine, by model: "pram" and "tmm"; in cycles, constants being 1.

    parameters: the problem's symbols by name. threads_per_core: T; the least of X, Z / (Q S) and what the algorithm
    can feed where it is left out. Z is in words. Raises ModelError, with the symbol named, for parameters that are
    unknown, missing or outside their domain, for a T that the machine can't hold, and for a machine without local
    memory where the algorithm needs some.
    """
    name, known = algorithm.name, {symbol.name: symbol for symbol in algorithm.symbols}
    for key, value in parameters.items():
        if key not in known:
            raise ModelError(f"{name}: {key}: unknown{nearest(key, known)}")
        known[key].check(name, value)
    letters = letters_of(machine)
    given = set(parameters)

    def made_by(formula: Formula, **more: float) -> Any:
        has = letters | dict(parameters) | more
        names = [symbol.name for symbol in formula.symbols]
        if "Z" in names and "Z" not in has:
            raise ModelError(f"{formula.name}: Z: machine {machine.name} has no local memory (resources.local_memory)")
        return formula.evaluate(**{key: has[key] for key in names if key in has})

    form = algorithm.form(variant)
    counts = {key: float(term) for key, term in made_by(algorithm.counts(variant, given)).terms.items()}
    limits = {"threads per core": letters["X"]}
    if "Z" in letters:
        limits["local memory"] = letters["Z"] / (letters["Q"] * counts["S"])  # T <= Z / (Q S)
    most = min(limits.values())
    if threads_per_core is None:
        feeds = counts["T1"] / counts["Tinf"] if counts["Tinf"] else inf  # T <= T1 / (Tinf P)
        if form.threads:
            feeds = form.threads(**{key: parameters[key] for key in arguments(form.threads)})
        threads_per_core = min(most, feeds / letters["P"])
    elif threads_per_core > most:
        bound = min(limits, key=lambda limit: limits[limit])
        raise ModelError(f"{name}: T = {threads_per_core:.12g}: must be at most {most:.12g} (limit: {bound})")
    tmm = made_by(algorithm.tmm(variant, given), T=threads_per_core)
    more = {key: letters[key] for key in ("X", "Q", "Z") if key in letters} | counts
    return {
        "pram": made_by(algorithm.pram(variant, given)).prediction(machine.clock_hz),
        "tmm": tmm.prediction(machine.clock_hz, more),
    }


def letters_of(machine: Machine) -> dict[str, float]:
    """The machine's letters; Z, in words, only where it has local memory."""
    cores, memory, local = machine.cores, machine.memory, machine.resources.local_memory
    letters = {
        "P": float(machine.processors),
        "Q": float(cores.cores_per_group),
        "L": memory.latency,
        "C": float(memory.chunk_words),
        "X": cores.threads_per_core,
    }
    return letters if local is None else letters | {"Z": local / memory.word_bytes}

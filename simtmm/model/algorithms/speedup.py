"""Speedup of the papers' algorithms: what bounds it on a machine, and what linear speedup asks of the machine.

Source: Ma, dissertation (2014), Eq (3.1) and (3.3), sections 4.1.1 to 4.1.4 and Table 4.1.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from simtmm.machine import Machine
from simtmm.model.algorithms import written
from simtmm.model.algorithms.algorithm import Algorithm, Equation
from simtmm.model.equations.functions import Value
from simtmm.model.latency_hiding import Hiding, hiding_of
from simtmm.result import Prediction

COUNTED = {"T1": "operations", "Tinf": "operations", "M": "transfers"}

# The next three functions take numbers, arrays or symbols.


def speedup_bounds(T1: Value, Tinf: Value, M: Value, T: Value, P: Value, L: Value) -> dict[str, Value]:
    """S_P is the least of these: what cores, parallelism and memory allow. Eq (3.3)."""
    return {"compute": P, "span": T1 / Tinf, "memory": P * T1 * T / (M * L)}


def largest_latency(T1: Value, M: Value, T: Value) -> Value:
    """The L (cycles) up to which T threads a core give linear speedup: M L / (T P) = T1 / P."""
    return T1 * T / M


def threads_for_linear_speedup(T1: Value, M: Value, L: Value) -> Value:
    """The threads a core that hide the latency, so that speedup is linear: M L / (T P) = T1 / P."""
    return M * L / T1


@dataclass(frozen=True)
class Constraint:
    """What linear speedup asks of a machine: L <= `latency`. All are SymPy expressions.

    limit: of T, "threads per core" (X) or "shared memory" (Z / (Q S)). memory: the part of M meant. where: the
    condition for this part to be M's largest; None where M has one part.
    """

    limit: str
    latency: Any
    memory: Any
    where: Any


def linear_speedup(algorithm: Algorithm, variant: str | None = None, given: Collection[str] = ()) -> list[Constraint]:
    """The constraints on L for linear speedup, from T1 / P >= M L / (T P) with T = min(X, Z / (Q S)).

    Source: dissertation, sections 4.1.1 to 4.1.4 and Table 4.1.
    """
    import sympy

    form = algorithm.form(variant)

    def terms(value: Callable[[Equation], Value], symbols: Mapping[str, Value]) -> dict[str, Value]:
        T1, M, S = value(form.work), value(form.memory), value(form.shared_memory)
        limits = {"threads per core": symbols["X"], "shared memory": symbols["Z"] / (symbols["Q"] * S)}
        return {name: largest_latency(T1, M, T) for name, T in limits.items()} | {"M": M}

    parts = (form.work, form.memory, form.shared_memory)
    expressions = dict(algorithm.formula("limits", variant, given, terms, ("X", "Z", "Q"), parts).expressions)
    M = expressions.pop("M")
    pieces = M.args if isinstance(M, sympy.Max) else (M,)
    found = []
    for piece in pieces:
        rest = [_simplified(piece / other) >= 1 for other in pieces if other != piece]
        where = sympy.And(*rest) if rest else None
        found += [Constraint(name, _simplified(L * M / piece), piece, where) for name, L in expressions.items()]
    return found


def _simplified(expression: Any) -> Any:
    """Simplified with its logarithms left whole: SymPy would gather a lg(b) into lg(b^a), too large for a number."""
    import sympy

    whole = sympy.Function("lg", positive=True)
    kept = expression.replace(
        lambda part: part.func is sympy.log and part.args[0] != 2, lambda log: whole(log.args[0]) * sympy.log(2)
    )
    return sympy.simplify(kept).replace(whole, lambda argument: sympy.log(argument, 2))


@dataclass(frozen=True)
class LatencyLimit:
    """A Constraint on a machine: linear speedup asks for L <= `latency` cycles, with as many threads as `limit` allows.

    limit: "threads per core" (X) or "shared memory" (Z / (Q S)). formula: `latency` in words. where: the condition for
    the part of M that is meant to be the largest, in words; None where M has one part. met: whether L is that small.
    """

    limit: str
    formula: str
    latency: float
    where: str | None
    met: bool


@dataclass(frozen=True)
class Speedup:
    """Of an algorithm with the threads that its prediction has.

    counts: T1, Tinf and M as formulas, in words. effective_work: T_E, operations. bounds: the speedup that each term
    of the time allows, the least being S_P. hiding: the threads a core that hide the latency, and their limits.
    requirements: what linear speedup needs of L, where its condition holds.
    """

    counts: Mapping[str, str]
    effective_work: float
    bounds: Mapping[str, float]
    hiding: Hiding
    requirements: tuple[LatencyLimit, ...]

    @property
    def speedup(self) -> float:
        """S_P, times; 1 where there is no work."""
        least = min(self.bounds.values())
        return least if least < inf else 1.0

    def to_dict(self) -> dict[str, Any]:
        """All of it but `hiding`, for JSON."""
        return {
            "counts": dict(self.counts),
            "effective_work": self.effective_work,
            "speedup": self.speedup,
            "bounds": dict(self.bounds),
            "asked": [vars(each) for each in self.requirements],
        }


def speedup_of(
    algorithm: Algorithm, machine: Machine, tmm: Prediction, variant: str | None, given: Collection[str]
) -> Speedup:
    """From an algorithm's prediction by the TMM on the machine. given: the symbols that were given.

    tmm: what the TMM predicts for it.
    variant: the name of a variant; None for the first.
    """
    symbols = tmm.symbols
    work, span, transfers, threads = (symbols[name] for name in ("T1", "Tinf", "M", "T"))
    formulas = algorithm.counts(variant, given).expressions
    return Speedup(
        counts={name: written(formulas[name]) for name in COUNTED},
        effective_work=max(work, transfers * symbols["L"] / threads),  # Eq (3.1)
        bounds={name: work / term if term else inf for name, term in tmm.terms.items()},  # Eq (3.3)
        hiding=hiding_of(machine, work, span, transfers, threads, symbols["S"] * machine.memory.word_bytes),
        requirements=tuple(_latency_limits(algorithm, variant, given, symbols)),
    )


def _latency_limits(
    algorithm: Algorithm, variant: str | None, given: Collection[str], symbols: Mapping[str, float]
) -> list[LatencyLimit]:
    found = []
    for constraint in linear_speedup(algorithm, variant, given):
        letters = {str(letter) for letter in constraint.latency.free_symbols}
        if not letters <= set(symbols):  # Z of a machine that has no shared memory
            continue
        if constraint.where is not None and not constraint.where.subs(_values(constraint.where, symbols)):
            continue
        latency = float(constraint.latency.evalf(17, subs=_values(constraint.latency, symbols)))
        where = None if constraint.where is None else f"{written(constraint.where.lhs)} >= 1"
        found.append(
            LatencyLimit(constraint.limit, written(constraint.latency), latency, where, symbols["L"] <= latency)
        )
    return found


def _values(expression: Any, symbols: Mapping[str, float]) -> dict[Any, float]:
    return {letter: symbols[str(letter)] for letter in expression.free_symbols}

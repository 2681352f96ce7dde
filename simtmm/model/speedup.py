"""Linear speedup: what it asks of a machine, and how many threads it takes.

Source: Ma, dissertation (2014), Eq (3.3), sections 4.1.1 to 4.1.4 and Table 4.1.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.model.algorithm import Algorithm, Equation
from simtmm.model.functions import Value

# The functions take numbers, arrays or symbols.


def speedup(T1: Value, Tinf: Value, M: Value, T: Value, P: Value, L: Value) -> dict[str, Value]:
    """S_P is the least of these: what cores, parallelism and memory allow. Eq (3.3)."""
    return {"compute": P, "span": T1 / Tinf, "memory": P * T1 * T / (M * L)}


def largest_latency(T1: Value, M: Value, T: Value) -> Value:
    """The L (cycles) up to which T threads a core give linear speedup: M L / (T P) = T1 / P."""
    return T1 * T / M


def threads_needed(T1: Value, M: Value, L: Value) -> Value:
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
    made = dict(algorithm.formula("limits", variant, given, terms, ("X", "Z", "Q"), parts).expressions)
    M = made.pop("M")
    pieces = M.args if isinstance(M, sympy.Max) else (M,)
    found = []
    for piece in pieces:
        rest = [_simplified(piece / other) >= 1 for other in pieces if other != piece]
        where = sympy.And(*rest) if rest else None
        found += [Constraint(name, _simplified(L * M / piece), piece, where) for name, L in made.items()]
    return found


def _simplified(expression: Any) -> Any:
    """Simplified with its logarithms left whole: SymPy would gather a lg(b) into lg(b^a), too large for a number."""
    import sympy

    whole = sympy.Function("lg", positive=True)
    kept = expression.replace(
        lambda part: part.func is sympy.log and part.args[0] != 2, lambda log: whole(log.args[0]) * sympy.log(2)
    )
    return sympy.simplify(kept).replace(whole, lambda argument: sympy.log(argument, 2))

"""How far an algorithm of the papers speeds up on a machine: its counts as formulas, and what linear speedup asks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from simtmm.machine import Machine
from simtmm.model.algorithm import Algorithm
from simtmm.model.algorithms import written
from simtmm.model.speedup import linear_speedup
from simtmm.model.tmm import Hiding, hiding_of
from simtmm.result import Prediction

COUNTED = {"T1": "operations", "Tinf": "operations", "M": "transfers"}


@dataclass(frozen=True)
class Asked:
    """Linear speedup asks for L <= `latency` cycles, by the most threads that `limit` allows a core.

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
    of the time allows, the least being S_P. hiding: the threads a core that hide the latency, and their limits. asked:
    what linear speedup asks of L, where its condition holds.
    """

    counts: Mapping[str, str]
    effective_work: float
    bounds: Mapping[str, float]
    hiding: Hiding
    asked: tuple[Asked, ...]

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
            "asked": [vars(asked) for asked in self.asked],
        }


def speedup_of(
    algorithm: Algorithm, machine: Machine, tmm: Prediction, variant: str | None, given: Collection[str]
) -> Speedup:
    """From an algorithm's prediction by the TMM on the machine. given: the symbols that were given."""
    symbols = tmm.symbols
    work, span, transfers, threads = (symbols[name] for name in ("T1", "Tinf", "M", "T"))
    formulas = algorithm.counts(variant, given).expressions
    return Speedup(
        counts={name: written(formulas[name]) for name in COUNTED},
        effective_work=max(work, transfers * symbols["L"] / threads),  # Eq (3.1)
        bounds={name: work / term if term else inf for name, term in tmm.terms.items()},  # Eq (3.3)
        hiding=hiding_of(machine, work, span, transfers, threads, symbols["S"] * machine.memory.word_bytes),
        asked=tuple(_asked(algorithm, variant, given, symbols)),
    )


def _asked(
    algorithm: Algorithm, variant: str | None, given: Collection[str], symbols: Mapping[str, float]
) -> list[Asked]:
    found = []
    for constraint in linear_speedup(algorithm, variant, given):
        letters = {str(letter) for letter in constraint.latency.free_symbols}
        if not letters <= set(symbols):  # Z of a machine that has no shared memory
            continue
        if constraint.where is not None and not constraint.where.subs(_values(constraint.where, symbols)):
            continue
        latency = float(constraint.latency.evalf(17, subs=_values(constraint.latency, symbols)))
        where = None if constraint.where is None else f"{written(constraint.where.lhs)} >= 1"
        found.append(Asked(constraint.limit, written(constraint.latency), latency, where, symbols["L"] <= latency))
    return found


def _values(expression: Any, symbols: Mapping[str, float]) -> dict[Any, float]:
    return {letter: symbols[str(letter)] for letter in expression.free_symbols}

"""Crossover: where each of two algorithms of the papers is faster on one machine, by the TMM."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed
from simtmm.errors import ModelError
from simtmm.extras import frame
from simtmm.machine import Machine
from simtmm.model.algorithms import find
from simtmm.model.algorithms.regimes import Crossover, crossover
from simtmm.model.algorithms.symbol_ranges import (
    VARIED,
    check_given,
    check_symbols,
    domain,
    machine_letters,
    range_of,
    timed,
)
from simtmm.provenance import provenance

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Versus(Displayed):
    """Two algorithms on one machine: who wins along each symbol, the others being fixed.

    first, second: their names, with the variant where one is named. skipped: the symbols along which that is unknown,
    and why.
    """

    first: str
    second: str
    machine: Machine
    parameters: Mapping[str, float]
    crossovers: Mapping[str, Crossover]
    skipped: Mapping[str, str]

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each stretch of a symbol that one of them wins, for pandas.

        Raises OutputError if pandas is not installed.
        """
        return frame(
            [
                {"symbol": symbol, **vars(stretch)}
                for symbol, found in self.crossovers.items()
                for stretch in found.stretches
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        return {
            "first": self.first,
            "second": self.second,
            "machine": {"name": self.machine.name, **self.machine.to_dict()},
            "parameters": dict(self.parameters),
            "crossovers": {
                over: {
                    "points": list(found.points),
                    "stretches": [vars(stretch) for stretch in found.stretches],
                    "in_words": str(found),
                }
                for over, found in self.crossovers.items()
            },
            "skipped": dict(self.skipped),
            "provenance": {**provenance(), "machine": self.machine.digest()},
        }


def versus(
    first: str,
    second: str,
    machine: Machine,
    parameters: Mapping[str, float],
    over: Iterable[str] = (),
    threads_per_core: float | None = None,
    variants: tuple[str | None, str | None] = (None, None),
) -> Versus:
    """Which of two algorithms wins where, by the TMM.

    over: along which symbols; if left out, n, m, L and T, as far as the algorithms have them and the others are given.
    Threads are as in `predict_paper`. variants: of the first and the second. Raises ModelError, the symbol named.
    first, second: names of algorithms.
    parameters: values of their symbols by name.
    threads_per_core: T, where it is given.
    """
    algorithms = (find(first), find(second))
    first, second = (
        algorithm.name if variant is None else f"{algorithm.name}, {variant}"
        for algorithm, variant in zip(algorithms, variants, strict=True)
    )
    both = f"{first} and {second}"
    symbols = tuple(dict.fromkeys(symbol for algorithm in algorithms for symbol in algorithm.symbols))
    check_symbols(both, symbols, parameters)
    values = {**machine_letters(machine), **parameters}
    for algorithm, variant in zip(algorithms, variants, strict=True):
        own = {symbol.name: parameters[symbol.name] for symbol in algorithm.symbols if symbol.name in parameters}
        algorithm.check_fits(variant, own, values)
    if threads_per_core is not None:
        if not 0 < threads_per_core <= values["X"]:
            must = f"must be above 0 and at most {values['X']:.12g}, what a core of {machine.name} holds"
            raise ModelError(f"{both}: T = {threads_per_core:.12g}: {must}")
        values["T"] = threads_per_core
    wanted = list(over)
    crossovers, skipped = {}, {}
    for symbol in wanted or VARIED:
        with_threads = symbol == "T" or threads_per_core is not None
        one, other = (
            dataclasses.replace(timed(algorithm, variant, set(parameters), with_threads), name=name)
            for algorithm, variant, name in zip(algorithms, variants, (first, second), strict=True)
        )
        needed = {letter.name: letter for letter in (*one.symbols, *other.symbols)}
        if symbol not in needed:
            if wanted:
                raise ModelError(f"{both}: {symbol}: neither depends on it")
            continue
        own = {key: value for key, value in values.items() if key in needed and key != symbol}
        try:
            if needed[symbol].whole:
                raise ModelError(
                    f"{both}: {symbol}: can't be varied, because it is a whole number ({needed[symbol].meaning})"
                )
            check_given(both, (letter for letter in needed.values() if letter.name != symbol), own, machine)
            low, high = domain((one, other), own, symbol, *range_of(symbols, symbol, values, machine))
            crossovers[symbol] = crossover(one, other, symbol, own, low, high)
        except ModelError as error:
            if wanted:
                raise
            skipped[symbol] = str(error).removeprefix(f"{both}: ")
    if not crossovers:
        if len(set(skipped.values())) == 1:
            raise ModelError(f"{both}: {next(iter(skipped.values()))}")
        reasons = "; ".join(f"{symbol}: {reason}" for symbol, reason in skipped.items())
        raise ModelError(f"{both}: nothing to vary ({reasons})")
    return Versus(first, second, machine, parameters, crossovers, skipped)

"""Single equations of the papers at many points, and constants fitted to times of a CSV file."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.documents import duplicates, read_csv
from simtmm.errors import ModelError, StudyError, nearest
from simtmm.machine import Machine
from simtmm.model.applications.catalogue import Equation, find_equation
from simtmm.model.cache import C_S
from simtmm.model.equations.formula import Floats
from simtmm.model.fit import CacheFit, Line, fit_cache, fit_line
from simtmm.provenance import provenance

MOST_POINTS = 100_000


@dataclass(frozen=True)
class Evaluated:
    """An equation at points. symbols, values: arrays of one element a point, by name; those of A_T are of truth."""

    equation: Equation
    machine: Machine | None
    symbols: Mapping[str, Floats]
    values: Mapping[str, Any]

    @property
    def varied(self) -> tuple[str, ...]:
        """The symbols that differ from point to point."""
        return tuple(name for name, column in self.symbols.items() if len(set(column.tolist())) > 1)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        return {
            "equation": self.equation.name,
            "source": self.equation.source,
            "machine": self.machine.name if self.machine else None,
            "symbols": {name: column.tolist() for name, column in self.symbols.items()},
            "values": {name: np.asarray(column).tolist() for name, column in self.values.items()},
            "units": dict(self.equation.units),
            "provenance": provenance(),
        }


def evaluate(name: str, given: Mapping[str, Sequence[float]], machine: Machine | None = None) -> Evaluated:
    """An equation for every combination of the values given.

    given: values by symbol. machine: gives the symbols that it has, where they are not given. Raises ModelError for an
    unknown equation or symbol, for one that is missing or outside its domain, and for too many points.
    name: of an equation, as `simtmm paper equation` takes it.
    """
    equation = find_equation(name)
    symbols = _with_machine(equation, given, machine)
    if prod(len(values) for values in symbols.values()) > MOST_POINTS:
        raise ModelError(f"{name}: more than {MOST_POINTS} combinations of values")
    points = np.array(list(product(*symbols.values())), dtype=np.float64).reshape(-1, len(symbols))
    columns = {symbol: points[:, place] for place, symbol in enumerate(symbols)}
    return Evaluated(equation, machine, columns, _values(equation, columns))


def _with_machine(
    equation: Equation, given: Mapping[str, Sequence[float]], machine: Machine | None
) -> dict[str, Sequence[float]]:
    known = {symbol.name: symbol for symbol in equation.symbols}
    for symbol, values in given.items():
        if symbol not in known:
            raise ModelError(f"{equation.name}: {symbol}: unknown{nearest(symbol, known)}")
        if not len(values):
            raise ModelError(f"{equation.name}: {symbol}: must have a value")
    symbols: dict[str, Sequence[float]] = {}
    for symbol in known:
        own = equation.of_machine.get(symbol) if machine is not None else None
        value = own(machine) if own is not None and machine is not None else None
        if symbol in given:
            symbols[symbol] = given[symbol]
        elif value is not None:
            symbols[symbol] = (float(value),)
        else:
            hint = "" if machine is not None or symbol not in equation.of_machine else ", or a machine"
            raise ModelError(f"{equation.name}: {symbol}: must be given{hint} ({known[symbol].meaning})")
    return symbols


def _values(equation: Equation, columns: Mapping[str, Floats]) -> dict[str, Any]:
    points = len(next(iter(columns.values())))
    return {name: np.broadcast_to(np.asarray(of), (points,)) for name, of in equation.values(**columns).items()}


@dataclass(frozen=True)
class Fitted:
    """Constants fitted to the rows of a file. x: what time was fitted over, in words. line, cache: one of them."""

    file: str
    rows: int
    x: str
    line: Line | None = None
    cache: CacheFit | None = None

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        line = self.cache.line if self.cache else self.line
        assert line is not None
        constants = {"G": self.cache.G, "hit_time": self.cache.hit_time} if self.cache else {}
        return {"file": self.file, "rows": self.rows, "x": self.x, **constants, "line": line.to_dict()} | {
            "provenance": provenance()
        }


def fit(
    path: str | Path,
    time: str,
    x: str | None = None,
    equation: str | None = None,
    cache: float | None = None,
    a0: float | None = None,
    machine: Machine | None = None,
) -> Fitted:
    """a1 and a0 of time = a1 x + a0, or G of Eq (5.12), from a CSV file's rows.

    time: the column of times. x: the column that they are a line over, or the working set in bytes. equation: instead
    of x, one that gives it from columns named as its symbols, with its own a1 and a0, if any, as 1 and 0. cache: bytes
    of the cache, for G. a0: where it is known.

    Raises StudyError for the file, ModelError for what can't be fitted.
    """
    if (x is None) == (equation is None):
        raise ModelError("fit: either x or an equation must be given")
    columns = _columns(path)
    times = _column(columns, time, path)
    if cache is not None:
        if x is None:
            raise ModelError("fit: with a cache, x must be given: the column of working sets")
        capacity = float(C_S.check("fit of G", cache))
        cache_fit = fit_cache(_column(columns, x, path), times, capacity, 0.0 if a0 is None else a0)
        return Fitted(str(path), len(times), f"miss rate of {x} in {capacity:g} bytes", cache=cache_fit)
    if x is not None:
        return Fitted(str(path), len(times), x, line=fit_line(_column(columns, x, path), times, a0))
    assert equation is not None
    chosen_equation = find_equation(equation)
    given = {
        symbol.name: _column(columns, symbol.name, path) for symbol in chosen_equation.symbols if symbol.name in columns
    }
    first = {name: column[:1].tolist() for name, column in given.items()}
    constants = {name: [value] for name, value in (("a1", 1.0), ("a0", 0.0)) if name in _names(chosen_equation)}
    rest = _with_machine(chosen_equation, constants | first, machine)
    symbols = {name: given.get(name, np.full(len(times), rest[name][0])) for name in rest}
    over, values = next(iter(_values(chosen_equation, symbols).items()))
    return Fitted(str(path), len(times), f"{over} of {equation}", line=fit_line(values, times, a0))


def _names(equation: Equation) -> set[str]:
    return {symbol.name for symbol in equation.symbols}


def _columns(path: str | Path) -> dict[str, list[str]]:
    text = "".join(line for line in read_csv(path, StudyError).splitlines(keepends=True) if not line.startswith("#"))
    try:
        table = csv.DictReader(io.StringIO(text))
        header = list(table.fieldnames or ())
        rows = list(table)
    except csv.Error as error:
        raise StudyError(f"{path}: is not CSV ({error})") from None
    if twice := duplicates(header):
        raise StudyError(f"{path}: column {twice[0]!r}: appears more than once")
    for place, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise StudyError(f"{path}: row {place}: must have {len(header)} columns, like the header")
    return {name: [row[name] for row in rows] for name in header}


def _column(columns: Mapping[str, list[str]], name: str, path: str | Path) -> Floats:
    if name not in columns:
        raise StudyError(f"{path}: column {name!r}: is missing{nearest(name, columns)}")
    found = []
    for place, text in enumerate(columns[name], start=1):
        try:
            found.append(float(text))
        except ValueError:
            raise StudyError(f"{path}: row {place}: {name} = {text!r}: must be a number") from None
    return np.array(found, dtype=np.float64)

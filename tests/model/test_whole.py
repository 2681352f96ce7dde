"""Every formula of the models, as a whole: its symbols, domains, sources and terms, and what it gives for some values.
Of every public function of numbers what it gives, likewise.

`python -m tests.model.test_whole` writes them anew (tests/golden/outputs/formulas.json and functions.json), where they
shall differ.
"""

import importlib
import inspect
import json
import pkgutil
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import simtmm.model
from simtmm.errors import ModelError
from simtmm.model.algorithms import ALGORITHMS
from simtmm.model.applications.catalogue import EQUATIONS
from simtmm.model.equations.formula import Formula
from tests.whole import OUTPUTS

OUTPUT, OF_FUNCTIONS = OUTPUTS / "formulas.json", OUTPUTS / "functions.json"
SIZES = (37.0, 5.0, 1_000.0, 12.0, 64.0, 3.0, 250_000.0)  # that symbols are given in turn, within their domains
SHIFTS = (0, 1, 2)
LAUNCH = {
    "B_r": 75,
    "B_a": 5,
    "B_max": 120,
    "P": 480,
    "Q": 32,
    "T_r": 192,
    "W": 32,
    "N_W": 6,
    "T_maxB": 256,
    "T_maxMP": 1024,
    "R": 30_720,
    "R_T": 32,
    "Z": 49_152,
    "Z_B": 9_000,
}  # of a machine and a launch that fills it
SYMBOLIC = {"expression", "values", "x"}  # what functions of symbols take: those of SymPy, and what writes them


@cache
def formulas():
    """All formulas by name and by what they look like: several may have one name."""
    found = {}
    for module in pkgutil.walk_packages(simtmm.model.__path__, "simtmm.model."):
        for _, value in sorted(vars(importlib.import_module(module.name)).items()):
            for formula in _formulas_in(value):
                found.setdefault(f"{formula.name} ({formula.source})", formula)
    for name, algorithm in ALGORITHMS.items():
        for variant in algorithm.forms:
            for time in ("counts", "pram", "tmm"):
                found[f"{name}, {variant}: {time}"] = getattr(algorithm, time)(variant)
    return found | {f"equation {name}": equation for name, equation in EQUATIONS.items()}


@cache
def functions():
    """All public functions that take numbers alone, by module and name."""
    found = {}
    for module in pkgutil.walk_packages(simtmm.model.__path__, "simtmm.model."):
        for name, value in sorted(vars(importlib.import_module(module.name)).items()):
            if inspect.isfunction(value) and value.__module__ == module.name and not name.startswith("_"):
                given = inspect.signature(value).parameters.values()
                if given and all(each.annotation in (Any, float, int) and each.name not in SYMBOLIC for each in given):
                    found[f"{module.name.removeprefix('simtmm.model.')}.{name}"] = value
    return found


def _formulas_in(value):
    if isinstance(value, Formula):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _formulas_in(getattr(value, field.name))
    elif isinstance(value, dict):
        for each in value.values():
            yield from _formulas_in(each)
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _formulas_in(each)


def described(formula):
    """A formula, or an equation of the catalogue, as data."""
    if not isinstance(formula, Formula):
        said = {"title": formula.title, "units": {key: str(unit) for key, unit in formula.units.items()}}
        said["of the machine"] = sorted(formula.of_machine)
    else:
        said = {"combine": formula.combine, "unit": formula.unit, "source": formula.source}
    return {
        **said,
        "symbols": [{key: str(each) for key, each in asdict(symbol).items()} for symbol in formula.symbols],
        "allowed": [symbol.allowed for symbol in formula.symbols],
        "values": [_evaluated(formula, shift) for shift in SHIFTS],
    }


def _evaluated(formula, shift):
    values = {}
    for place, symbol in enumerate(formula.symbols):
        size = SIZES[(place + shift) % len(SIZES)]
        value = min(max(size, symbol.minimum + 1), symbol.maximum)
        values[symbol.name] = value if symbol.maximum > 1 or not symbol.above else symbol.maximum / 2
    try:
        with np.errstate(all="ignore"):
            terms = formula.evaluate(**values).terms if isinstance(formula, Formula) else formula.values(**values)
    except ModelError as error:
        return str(error)
    return {name: [f"{float(each):.9g}" for each in np.atleast_1d(term).flat] for name, term in terms.items()}


def given_by(function):
    """What a function gives for some numbers, a number for each of its parameters in turn; of letters of a launch for
    one that fills a machine, and for each letter changed alone.
    """
    names = list(inspect.signature(function).parameters)
    points = [
        [SIZES[(place + shift) % len(SIZES)] + place // len(SIZES) for place in range(len(names))]
        for shift in range(len(SIZES))
    ]
    if LAUNCH.keys() >= set(names):
        letters = {name: LAUNCH[name] for name in names}
        changed = [{name: value} for name in names for value in (2 * LAUNCH[name], LAUNCH[name] // 2, LAUNCH[name] - 1)]
        points += [list((letters | one).values()) for one in ({}, *changed)]
    found = []
    for sizes in points:
        try:
            with np.errstate(all="ignore"):
                found.append(_as_data(function(*sizes)))
        except ModelError as error:
            found.append(str(error))
    return found


def _as_data(value):
    if isinstance(value, dict):
        return {name: _as_data(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [_as_data(each) for each in value]
    return [f"{float(each):.9g}" for each in np.atleast_1d(np.asarray(value, dtype=np.float64)).flat]


def test_there_are_all_functions():
    assert functions().keys() == json.loads(OF_FUNCTIONS.read_text(encoding="utf-8")).keys()
    assert len(functions()) > 30


@pytest.mark.parametrize("name", functions())
def test_a_function_gives_what_it_gave(name):
    assert given_by(functions()[name]) == json.loads(OF_FUNCTIONS.read_text(encoding="utf-8"))[name]


def test_there_are_all():
    assert formulas().keys() == json.loads(OUTPUT.read_text(encoding="utf-8")).keys()
    assert len(formulas()) > 100


@pytest.mark.parametrize("name", formulas())
def test_a_formula_is_what_it_was(name):
    assert described(formulas()[name]) == json.loads(OUTPUT.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    document = {name: described(formula) for name, formula in formulas().items()}
    OUTPUT.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    document = {name: given_by(function) for name, function in functions().items()}
    OF_FUNCTIONS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

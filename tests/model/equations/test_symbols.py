"""A letter of the papers is one symbol, wherever it stands."""

import importlib
import pkgutil

import simtmm.model
from simtmm.model.algorithms import ALGORITHMS
from simtmm.model.applications.integrated_apsp import APSP_BY_SIZE
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.symbols import SUB_BLOCK


def test_the_side_of_a_sub_block_is_one_symbol():
    names = [module.name for module in pkgutil.walk_packages(simtmm.model.__path__, "simtmm.model.")]
    of_modules = [value for name in names for value in vars(importlib.import_module(name)).values()]
    of_algorithms = [symbol for algorithm in ALGORITHMS.values() for symbol in algorithm.symbols]
    every = [*of_modules, *of_algorithms, *APSP_BY_SIZE.symbols]
    found = [value for value in every if isinstance(value, Symbol) and value.name == "S_D"]
    assert len(found) > 3
    assert all(symbol is SUB_BLOCK for symbol in found)

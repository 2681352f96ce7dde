"""Analytical models: closed forms, an equation a line, from counts and a machine's parameters.

A model is an object in a file of its own (simtmm.model.model), and MODELS has those that need nothing but counts and a
machine. `MODELS[model.name] = model` adds another: commands, tables and pictures take it from there, and nothing else
has to name it. A process that is started later does not know of it.
"""

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.model.calibrated import CALIBRATED
from simtmm.model.equations.formula import Formula
from simtmm.model.integrated import INTEGRATED, INTEGRATED_SUM
from simtmm.model.integrated_apsp import FITTED_APSP, INTEGRATED_APSP, INTEGRATED_APSP_SUM
from simtmm.model.model import Model
from simtmm.model.mwp_cwp import MWP_CWP
from simtmm.model.pram import PRAM
from simtmm.model.rehman import REHMAN, REHMAN_SUM
from simtmm.model.roofline import ROOFLINE
from simtmm.model.tmm import TMM, TMM_WARPS
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

# By name, in the order in which they are listed.
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        PRAM,
        TMM,
        TMM_WARPS,
        INTEGRATED,
        INTEGRATED_SUM,
        REHMAN,
        REHMAN_SUM,
        ROOFLINE,
        MWP_CWP,
    )
}

# Likewise, each of one algorithm: of programs that follow it, which `compare` knows.
MODELS_OF_ALGORITHMS: dict[str, Model] = {
    model.name: model for model in (INTEGRATED_APSP, INTEGRATED_APSP_SUM, FITTED_APSP)
}


def all_models() -> dict[str, Model]:
    """MODELS, and the calibrated one, which needs constants besides."""
    return {**MODELS, CALIBRATED.name: CALIBRATED}


def find_model(name: str) -> Model:
    """The model of this name, among `all_models` and MODELS_OF_ALGORITHMS.

    name: of a model, as "tmm".

    Raises ModelError for an unknown one.
    """
    known = {**all_models(), **MODELS_OF_ALGORITHMS}
    if name not in known:
        raise ModelError(f"model {name!r}: unknown{nearest(name, known)}")
    return known[name]


def predict(model: str, machine: Machine, counts: Counts) -> Prediction:
    """A model's prediction for a program with these counts on a machine.

    model: its name, as "tmm".
    counts: of the program.

    Raises ModelError for an unknown model, for one that needs constants (simtmm.model.calibrated), and for one of an
    algorithm, whose symbols counts don't have.
    """
    found = find_model(model)
    if found.algorithm:
        raise ModelError(f"model {model!r}: is only for {found.algorithm}; `simtmm sweep compare` has it")
    if found.constants:
        raise ModelError(f"model {model!r}: needs constants ({', '.join(found.constants)}), which counts do not have")
    return found.prediction(machine, counts)


def formula(model: str) -> Formula:
    """A model's formula, which takes arrays too and gives LaTeX.

    model: its name.

    Raises ModelError for an unknown model.
    """
    return find_model(model).formula

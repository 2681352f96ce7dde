"""Analytical models: closed forms, an equation a line, from counts and a machine's parameters."""

import importlib
from typing import Protocol, cast

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.model.formula import Formula
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

# Module, function of (machine, counts), and the formula that it evaluates.
MODELS = {
    "pram": ("simtmm.model.pram", "pram", "FORMULA"),
    "tmm": ("simtmm.model.tmm", "tmm", "TMM"),
    "tmm-warps": ("simtmm.model.tmm", "tmm_warps", "TMM_WARPS"),
    "integrated": ("simtmm.model.integrated", "integrated", "INTEGRATED"),
    "integrated-sum": ("simtmm.model.integrated", "integrated_sum", "INTEGRATED_SUM"),
    "rehman": ("simtmm.model.rehman", "rehman", "REHMAN"),
    "rehman-sum": ("simtmm.model.rehman", "rehman_sum", "REHMAN_SUM"),
    "roofline": ("simtmm.model.roofline", "roofline", "FORMULA"),
    "mwp-cwp": ("simtmm.model.mwp_cwp", "mwp_cwp", "MWP_CWP"),
}


class Model(Protocol):
    """A function in MODELS."""

    def __call__(self, machine: Machine, counts: Counts) -> Prediction: ...


def predict(model: str, machine: Machine, counts: Counts) -> Prediction:
    """What a model says of a program with these counts on a machine. Raises ModelError for an unknown model."""
    module, function, _ = _known(model)
    return cast(Model, getattr(importlib.import_module(module), function))(machine, counts)


def formula(model: str) -> Formula:
    """A model's formula, which takes arrays too and gives LaTeX. Raises ModelError for an unknown model."""
    module, _, name = _known(model)
    return cast(Formula, getattr(importlib.import_module(module), name))


def _known(model: str) -> tuple[str, str, str]:
    if model not in MODELS:
        raise ModelError(f"model {model!r}: unknown{nearest(model, MODELS)}")
    return MODELS[model]

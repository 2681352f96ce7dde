"""Analytical models: closed forms, an equation a line, from counts and a machine's parameters."""

import importlib
from typing import Protocol, cast

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

MODELS = {
    "pram": ("simtmm.model.pram", "pram"),
    "tmm": ("simtmm.model.tmm", "tmm"),
    "tmm-warps": ("simtmm.model.tmm", "tmm_warps"),
}


class Model(Protocol):
    """A function in MODELS."""

    def __call__(self, machine: Machine, counts: Counts) -> Prediction: ...


def predict(model: str, machine: Machine, counts: Counts) -> Prediction:
    """What a model says of a program with these counts on a machine. Raises ModelError for an unknown model."""
    if model not in MODELS:
        raise ModelError(f"model {model!r}: unknown{nearest(model, MODELS)}")
    module, function = MODELS[model]
    return cast(Model, getattr(importlib.import_module(module), function))(machine, counts)

"""The ways to obtain the time of a program, by name: simulated, measured, and by each model."""

from simtmm.model import MODELS_OF_ALGORITHMS, all_models

SIMULATED, MEASURED = "simulated", "measured"


def all_series() -> tuple[str, ...]:
    """The names of all of them: "simulated", the models, "measured"."""
    return (SIMULATED, *all_models(), *MODELS_OF_ALGORITHMS, MEASURED)


def label(series: str) -> str:
    """What tables and pictures call a series: a model's label. Any other name is its own label."""
    model = {**all_models(), **MODELS_OF_ALGORITHMS}.get(series)
    return model.label if model else series

"""Pictures of values: what `.plot()` gives, which Jupyter shows and a path takes."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.analysis.comparison.comparison import Comparison
from simtmm.analysis.prediction.predictions import Predictions
from simtmm.analysis.run.outcome import Run
from simtmm.display import Displayed
from simtmm.errors import OutputError
from simtmm.model.series import SIMULATED, label
from simtmm.report.page import Table
from simtmm.report.pictures import files
from simtmm.report.pictures.bars import bars
from simtmm.report.pictures.charts import stacks
from simtmm.report.pictures.comparison import compared
from simtmm.report.pictures.study import picture_of as study_picture
from simtmm.result import Prediction, Result
from simtmm.study.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS = 192  # an inch: two to a pixel of a page, of which 96 are an inch
PIXELS = 96


class Picture:
    """A picture that `.plot()` drew. Jupyter shows it.

    figure: matplotlib's Figure, which you may change before it is shown or saved.
    """

    def __init__(self, figure: "Figure", description: str) -> None:
        """description: what the picture shows, in words."""
        self.figure = figure
        self._description = description

    def __repr__(self) -> str:
        return f"Picture({self._description})"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = self.figure.get_size_inches()
        size = {"width": round(width * PIXELS), "height": round(height * PIXELS)}
        return files.png(self.figure, self._description, DOTS), size

    def save(self, path: str | Path) -> None:
        """Write it to a .png, .svg or .pdf file. Raises OutputError."""
        files.write(path, self.figure)


@singledispatch
def picture_of(value: Displayed) -> Picture:
    """A picture of a value. Raises OutputError where there is nothing to draw, and without matplotlib."""
    raise TypeError(f"{type(value).__name__}: has no picture")


@picture_of.register
def _of_result(result: Result) -> Picture:
    if result.time is None:
        raise OutputError("plot: the result has no breakdown of its time: simulate with breakdown=True")
    return Picture(stacks({SIMULATED: result.time}, f"{result.cycles:,.0f} cycles"), "where the simulated time went")


@picture_of.register
def _of_prediction(prediction: Prediction) -> Picture:
    title = f"{label(prediction.model)}: {prediction.bound} binds"
    figure = bars(prediction.terms, "cycles", title, marked=(prediction.bound,))
    return Picture(figure, f"terms of the {label(prediction.model)}")


@picture_of.register
def _of_run(run: Run) -> Picture:
    cycles = {SIMULATED: run.result.cycles, **{name: prediction.cycles for name, prediction in run.predictions.items()}}
    figure = bars(
        {label(name): time for name, time in cycles.items()},
        "cycles",
        f"{run.program} on {run.machine.name}",
        marked=(label(SIMULATED),),
    )
    return Picture(figure, "the simulated time and the models'")


@picture_of.register
def _of_predictions(found: Predictions) -> Picture:
    times = {
        label(model) + ", closed form" * closed: prediction.cycles
        for (model, closed), prediction in found.of_each_form.items()
    }
    return Picture(bars(times, "cycles", f"{found.program} on {found.machine.name}"), "the models' times")


@picture_of.register
def _of_study(
    study: Results,
    across: str | None = None,
    up: str | None = None,
    values: Sequence[str] = (),
    by: str | None = None,
    where: Mapping[str, str] | None = None,
    log: str | None = None,
    title: str | None = None,
) -> Picture:
    chosen = [values] if isinstance(values, str) else values
    figure = study_picture(Table.from_study(study), across, up, chosen, by, where, log, title)
    return Picture(figure, f"a study of {study.design.subject.name}")


@picture_of.register
def _of_comparison(comparison: Comparison, kind: str = "scatter", log: str | None = None) -> Picture:
    return Picture(compared(kind, log)(comparison), f"{kind} of a comparison")

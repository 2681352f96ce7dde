"""Options of `simtmm run --models-only`: the models' predictions for a program, without a simulation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.options.output import show
from simtmm.errors import ModelError, OutputError
from simtmm.requests.files import DOCUMENT
from simtmm.requests.run import RunRequest
from simtmm.requests.study_options import model_option
from simtmm.requests.values import numbers_of, parameters_of

if TYPE_CHECKING:
    from simtmm.analysis.prediction.predictions import Predictions


@dataclass(frozen=True, kw_only=True)
class MeasuredOptions:
    """A measured time beside the predicted ones."""

    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            metavar="SECONDS|FILE|NAME",
            help="a measured time, a file of them, or the papers' by name: flag predictions that disagree",
        ),
    ] = None
    factor: Annotated[
        float | None,
        typer.Option("--factor", metavar="F", help="the factor within which a measured time agrees; default: 2"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelsOptions(MeasuredOptions):
    """What the models say, and of which constants."""

    models_only: Annotated[
        bool, typer.Option("--models-only", help="predict by the models, including the TMM, without a simulation")
    ] = False
    model: Annotated[list[str] | None, model_option("with --models-only: this model; default: all; repeatable")] = None
    constant: Annotated[
        list[str] | None,
        typer.Option(
            "--constant",
            metavar="NAME=VALUE",
            help="with --models-only: a constant of the calibrated model: a1, a0, m, C_s, G, f_app",
        ),
    ] = None
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="cycles|s", help="unit of a1 and a0; default: cycles")
    ] = None
    active_blocks: Annotated[
        int | None,
        typer.Option("--active-blocks", metavar="B_a", help="limit a core group to this many of a kernel's blocks"),
    ] = None
    latex: Annotated[bool, typer.Option("--latex", help="print the formulas in LaTeX")] = False

    def refuse(self) -> None:
        """Raise ModelError for what is for models alone, where a program is simulated."""
        given = {"--model": self.model, "--constant": self.constant, "--unit": self.unit,
                 "--active-blocks": self.active_blocks is not None, "--measured": self.measured,
                 "--factor": self.factor is not None, "--latex": self.latex}  # fmt: skip
        for option, value in given.items():
            if value:
                raise ModelError(f"{option}: needs --models-only")

    def show(self, request: RunRequest, others: Mapping[str, object], as_json: bool, output: Path | None) -> None:
        """Print what the models say. others: options that are for a simulation, by name.

        Raises ModelError for one of these, and the errors of recording and of the models.
        """
        from simtmm.analysis.prediction.measured import check_factor, measured_time
        from simtmm.report.papers import predict as report
        from simtmm.report.progress import watching

        for option, value in others.items():
            if value:
                raise ModelError(f"{option}: needs a simulation, which --models-only leaves out")
        if output is not None and output.suffix and output.suffix != DOCUMENT:
            raise OutputError(f"-o {output}: must end in {DOCUMENT} with --models-only")
        if self.unit and not self.constant:
            raise ModelError("--unit: needs --constant, whose unit it is")
        check_factor(self.factor, self.measured)
        time = measured_time(self.measured)
        checked = request.checked()
        opened = checked.opened(as_json)
        with watching():
            found = self._predicted(request, opened.opened.program, checked.selected.machine, checked.error)
        if time is not None:
            found = time.beside(found, str(request.name_for(opened.opened.program, request.form)), self.factor)
        formulas = found.formulas() if self.latex else {}
        parts = report.describe_formulas(formulas) if self.latex else report.describe_prediction(found)
        document: dict[str, Any] = found.to_dict() | ({"latex": formulas} if self.latex else {})
        show(parts, document, as_json, output)
        opened.opened.end()

    def _predicted(self, request: RunRequest, program: Any, machine: Any, error: float) -> "Predictions":
        from simtmm.analysis.prediction.predict import predict_program
        from simtmm.analysis.run import DEFAULT_TRACE
        from simtmm.program import Program, shipped_trace

        if isinstance(program, Program):  # a user's own, which was run and recorded
            assert program.trace is not None
            program = program.trace
        return predict_program(
            shipped_trace(DEFAULT_TRACE) if program is None else program,
            machine,
            parameters_of(request.parameters),
            self.model or (),
            numbers_of(self.constant, "--constant"),
            self.unit or "cycles",
            active_blocks=self.active_blocks,
            form=request.form,
            sample=request.sample,
            error=error,
        )

"""`simtmm predict`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from simtmm.cli.completion import complete_program, complete_symbol
from simtmm.cli.environment import EnvironmentOptions
from simtmm.cli.grouped import grouped
from simtmm.cli.kernel_file import FormOption
from simtmm.cli.machine import MachineOptions
from simtmm.cli.output import DocumentOptions
from simtmm.cli.sampling import SampleOptions
from simtmm.cli.study_options import model_option
from simtmm.cli.values import numbers_of, parameters_of
from simtmm.errors import ModelError

SymbolOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="an algorithm's symbol or a kernel's parameter; repeatable",
        autocompletion=complete_symbol,
    ),
]
ThreadsOption = Annotated[
    float | None, typer.Option("--threads", metavar="T", help="threads of a core, where an algorithm is predicted")
]


@dataclass(frozen=True, kw_only=True)
class AlgorithmOptions:
    """What is for an algorithm of the papers alone."""

    threads: ThreadsOption = None
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="NAME", help="an algorithm's variant, as printed or mended")
    ] = None

    def given(self) -> list[str]:
        """The names of those that are given."""
        values = {"--threads": self.threads is not None, "--variant": self.variant}
        return [option for option, value in values.items() if value]


@dataclass(frozen=True, kw_only=True)
class CountsOptions:
    """What is for a kernel or a trace alone, whose work is counted."""

    is_kernel: Annotated[bool, typer.Option("--kernel", help="take the kernel, where an algorithm has its name")] = (
        False
    )
    form: FormOption = None
    model: Annotated[list[str] | None, model_option("a kernel's models, all if left out; repeatable")] = None
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", metavar="NAME=VALUE", help="of the calibrated model: a1, a0, m, C_s, G, f_app"),
    ] = None
    unit: Annotated[str | None, typer.Option("--unit", metavar="cycles|s", help="of a1 and a0; cycles if left out")] = (
        None
    )
    active_blocks: Annotated[
        int | None,
        typer.Option("--active-blocks", metavar="B_a", help="a core group holds at most so many of a kernel's blocks"),
    ] = None

    def given(self) -> list[str]:
        """The names of those that are given, apart from --kernel."""
        values = {
            "--as": self.form,
            "--model": self.model,
            "--constant": self.constant,
            "--unit": self.unit,
            "--active-blocks": self.active_blocks is not None,
        }
        return [option for option, value in values.items() if value]


@dataclass(frozen=True, kw_only=True)
class MeasuredOptions:
    """A measured time beside the predicted ones."""

    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            metavar="SECONDS|FILE|NAME",
            help="a measured time, a file of such, or the papers' by name: which predictions disagree with it",
        ),
    ] = None
    factor: Annotated[
        float | None,
        typer.Option("--factor", metavar="F", help="up to which a measured time agrees; 2 if left out"),
    ] = None


@grouped
def predict(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="an algorithm of the papers, a kernel, launches (.toml), or a trace (.parquet)",
            autocompletion=complete_program,
        ),
    ],
    *,
    machine: MachineOptions,
    param: SymbolOption = None,
    counted: CountsOptions,
    sampling: SampleOptions,
    algorithm: AlgorithmOptions,
    measurement: MeasuredOptions,
    latex: Annotated[bool, typer.Option("--latex", help="print the formulas in LaTeX")] = False,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Predict a program's time by models, without a simulation.

    Time, terms and what binds; of an algorithm of the papers also where that changes. `crossover` compares two
    algorithms, `zigzag` varies the blocks of a kernel.
    """
    from simtmm.analysis.measured import check_factor, measured_time
    from simtmm.analysis.predict import is_algorithm, predict_paper, predict_program, refuse_foreign
    from simtmm.report import predict as report
    from simtmm.report.progress import watching

    chosen = machine.chosen_for(source, counted.form)
    of_paper = not counted.is_kernel and is_algorithm(source)
    refuse_foreign(of_paper, [*counted.given(), *sampling.given()] if of_paper else algorithm.given())
    if counted.unit and not counted.constant:
        raise ModelError("--unit: is of the constants, so --constant must be given too")
    check_factor(measurement.factor, measurement.measured)
    time = measured_time(measurement.measured, of_paper)
    with watching():
        if of_paper:
            prediction = predict_paper(
                source, chosen, numbers_of(param, "--param"), algorithm.threads, algorithm.variant
            )
        else:
            prediction = predict_program(
                source,
                chosen,
                parameters_of(param),
                counted.model or (),
                numbers_of(counted.constant, "--constant"),
                counted.unit or "cycles",
                active_blocks=counted.active_blocks,
                form=counted.form,
                sample=sampling.sample,
                error=sampling.part,
            )
    if time is not None:
        prediction = time.beside(prediction, machine.name_for(source, counted.form), measurement.factor)
    formulas = prediction.formulas() if latex else {}
    parts = report.describe_formulas(formulas) if latex else report.describe_prediction(prediction)
    result.show(parts, prediction.to_dict() | ({"latex": formulas} if latex else {}))

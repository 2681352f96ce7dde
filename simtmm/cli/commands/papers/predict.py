"""`simtmm paper predict`."""

from typing import Annotated

import typer

from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.models_only import MeasuredOptions
from simtmm.cli.options.output import DocumentOptions
from simtmm.errors import ModelError
from simtmm.requests.completion import complete_algorithm, complete_symbol
from simtmm.requests.machine import MachineOptions
from simtmm.requests.values import numbers_of

SymbolOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="an algorithm's symbol; repeatable",
        autocompletion=complete_symbol,
    ),
]
ThreadsOption = Annotated[float | None, typer.Option("--threads", metavar="T", help="threads per core")]


@grouped
def predict(
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGORITHM", help="an algorithm of the papers", autocompletion=complete_algorithm)
    ],
    *,
    machine: MachineOptions,
    param: SymbolOption = None,
    threads: ThreadsOption = None,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="NAME", help="its variant, e.g. printed or mended")
    ] = None,
    measurement: MeasuredOptions,
    latex: Annotated[bool, typer.Option("--latex", help="print the formulas in LaTeX")] = False,
    result: DocumentOptions,
) -> None:
    """Predict an algorithm's time by the papers' equations.

    Time, terms, what binds, and where that changes. `sweep crossover` compares two algorithms; `run --models-only`
    predicts a program from what it does.
    """
    from simtmm.analysis.prediction.measured import check_factor, measured_time
    from simtmm.analysis.prediction.predict import is_algorithm, predict_paper
    from simtmm.report.papers import predict as report
    from simtmm.report.progress import watching

    if not is_algorithm(algorithm):
        raise ModelError(
            f"{algorithm}: is a program, not an algorithm: simtmm run {algorithm} --models-only predicts it"
        )
    chosen = machine.chosen_for(algorithm)
    check_factor(measurement.factor, measurement.measured)
    time = measured_time(measurement.measured, seconds_only=True)
    with watching():
        found = predict_paper(algorithm, chosen, numbers_of(param, "--param"), threads, variant)
    if time is not None:
        found = time.beside(found, str(machine.name_for(algorithm, None)), measurement.factor)
    formulas = found.formulas() if latex else {}
    parts = report.describe_formulas(formulas) if latex else report.describe_prediction(found)
    result.show(parts, found.to_dict() | ({"latex": formulas} if latex else {}))

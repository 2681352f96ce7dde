"""`simtmm paper equation` and `simtmm paper fit`."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions
from simtmm.errors import ModelError, OutputError
from simtmm.requests.completion import complete_equation
from simtmm.requests.machine import SetOption, chosen_machine, machine_option
from simtmm.requests.values import number_lists_of

if TYPE_CHECKING:
    from simtmm.machine import Machine

SymbolsMachineOption = Annotated[str | None, machine_option("a machine that supplies P, Q, L, C and other symbols")]


@grouped
def equation(
    result: DocumentOptions,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="an equation; default: list all", autocompletion=complete_equation),
    ] = None,
    machine: SymbolsMachineOption = None,
    set_: SetOption = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE,...",
            help="values of a symbol; all combinations are evaluated; repeatable",
        ),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="print the formula in LaTeX")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print a CSV row per point")] = False,
) -> None:
    """Evaluate a single equation of the papers.

    It covers Bloom filters, caches, blocks, bandwidths and shortest paths.
    """
    from simtmm.analysis.prediction.equations import evaluate
    from simtmm.model.applications.catalogue import EQUATIONS, find_equation
    from simtmm.report.papers import equations as report

    if latex + as_csv + result.as_json > 1:
        raise OutputError("--latex, --csv, --json: one of them at a time")
    if name is None:
        if param or machine or latex or as_csv:
            raise ModelError("equation: options need an equation's name; without one, all are listed")
        listed = [{"name": each.name, "title": each.title, "source": each.source} for each in EQUATIONS.values()]
        result.show(report.describe_equations(), listed)
        return
    if latex:
        formula = find_equation(name).formula
        if formula is None:
            raise ModelError(f"equation {name!r}: has no LaTeX; only equations of times have")
        dataclasses.replace(result, as_json=False).show([formula.latex], {"latex": formula.latex})
        return
    evaluated = evaluate(name, number_lists_of(param, "--param"), _machine(machine, set_))
    if as_csv:
        print(report.evaluated_csv(evaluated).rstrip("\n"))
    result.show([] if as_csv else report.describe_evaluated(evaluated), evaluated.to_dict())


@grouped
def fit(  # noqa: PLR0913, PLR0917 - each is an option of the command
    result: DocumentOptions,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV with a header, and one row per measured or simulated time")
    ],
    time: Annotated[str, typer.Option("--time", metavar="COLUMN", help="the column of times")] = "seconds",
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="COLUMN", help="the column that the times depend on; with --cache the working set"),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option("--equation", metavar="NAME", help="instead of --x: an equation of columns named as its symbols"),
    ] = None,
    cache: Annotated[
        float | None,
        typer.Option("--cache", metavar="BYTES", help="fit G of Eq (5.12) instead of a line: the cache's size"),
    ] = None,
    a0: Annotated[float | None, typer.Option("--a0", metavar="VALUE", help="a0 if known; 0 for a proportion")] = None,
    machine: SymbolsMachineOption = None,
    set_: SetOption = None,
) -> None:
    """Fit constants of the calibrated models to times.

    It reads a CSV file and fits a1 and a0 of Eq (5.24) and (6.10), or G of Eq (5.12).
    """
    from simtmm.analysis.prediction import equations
    from simtmm.report.papers import equations as report

    chosen = _machine(machine, set_)
    fitted = equations.fit(file, time, x, over, cache, a0, chosen)
    result.show(report.describe_fitted(fitted), fitted.to_dict())


def _machine(name: str | None, changes: list[str] | None) -> "Machine | None":
    if name is not None:
        return chosen_machine(name, changes)
    if changes:
        raise ModelError("--set: changes a machine, so it needs --machine")
    return None

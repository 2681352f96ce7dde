"""`simtmm sweep crossover`."""

from typing import Annotated

import typer

from simtmm.cli.commands.papers.predict import SymbolOption, ThreadsOption
from simtmm.cli.options.environment import MachinePathOption
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions
from simtmm.requests.completion import complete_algorithm
from simtmm.requests.machine import MachineOptions
from simtmm.requests.values import numbers_of


@grouped
def crossover(  # noqa: PLR0913 - each is an option of the command
    a: Annotated[
        str, typer.Argument(metavar="A", help="an algorithm of the papers", autocompletion=complete_algorithm)
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="another, or another variant", autocompletion=complete_algorithm)
    ],
    *,
    machine: MachineOptions,
    param: SymbolOption = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="SYMBOL",
            help="vary this symbol; default: n, m, L and T where possible; repeatable",
        ),
    ] = None,
    threads: ThreadsOption = None,
    variant_a: Annotated[
        str | None, typer.Option("--variant-a", metavar="NAME", help="the variant of A, e.g. printed or mended")
    ] = None,
    variant_b: Annotated[str | None, typer.Option("--variant-b", metavar="NAME", help="the variant of B")] = None,
    machine_path: MachinePathOption = None,
    result: DocumentOptions,
) -> None:
    """Tell which of two algorithms wins where, by the TMM.

    Along each symbol, with the others fixed: the values at which the winner changes, and the winner between them.
    """
    from simtmm.analysis.prediction.crossover import versus
    from simtmm.report.papers.predict import describe_versus

    symbols = numbers_of(param, "--param")
    found = versus(a, b, machine.chosen_for(a), symbols, over or (), threads, (variant_a, variant_b))
    result.show(describe_versus(found), found.to_dict())

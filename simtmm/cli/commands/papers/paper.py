"""`simtmm paper`."""

from typing import Any

from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions


@grouped
def paper(result: DocumentOptions) -> None:
    """List what the papers have: algorithms, equations, figures.

    `paper predict` predicts an algorithm, `paper equation` evaluates an equation, `paper fit` fits constants to times,
    `paper reproduce` makes figures and tables, and compares our times with measured ones, `paper claims` lists what the
    papers claim, with verdicts.
    """
    from simtmm.model.algorithms import ALGORITHMS
    from simtmm.model.applications.catalogue import EQUATIONS
    from simtmm.report.figures.text import describe_list, listed
    from simtmm.report.papers.equations import describe_equations
    from simtmm.report.papers.predict import describe_algorithms

    document: dict[str, Any] = {
        "algorithms": {name: each.title for name, each in ALGORITHMS.items()},
        "equations": {name: each.title for name, each in EQUATIONS.items()},
        **listed(),
    }
    result.show([*describe_algorithms(), "", *describe_equations(), "", *describe_list()], document)

"""`simtmm kernels rules`, `simtmm kernels test` and `simtmm kernels compare`: scheduling rules."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, warn_of_traces
from simtmm.errors import SimtmmError
from simtmm.requests.completion import complete_kernel, complete_rule
from simtmm.requests.files import checked_form, printing
from simtmm.requests.kernel_file import FormOption, ParamOption
from simtmm.requests.machine import MachineOptions
from simtmm.requests.study_options import engine_option
from simtmm.requests.values import parameters_of

if TYPE_CHECKING:
    from simtmm.testing.laws import Law

BROKEN = 1  # exit status
LIST = "list"


def _checked_svg(path: Path | None) -> Path | None:
    return checked_form(path, "--picture", (".svg",))


@grouped
def rules(
    result: DocumentOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE",
            help="the rule to show, with its promises and their formulas; default, or list: all",
            autocompletion=complete_rule,
        ),
    ] = None,
) -> None:
    """List scheduling rules, and laws to promise.

    `kernels test` looks for runs in which a rule breaks a promise; `kernels compare` runs kernels under several rules.
    """
    from simtmm.analysis.scheduling_rules import known_rules, rule_of
    from simtmm.report.scheduling_rules import describe_rule, describe_rules, rule_document, rules_document

    if name in (None, LIST):
        known = known_rules()
        result.show(describe_rules(known), rules_document(known))
    else:
        rule = rule_of(str(name))
        result.show(describe_rule(rule), rule_document(rule))


@grouped
def rules_test(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE", help="FILE.py:NAME, a function or class in a file, or a name from `kernels rules`"
        ),
    ],
    *,
    promise: Annotated[
        list[str] | None,
        typer.Option(
            "--promise",
            metavar="LAW",
            help="a promise to test (see `kernels rules`), e.g. no_starvation or 'bounded_wait(16)'; repeatable; "
            "default: the rule's own",
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", metavar="N", help="number of machines and workloads to draw per promise")
    ] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="seed of the draws")] = 0,
    engine: Annotated[str | None, engine_option("engine of a rule that machines may name: fast or reference")] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="draw the first counter-example: .svg", callback=_checked_svg),
    ] = None,
    result: DocumentOptions,
) -> None:
    """Look for runs in which a rule breaks a promise.

    Exit status 1: the rule breaks one, and the smallest counter-example found is printed. Naming a file runs it.
    """
    from simtmm.analysis.scheduling_rules import judge, rule_of
    from simtmm.report.progress import watching
    from simtmm.report.scheduling_rules import describe_judged, judged_document

    chosen = rule_of(rule)
    laws = _laws(promise or ()) or chosen.promises
    if not laws:
        raise SimtmmError(f"rule {rule}: has no known promises: name some, such as --promise no_starvation")
    with watching() as watch, printing(result.as_json):
        judged = judge(chosen, laws, draws, seed, engine, picture, watch)
    result.show(describe_judged(chosen, judged), judged_document(chosen, judged))
    if any(each.broken for each in judged):
        raise typer.Exit(BROKEN)


def _laws(promises: "list[str] | tuple[()]") -> "tuple[Law, ...]":
    from simtmm.testing.laws import law_named

    return tuple(law_named(each) for each in promises)


@grouped
def rules_compare(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="kernels, launches (.toml), traces (.parquet) and workloads (.json)",
            autocompletion=complete_kernel,
        ),
    ],
    *,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="FILE|NAME",
            help="a rule to compare with the machine's own: FILE.py:NAME, or a rule's name; repeatable; default: the "
            "built-in ones",
        ),
    ] = None,
    machine: MachineOptions,
    param: ParamOption = None,
    form: FormOption = None,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Run kernels under several scheduling rules.

    They run on the fast engine; those that it does not compile run on the SimPy reference engine.
    """
    from simtmm.analysis.scheduling_rules import compare_rules, rule_of
    from simtmm.report.progress import watching
    from simtmm.report.scheduling_rules import describe_by_rule
    from simtmm.rules import BUILT_IN

    chosen = [rule_of(each) for each in rule or BUILT_IN]
    on = machine.chosen_for(source[0], form)
    warn_of_traces(source, [on.cores.warp_width])
    with watching() as watch, printing(result.as_json):
        found = compare_rules(source, chosen, on, parameters_of(param), form, watch)
    result.show(describe_by_rule(on.name, found), {"machine": on.name, "runs": [each.to_dict() for each in found]})

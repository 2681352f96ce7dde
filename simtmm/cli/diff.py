"""`simtmm diff`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.completion import complete_changes, complete_kernel, complete_parameter
from simtmm.cli.environment import EnvironmentOptions
from simtmm.cli.explain import WhatIfOption
from simtmm.cli.gate import GateOptions
from simtmm.cli.grouped import grouped
from simtmm.cli.kernel_file import LaunchOptions
from simtmm.cli.machine import MachineOptions, chosen_machine, default_machine, machine_option
from simtmm.cli.output import DocumentOptions, printing
from simtmm.cli.values import parameters_of
from simtmm.errors import SavedRunError

if TYPE_CHECKING:
    from simtmm.analysis.difference import Side
    from simtmm.watch import Watch

Words = list[str] | None

SOURCE = "what `simtmm run -o FILE` or `--json` wrote (.json), or a program to run, as `simtmm run` takes it"


def _set_option(side: str) -> Any:
    return typer.Option(
        f"--set-{side}",
        metavar="KEY=VALUE",
        help=f"of {side.upper()} alone, behind --set; repeatable",
        autocompletion=complete_changes,
    )


def _param_option(side: str) -> Any:
    return typer.Option(
        f"--param-{side}",
        metavar="NAME=VALUE",
        help=f"of {side.upper()} alone, instead of --param's; repeatable",
        autocompletion=complete_parameter,
    )


@dataclass(frozen=True, kw_only=True)
class SideOptions:
    """What is of one side alone."""

    machine_a: Annotated[str | None, machine_option("the machine of A alone", flag="--machine-a")] = None
    machine_b: Annotated[str | None, machine_option("the machine of B alone", flag="--machine-b")] = None
    set_a: Annotated[Words, _set_option("a")] = None
    set_b: Annotated[Words, _set_option("b")] = None
    param_a: Annotated[Words, _param_option("a")] = None
    param_b: Annotated[Words, _param_option("b")] = None


@grouped
def diff(
    *,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help=f"{SOURCE}; with --baseline, a file of kernels (.toml)", autocompletion=complete_kernel
        ),
    ],
    b: Annotated[str | None, typer.Argument(metavar="B", help="likewise", autocompletion=complete_kernel)] = None,
    gate: GateOptions,
    machine: MachineOptions,
    launch: LaunchOptions,
    side: SideOptions,
    environment: EnvironmentOptions,
    result: DocumentOptions,
    what_if: WhatIfOption = True,
) -> None:
    """Compare two runs, and explain the difference in time.

    By reason, by source line and by array. What differs between them: another program, machine, key of it, or
    parameter; or runs that were saved. With --baseline the kernels of a file are compared with their earlier times.

    Exit status: 0 done; 1, with --baseline, a kernel grew by more than --fail-above; 2 wrong input.
    """
    from simtmm.analysis.difference import difference
    from simtmm.report.diff import describe_difference, words
    from simtmm.report.progress import watching

    of_machine = {"--machine": machine.machine, "--set": machine.set_, "--start": machine.start}
    both = {**of_machine, "--kernel": launch.kernel, **launch.of_kernels()}
    of_a = {"--machine-a": side.machine_a, "--set-a": side.set_a, "--param-a": side.param_a}
    of_b = {"--machine-b": side.machine_b, "--set-b": side.set_b, "--param-b": side.param_b}
    if gate.baseline is not None:
        gate.compare(a, {f"B = {b}": b, **both, **of_a, **of_b}, result, what_if)
        return
    gate.refuse()
    if b is None:
        raise SavedRunError(f"B: is missing: {a} is compared with another run, or, with --baseline FILE, with a file")
    saved = [_saved(source, options) for source, options in ((a, of_a), (b, of_b))]
    if None not in saved:
        _refuse(both, f"{a} and {b} are runs that were saved")

    def opened(source: str, name: str | None, changes: Words, parameters: Words) -> "Callable[[Watch | None], Side]":
        """A function that runs a program; all options are checked before it is called."""
        from simtmm.analysis.difference import Side
        from simtmm.analysis.run import run

        program = launch.launched(source)
        named = name or machine.machine or default_machine(program, launch.form)
        chosen = chosen_machine(named, [*(machine.set_ or ()), *(changes or ())], machine.start)
        values = parameters_of(launch.param) | parameters_of(parameters)

        def run_side(watch: "Watch | None") -> "Side":
            done = run(program, chosen, values, "auto", watch, form=launch.form, what_if=what_if)
            return Side.of(done.to_dict(), source)

        return run_side

    run_a = opened(a, side.machine_a, side.set_a, side.param_a) if saved[0] is None else None
    run_b = opened(b, side.machine_b, side.set_b, side.param_b) if saved[1] is None else None
    with watching() as watch, printing(result.as_json):
        first = run_a(watch) if run_a else saved[0]
        second = run_b(watch) if run_b else saved[1]
    assert first is not None
    assert second is not None
    found = difference(first, second)
    result.show(describe_difference(found), {"words": words(found), **found.to_dict()})


def _saved(source: str, options: dict[str, Any]) -> "Side | None":
    """The run that was saved there; None for a program, a workload among them."""
    from simtmm.analysis.difference import Side, load_document

    if Path(source).suffix != ".json":
        return None
    document = load_document(source)
    if not isinstance(document, dict) or document.keys() & {"blocks", "launches"}:
        return None  # a workload, or what its reader refuses
    _refuse(options, f"{source} is a run that was saved")
    return Side.of(document, source)


def _refuse(options: dict[str, Any], why: str) -> None:
    for option, value in options.items():
        if value:
            first = value[0] if isinstance(value, list) else value
            raise SavedRunError(f"{option} {first}: {why}: nothing of it can be changed")

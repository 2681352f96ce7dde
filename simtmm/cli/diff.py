"""`simtmm diff`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.words import (
    ArgumentOption,
    BlockOption,
    CompilerOption,
    FormOption,
    GridOption,
    JsonOption,
    KernelMemoryOption,
    KernelOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    NoMachineOption,
    OutputOption,
    ParamOption,
    SetOption,
    SharedOption,
    WhatIfOption,
    chosen_machine,
    launched,
    machine_for,
    parameters_of,
    printing,
    show,
)
from simtmm.errors import SavedRunError
from simtmm.files import check_writable

if TYPE_CHECKING:
    from simtmm.analysis.difference import Side
    from simtmm.watch import Watch

Words = list[str] | None

SOURCE = "what `simtmm run -o FILE` or `--json` wrote (.json), or a program to run, as `simtmm run` takes it"


def _machine_option(side: str) -> Any:
    return typer.Option(f"--machine-{side}", metavar="NAME|FILE", help=f"the machine of {side.upper()} alone")


def _set_option(side: str) -> Any:
    return typer.Option(f"--set-{side}", metavar="KEY=VALUE", help=f"of {side.upper()} alone, behind --set; repeatable")


def _param_option(side: str) -> Any:
    return typer.Option(
        f"--param-{side}", metavar="NAME=VALUE", help=f"of {side.upper()} alone, instead of --param's; repeatable"
    )


def diff(
    a: Annotated[str, typer.Argument(help=SOURCE)],
    b: Annotated[str, typer.Argument(help="likewise")],
    machine: NoMachineOption = None,
    machine_a: Annotated[str | None, _machine_option("a")] = None,
    machine_b: Annotated[str | None, _machine_option("b")] = None,
    set_: SetOption = None,
    set_a: Annotated[Words, _set_option("a")] = None,
    set_b: Annotated[Words, _set_option("b")] = None,
    param: ParamOption = None,
    param_a: Annotated[Words, _param_option("a")] = None,
    param_b: Annotated[Words, _param_option("b")] = None,
    grid: GridOption = None,
    block: BlockOption = None,
    arg: ArgumentOption = None,
    kernel: KernelOption = None,
    shared: SharedOption = 0,
    compile_: CompilerOption = None,
    form: FormOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    what_if: WhatIfOption = True,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Two runs side by side: what explains the difference, by reason, by source line and by array.

    What differs between them: another program, machine, key of it, or parameter; or runs that were saved.
    """
    if output is not None:
        check_writable(output)
    from simtmm.analysis.difference import difference
    from simtmm.report.diff import describe_difference, words
    from simtmm.report.progress import watching

    both = {
        "--machine": machine, "--set": set_, "--param": param, "--grid": grid, "--block": block, "--arg": arg,
        "--kernel": kernel, "--shared": shared, "--compile": compile_, "--as": form,
    }  # fmt: skip
    own = (
        {"--machine-a": machine_a, "--set-a": set_a, "--param-a": param_a},
        {"--machine-b": machine_b, "--set-b": set_b, "--param-b": param_b},
    )
    saved = [_saved(source, options) for source, options in zip((a, b), own, strict=True)]
    if None not in saved:
        _refuse(both, f"{a} and {b} are runs that were saved")

    def opened(source: str, machine: str | None, changes: Words, parameters: Words) -> "Callable[[Watch | None], Side]":
        """What runs a program, once all that it is given is known to be right."""
        from simtmm.analysis.difference import Side
        from simtmm.analysis.run import run as run_study

        program = launched(source, grid, block, arg, kernel, shared, compile_)
        on = chosen_machine(machine_for(program, machine, form), [*(set_ or ()), *(changes or ())])
        values = parameters_of(param) | parameters_of(parameters)

        def made(watch: "Watch | None") -> "Side":
            done = run_study(program, on, values, "auto", watch, form=form, what_if=what_if)
            return Side.of(done.to_dict(), source)

        return made

    begin_a = opened(a, machine_a or machine, set_a, param_a) if saved[0] is None else None
    begin_b = opened(b, machine_b or machine, set_b, param_b) if saved[1] is None else None
    with watching() as watch, printing(as_json):
        first = begin_a(watch) if begin_a else saved[0]
        second = begin_b(watch) if begin_b else saved[1]
    assert first is not None
    assert second is not None
    made = difference(first, second)
    show(describe_difference(made), {"words": words(made), **made.to_dict()}, as_json, output)


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
            told = value[0] if isinstance(value, list) else value
            raise SavedRunError(f"{option} {told}: {why}: nothing of it can be changed")

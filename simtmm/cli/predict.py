"""`simtmm predict`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.words import (
    FormOption,
    JsonOption,
    KernelMemoryOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    NoMachineOption,
    OutputOption,
    SetOption,
    chosen_machine,
    machine_for,
    numbers_of,
    parameters_of,
    show,
)
from simtmm.errors import ModelError
from simtmm.files import check_writable

ALGORITHM, PROGRAM, VERSUS, SWEEP = "an algorithm", "a kernel or trace", "--versus", "--sweep"
ONLY = {  # where an option has a meaning; elsewhere it is refused, and not left aside
    "--kernel": (PROGRAM, SWEEP),
    "--as": (PROGRAM, SWEEP),
    "--model": (PROGRAM,),
    "--constant": (PROGRAM,),
    "--unit": (PROGRAM,),
    "--threads": (ALGORITHM, VERSUS),
    "--active-blocks": (PROGRAM,),
    "--measured": (ALGORITHM, PROGRAM),
    "--factor": (ALGORITHM, PROGRAM),
    "--variant": (ALGORITHM, VERSUS),
    "--versus-variant": (VERSUS,),
    "--over": (VERSUS,),
    "--latex": (ALGORITHM, PROGRAM),
    "--picture": (SWEEP,),
}


def predict(
    source: Annotated[
        str, typer.Argument(help="an algorithm of the papers, a kernel, launches (.toml), or a trace (.parquet)")
    ],
    machine: NoMachineOption = None,
    set_: SetOption = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="an algorithm's symbol or a kernel's parameter"),
    ] = None,
    form: FormOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    kernel: Annotated[bool, typer.Option("--kernel", help="take the kernel, where an algorithm has its name")] = False,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="a kernel's models, all if left out; repeatable")
    ] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", metavar="NAME=VALUE", help="of the calibrated model: a1, a0, m, C_s, G, f_app"),
    ] = None,
    unit: Annotated[str | None, typer.Option(metavar="cycles|s", help="of a1 and a0; cycles if left out")] = None,
    threads: Annotated[float | None, typer.Option(metavar="T", help="an algorithm's threads a core")] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="an algorithm's variant, as printed or mended")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--versus", metavar="NAME", help="another algorithm: which wins where")
    ] = None,
    against_variant: Annotated[
        str | None, typer.Option("--versus-variant", metavar="NAME", help="the other algorithm's variant")
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="SYMBOL", help="with --versus: along this symbol, as n, m, L, T; repeatable"),
    ] = None,
    sweep: Annotated[
        str | None, typer.Option(metavar="blocks=LOW:HIGH", help="a kernel's throughput over requested blocks")
    ] = None,
    active_blocks: Annotated[
        int | None, typer.Option(metavar="B_a", help="let a core group hold no more of a kernel's blocks than that")
    ] = None,
    measured: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="a measured time: which predictions it departs from")
    ] = None,
    factor: Annotated[
        float | None, typer.Option(metavar="F", help="up to which a measured time agrees; 2 if left out")
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="print the formulas in LaTeX")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="draw the sweep: .png, .svg or .pdf")] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """What the models say, without a simulation: time, terms, what binds, and where that changes."""
    if output is not None:
        check_writable(output)
    chosen = chosen_machine(machine_for(source, machine, form), set_)
    from simtmm.analysis.crossover import versus
    from simtmm.analysis.predict import is_algorithm, predict_paper, predict_program
    from simtmm.analysis.zigzag import sweep_blocks
    from simtmm.model.departure import DEFAULT_FACTOR
    from simtmm.report import predict as report
    from simtmm.report.progress import watching

    if against is not None and sweep is not None:
        raise ModelError("--versus and --sweep: can't both be given")
    mode = VERSUS if against is not None else SWEEP if sweep is not None else PROGRAM
    if mode == PROGRAM and not kernel and is_algorithm(source):
        mode = ALGORITHM
    given = {
        "--kernel": kernel,
        "--as": form,
        "--model": model,
        "--constant": constant,
        "--unit": unit,
        "--threads": threads is not None,
        "--active-blocks": active_blocks is not None,
        "--measured": measured is not None,
        "--factor": factor is not None,
        "--variant": variant,
        "--versus-variant": against_variant,
        "--over": over,
        "--latex": latex,
        "--picture": picture is not None,
    }
    for option, value in given.items():
        if value and mode not in ONLY[option]:
            raise ModelError(f"{option}: is for {' or '.join(ONLY[option])}, not for {mode}")
    if unit and not constant:
        raise ModelError("--unit: is of the constants, so --constant must be given too")
    if measured is not None and not 0 < measured < float("inf"):
        raise ModelError(f"--measured {measured}: must be a number of seconds above 0")
    if factor is not None and measured is None:
        raise ModelError("--factor: is of a measured time, so --measured must be given too")
    if picture is not None:
        from simtmm.report.pictures import charts, files

        files.check(picture)
    if against is not None:
        variants = (variant, against_variant)
        compared = versus(source, against, chosen, numbers_of(param, "--param"), over or (), threads, variants)
        show(report.describe_versus(compared), compared.to_dict(), as_json, output)
        return
    with watching():
        if sweep is not None:
            function, swept = sweep_blocks(source, chosen, parameters_of(param), _blocks(sweep), form=form)
        elif mode == ALGORITHM:
            made = predict_paper(source, chosen, numbers_of(param, "--param"), threads, variant)
        else:
            constants = numbers_of(constant, "--constant")
            made = predict_program(
                source,
                chosen,
                parameters_of(param),
                model or (),
                constants,
                unit or "cycles",
                active_blocks=active_blocks,
                form=form,
            )
    if sweep is not None:
        document = {"kernel": function, "machine": chosen.name, **swept.to_dict()}
        if picture is not None:
            from simtmm.report.pictures.titles import titled

            files.write(picture, charts.zigzag(swept, titled(function, parameters_of(param), chosen.name)))
        show(report.describe_zigzag(function, swept, chosen.name), document, as_json, output)
        return
    if measured is not None:
        made = made.beside(measured, DEFAULT_FACTOR if factor is None else factor)
    formulas = made.formulas() if latex else {}
    parts = report.describe_formulas(formulas) if latex else report.describe_prediction(made)
    show(parts, made.to_dict() | ({"latex": formulas} if latex else {}), as_json, output)


def _blocks(sweep: str) -> range:
    """The range of `blocks=LOW:HIGH`, both included."""
    match = re.fullmatch(r"blocks=([0-9]{1,9}):([0-9]{1,9})", sweep)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ModelError(f"--sweep {sweep}: must be blocks=LOW:HIGH, whole numbers from 1 on")
    return range(int(match[1]), int(match[2]) + 1)

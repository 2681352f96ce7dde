"""The command line: each subcommand parses its words, makes one library call, and prints what comes of it.

A module a verb. They import what they call when they are called, so that help is quick.
"""

from typing import Annotated, Any

import typer
import typer.core

from simtmm.cli import (
    advise,
    calibrate,
    compare,
    diff,
    explain,
    import_,
    listing,
    measure,
    predict,
    record,
    report,
    reproduce,
    run,
    sweep,
    threads,
)

NEW = "machines new"


class _Commands(typer.core.TyperGroup):
    """The commands, of which one has a name of two words."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words begin with."""
        words = [NEW, *args[2:]] if args[:2] == NEW.split() else args
        return super().resolve_command(ctx, words)


app = typer.Typer(
    name="simtmm",
    cls=_Commands,
    help="Simulate real CUDA kernels on highly-threaded machines, and see whether threads hide the latency of memory.",
    epilog="Exit status: 0 done, 1 points of a sweep or cases of a comparison failed or figures are stale, 2 wrong "
    "input (one line says what), 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (
    run.run,
    explain.explain,
    record.record,
    measure.measure,
    predict.predict,
    sweep.sweep,
    advise.advise,
    threads.threads,
    compare.compare,
    diff.diff,
    report.report,
    calibrate.calibrate,
    reproduce.reproduce,
    listing.machines,
    listing.kernels,
):
    app.command()(command)
app.command(NEW)(listing.new)
app.command("import")(import_.import_)  # a word of Python's, so no function's name


def _version(wanted: bool) -> None:
    if wanted:
        from simtmm.provenance import VERSION

        print(f"simtmm {VERSION}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    pass

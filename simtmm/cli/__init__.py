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
    crossover,
    diff,
    equation,
    explain,
    explore,
    export,
    import_,
    listing,
    measure,
    micro,
    predict,
    record,
    report,
    reproduce,
    rules,
    run,
    sweep,
    threads,
    tune,
    zigzag,
)
from simtmm.cli.old_flags import current_words
from simtmm.cli.overwriting import refuse_overwriting

NEW = "machines new"
TWO_WORDS = (NEW, "rules test", "rules compare")  # names of commands
WIDEST = 1000  # columns of help, where a terminal has so many: in effect, its own width


class _Commands(typer.core.TyperGroup):
    """The commands, of which some have a name of two words."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words begin with."""
        refuse_overwriting(args)
        name = " ".join(args[:2])
        words = [name, *args[2:]] if name in TWO_WORDS else current_words(args)
        return super().resolve_command(ctx, words)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The commands that begin so, but for those of two words, which the command of their first word completes."""
        return [item for item in super().shell_complete(ctx, incomplete) if item.value not in TWO_WORDS]


app = typer.Typer(
    name="simtmm",
    cls=_Commands,
    help="Simulate real CUDA kernels on highly-threaded machines, and see whether threads hide the latency of memory.",
    epilog="Exit status: 0 done, 1 points of a sweep or cases of a comparison failed, figures are stale, a kernel grew "
    "or a rule broke a promise, 2 wrong input (one line says what), 3 a fault of simtmm itself (a line says what to "
    "send), 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)

for command in (
    run.run,
    explain.explain,
    export.export,
    explore.explore,
    record.record,
    measure.measure,
    micro.micro,
    predict.predict,
    crossover.crossover,
    zigzag.zigzag,
    equation.equation,
    equation.fit,
    sweep.sweep,
    advise.advise,
    tune.tune,
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
app.command("rules")(rules.rules)
app.command("rules test")(rules.rules_test)
app.command("rules compare")(rules.rules_compare)
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

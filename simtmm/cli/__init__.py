"""The command line: each command parses its arguments, makes one library call, and prints the result.

verbs: the commands by their words. help: how they are shown. old_words: names of earlier versions. commands: a module
each. options: what several of them share, beside the request classes (`simtmm.requests`).

Commands are imported when their verb is asked for, and import what they call when they are called.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
import typer.core

from simtmm.cli import help as helping
from simtmm.cli.old_words import current_words
from simtmm.cli.options.overwriting import refuse_overwriting
from simtmm.cli.verbs import VERBS, Command, Verb, function_of

WIDEST = 1000  # columns of help, where a terminal has so many: in effect, its own width
STATUSES = (
    "Exit status: 0 done, 1 points of a sweep or cases of a comparison failed, figures are stale, a kernel grew or a "
    "rule broke a promise, 2 wrong input (one line says what), 3 a fault of simtmm itself (a line says what to send), "
    "130 interrupted."
)


class _Commands(helping.Commands):
    headings = {  # noqa: RUF012 - as its base has it
        purpose: [verb.name for verb in VERBS if verb.purpose == purpose]
        for purpose in dict.fromkeys(verb.purpose for verb in VERBS)
    }
    words = {verb.name: [*verb.words] for verb in VERBS}  # noqa: RUF012

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words begin with, once no file would be lost by it."""
        refuse_overwriting(args)
        return super().resolve_command(ctx, current_words(args))


def _summary(command: Any) -> str:
    return (inspect.getdoc(command) or "").partition("\n")[0]


def _shown_as(verb: Verb, words: Mapping[str, Command]) -> type[helping.Command]:
    """The class of a verb's command, which its help is written by. words: what its second words do."""
    told = {word: _summary(function) for word, function in words.items()}
    return type("_Verb", (helping.Command,), {"usual": verb.usual, "words": told})


def _version(wanted: bool) -> None:
    if wanted:
        from simtmm.provenance import VERSION

        print(f"simtmm {VERSION}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    pass


def app(verbs: Sequence[Verb] = VERBS) -> typer.Typer:
    """The command line. verbs: that it has; only their own commands are loaded, as all take longer than to run one."""
    made = typer.Typer(
        name="simtmm",
        cls=_Commands,
        help="How fast is a CUDA kernel on a GPU, what holds it back, and what would help? Answered without the GPU.",
        epilog=STATUSES,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": [*helping.HELP], "max_content_width": WIDEST},
    )
    made.callback()(_main)
    for verb in verbs:
        words = {word: function_of(command) for word, command in verb.words.items()}
        made.command(verb.name, cls=_shown_as(verb, words))(function_of(verb.command))
        for word, function in words.items():
            made.command(f"{verb.name} {word}", cls=helping.Command)(function)
        for word, command in verb.hidden.items():
            made.command(f"{verb.name} {word}", cls=helping.Command, hidden=True)(function_of(command))
    return made

"""Help: the verbs by purpose, each with its most common options; with --all, all options."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer.core

HELP = ("-h", "--help")
ALL = "--all"
LONGEST = 200  # letters of a summary: none is cut


class Commands(typer.core.TyperGroup):
    """The commands. `headings`, `words` and `notices` are set where they are made (`simtmm.cli`).

    headings: names of verbs by the heading that they stand under. words: names of two words, by verb.
    """

    headings: dict[str, list[str]] = {}  # noqa: RUF012 - Typer makes the object, so its class holds them
    words: dict[str, list[str]] = {}  # noqa: RUF012

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words begin with, of two words where there is one."""
        name = " ".join(args[:2])
        return super().resolve_command(ctx, [name, *args[2:]] if name in self.commands else args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The verbs that begin so."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs under their headings, with their second words."""
        for heading, names in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(verb, self._summary(verb)) for verb in names])

    def _summary(self, verb: str) -> str:
        words = self.words.get(verb)
        also = f" Also: {', '.join(f'{verb} {word}' for word in words)}." if words else ""
        return f"{self.commands[verb].get_short_help_str(LONGEST)}{also}"


class Command(typer.core.TyperCommand):
    """A command whose help shows the usual options, and with --all every one.

    usual: names of options that its help shows; none where all are usual. words: second words that it has, with what
    they do.
    """

    usual: tuple[str, ...] = ()
    words: dict[str, str] = {}  # noqa: RUF012

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words. --all beside --help is for the help alone."""
        own = args[: args.index("--")] if "--" in args else args
        if any(word in HELP for word in own):
            ctx.meta[ALL] = ALL in own
            args = [word for word in own if word in HELP]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options, and how many more there are."""
        with self._shown(everything=ctx.meta.get(ALL, False)) as left:
            super().format_options(ctx, formatter)
        if self.words:
            with formatter.section("More"):
                formatter.write_dl([(f"{ctx.command_path} {word}", text) for word, text in self.words.items()])
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"{left} more options: {ctx.command_path} --help {ALL}")

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """What may follow: options, and second words where nothing stands yet."""
        from click.shell_completion import CompletionItem

        words = [] if ctx.args else [CompletionItem(word) for word in self.words if word.startswith(incomplete)]
        return [*words, *super().shell_complete(ctx, incomplete)]

    @contextmanager
    def _shown(self, everything: bool) -> Iterator[int]:
        """The block in which the usual options alone are shown, in their order, or all; gives how many are left out."""
        before = self.params
        rare = [
            each
            for each in before
            if isinstance(each, typer.core.TyperOption) and not each.hidden and self._place(each) is None
        ]
        if not everything and self.usual:
            kept = [each for each in before if each not in rare]
            self.params = sorted(kept, key=lambda each: self._place(each) or 0)
        try:
            yield 0 if everything or not self.usual else len(rare)
        finally:
            self.params = before

    def _place(self, option: Any) -> int | None:
        """Where an option stands among the usual ones; None for another."""
        return next((self.usual.index(name) for name in option.opts if name in self.usual), None)

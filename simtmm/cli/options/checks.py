"""The checks of compute-sanitizer on the command line: --check, and how a run that found something ends."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from simtmm.errors import KernelError, escaped
from simtmm.requests.program import ProgramOptions

if TYPE_CHECKING:
    from rich.text import Text

    from simtmm.cuda.checks.checker import Checker

Program = TypeVar("Program", bound=ProgramOptions)


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Which checks a run does, and its exit status if they find something."""

    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            metavar="NAMES",
            help="look for errors as compute-sanitizer does: racecheck, initcheck, synccheck, separated by commas, or "
            "all; memcheck is always on",
        ),
    ] = None
    error_exitcode: Annotated[
        int,
        typer.Option(
            "--error-exitcode", metavar="NUMBER", min=0, max=255, help="exit status if --check finds something"
        ),
    ] = 0

    @contextmanager
    def begun(self) -> "Iterator[Checking]":
        """The block whose launches are checked; an error that ends it comes behind what was found.

        Raises KernelError for a name that is no check, and for an exit status without checks.
        """
        if self.check is None and self.error_exitcode:
            raise KernelError(f"--error-exitcode {self.error_exitcode}: needs --check")
        from simtmm.cuda.checks.names import Checks, checks_of

        checks = Checks() if self.check is None else checks_of(self.check)
        if not checks.any:
            yield Checking(None, 0)
            return
        from simtmm.cuda.checks.active import checking

        with checking(checks) as checker:
            found = Checking(checker, self.error_exitcode)
            try:
                yield found
            except BaseException:
                for line in checker.found.lines() if checker.found.findings and not found.is_told else []:
                    print(escaped(line), file=sys.stderr)
                raise


class Checking:
    """What a command checks. It reports nothing where nothing is to be checked."""

    def __init__(self, checker: "Checker | None", exit_code: int) -> None:
        self._checker, self._exit_code = checker, exit_code
        self.is_told = False  # whether a report has had what was found

    @property
    def is_on(self) -> bool:
        """Whether there is any check."""
        return self._checker is not None

    def parts(self) -> "list[Text]":
        """What was found, in words, for a report: no line has markup."""
        from rich.text import Text

        self.is_told = True
        return [Text(line) for line in ["", *self._checker.found.lines()]] if self._checker is not None else []

    def to_dict(self) -> dict[str, Any]:
        """Likewise, for a document."""
        return {"checks": self._checker.found.to_dict()} if self._checker is not None else {}

    def end(self) -> None:
        """Exit with the requested status if something harmful was found."""
        if self._checker is not None and self._checker.found.harmful and self._exit_code:
            raise typer.Exit(self._exit_code)

    def applied(self, program: Program) -> Program:
        """A program as it is recorded where it is checked: by default a kernel as compiled.

        Raises KernelError for a trace or a workload, and for a kernel as written.
        """
        if self._checker is None or program.is_own:
            return program
        from simtmm.program import kind_of

        kind = "trace" if program.source is None else kind_of(program.source)
        if kind != "kernel":
            raise KernelError(
                f"--check: needs something to run: a kernel, a CUDA file, a program or a script, not a {kind}"
            )
        if program.form == "written":
            raise KernelError("--check: needs a compiled kernel: --as compiled or ptx")
        return replace(program, form=program.form or "compiled")

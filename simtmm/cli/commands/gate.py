"""`simtmm diff --baseline`: kernels' times compared with those of a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.options.output import DocumentOptions
from simtmm.errors import OutputError, SavedRunError, escaped, shown
from simtmm.files import check_writable, is_there
from simtmm.requests.files import printing

if TYPE_CHECKING:
    from simtmm.analysis.gate import Comparison

GREW = 1  # exit status
USUAL = "5%"


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """What to compare with a baseline, and how to report it."""

    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help="compare the kernels of A, a file such as kernels.toml, with this file (.json); written if missing",
        ),
    ] = None
    update: Annotated[bool, typer.Option("--update", help="with --baseline: rewrite it")] = False
    fail_above: Annotated[
        str | None,
        typer.Option(
            "--fail-above",
            metavar="PART",
            help=f"with --baseline: exit status 1 if a kernel grew by more, e.g. 10% or 0.1; default: {USUAL}",
        ),
    ] = None
    markdown: Annotated[
        bool, typer.Option("--markdown", help="with --baseline: print a table for a pull-request comment")
    ] = False

    def refuse(self) -> None:
        """Raise SavedRunError for an option that is for a baseline alone."""
        given = {"--update": self.update, "--fail-above": self.fail_above is not None, "--markdown": self.markdown}
        for option, is_given in given.items():
            if is_given:
                raise SavedRunError(f"{option}: needs --baseline FILE")

    def compare(self, kernels: str, others: dict[str, Any], result: DocumentOptions, what_if: bool) -> None:
        """Run the kernels of a file, and compare them with the baseline, or write it.

        others: options and arguments that are for two runs alone, by name.

        Raises typer.Exit where one grew by more than is allowed, and the errors of simtmm.errors.
        """
        from simtmm.analysis.gate import compared, load_baseline, load_kernels, new_baseline, timed
        from simtmm.report.progress import watching

        baseline = self.baseline
        assert baseline is not None
        self._check(kernels, baseline, others, result)
        part = part_of(self.fail_above or USUAL)
        chosen = load_kernels(kernels)
        is_new = not is_there(baseline)
        writes = is_new or self.update
        before = new_baseline({}) if is_new else load_baseline(baseline, to_replace=self.update)
        if writes:
            check_writable(baseline)
        with watching() as watch, printing(result.as_json or self.markdown):
            after = timed(chosen, watch, what_if)
        if writes:
            new_baseline(after).write(baseline)
            before = new_baseline({})
        found = compared(before, after, part)
        self._show(found, str(baseline) if writes else "", result)
        if found.failed:
            raise typer.Exit(GREW)

    def _check(self, kernels: str, baseline: Path, others: dict[str, Any], result: DocumentOptions) -> None:
        for name, value in others.items():
            if value:
                raise SavedRunError(f"{name}: can't be combined with --baseline: {kernels} says how to run each kernel")
        if self.markdown and result.as_json:
            raise OutputError("--markdown: can't be combined with --json, which prints only a JSON document")
        if baseline.suffix != ".json":
            raise OutputError(f"--baseline {baseline}: must end in .json")
        if Path(kernels).suffix != ".toml":
            raise SavedRunError(f"{kernels}: must be a file of kernels (.toml) with --baseline")
        if result.output is not None and result.output.resolve() == baseline.resolve():
            raise OutputError(f"-o {result.output}: is the baseline: name another file")

    def _show(self, found: "Comparison", written: str, result: DocumentOptions) -> None:
        from dataclasses import replace

        from simtmm.report.gate import describe_gate, gate_markdown, gate_words

        if written:  # where nothing is compared, nothing needs to be said of what is missing
            found = replace(found, notes=())
        words = gate_words(found, written)
        document = {"words": words, "baseline": str(self.baseline), "written": bool(written), **found.to_dict()}
        result.show([] if self.markdown else describe_gate(found, written), document)
        if self.markdown:
            print(escaped(gate_markdown(found, written)))


def part_of(text: str) -> float:
    """By how much a kernel may grow, from 10% or 0.1. Raises SavedRunError.

    A number above 1 that is no percentage was meant as one: 10 would allow ten times the time.
    """
    try:
        value = float(text.removesuffix("%").strip())
    except ValueError:
        value = -1.0
    most, whole = (1e6, 100.0) if text.endswith("%") else (1.0, 1.0)
    if not 0 <= value <= most:
        raise SavedRunError(
            f"--fail-above {shown(text)}: must be a percentage, such as 10%, or a fraction from 0 to 1, such as 0.1"
        )
    return value / whole

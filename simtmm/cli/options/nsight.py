"""Options for comparing a run with what a GPU's profiler measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import OutputError
from simtmm.requests.files import checked_form

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run
    from simtmm.measurement.nsight import Profile


def _checked_rows(path: Path | None) -> Path | None:
    return checked_form(path, "--keep-row", (".csv",))


@dataclass(frozen=True)
class Comparison:
    """What a comparison adds: tables to the report, keys to the document, and to the page what is known of lines."""

    tables: Sequence[Any] = ()
    document: dict[str, Any] = field(default_factory=dict)
    lines: Mapping[tuple[str, int], Sequence[Sequence[str]]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NsightOptions:
    """What a GPU's profiler says of the same launches."""

    nsight: Annotated[
        list[Path] | None,
        typer.Option(
            "--nsight",
            metavar="FILE",
            help="compare with what was measured: CSV of ncu (pages raw, details, source) or nsys stats; repeatable",
        ),
    ] = None
    keep_row: Annotated[
        Path | None,
        typer.Option(
            "--keep-row",
            metavar="FILE",
            help="with --nsight: append measured and simulated values of each launch to a CSV file, to send to us",
            callback=_checked_rows,
        ),
    ] = None

    def beside(self, done: "Run", profile: "Profile | None") -> Comparison:
        """The comparison; nothing without a file. Writes the rows of --keep-row."""
        if profile is None:
            return Comparison()
        from simtmm.analysis.nsight import beside
        from simtmm.report.nsight import describe_beside, measured_lines

        found = beside(done, profile)
        tables = describe_beside(found)
        if self.keep_row is not None:
            from simtmm.analysis.nsight.rows import keep_rows

            kept = keep_rows(self.keep_row, done, found)
            tables += ["", f"New rows in {self.keep_row}: {kept}."]
        return Comparison(tables, {"nsight": found.to_dict()}, measured_lines(found))

    def loaded(self) -> "Profile | None":
        """What the files say, read before the run; None without one. Raises OutputError, StudyError.

        Nor may the file of rows be one of another form.
        """
        if not self.nsight:
            if self.keep_row is not None:
                raise OutputError("--keep-row: needs --nsight FILE, which has what was measured")
            return None
        from simtmm.measurement.contributed import rows_of
        from simtmm.measurement.nsight import load_profile

        if self.keep_row is not None:
            rows_of(self.keep_row)
        return load_profile(self.nsight)

"""Options for comparing a run's counters with measured ones."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simtmm.analysis.run.outcome import Run
    from simtmm.measurement.nsight import NsightLaunch


@dataclass(frozen=True, kw_only=True)
class NsightOptions:
    """What a GPU's counters say of the same launches."""

    nsight: Annotated[
        Path | None,
        typer.Option(
            "--nsight",
            metavar="FILE",
            help="compare with what Nsight Compute measured: ncu --csv --page raw or details",
        ),
    ] = None

    def beside(self, done: "Run", launches: "Sequence[NsightLaunch]") -> tuple[list[Any], dict[str, Any]]:
        """The tables, and what is added to a document; nothing without a file."""
        if not launches:
            return [], {}
        from simtmm.analysis.nsight import beside
        from simtmm.report.nsight import describe_beside

        found = beside(done, launches)
        return describe_beside(found), {"nsight": found.to_dict()}

    def loaded(self) -> "Sequence[NsightLaunch]":
        """The launches of the file, read before the run; none without one."""
        if self.nsight is None:
            return ()
        from simtmm.measurement.nsight import load_nsight

        return load_nsight(self.nsight)

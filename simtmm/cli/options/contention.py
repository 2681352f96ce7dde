"""The option --contention: where threads access the same word, and which PRAM the program needs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import EngineError, TraceError

if TYPE_CHECKING:
    from simtmm.program import Program
    from simtmm.requests.run import OpenedRun


@dataclass(frozen=True, kw_only=True)
class ContentionOptions:
    """Where threads meet at a word, and which PRAM the program takes."""

    contention: Annotated[
        bool, typer.Option("--contention", help="report EREW, CREW or CRCW, and where threads access the same word")
    ] = False

    def check(self, sample: str | None) -> None:
        """Raise EngineError where a sample is simulated, which lacks most blocks."""
        if self.contention and sample is not None:
            raise EngineError("--sample: simulates some blocks, but --contention needs all: leave one of them out")

    def recorded(self, opened: "OpenedRun") -> "OpenedRun":
        """The program with its trace, where that is asked for; its kernel is recorded for it."""
        return opened.recorded() if self.contention else opened

    def found(self, opened: "OpenedRun") -> "tuple[list[Any], dict[str, Any]]":
        """What is added to the report and to the document; nothing where it was not asked for. Raises TraceError."""
        if not self.contention:
            return [], {}
        from simtmm.report.contention import describe_contention

        program: Program = opened.opened.program  # type: ignore[assignment]  # it was recorded
        if program.trace is None:
            raise TraceError("--contention: needs a trace, which a workload does not have")
        found = program.trace.contention()
        return [*describe_contention(found)], {"contention": found.to_dict()}

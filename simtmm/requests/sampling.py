"""Options of samples."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.errors import EngineError, shown

if TYPE_CHECKING:
    from simtmm.study.design.by_sample import BySample

MOST_EVENTS = 1 << 40  # of a user's own program that is sampled, whose long launches would be cut else


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """A sample instead of the whole."""

    sample: Annotated[
        str | None,
        typer.Option("--sample", metavar="auto", help="simulate only some blocks and launches, and estimate the error"),
    ] = None
    error: Annotated[
        str | None, typer.Option("--error", metavar="PART", help="with --sample: the largest error, e.g. 3% or 0.03")
    ] = None

    @property
    def part(self) -> float:
        """The error, as a part of the time. Raises EngineError."""
        from simtmm.sampling import DEFAULT_ERROR

        if self.error is None:
            return DEFAULT_ERROR
        if self.sample is None:
            raise EngineError(f"--error {self.error}: needs --sample auto")
        return part_of(self.error)

    def of_sample(self) -> dict[str, float]:
        """What a study file would hold of them. Raises EngineError."""
        part = self.part
        if self.sample is None:
            return {}
        from simtmm.sampling import check_sample

        check_sample(self.sample, part, "fast")
        return {"sample_error": part}

    def simulator(self, engine: str) -> "str | BySample":
        """What simulates the cases of a comparison, where --engine says `engine`. Raises EngineError."""
        part = self.part
        if self.sample is None:
            return engine
        from simtmm.sampling import check_sample
        from simtmm.study.design.by_sample import BySample

        check_sample(self.sample, part, engine)
        return BySample(part)

    @property
    def most_events(self) -> int | None:
        """Of a user's own program, what may be recorded."""
        return None if self.sample is None else MOST_EVENTS


def part_of(error: str | float) -> float:
    """A part of the time, from 3% or 0.03.

    error: a number, or a text with or without %.

    Raises EngineError.
    """
    if not isinstance(error, str):
        return float(error)
    try:
        return float(error.removesuffix("%").strip()) / (100 if error.endswith("%") else 1)
    except ValueError:
        raise EngineError(f"--error {shown(error)}: must be a part of the time, as 3% or 0.03") from None

"""By sample: how points and cases are simulated that are not simulated whole."""

from dataclasses import dataclass

from simtmm.sampling import AUTO, check_sample

ENGINE = "fast"  # which simulates samples


@dataclass(frozen=True)
class BySample:
    """In the place of an engine: samples are simulated, on the fast one.

    error: half of the requested interval, as a part of the time. Raises EngineError for one that can't be.
    """

    error: float

    def __post_init__(self) -> None:
        check_sample(AUTO, self.error, ENGINE)

    @property
    def content(self) -> list[object]:
        """What decides results beside the engine."""
        return ["sample", self.error]

    def __str__(self) -> str:
        return f"{ENGINE}, samples to within {100 * self.error:g} %"

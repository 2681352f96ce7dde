"""Forecast: how many points a study has and about how long it would take, before anything is computed for the store."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from simtmm.study.evaluation.tasks import Pending


@dataclass(frozen=True)
class Left:
    """What a store lacks of a study.

    excluded: points that constraints or the machine rule out, as far as that is known.
    stored: points that are there.
    to_compute: points that are not.
    recordings: sets of kernel parameters among those.
    may_share: whether several workers can compute them.
    pending: those to compute, where they are objects.
    """

    excluded: int
    stored: int
    to_compute: int
    recordings: int = 0
    may_share: bool = False
    pending: Pending | None = None


@dataclass(frozen=True)
class Estimate:
    """How long computing takes.

    seconds: None where that is not known.
    source: from what it was estimated.
    excluded: about how many points are ruled out, where that shows in computing alone.
    interval: from how few to how many seconds, in nineteen of twenty cases; None where that is not known.
    """

    seconds: float | None
    source: str
    excluded: int | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Forecast:
    """What a sweep would do.

    points: of the study.
    excluded: those that constraints or the machine rule out.
    stored: those that are there.
    recordings: sets of kernel parameters among those to compute.
    seconds: about how long it would take, None where that is not known.
    estimate: from what it was estimated.
    interval: see Estimate.
    """

    points: int
    excluded: int
    stored: int
    to_compute: int
    recordings: int
    workers: int
    seconds: float | None
    estimate: str
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return dataclasses.asdict(self)

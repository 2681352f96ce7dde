"""Copies of a program between host and device, compared with the sums of Nsight Systems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simtmm.analysis.copies import copies_made
from simtmm.analysis.nsight.launches import Compared
from simtmm.device.host import IN, OUT, host_of
from simtmm.measurement.nsight import TimeSum

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run

_DIRECTIONS: Mapping[str, str | None] = {
    r"\[CUDA memcpy (?:HtoD|Host-to-Device)\]": IN,
    r"\[CUDA memcpy (?:DtoH|Device-to-Host)\]": OUT,
    r"\[CUDA memcpy (?:DtoD|Device-to-Device)\]": None,
}


@dataclass(frozen=True)
class CopyBeside:
    """Copies in one direction. copies, measured_copies: how many the program made here, and on the GPU."""

    operation: str
    copies: int
    measured_copies: int
    compared: tuple[Compared, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        numbers = {"copies": self.copies, "measured_copies": self.measured_copies}
        return {"operation": self.operation, **numbers, **{each.name: each.to_dict() for each in self.compared}}


def copies_beside(run: "Run", measured: Sequence[TimeSum]) -> tuple[CopyBeside, ...]:
    """Directions of both, in the order of the export; times are compared where as many copies were made.

    Only those within the device and of pinned memory are timed: what is known of pageable ones is how long their calls
    take, with the host's own copying, which is not what was measured.

    run: one of a program, whose trace lists its copies.
    measured: rows of the export.
    """
    made = copies_made(run.info)
    host = host_of(run.machine)
    found = []
    for each in measured:
        direction = next((way for words, way in _DIRECTIONS.items() if re.fullmatch(words, each.name)), "")
        own = [copy for copy in made if copy.direction == direction]
        if direction == "" or not own:
            continue
        number = sum(copy.number for copy in own)
        seconds = [(copy.of_device(host), copy.number) for copy in own]
        compared: list[Compared] = []
        if number == each.number and all(time > 0 for time, _ in seconds) and all(copy.is_timed for copy in own):
            total = sum(time * times for time, times in seconds)
            values = {
                "total": total,
                "mean": total / number,
                "least": min(time for time, _ in seconds),
                "most": max(time for time, _ in seconds),
            }
            compared = [
                Compared(name, value, each.seconds[name]) for name, value in values.items() if name in each.seconds
            ]
        found.append(CopyBeside(each.name, number, each.number, tuple(compared)))
    return tuple(found)

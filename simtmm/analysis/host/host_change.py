"""A change of the host's code, as the calls that it would make."""

from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.analysis.host.calls import Call

OFTEN = 4  # calls at a line from which on they are in a loop


@dataclass(frozen=True)
class HostChange:
    """change: a word of docs/cuda-programs.md. place: the line; "" where it is the program. words: what to do, and why.

    how: simulated, estimated or a bound, as of source changes. calls: as they would be.
    """

    change: str
    place: str
    words: str
    how: str
    calls: tuple[Call, ...]


def without(calls: Sequence[Call], gone: set[int]) -> list[Call]:
    """All calls but those of some numbers."""
    return [call for number, call in enumerate(calls) if number not in gone]

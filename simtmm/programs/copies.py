"""The copies that a program made, as its trace's provenance lists them."""

from collections import Counter
from typing import Any

MOST = 256  # of different copies that are listed


class Copies:
    """Copies by direction, kind of the host's memory and size."""

    def __init__(self) -> None:
        self._numbers: Counter[tuple[str | None, bool, int]] = Counter()

    def add(self, direction: str | None, is_pinned: bool, size: int) -> None:
        """A copy was made.

        direction: IN or OUT (simtmm.device.host); None within the device.
        is_pinned: whether the host's memory is locked.
        size: bytes that were copied.
        """
        self._numbers[direction, is_pinned, size] += 1

    def to_provenance(self) -> dict[str, Any]:
        """A row for each kind of copy with how many there were; nothing without copies, or with too many kinds."""
        if not 0 < len(self._numbers) <= MOST:
            return {}
        names = ("direction", "is_pinned", "bytes", "number")
        return {"copies": [dict(zip(names, (*key, number), strict=True)) for key, number in self._numbers.items()]}

"""What is found of blocks, known of those before that do the same: programs launch a kernel again and again."""

from collections.abc import Callable
from typing import Generic, TypeVar

from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.layout import Structures

Found = TypeVar("Found")

MOST_VALUES = 1 << 12  # of blocks that are looked for: with more of them, looking at them pays less than at these
MOST_KNOWN = 1 << 12


class Known(Generic[Found]):
    """What a function finds of runs, which follows from all there is to them but the number of their launch."""

    def __init__(self, find: Callable[[Runs], Found]) -> None:
        """find: the function; what it gives is not to be changed."""
        self._find = find
        self._structures: Structures | None = None  # of those that are known: others number theirs in another way
        self._known: dict[tuple[object, ...], Found] = {}

    def of(self, runs: Runs) -> Found:
        """What it finds of these."""
        if len(runs.values) > MOST_VALUES:
            return self._find(runs)
        if runs.structures is not self._structures or len(self._known) >= MOST_KNOWN:
            self._structures, self._known = runs.structures, {}
        arrays = runs.block, runs.structure, runs.value_ends, runs.values
        key = runs.shape, *(array.tobytes() for array in arrays)
        if key not in self._known:
            self._known[key] = self._find(runs)
        return self._known[key]

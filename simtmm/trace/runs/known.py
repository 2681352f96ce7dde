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

    def __init__(self, find: Callable[..., Found], most: int | None = None) -> None:
        """find: the function; what it gives is not to be changed. most: runs that it is known of at once; MOST_KNOWN
        if left out.
        """
        self._find, self._most = find, MOST_KNOWN if most is None else most
        self._structures: Structures | None = None  # of those that are known: others number theirs in another way
        self._known: dict[tuple[object, ...], Found] = {}

    def of(self, runs: Runs, *of_launch: int) -> Found:
        """What it finds of these. of_launch: what it takes beside them, and what it finds follows from as well."""
        if len(runs.values) > MOST_VALUES:
            return self._find(runs, *of_launch)
        if runs.structures is not self._structures or len(self._known) >= self._most:
            self._structures, self._known = runs.structures, {}
        arrays = runs.block, runs.structure, runs.value_ends, runs.values
        key = runs.shape, of_launch, *(array.tobytes() for array in arrays)
        if key not in self._known:
            self._known[key] = self._find(runs, *of_launch)
        return self._known[key]

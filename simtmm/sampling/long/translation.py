"""Blocks derived from a few that were recorded, where all do the same at addresses that go up evenly over the grid."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simtmm.trace.io import Trace
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.schema import TraceLaunch

Integers = npt.NDArray[np.int64]


def place_of(block: int | Integers, grid: Sequence[int]) -> Integers:
    """int64[..., 3]: x, y and z of blocks by their numbers."""
    number = np.asarray(block, np.int64)
    x, y, _ = grid
    return np.stack([number % x, number // x % y, number // (x * y)], axis=-1)


def corners(grid: Sequence[int]) -> list[int]:
    """The blocks that tell how values go up over a grid: the first, and the next one in each direction that it has."""
    x, y, z = grid
    return [0, *([1] if x > 1 else []), *([x] if y > 1 else []), *([x * y] if z > 1 else [])]


def translated(trace: Trace, launch: int, wanted: Integers) -> Runs | None:
    """Blocks of a launch as if they had been recorded.

    trace: which holds the corners of the launch's grid, and other blocks, by which it is checked that all do as these
    say. wanted: ascending numbers of blocks.

    Gives None where some recorded block does something else.
    """
    described: TraceLaunch = trace.info.launches[launch]
    first: Runs | None = None
    values: dict[int, Integers] = {}
    for runs in trace.runs():
        if runs.launch != launch:
            continue
        if (runs.structure != 0).any() or len(runs.structures.structure) != 1:  # some differ, or have no structure
            return None
        first = first or runs
        if any(not np.array_equal(*tables) for tables in zip(runs.structures, first.structures, strict=True)):
            return None
        begins = np.concatenate([np.zeros(1, np.int64), runs.value_ends])
        for block, begin, end in zip(runs.block.tolist(), begins, runs.value_ends, strict=False):
            values[block] = runs.values[begin:end]
    grid = described.grid
    if first is None or any(corner not in values for corner in corners(grid)):
        return None
    steps = np.zeros((3, len(values[0])), np.int64)
    for corner in corners(grid)[1:]:
        steps[int(np.argmax(place_of(corner, grid)))] = values[corner] - values[0]

    def made(blocks: Integers) -> Integers:
        with np.errstate(over="ignore"):  # modulo 2^64, as values are
            return values[0] + place_of(blocks, grid) @ steps

    if any(not np.array_equal(made(np.array(block)), own) for block, own in values.items()):
        return None
    whole = made(wanted)
    ends = np.arange(1, len(wanted) + 1) * whole.shape[1]
    structure = np.zeros(len(wanted), np.int64)
    assert at.PLAIN < 0
    return Runs(launch, first.shape, wanted.astype(np.int32), structure, ends, whole.reshape(-1), first.structures)

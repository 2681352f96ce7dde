"""What the streaming kernels of kernels/stream load and store, an element of 8 bytes a thread."""

from collections.abc import Mapping
from dataclasses import dataclass

ELEMENT_BYTES = 8


@dataclass(frozen=True)
class StreamKernel:
    """A streaming kernel as kernels/stream lowers it.

    loads: for each load the array it reads (0 is the one written) and the element beside the thread's own. together:
    whether all loads are in flight at once. instructions: between loads and store. fp64: of these, those that are
    instructions for doubles once they are compiled, a multiplication and the addition behind it being one; as written,
    they are of no class. waits: how often, on the way to its result, one of these waits for the value of another, or
    the store for that of the last. streams: arrays that pass by.
    """

    loads: tuple[tuple[int, int], ...]
    together: bool
    instructions: int
    fp64: int
    waits: int
    stores: bool
    streams: int


OPERATIONS: Mapping[str, StreamKernel] = {
    "init": StreamKernel((), False, 0, 0, 0, True, 1),
    "read": StreamKernel(((0, 0),), False, 1, 1, 1, False, 1),
    "scale": StreamKernel(((1, 0),), False, 1, 1, 1, True, 2),
    "triad": StreamKernel(((1, 0), (2, 0), (3, 0)), True, 2, 1, 1, True, 4),
    "stencil3": StreamKernel(tuple((1, beside) for beside in range(3)), True, 4, 3, 2, True, 2),
    "stencil5": StreamKernel(tuple((1, beside) for beside in range(5)), True, 7, 5, 3, True, 2),
}

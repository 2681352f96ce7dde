"""What a thread did wrong while it ran, and where, in words."""

from collections.abc import Sequence
from enum import IntEnum

from simtmm.kernel import Kernel
from simtmm.trace.schema import TraceSite


class FaultCode(IntEnum):
    """The codes of device_cpu.cuh; device_gpu.cuh has those up to TOO_MUCH."""

    NONE = 0
    OUT_OF_BOUNDS = 1
    NO_ARRAY = 2
    SHARED_OUT_OF_BOUNDS = 3
    NEGATIVE = 4
    TOO_MUCH = 5
    NO_MEMORY = 6
    THREW = 7
    GOES_ROUND = 8


def fault_place(kernel: Kernel, sites: Sequence[TraceSite], number: int, block: int, thread: int) -> str:
    """Where something went wrong: file, line and site if that is known (number >= 0), block and thread."""
    where = f"block {block}, thread {thread}"
    if number < 0:
        return where
    site = sites[number]
    return f"{kernel.folder / site.file}:{site.line}: site {site.site} `{site.source}`, {where}"


def access_fault(
    code: int, array: int, index: int, count: int, arrays: Sequence[str], sites: Sequence[TraceSite]
) -> str:
    """What an access or an operation did wrong, by a code up to NEGATIVE."""
    match code:
        case FaultCode.OUT_OF_BOUNDS:
            return f"index {index} is out of bounds: {arrays[array]} has {count} elements of this type"
        case FaultCode.NO_ARRAY:
            return "the pointer does not point into a registered array"
        case FaultCode.SHARED_OUT_OF_BOUNDS:
            return f"index {index} is out of bounds: `{sites[array].source}` has {count} elements"
        case _:
            return f"OP and JOIN need a number of at least 0, not {index}"

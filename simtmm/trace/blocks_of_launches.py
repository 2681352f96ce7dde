"""Blocks numbered over all launches of a trace."""

from simtmm.errors import TraceError
from simtmm.trace.info import MOST_BLOCKS, TraceInfo


def check_launches(info: TraceInfo) -> None:
    """Refuse a launch of more blocks than a trace can number, before memory is allocated for them."""
    for number, launch in enumerate(info.launches):
        if launch.blocks > MOST_BLOCKS:
            raise TraceError(
                f"{info.kernel}: launch {number} of {launch.kernel}: {launch.blocks} blocks: must be below 2^31"
            )


def name_of_block(info: TraceInfo, number: int) -> str:
    """Kernel, launch and block, for a message; the number counts the blocks of all launches."""
    for index, launch in enumerate(info.launches):
        if number < launch.blocks:
            return f"{info.kernel}: launch {index} of {launch.kernel}, block {number}"
        number -= launch.blocks
    raise IndexError(number)

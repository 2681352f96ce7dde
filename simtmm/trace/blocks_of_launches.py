"""Blocks over all launches of a trace: their numbers, and whether there is room for them."""

from simtmm.computer import available_memory
from simtmm.errors import TraceError
from simtmm.launch import bare_name
from simtmm.trace.info import MOST_BLOCKS, TraceInfo

NUMBER = 8  # bytes
OF_A_WARP = 6 * NUMBER  # operations and chunks of each, counted, summed, and as offsets
OF_A_BLOCK = 2 * NUMBER  # its warps, and as offsets
SMALL = 1 << 26  # bytes that no computer lacks


def check_launches(info: TraceInfo) -> None:
    """Refuse a launch of more blocks than a trace can number, before memory is allocated for them."""
    for number, launch in enumerate(info.launches):
        if launch.blocks > MOST_BLOCKS:
            raise TraceError(
                f"{info.kernel}: launch {number} of {bare_name(launch.kernel)}: {launch.blocks} blocks: must be below "
                "2^31"
            )


def tables_of_warps(info: TraceInfo, width: int) -> int:
    """Bytes that a workload keeps of all warps and blocks, whether they have operations or not. width: of a warp."""
    blocks = [launch.blocks for launch in info.launches]
    warps = [-(-launch.threads_per_block // width) for launch in info.launches]
    return OF_A_WARP * sum(each * own for each, own in zip(blocks, warps, strict=True)) + OF_A_BLOCK * sum(blocks)


def check_room(info: TraceInfo, width: int) -> None:
    """Refuse launches of more blocks than memory holds the tables of. width: of a warp."""
    needed = tables_of_warps(info, width)
    if needed <= SMALL or needed <= (available := available_memory()):
        return
    number, launch = max(enumerate(info.launches), key=lambda each: each[1].blocks)
    raise TraceError(
        f"{info.kernel}: launch {number} of {bare_name(launch.kernel)}: {launch.blocks:,} blocks: with all launches "
        f"they need {needed / 2**30:,.1f} GiB of memory, but {available / 2**30:,.1f} GiB are available: must be fewer"
    )


def blocks_before(info: TraceInfo, launch: int) -> int:
    """How many blocks the launches before this one have."""
    return sum(each.blocks for each in info.launches[:launch])


def name_of_block(info: TraceInfo, number: int) -> str:
    """Kernel, launch and block, for a message; the number counts the blocks of all launches."""
    for index, launch in enumerate(info.launches):
        if number < launch.blocks:
            return f"{info.kernel}: launch {index} of {bare_name(launch.kernel)}, block {number}"
        number -= launch.blocks
    raise IndexError(number)

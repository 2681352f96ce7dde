"""Where the local memory of threads lies on a machine, and which chunks of it a warp touches.

Each warp of a launch has a region of its own, in which the threads' words are interleaved, as GPUs have it: word w of
the thread in lane t lies at 4 * (w * W + t). So threads that access one word of their own touch neighbouring words.
Regions lie one after another from LOCAL_BASE on, above all arrays, in the order of blocks and warps, each beginning at
a multiple of ALIGNMENT; those of the next launch lie there again.
"""

from simtmm.errors import TraceError
from simtmm.launch import bare_name
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.info import TraceInfo
from simtmm.trace.schema import ALIGNMENT, BEYOND

WORD = 4  # bytes


def region_bytes(info: TraceInfo, number: int, width: int) -> int:
    """From the region of a warp to that of the next, of a launch with warps of so many threads. Raises TraceError."""
    launch = info.launches[number]
    words = -(-launch.local_bytes_per_thread // WORD)
    region = -(-words * WORD * width // ALIGNMENT) * ALIGNMENT
    if LOCAL_BASE + launch.blocks * -(-launch.threads_per_block // width) * region > BEYOND:
        raise TraceError(
            f"{info.kernel}: launch {number} of {bare_name(launch.kernel)}: local_bytes_per_thread = "
            f"{launch.local_bytes_per_thread}: all threads' together must be at most {BEYOND - LOCAL_BASE} bytes"
        )
    return region

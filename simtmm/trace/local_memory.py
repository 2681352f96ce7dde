"""Where the local memory of threads lies on a machine, and which chunks of it a warp touches.

Each warp of a launch has a region of its own, in which the threads' words are interleaved, as GPUs have it: word w of
the thread in lane t lies at 4 * (w * W + t). So threads that access one word of their own touch neighbouring words.
Regions lie one after another from LOCAL_BASE on, above all arrays, in the order of blocks and warps, each beginning at
a multiple of ALIGNMENT; those of the next launch lie there again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.info import TraceInfo
from simtmm.trace.schema import ALIGNMENT, BEYOND

LOCAL_BASE = 1 << 61  # the same as that of imported traces
WORD = 4  # bytes
WORDS_BITS = 7  # bits for the number of a word within an access, which has at most 255 bytes

Integers = npt.NDArray[np.int64]


class Regions(NamedTuple):
    """The local memory of consecutive blocks."""

    base: Any  # int64[blocks]: the address of the block's first region
    stride: Any  # int64[blocks]: from the region of a warp to that of the next [bytes]
    bytes: Any  # int64[blocks]: of a thread


def regions(info: TraceInfo, width: int, first: int, blocks: int) -> Regions:
    """The regions of so many blocks from the first one on, numbered over all launches. Raises TraceError."""
    base, stride, own = (np.zeros(blocks, np.int64) for _ in range(3))
    begun = 0
    for number, launch in enumerate(info.launches):
        low, high = max(begun, first), min(begun + launch.blocks, first + blocks)
        if low < high and launch.local_bytes_per_thread:
            words = -(-launch.local_bytes_per_thread // WORD)
            region = -(-words * WORD * width // ALIGNMENT) * ALIGNMENT
            of_block = -(-launch.threads_per_block // width) * region
            if LOCAL_BASE + launch.blocks * of_block > BEYOND:
                raise TraceError(
                    f"{info.kernel}: launch {number} of {launch.kernel}: local_bytes_per_thread = "
                    f"{launch.local_bytes_per_thread}: all threads' together must be at most "
                    f"{BEYOND - LOCAL_BASE} bytes"
                )
            chosen = slice(low - first, high - first)
            base[chosen] = LOCAL_BASE + np.arange(low - begun, high - begun) * of_block
            stride[chosen] = region
            own[chosen] = launch.local_bytes_per_thread
        begun += launch.blocks
    return Regions(base, stride, own)


def most_words(sizes: Integers) -> Integers:
    """Words that accesses of these bytes touch at most."""
    return (sizes + 2) // WORD + 1


def word_addresses(entries: Integers, value: Integers, lane: Integers, region: Integers, width: int) -> Integers:
    """The addresses of the words that `local_operations.list_local_words` listed.

    entries: those entries. value: of their events. lane: of the events' threads. region: the address of their warps'.
    """
    word = (value // WORD) + (-1 - entries & (1 << WORDS_BITS) - 1)
    return region + WORD * (word * width + lane)


def events_of(entries: Integers) -> Integers:
    """The events of listed entries: one that is below 0 is a word of a local access, others are events."""
    return np.where(entries < 0, -1 - entries >> WORDS_BITS, entries)

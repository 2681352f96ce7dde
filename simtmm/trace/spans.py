"""A trace as stretches of consecutive blocks, over all launches and without gaps."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.schema import EVENT, Batch, Events

MOST_BLOCKS = 2**31 - 1  # of a launch: a trace numbers them with 32 bits


@dataclass(frozen=True)
class Span:
    """A stretch of consecutive blocks, those without events included.

    events: as in Batch. ends: int64[blocks]. threads: int64[blocks], threads of a block of each. first: the number of
    its first block, over all launches.
    """

    events: Events
    ends: npt.NDArray[np.int64]
    threads: npt.NDArray[np.int64]
    first: int


def spans(trace: Trace) -> Iterator[Span]:
    """The trace as stretches of blocks without gaps, up to the last block of the last launch. Raises TraceError."""
    launches = trace.info.launches
    check_launches(trace.info)
    sizes = np.array([launch.threads_per_block for launch in launches], dtype=np.int64)
    offsets = np.cumsum([0, *(launch.blocks for launch in launches)], dtype=np.int64)
    block_threads = np.repeat(sizes, np.diff(offsets))
    begun = 0

    def gapless(batch: Batch) -> Span:
        numbers = offsets[batch.launch] + batch.block
        counts = np.zeros(int(numbers[-1]) + 1 - begun, dtype=np.int64)
        counts[numbers - begun] = np.diff(batch.ends, prepend=0)
        return Span(batch.events, np.cumsum(counts), block_threads[begun : begun + len(counts)], begun)

    for batch in trace.batches():
        if len(batch.ends):
            span = gapless(batch)
            yield span
            begun += len(span.ends)
    rest = block_threads[begun:]
    if len(rest):
        yield Span(np.empty(0, dtype=EVENT), np.zeros(len(rest), dtype=np.int64), rest, begun)


def check_launches(info: TraceInfo) -> None:
    """Refuse a launch of more blocks than a trace can number, before room is made for them."""
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

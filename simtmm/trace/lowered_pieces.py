"""What is lowered of a trace, piece by piece, put together as a workload."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from simtmm.stalls import Places
from simtmm.trace.info import TraceInfo
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.warps.lowering import Lowered
from simtmm.workload import Workload

Number = TypeVar("Number", bound=np.generic)


class LoweredPieces:
    """Operations that come piece by piece, until they are a workload. bytes: memory that they take."""

    def __init__(self, info: TraceInfo, width: int) -> None:
        """width: of a warp."""
        self._info = info
        self._blocks = np.array([launch.blocks for launch in info.launches], dtype=np.int64)
        self._warps = np.array([-(-launch.threads_per_block // width) for launch in info.launches], dtype=np.int64)
        self._begins = _offsets(self._blocks * self._warps)  # the first warp of each launch
        self._of_warps = np.zeros((2, int(self._begins[-1])), dtype=np.int64)
        self._kind: list[npt.NDArray[np.uint8]] = [np.empty(0, np.uint8)]
        self._amount, self._chunks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._place: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
        self._sectors: list[npt.NDArray[np.uint32]] = [np.empty(0, np.uint32)]
        self.bytes = 0

    def add(self, runs: Runs, lowered: Lowered) -> None:
        """Put operations behind the others. runs: whose they are."""
        own = int(self._warps[runs.launch])
        number = np.arange(lowered.first, lowered.first + len(lowered.warp_operations))
        chosen = self._begins[runs.launch] + runs.block[number // own].astype(np.int64) * own + number % own
        self._of_warps[0, chosen] += lowered.warp_operations  # of a warp that goes on there is more than one piece
        self._of_warps[1, chosen] += lowered.warp_chunks
        self._kind.append(lowered.kind)
        self._amount.append(lowered.amount)
        self._chunks.append(lowered.chunks)
        self._place.append(lowered.place)
        self._sectors.append(lowered.sectors)
        self.bytes += lowered.bytes

    def workload(self, places: Places | None) -> Workload:
        """The operations of all blocks, and of those that have none; nothing is left here."""
        return Workload(
            kind=_joined(self._kind),
            amount=_joined(self._amount),
            chunks=_joined(self._chunks),
            warp_operations=_offsets(self._of_warps[0]),
            warp_chunks=_offsets(self._of_warps[1]),
            block_warps=_offsets(np.repeat(self._warps, self._blocks)),
            launch_blocks=_offsets(self._blocks),
            launch_limits=np.zeros(len(self._info.launches), dtype=np.int64),
            origin=self._info.kernel,
            sectors=_joined(self._sectors),
            place=_joined(self._place),
            places=places,
        )


def _offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _joined(arrays: list[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """Arrays behind one another, which are no more then."""
    joined = np.concatenate(arrays)
    arrays.clear()
    return joined

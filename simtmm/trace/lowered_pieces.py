"""What is lowered of a trace, piece by piece, put together as a workload, and what threads did meanwhile."""

import dataclasses
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.stalls import OF_LAUNCHES, THREAD_INSTRUCTIONS, Places
from simtmm.trace.info import TraceInfo
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.site_tables import places_of
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps.lowering import Lowered, Lowering
from simtmm.workload import LARGEST, Workload

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


@dataclass(frozen=True)
class Small:
    """What is known of a few blocks, which launch after launch may have.

    parts: their operations. threads: what threads did at each place, as `Lowering.threads` has it. of_launch: of
    that, int64[OF_LAUNCHES].
    """

    parts: tuple[Lowered, ...]
    threads: npt.NDArray[np.int64]
    of_launch: npt.NDArray[np.int64]


class CountedThreads:
    """What is counted of threads while their operations are lowered."""

    def __init__(self, info: TraceInfo, specification: LoweringSpecification) -> None:
        self._info = info
        self._with_places = specification.places
        self._counted: list[Lowering] = []
        self._known: npt.NDArray[np.int64] | None = None  # of blocks that were not lowered for themselves
        self._lock = Lock()
        self._launches = np.zeros((len(info.launches), len(OF_LAUNCHES)), np.int64)
        if self._with_places:
            self._places = places_of(info)
            each = [[getattr(site, name) for name in THREAD_INSTRUCTIONS] for site in self._places.sites]
            self._each = np.repeat(
                np.array(each, np.int64).reshape(-1, len(THREAD_INSTRUCTIONS)), len(self._places.arrays), axis=0
            )

    def count(self, lowering: Lowering) -> Lowering:
        """Count what it lowers."""
        self._counted.append(lowering)
        return lowering

    def so_far(self, lowering: Lowering) -> npt.NDArray[np.int64]:
        """int64[OF_LAUNCHES]: of all that it has lowered."""
        return self.of_launch(lowering.threads)

    def of_launch(self, threads: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64[OF_LAUNCHES]: of what was counted at each place, as `Lowering.threads` has it."""
        if not self._with_places:
            return np.zeros(len(OF_LAUNCHES), np.int64)
        table, times = threads[:, :-1], threads[:, -1]
        so_far: npt.NDArray[np.int64] = np.concatenate([table.sum(axis=0), times @ self._each])
        return so_far

    def add(self, launch: int, counted: npt.NDArray[np.int64]) -> None:
        """Add to a launch."""
        with self._lock:  # blocks of a launch are lowered by several threads
            self._launches[launch] += counted

    def add_known(self, launch: int, small: Small) -> None:
        """Add what is known of blocks to a launch, and to the places."""
        self.add(launch, small.of_launch)
        self._known = small.threads if self._known is None else self._known + small.threads

    def places(self) -> Places | None:
        """Where operations come from, with what threads did there; None where nobody asks. Raises TraceError."""
        if not self._with_places:
            return None
        tables = [*(lowering.threads for lowering in self._counted), *([] if self._known is None else [self._known])]
        threads = np.sum(tables, axis=0)
        work = max(float(table[:, -1].astype(np.float64) @ self._each[:, 0]) for table in tables)
        if work * len(tables) >= float(LARGEST):
            raise TraceError(f"{self._info.kernel}: has 2^63 operations and more: its work must be below 2^63")
        return dataclasses.replace(self._places, threads=threads, launches=self._launches)


def _offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _joined(arrays: list[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """Arrays behind one another, which are no more then."""
    joined = np.concatenate(arrays)
    arrays.clear()
    return joined

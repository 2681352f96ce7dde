"""StreamedWorkload: what a long trace is on a machine, its operations generated as an engine comes to them.

A workload holds every operation; of a trace of a thousand million events that is more than memory. What is known of
all of it here is what its operations add up to. The fast engine asks for windows of the warps that are resident.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.native import Bound
from simtmm.stalls import Places
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.local_memory import region_bytes
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.site_tables import site_tables
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps.lowering import Lowered, Lowering
from simtmm.trace.warps.windows import Windows
from simtmm.workload import OPERATION_PLACES, Tally, Workload

Integers = npt.NDArray[np.int64]

REGISTER_STEP = 8  # of a thread: what registers are handed out in


class TraceLowering:
    """Lowers blocks of a trace for machines of a specification."""

    def __init__(self, info: TraceInfo, specification: LoweringSpecification) -> None:
        self._info = info
        self._specification = specification
        self._strides = [region_bytes(info, number, specification.warp_width) for number in range(len(info.launches))]
        self.largest = max((launch.threads_per_block for launch in info.launches), default=1)
        self._tables = site_tables(
            info.sites, info.arrays, specification.instruction_holds, specification.pipes, specification.stalls,
            specification.hides, specification.latencies, specification.operands, specification.pass_bytes,
            specification.fences, info.mbarriers,
        )  # fmt: skip

    def lowering(self) -> Lowering:
        """What lowers whole blocks; for one thread of this process."""
        return Lowering(self._specification, self._tables, self.largest)

    def windows(self, rows: int, threads: int) -> Windows:
        """Windows of so many warps, to be filled by one thread or two."""
        return Windows(self._specification, self._tables, self.largest, rows, threads)

    def of_launch(self, launch: int) -> tuple[int, int, int, int]:
        """Of a launch what `Lowering.lower` takes: its local memory, where it begins, of a warp, and of a thread; and
        how many registers a thread has.
        """
        own = self._info.launches[launch]
        registers = -(-own.registers_per_thread // REGISTER_STEP) * REGISTER_STEP
        return LOCAL_BASE, self._strides[launch], own.local_bytes_per_thread, registers


@dataclass(frozen=True, eq=False)
class StreamedWorkload:
    """What a trace is on a machine.

    trace: its events, which are read anew for each simulation.
    specification: what of the machine decides the operations.
    launch_limits: int64[launches], as in Workload.
    tallies: what the operations of each launch add up to.
    origin: what errors call it.
    places: where its operations come from, None where not requested.
    resident: int64[chunks] that a warm L2 holds at first, one after another; None: what its blocks access, in their
        order, as an earlier run of them leaves it.
    in_graph: bool[launches], as in Workload.
    clusters: int64[launches], as in Workload.
    """

    trace: Trace
    specification: LoweringSpecification
    launch_limits: Integers
    tallies: tuple[Tally, ...]
    origin: str
    places: Places | None = None
    resident: Integers | None = None
    in_graph: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    clusters: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def launches(self) -> int:
        """Number of launches."""
        return len(self.trace.info.launches)

    @property
    def blocks(self) -> int:
        """Number of blocks, over all launches."""
        return int(self.launch_blocks[-1])

    @property
    def warps(self) -> int:
        """Number of warps, over all blocks."""
        return int(self.launch_warps[-1])

    @property
    def operations(self) -> int:
        """Number of operations, over all warps."""
        return sum(tally.operations for tally in self.tallies)

    @cached_property
    def launch_blocks(self) -> Integers:
        """int64[launches + 1]: offsets."""
        return np.cumsum([0, *(launch.blocks for launch in self.trace.info.launches)], dtype=np.int64)

    @cached_property
    def warps_of_blocks(self) -> Integers:
        """int64[launches]: how many warps each block of a launch has."""
        width = self.specification.warp_width
        return np.array([-(-launch.threads_per_block // width) for launch in self.trace.info.launches], dtype=np.int64)

    @cached_property
    def launch_warps(self) -> Integers:
        """int64[launches + 1]: offsets."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(self.launch_blocks) * self.warps_of_blocks)])

    @property
    def block_warps(self) -> Integers:
        """int64[blocks + 1]: offsets."""
        of_blocks = np.repeat(self.warps_of_blocks, np.diff(self.launch_blocks))
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(of_blocks)])

    @property
    def has_places(self) -> bool:
        """Whether its operations have places in the program."""
        return self.places is not None

    @property
    def known_places(self) -> Places:
        """Where its operations come from: from themselves, if they have no places."""
        return OPERATION_PLACES if self.places is None else self.places

    def limited(self, launch_limits: Integers, origin: str) -> "StreamedWorkload":
        """The same with other limits, as a machine has them.

        launch_limits: int64[launches], the most blocks of each that a group holds, 0 for no limit but the
            machine's.
        origin: what messages call the workload.
        """
        return replace(self, launch_limits=launch_limits, origin=origin)

    def with_graphs(self, in_graph: npt.NDArray[np.bool_]) -> "StreamedWorkload":
        """The same with launches in graphs. in_graph: bool[launches]."""
        return replace(self, in_graph=in_graph)

    def follows_in_graph(self, launch: int) -> bool:
        """Whether a launch follows another one in a graph. launch: its number, from 0 on."""
        return bool(len(self.in_graph)) and bool(self.in_graph[launch])

    def with_clusters(self, clusters: Integers) -> "StreamedWorkload":
        """The same with clusters. clusters: int64[launches], how many blocks in a row of each are a cluster."""
        return replace(self, clusters=clusters)

    def cluster_of(self, launch: int) -> int:
        """How many blocks in a row of a launch are a cluster, 1 without. launch: its number, from 0 on."""
        return int(self.clusters[launch]) if len(self.clusters) else 1

    def digest(self) -> str:
        """A hash of what decides the content."""
        decides = [self.trace.info.digest, self.specification.digest, self.launch_limits.tolist()]
        if self.in_graph.any():
            decides.append(self.in_graph.tolist())
        if len(self.clusters):
            decides.append({"clusters": self.clusters.tolist()})
        if self.resident is not None:
            decides.append(hashlib.sha256(self.resident.tobytes()).hexdigest())
        return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:16]

    def lowered(self, launch: int) -> Iterator[tuple[Runs, Lowered]]:
        """The operations of the blocks of a launch, some at a time, and whose runs they are.

        launch: its number, from 0 on.
        """
        of_trace = TraceLowering(self.trace.info, self.specification)
        lowering = of_trace.lowering()
        for runs in self.trace.runs_of(launch):
            for lowered in lowering.lower(runs, *of_trace.of_launch(launch)):
                yield runs, lowered

    def stream(self, threads: int = 1) -> "Stream":
        """What an engine reads it from, once from the first launch to the last. threads: that fill windows, 1 or 2."""
        return Stream(self, threads)


AnyWorkload: TypeAlias = Workload | StreamedWorkload
"""What an engine simulates, held or not."""


@dataclass(frozen=True)
class Piece:
    """Some blocks of a launch, ready to have windows filled.

    runs: of them; their numbers ascend. bound: what fills windows, for each thread that does.
    """

    runs: Runs
    bound: tuple[Bound, ...]

    @property
    def blocks(self) -> npt.NDArray[np.int32]:
        """Their numbers."""
        return self.runs.block

    @property
    def last(self) -> int:
        """The number of its last block."""
        return int(self.blocks[-1])


class Stream:
    """The blocks of a workload's launches, in order, as windows of rows that are free for any of them."""

    def __init__(self, workload: StreamedWorkload, threads: int) -> None:
        """threads: of this process that lower blocks, at least 1."""
        self._of_trace = TraceLowering(workload.trace.info, workload.specification)
        self._origin = workload.origin
        self._runs = workload.trace.runs()
        self._next: Runs | None = None
        self._launch, self._last = -1, -1
        self._threads = threads
        self.windows = self._of_trace.windows(1, threads)

    def begin(self, launch: int, rows: int) -> None:
        """Go on to a launch, of which at most so many warps are resident at once.

        launch: its number, from 0 on.
        rows: how many warps of it are resident at once, at most.
        """
        self._launch, self._last = launch, -1
        if rows != self.windows.rows:
            self.windows = self._of_trace.windows(rows, self._threads)

    def next_piece(self) -> Piece | None:
        """The blocks that come next in this launch, None where there are none."""
        while self._next is None or self._next.launch < self._launch or not len(self._next.block):
            self._next = next(self._runs, None)
            if self._next is None:
                return None
        runs = self._next
        if runs.launch > self._launch:
            return None
        self._next = None
        if int(runs.block[0]) <= self._last or (np.diff(runs.block) <= 0).any():
            raise TraceError(f"{self._origin}: launch {self._launch}: blocks must come in the order of their numbers")
        self._last = int(runs.block[-1])
        return Piece(runs, self.windows.bound(runs, *self._of_trace.of_launch(self._launch)))

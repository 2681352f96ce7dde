"""Runs to operations: what `simtmm.trace.lower` makes of the blocks of a trace."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.native import Loop
from simtmm.trace.local_memory import WORD
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.site_tables import SiteTables
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps import layout as at
from simtmm.trace.warps.blocks import Progress, walk_blocks
from simtmm.trace.warps.layout import Output, Walk
from simtmm.trace.warps.load_store_units import MOST_COPIED
from simtmm.trace.warps.walk import ENDED, IS_REFUSED, MOST_OPERATIONS

Integers = npt.NDArray[np.int64]

WIDEST_ACCESS = 256  # bytes, and so at most this many words of a bank
FIRST_ROOM, MOST_ROOM = 1 << 16, 1 << 20  # operations, and chunks, that are generated at once

_WALK = Loop(walk_blocks, what="trace lowering")


class RefusedError(Exception):
    """A block can't be lowered. block: its place among those of the runs."""

    def __init__(self, block: int) -> None:
        super().__init__(block)
        self.block = block


@dataclass(frozen=True)
class Lowered:
    """Operations of some warps: as in Workload, but counts instead of offsets; no places if nobody asks.

    first: the number of the first of them, among those of the runs; warps without operations are among them.
    goes_on: whether the last of them has more, with which what comes next begins.
    """

    kind: npt.NDArray[np.uint8]
    amount: Integers
    chunks: Integers
    warp_operations: Integers
    warp_chunks: Integers
    place: npt.NDArray[np.int32]
    sectors: npt.NDArray[np.uint32]
    first: int
    goes_on: bool

    @property
    def bytes(self) -> int:
        """Memory that this takes."""
        arrays = self.kind, self.amount, self.chunks, self.warp_operations, self.place, self.sectors
        return sum(array.nbytes for array in arrays)


class Lowering:
    """Lowers runs after one another for machines of a specification."""

    def __init__(self, specification: LoweringSpecification, tables: SiteTables, largest: int) -> None:
        """largest: threads of the largest block."""
        self._specification = specification
        self._lanes = lanes_of(specification, largest)
        self._walk = empty_walk(specification, tables, self._lanes, 1)
        self._room = FIRST_ROOM

    @property
    def threads(self) -> Integers:
        """See simtmm.stalls.Places, of all that was lowered so far."""
        of_places: Integers = self._walk.threads
        return of_places

    def lower(self, runs: Runs, region: int, stride: int, local_bytes: int, registers: int) -> Iterator[Lowered]:
        """The operations of all blocks of some runs, so many at a time that memory is bounded. Raises RefusedError.

        region: the address of the local memory of the launch's first warp. stride: from that of a warp to that of the
        next [bytes]. local_bytes: of a thread. registers: of a thread, 0 where nobody knows.
        """
        threads = runs.shape[0] * runs.shape[1] * runs.shape[2]
        blocks, warps = len(runs.block), -(-threads // self._specification.warp_width)
        of_warps, progress = np.zeros((blocks * warps, 2), np.int64), np.zeros(len(Progress), np.int64)
        local, shape = np.array([region, stride, local_bytes, registers], np.int64), np.array(runs.shape, np.int64)
        most = most_chunks(self._specification, self._lanes)
        least = 2 * max(most + MOST_COPIED, MOST_OPERATIONS)  # twice what a step takes, which goes on in no less
        room, first = max(self._room, least), 0
        used = np.array([0, 0, room, room], np.int64)
        places = np.empty(room if self._specification.places else 1, np.int32)
        sectors = np.empty(room if self._specification.sector_bytes else 1, np.uint32)
        buffers = np.empty(room, np.uint8), np.empty(room, np.int64), np.empty(room, np.int64)
        output = Output(used, *buffers, places, sectors)
        while True:
            found = _WALK(
                self._walk, runs.structures, runs.block, runs.structure, runs.values, runs.value_ends, shape, local,
                output, of_warps, most, progress,
            )  # fmt: skip
            if found == IS_REFUSED:
                raise RefusedError(int(progress[Progress.block]))
            if found == ENDED:
                operations, chunks = output.used[[at.Used.operations, at.Used.chunks]].tolist()
                self._room = max(FIRST_ROOM, operations + operations // 8, chunks + chunks // 8)
                yield self._lowered_output(output, of_warps[first:], first, goes_on=False)
                return
            if len(output.kind) < max(MOST_ROOM, least):
                output = _larger(output)
                continue
            self._room = len(output.kind)
            last = int(progress[Progress.block]) * warps + int(progress[Progress.warp])
            yield self._lowered_output(output, of_warps[first : last + 1], first, goes_on=True)
            first, of_warps[last] = last, 0
            output.used[[at.Used.operations, at.Used.chunks]] = 0
            progress[[Progress.operation, Progress.chunk]] = 0
            runs.let_go()

    def _lowered_output(self, output: Output, of_warps: Integers, first: int, goes_on: bool) -> Lowered:
        operations, chunks = output.used[[at.Used.operations, at.Used.chunks]].tolist()
        return Lowered(
            output.kind[:operations].copy(),
            output.amount[:operations].copy(),
            output.chunks[:chunks].copy(),
            of_warps[:, 0].copy(),
            of_warps[:, 1].copy(),
            output.place[: operations if self._specification.places else 0].copy(),
            output.sectors[: chunks if self._specification.sector_bytes else 0].copy(),
            first,
            goes_on,
        )


def lanes_of(specification: LoweringSpecification, largest: int) -> int:
    """Threads of a warp at most. largest: of the largest block."""
    return max(1, min(specification.warp_width, largest))


def most_chunks(specification: LoweringSpecification, lanes: int) -> int:
    """That an operation lists at most."""
    chunk = specification.chunk_bytes
    words = WIDEST_ACCESS // WORD + 2
    return lanes * max(WIDEST_ACCESS // min(chunk, 32) + 2, words * (WORD // chunk + 2))


def empty_walk(specification: LoweringSpecification, tables: SiteTables, lanes: int, warps: int) -> Walk:
    """A walk of so many warps, none of which has begun."""

    def table(*shape: int) -> Integers:
        return np.zeros(shape, np.int64)

    rules = (
        specification.warp_width, specification.chunk_bytes, specification.banks, specification.bank_bytes,
        specification.lanes_together, int(specification.half_warp_segments), _shift(specification.chunk_bytes),
        int(specification.atomics_by_word), tables.places if specification.places else 0, tables.sites,
        specification.shared_latency, specification.shared_interval, specification.shared_ports,
        int(specification.reduces), *(specification.pipe or (0,) * 5)[:4],
        *(specification.barrier or (0, 0)), specification.atomic_passes, specification.sector_bytes,
        max(
            specification.shared_latency,
            specification.remote_latency,
            *(cycles for _, cycles in specification.latencies),
            0,
        ),
        int(specification.grid_barriers), *(specification.pipe[4:] or (0,)),
        *(specification.cluster_barrier or (0, 0, 0)), specification.remote_latency, int(specification.remote_ways),
        tables.first_mbarrier,
    )  # fmt: skip
    banks = max(specification.banks, *(WORD * number for number in specification.pipe[3:]), 1)
    words = lanes * (WIDEST_ACCESS + 2)
    return Walk(
        rules=np.array(rules, np.int64),
        warp=table(warps, len(at.Warp)),
        group=table(warps, lanes, len(at.Group)),
        of_lane=table(warps, lanes),
        latest=table(warps, tables.values),
        shared=table(warps, tables.values),
        ready=table(warps, tables.values),
        group_end=table(warps, tables.groups),
        value=table(lanes),
        bytes=table(lanes),
        lane=table(lanes),
        first=table(words),
        stop=table(words),
        size=table(words),
        chain=table(banks),
        word=table(words),
        following=table(words),
        degree=table(at.DEGREES, len(at.Degree)),
        due=table(len(tables.operations)),
        work=tables.work,
        piped=tables.piped,
        operations=tables.operations,
        stall=tables.stall,
        hides=tables.hides,
        needs_end=tables.needs_end,
        needs=tables.needs,
        gives_end=tables.gives_end,
        gives=tables.gives,
        unused=tables.unused,
        commits_end=tables.commits_end,
        commits=tables.commits,
        in_flight=tables.in_flight,
        sync=tables.sync,
        results_end=tables.results_end,
        results=tables.results,
        result_cycles=tables.result_cycles,
        product=tables.product,
        again=tables.again,
        cluster=tables.cluster,
        array=tables.arrays,
        mbarrier=tables.mbarriers,
        threads=table((tables.sites + 1) * tables.places if specification.places else 1, len(at.Threads)),
    )


def beside(walk: Walk) -> Walk:
    """The same warps for another thread, which sees to one while this one sees to others."""
    first = Walk._fields.index("group_end") + 1
    own = Walk._fields[first : Walk._fields.index("work")]
    return walk._replace(**{name: getattr(walk, name).copy() for name in (*own, "threads")})


def _shift(chunk_bytes: int) -> int:
    """See layout.Rules.chunk_shift."""
    return chunk_bytes.bit_length() - 1 if chunk_bytes.bit_count() == 1 else -1


def _larger(output: Output) -> Output:
    """The same with twice the room."""
    output.used[[at.Used.end_operations, at.Used.end_chunks]] *= 2
    buffers = [output.used]
    for array in output[1:]:
        larger = np.empty(2 * len(array), array.dtype)  # that of places, where nobody asks for them, goes along
        larger[: len(array)] = array
        buffers.append(larger)
    return Output(*buffers)

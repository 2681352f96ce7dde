"""Where a launch's operations lie: in the arrays of a workload, or in windows, which a stream fills as warps go on."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches import warming
from simtmm.engine.fast.launches.part import Part
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.launches.tables import Integers, table
from simtmm.engine.fast.layout import State
from simtmm.engine.fast.supply.window_thread import Beside, queue_for
from simtmm.native import Loop
from simtmm.trace.streamed import Piece, Stream, StreamedWorkload
from simtmm.trace.warps.blocks import Ask
from simtmm.workload import LOAD, Workload

_WARM = Loop(warming.warm)


class Supply(Protocol):
    """What of the state a launch's operations are."""

    def fields(self) -> dict[str, Any]:
        """The fields of the state where operations lie, and the blocks that are there."""
        ...

    def supplied(self, state: State) -> State:
        """The state, with more blocks where a dispatch waits for them."""
        ...

    def beside(self, state: State) -> AbstractContextManager[None]:
        """What goes on beside the engine while it does."""
        ...

    def end(self) -> None:
        """The launch is over."""
        ...

    def warm(self, parameters: Integers, *of_caches: Any) -> None:
        """Leave the lines of caches as an earlier run of the launch does. of_caches: those of Caches."""
        ...


class Held:
    """A launch of a workload that is held."""

    def __init__(self, workload: Workload, part: Part, reused: Reused) -> None:
        self._workload = workload
        self._part = part
        self._reused = reused

    def fields(self) -> dict[str, Any]:
        """See Supply."""
        own, zeros = self._workload, self._reused.zeros
        return {
            "kind": own.kind,
            "amount": own.amount,
            "chunks": own.chunks,
            "sectors": own.sectors,
            "warp_operations": own.warp_operations,
            "warp_chunks": own.warp_chunks,
            "block_warps": own.block_warps,
            "place": own.place if len(own.place) else self._reused.like("place", np.zeros, 1, np.int32),
            "ask": zeros("ask", len(Ask)),
            "request": zeros("request", 1, len(at.Request)),
            "queue": zeros("queue", 1),
            "queue_ends": zeros("queue_ends", at.QUEUE_ROW),
            "ahead": zeros("ahead", 1, len(at.Ahead)),
        }

    def supplied(self, state: State) -> State:
        """See Supply."""
        return state

    def beside(self, state: State) -> AbstractContextManager[None]:
        """See Supply."""
        return nullcontext()

    def end(self) -> None:
        """See Supply."""

    def warm(self, parameters: Integers, *of_caches: Any) -> None:
        """See Supply."""
        own = self._workload
        warps = own.block_warps[[self._part.first, self._part.last]]
        operations, chunks = (slice(*of[warps]) for of in (own.warp_operations, own.warp_chunks))
        of_operations = own.kind[operations], own.amount[operations]
        counts = np.diff(own.warp_operations[warps[0] : warps[1] + 1])
        blocks = np.repeat(np.arange(self._part.blocks), self._part.block_warps)
        dies = _dies_of(parameters, blocks, counts)
        _WARM(warming.Caches(parameters, *of_caches), dies, *of_operations, own.chunks[chunks], own.sectors[chunks])


class Streamed:
    """A launch of a stream."""

    def __init__(self, workload: StreamedWorkload, stream: Stream, launch: int, part: Part, rows: int) -> None:
        """rows: warps that may be resident."""
        self._workload, self._launch, self._part = workload, launch, part
        self._stream = stream
        self._pieces: list[Piece] = []
        stream.begin(launch, rows)
        asks = stream.windows.asks
        self._beside = Beside(asks[1]) if len(asks) > 1 else None

    def fields(self) -> dict[str, Any]:
        """See Supply."""
        windows = self._stream.windows
        return {
            "kind": windows.kind,
            "amount": windows.amount,
            "chunks": windows.chunks,
            "sectors": windows.sectors,
            "place": windows.place,
            "warp_operations": table(1),
            "warp_chunks": table(1),
            "block_warps": table(1),
            "ask": windows.asks[0],
            "request": table(windows.rows, len(at.Request)),
            "queue": queue_for(windows.rows) if self._beside else table(1),
            "queue_ends": table(at.QUEUE_ROW),
            "ahead": table(1, len(at.Ahead)),
        }

    def supplied(self, state: State) -> State:
        """See Supply."""
        parameters = state.parameters
        for known in self._pieces:
            known.runs.let_go()
        if not parameters[at.Parameters.hungry]:
            return state
        self._drop(state)
        loaded, part = int(parameters[at.Parameters.loaded]), self._part
        piece = self._stream.next_piece()
        upto = part.last if piece is None else part.first + piece.last + 1
        ahead = table(upto - loaded, len(at.Ahead))
        if piece is not None:
            self._pieces.append(piece)
            places = piece.blocks.astype(np.int64) + part.first - loaded
            ahead[places, at.Ahead.own] = piece.bound[0].table
            ahead[places, at.Ahead.beside] = piece.bound[-1].table
            ahead[places, at.Ahead.place] = np.arange(len(piece.blocks))
            for ask in self._stream.windows.asks:
                ask[Ask.entry] = piece.bound[0].entry
        parameters[at.Parameters.ahead], parameters[at.Parameters.loaded] = loaded, upto
        return state._replace(ahead=ahead)

    def beside(self, state: State) -> AbstractContextManager[None]:
        """See Supply."""
        return self._beside.going_on(state) if self._beside else nullcontext()

    def end(self) -> None:
        """See Supply."""
        if self._beside:
            self._beside.end()

    def _drop(self, state: State) -> None:
        """Let go of the pieces none of whose blocks is resident; all of them have been placed."""
        living = state.block[state.block[:, at.Block.living] > 0, at.Block.number] - self._part.first
        ends = np.array([piece.last for piece in self._pieces], np.int64)
        needed = np.unique(np.searchsorted(ends, living))
        self._pieces = [self._pieces[number] for number in needed]

    def warm(self, parameters: Integers, *of_caches: Any) -> None:
        """See Supply."""
        resident = self._workload.resident
        if resident is not None:
            halves = int(parameters[at.Parameters.l2_halves])  # by both of them
            loads, ones = np.full(halves * len(resident), LOAD, np.uint8), np.ones(halves * len(resident), np.int64)
            _WARM(
                warming.Caches(parameters, *of_caches),
                np.repeat(np.arange(halves), len(resident)),
                loads,
                ones,
                np.tile(resident, halves),
                np.zeros(0, np.uint32),
            )
            return
        of_block = self._workload.warps_of_blocks[self._launch]
        for runs, lowered in self._workload.lowered(self._launch):
            own = lowered.kind, lowered.amount, lowered.chunks, lowered.sectors
            warps = np.arange(lowered.first, lowered.first + len(lowered.warp_operations))
            dies = _dies_of(parameters, runs.block[warps // of_block], lowered.warp_operations)
            _WARM(warming.Caches(parameters, *of_caches), dies, *own)


def _dies_of(parameters: Integers, blocks: Any, counts: Integers) -> Integers:
    """The die on which each operation ran in an earlier run, or the half of the L2; none where there is one.

    blocks: int64[warps], the block of each warp. counts: int64[warps], operations of each.
    """
    dies = int(max(parameters[at.Parameters.l2_dies], parameters[at.Parameters.l2_halves]))
    if dies <= 1:
        return np.zeros(0, np.int64)
    groups = int(parameters[at.Parameters.groups])
    return np.repeat(np.asarray(blocks, np.int64) % groups % dies, counts)

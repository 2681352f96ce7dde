"""Runs a launch: which blocks run when, and on how many cores."""

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.control_flow.merging import merge
from simtmm.cuda.execution.control_flow.warp_sync import meet, part_again
from simtmm.cuda.execution.launches import logs
from simtmm.cuda.execution.launches.block_counts import MOST_BLOCKS, Sizes
from simtmm.cuda.execution.launches.clusters import in_clusters
from simtmm.cuda.execution.launches.endings import FaultError as FaultError
from simtmm.cuda.execution.launches.endings import SlowError as SlowError
from simtmm.cuda.execution.launches.endings import StuckError as StuckError
from simtmm.cuda.execution.launches.launch import BlockState, LaunchState
from simtmm.cuda.execution.launches.log_order import Handed
from simtmm.cuda.execution.layout import BLOCKED, FAULTED, LOG_ENTRY, LOG_FULL, NEW_BLOCK, YIELDED
from simtmm.cuda.execution.livelock.watch import Watch
from simtmm.cuda.execution.runtime.check_log import most_check_entries
from simtmm.cuda.execution.runtime.turn_order import ASCENDING, blocks_in
from simtmm.cuda.execution.translation.facts import fact
from simtmm.cuda.execution.translation.machine_code import MachineCode
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.flow.steps import BULK_ENTRIES, is_bulk
from simtmm.native.addresses import address_of

Piece = tuple[npt.NDArray[np.uint8], int]  # of the log; and the blocks before which all have ended

SLACK = 1 << 16  # bytes of the log that a block of code may take between two looks at it
MOST_CORES = 64
_NOTHING = np.empty(0, np.uint8)
PASSES_BEFORE = 64  # turns of a block, since any has begun or ended, before they end elsewhere too,
PASSES_EVERY = 8  # one in so many
PIECES_AHEAD, FEWEST_AHEAD = 32, 4  # of the log, that may wait to be taken: of all cores, about, and of each


class Log:
    """Whether a launch is recorded. is_over: so far and no further, where its blocks wait for no others."""

    def __init__(self, is_over: bool = False) -> None:
        self.is_over = is_over


class Core:
    """Runs blocks of a launch, one at a time, and has its own log."""

    def __init__(
        self, state: LaunchState, code: MachineCode, record: bool,
        watched: Callable[[], MachineCode] | None = None, patience: float = math.inf, whole: Log | None = None,
    ) -> None:  # fmt: skip
        """watched, patience: as of `run`. whole: the log of all cores."""
        self.whole = whole
        self.state, self.code, self.watched, self.patience = state, code, watched, patience
        self.watch = Watch(state, code, watched, patience)
        most = _most_logged(state.program)
        self.log = logs.log_of(max(logs.LOG_BYTES, 4 * most)) if record else None
        self._buffer = self.log  # also once nothing more is logged
        self._slack = max(SLACK, most)
        self.block = state.new_block()
        self.stopped = False
        self.deadline = math.inf  # by time.monotonic
        if self.log is not None:
            self._begin_log()

    def give_back(self) -> None:
        """Nothing runs here any more: another core may log where this one has."""
        if self._buffer is not None:
            logs.put_back(self._buffer)
        self.log = self._buffer = None

    def _begin_log(self) -> None:
        assert self.log is not None
        self.state.launch["log"] = address_of(self.log)
        self.state.launch["log_limit"] = address_of(self.log) + len(self.log) - self._slack

    def logged(self) -> npt.NDArray[np.uint8] | None:
        """What has been logged since the last call; None for nothing."""
        if self.log is None:
            return None
        count = int(self.state.launch["log"]) - address_of(self.log)
        if count < logs.HANDED:
            self._begin_log()
            return self.log[:count].copy() if count else None
        full = self.log
        self.log = self._buffer = logs.log_of(len(full))
        self._begin_log()
        return logs.handed(full, count)

    def mark(self, block: BlockState) -> None:
        """Mark in the log that what follows belongs to this block."""
        if self.log is None:
            return
        at = int(self.state.launch["log"]) - address_of(self.log)
        self.log[at : at + 8].view(np.int32)[:] = (NEW_BLOCK, 0)
        self.log[at + 8 : at + 16].view(np.int64)[:] = int(block.block["number"])
        self.state.launch["log"] += 16

    def new_blocks(self, first: int, last: int, ended: Callable[[], int]) -> Iterator[Piece]:
        """Blocks from the first up to one that does not end at once; `status` says how it came back, `reached` where.

        ended: the blocks before which all have ended, when this one's are.
        """
        self.status = self.watch.code.run_blocks(self.state.address, self.block.address, first, last)
        self.reached = int(self.state.launch["current"])
        yield from self._while_full(self.block, ended)

    def go_on(self, block: BlockState, ended: Callable[[], int]) -> Iterator[Piece]:
        """Give a turn to a block that has begun."""
        self.mark(block)
        self.status = self.watch.code.run_block(self.state.address, block.address)
        yield from self._while_full(block, ended)

    def _while_full(self, block: BlockState, ended: Callable[[], int]) -> Iterator[Piece]:
        while self.status == LOG_FULL:
            piece = self.logged()
            if piece is not None:
                yield piece, min(ended(), int(block.block["number"]))
            self.watch.piece(block)
            self.mark(block)
            self.status = self.watch.code.run_block(self.state.address, block.address)

    def choose_turn_end(self, passes: int) -> bool:
        """Where turns end besides in the next pass, the one of this number; whether they do.

        By number, so that equal launches go alike; and all blocks behind the same instruction, so that what all of them
        hold in vain is given back by all.
        """
        ends = self.state.program.turn_ends
        number, rest = divmod(passes, PASSES_EVERY)
        chosen = bool(ends) and passes >= PASSES_BEFORE and rest == 0
        self.state.launch["turn_end"] = ends[number % len(ends)] if chosen else -1
        return chosen

    def has_more(self, block: BlockState, may_wait: bool = False) -> bool:
        """Whether a block that came back has not ended. Raises FaultError, StuckError and SlowError.

        may_wait: whether all of it may wait for other blocks, of its cluster.
        """
        if self.status == FAULTED:
            raise FaultError(self.state, block)
        if self.status in (BLOCKED, YIELDED):  # others may wait for those that wait here
            met = merge(self.state, block) | meet(self.state, block)
            met = met or part_again(self.state, block, self.status == BLOCKED)
            if self.status == BLOCKED and not met and not may_wait:
                raise StuckError(self.state, block)
            if time.monotonic() > self.deadline:
                raise SlowError
            return True
        return False

    def all_of(self, first: int, last: int) -> Iterator[Piece]:
        """Run blocks that wait for no others, each to its end. An empty piece tells that a part without a log ended."""
        if self.whole is not None and self.whole.is_over:
            self.log, self.state.launch["log"] = None, 0
            self.state.launch["log_limit"] = np.iinfo(np.uint64).max
        while first < last and not self.stopped:
            self.watch.begin(self.block)
            elsewhere = self.choose_turn_end(passes := 0)
            yield from self.new_blocks(first, last, lambda: last)
            while self.has_more(self.block) and not self.stopped:
                if not elsewhere:  # than where it is compared with what it was
                    self.watch.turn([self.block])
                elsewhere = self.choose_turn_end(passes := passes + 1)
                yield from self.go_on(self.block, lambda: last)
            first = self.reached
        piece = self.logged()
        if piece is not None or self.log is None:
            yield _NOTHING if piece is None else piece, last


def run(  # noqa: PLR0913, PLR0917 - each is a part of a launch
    state: LaunchState,
    code: MachineCode,
    record: bool,
    resident: int,
    calls_host: bool,
    seconds: float = math.inf,
    chosen: Sequence[int] = (),
    watched: Callable[[], MachineCode] | None = None,
    patience: float = math.inf,
    concurrent: bool = False,
    log: Log | None = None,
) -> Iterator[Piece]:
    """All blocks of a launch. Yields pieces of its log, where it is recorded, and empty ones where it is not.

    resident: blocks that may be under way at once, where threads may wait for other blocks. calls_host: whether it
    calls Python. seconds: that it may take, looked at where a block's warps have had their turn. chosen: numbers of the
    only blocks that run, ascending; of a launch whose blocks wait for no others. watched: gives the code that is
    watched, for when threads may go round for ever; nobody looks if left out. patience: seconds that may pass while no
    block ends and nothing that others see is changed. concurrent: whether others than these threads may write memory.
    log: ends the recording before the launch ends.

    Raises FaultError, StuckError, SlowError, LivelockFoundError and PatienceError, and what Python raises
    when it is called.
    """
    core = Core(state, code, record, watched, patience, log)
    try:
        yield from _all_blocks(core, resident, calls_host, seconds, chosen, concurrent)
    except Exception:
        if state.program.checks and (piece := core.logged()) is not None:
            yield piece, 0  # for the checks: what threads did before one went wrong
        raise
    finally:
        core.give_back()


def _all_blocks(
    core: Core, resident: int, calls_host: bool, seconds: float, chosen: Sequence[int], concurrent: bool
) -> Iterator[Piece]:
    """All blocks of a launch, or the chosen ones; see `run`."""
    state = core.state
    core.watch.is_alone = not concurrent and (state.program.communicates or state.blocks == 1)
    core.deadline = time.monotonic() + seconds
    if state.cluster_blocks > 1:
        yield from in_clusters(core, resident if state.program.communicates else 1)
        return
    if state.program.communicates:
        yield from _in_turns(core, resident)
        return
    if seconds < math.inf:  # code compiled quickly may take a second for a turn
        core.watch.rounds = core.block.block["rounds"] = 1
    if chosen or state.program.order != ASCENDING:
        for number in chosen or blocks_in(state.program.order, state.blocks):
            yield from core.all_of(number, number + 1)
        return
    sizes = Sizes(core.log is not None)
    cores = min(MOST_CORES, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if state.program.checks:  # whether a store changes what lies there is looked at by one block at a time
        cores = 1
    first = 0
    while first < state.blocks:  # the first few alone, which tells how long blocks take
        if cores > 1 and sizes.known and state.program.is_independent and not calls_host and not state.program.times:
            yield from _on_cores(core, first, cores, sizes)
            return
        last = min(state.blocks, first + sizes.blocks)
        began, logged = time.perf_counter(), 0
        for piece, ended in core.all_of(first, last):
            logged += len(piece)
            yield piece, ended
        sizes.learn(last - first, time.perf_counter() - began, logged)
        first = last


def _on_cores(first_core: Core, first: int, cores: int, sizes: Sizes) -> Iterator[Piece]:
    """Blocks that have nothing to do with one another, on several cores; what they log comes in order."""
    state = first_core.state
    idle: deque[Core] = deque([first_core])
    record = first_core.log is not None
    idle += [
        Core(
            state.for_another_core(), first_core.code, record, first_core.watched, first_core.patience, first_core.whole
        )
        for _ in range(cores - 1)
    ]
    every = list(idle)
    for core in every:
        core.deadline = first_core.deadline

    def work(begin: int, end: int, handed: Handed) -> float:
        core = idle.popleft()
        began = time.perf_counter()
        try:
            for piece in core.all_of(begin, end):
                handed.put(piece, core)
            return time.perf_counter() - began - handed.waited
        finally:
            handed.put(None, core)
            idle.append(core)

    under_way: deque[tuple[int, Handed, Future[float]]] = deque()
    with ThreadPoolExecutor(cores, "simtmm-block") as pool:
        try:
            while first < state.blocks or under_way:
                while first < state.blocks and len(under_way) <= cores:
                    last = min(state.blocks, first + sizes.blocks)
                    handed = Handed(max(FEWEST_AHEAD, PIECES_AHEAD // cores))
                    under_way.append((last - first, handed, pool.submit(work, first, last, handed)))
                    first = last
                blocks, handed, future = under_way.popleft()
                yield from handed.pieces()
                sizes.learn(blocks, future.result(), handed.bytes)
        finally:
            for core in every:
                core.stopped = True
            pool.shutdown(cancel_futures=True)
            for core in every[1:]:
                core.give_back()


def _in_turns(core: Core, resident: int) -> Iterator[Piece]:
    """Blocks that may wait for others: one that does not end lets others begin, and they take turns."""
    state = core.state
    waiting: deque[BlockState] = deque()
    begun = before = passes = 0
    together = 1  # blocks that begin one after another, before those that wait have a turn: twice as many each time

    def ended() -> int:
        return min([begun, *(int(block.block["number"]) for block in waiting)])

    while begun < state.blocks or waiting:
        if begun < state.blocks and len(waiting) < resident:
            core.choose_turn_end(0)
            yield from core.new_blocks(begun, min(state.blocks, begun + MOST_BLOCKS), ended)
            begun = core.reached
            if core.has_more(core.block):
                waiting.append(core.block)
                core.block = state.new_block()
                state.forget()
            if len(waiting) < together and begun < state.blocks and len(waiting) < resident:
                continue
            together = 2 * len(waiting)
        elsewhere = core.choose_turn_end(passes)
        passes += 1
        for _ in range(len(waiting)):
            state.forget()
            yield from core.go_on(waiting[0], ended)
            block = waiting.popleft()
            if core.has_more(block):
                waiting.append(block)
        if waiting:
            state.forget()
            core.watch.yet = state.blocks - begun
            if 2 * begun - len(waiting) > before:  # that have begun, and that have ended
                before, passes = 2 * begun - len(waiting), 0
                core.watch.went_on()
            if not elsewhere and (begun == state.blocks or len(waiting) == resident):
                core.watch.turn(waiting)
    piece = core.logged()
    if piece is not None:
        yield piece, state.blocks


@fact
def _most_logged(program: Program) -> int:
    """Bytes that a block of code may log at most."""
    if program.checks:
        return (most_check_entries(program) + 4) * LOG_ENTRY
    most = max(
        len(block) + BULK_ENTRIES * sum(any(map(is_bulk, step.instructions)) for step in block)
        for block in chain.from_iterable(code.steps for code in program.codes)
    )
    return (most + 4) * LOG_ENTRY

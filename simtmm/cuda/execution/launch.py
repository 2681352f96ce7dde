"""A launch at work: the state of its blocks, and how they take turns."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.device_memory import DeviceMemory
from simtmm.cuda.execution.layout import (
    ALIGN,
    ALLOCATION,
    BLOCK,
    BLOCK_BYTES,
    BLOCKED,
    CACHE,
    DONE,
    FAULTED,
    LANES,
    LAUNCH,
    LOG_ENTRY,
    LOG_FULL,
    PARAMETER_WINDOW,
    WARP,
    WARP_BYTES,
    YIELDED,
)
from simtmm.cuda.execution.machine_code import MachineCode
from simtmm.cuda.execution.program import Program
from simtmm.cuda.ptx.steps import BULK_ENTRIES, is_bulk

FUEL = 1 << 20  # rounds of loops that a warp may do in its turn
ROUNDS = 64  # turns of its warps that a block may take in its own
CALL_STACK = 1 << 17  # bytes of a warp for the registers of functions that are called
LOCAL_STACK = 1 << 14  # bytes of a thread for the variables of functions that are called
LOG_BYTES = 1 << 24
SLACK = 1 << 16  # bytes of the log that a block of code may take between two looks at it
PIECE = 256  # blocks of a launch that run before anyone looks up

Log = Callable[[int], None]


class Stuck(Exception):
    """No thread of any block that runs can go on."""


class Fault(Exception):
    """A thread did what it must not. All that is known stands in the launch."""


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """Zeros that begin at a multiple of ALIGN."""
    memory = np.zeros(size + ALIGN, np.uint8)
    shift = -memory.ctypes.data % ALIGN
    return memory[shift : shift + size]


class BlockState:
    """The memory of a block that runs: its own state, its warps', shared and local memory."""

    def __init__(self, warps: int, warp_bytes: int, shared_bytes: int, local_bytes: int) -> None:
        self.memory = aligned(BLOCK_BYTES + warps * warp_bytes)
        self.shared = aligned(max(ALIGN, shared_bytes))
        self.local = aligned(max(ALIGN, local_bytes * LANES * warps))
        self.block = self.memory[: BLOCK.itemsize].view(BLOCK)[0]
        self.block["shared"], self.block["rounds"] = self.shared.ctypes.data, ROUNDS
        self.warps = [
            self.memory[start : start + WARP.itemsize].view(WARP)[0]
            for start in range(BLOCK_BYTES, BLOCK_BYTES + warps * warp_bytes, warp_bytes)
        ]
        for number, warp in enumerate(self.warps):
            warp["local"] = self.local.ctypes.data + number * local_bytes * LANES
        self.address = self.memory.ctypes.data


class LaunchState:
    """Everything that the code of a launch reads and writes beside its blocks."""

    def __init__(
        self,
        program: Program,
        memory: DeviceMemory,
        symbols: dict[str, int],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        parameters: bytes,
        dynamic_shared: int,
        processors: int,
    ) -> None:
        """symbols: virtual addresses of the module's variables. parameters: as the kernel takes them."""
        self.program, self.memory, self.grid, self.shape = program, memory, grid, block
        self.blocks = grid[0] * grid[1] * grid[2]
        self.threads = block[0] * block[1] * block[2]
        self.warps = -(-self.threads // LANES)
        self.shared_bytes = program.dynamic_offset + dynamic_shared if dynamic_shared else program.shared_bytes
        calls = program.has_calls
        entry = program.entry_code
        self.local_bytes = -(-entry.local_bytes // 16) * 16 + (LOCAL_STACK if calls else 0)
        self.warp_bytes = WARP_BYTES + -(-entry.frame_bytes // ALIGN) * ALIGN + (CALL_STACK if calls else 0)
        self._kept: list[npt.NDArray[Any]] = []
        whole = aligned(LAUNCH.itemsize)
        self.launch, self.address = whole.view(LAUNCH)[0], whole.ctypes.data
        fields: dict[str, Any] = {
            "grid": grid,
            "block": block,
            "parameters": self._keep(np.frombuffer(parameters.ljust(8, b"\0") + bytes(8), np.uint8).copy()),
            "caches": self._keep(self.no_caches()),
            "symbols": self._keep(np.array([symbols[name] for name in program.symbols] or [0], np.uint64)),
            "shared_bytes": self.shared_bytes,
            "local_bytes": self.local_bytes,
            "warps": self.warps,
            "warp_bytes": self.warp_bytes,
            "frame_bytes": -(-entry.frame_bytes // ALIGN) * ALIGN,
            "arena_bytes": self.warp_bytes - WARP_BYTES,
            "living": self._keep(self._living()),
            "thread_ids": self._keep(self._thread_ids()),
            "entry_local": -(-entry.local_bytes // 16) * 16,
            "fuel": FUEL,
            "processors": processors,
            "warp_threads": self.threads,
            "log_limit": np.iinfo(np.uint64).max,
        }
        for name, value in fields.items():
            self.launch[name] = value
        self._parameters = len(parameters)
        self.map_memory()

    def map_memory(self) -> None:
        """Tell the code what memory there is, which may change between two calls of it."""
        table = self.memory.table()
        rows = np.zeros(len(table) + 1, ALLOCATION)
        rows[: len(table)] = table
        rows[-1] = (PARAMETER_WINDOW, self._parameters, self.launch["parameters"], 1)
        rows = rows[rows["low"] > 0]
        self._table = rows
        self.launch["allocations"], self.launch["allocation_count"] = rows.ctypes.data, len(rows)

    def no_caches(self) -> npt.NDArray[Any]:
        """CACHE[accesses], none of which knows an array."""
        caches = np.zeros(max(1, len(self.program.accesses)), CACHE)
        caches["low"] = np.iinfo(np.uint64).max
        return caches

    def forget(self) -> None:
        """What accesses met last may be another block's shared memory."""
        self._caches[:] = self.no_caches()

    def new_block(self) -> BlockState:
        """Memory for a block."""
        return BlockState(self.warps, self.warp_bytes, self.shared_bytes, self.local_bytes)

    def _keep(self, array: npt.NDArray[Any]) -> int:
        start = aligned(array.nbytes)
        start[:] = array.reshape(-1).view(np.uint8)
        self._kept.append(start)
        if array.dtype == CACHE:
            self._caches = start.view(CACHE)
        return int(start.ctypes.data)

    def _living(self) -> npt.NDArray[np.uint32]:
        counts = np.minimum(self.threads - np.arange(self.warps) * LANES, LANES)
        masks: npt.NDArray[np.uint32] = ((np.uint64(1) << counts.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
        return masks

    def _thread_ids(self) -> npt.NDArray[np.int32]:
        x, y, _ = self.shape
        linear = np.arange(self.warps * LANES, dtype=np.int64)
        ids = np.stack([linear % x, linear // x % y, linear // (x * y)]).astype(np.int32)
        return np.ascontiguousarray(ids.reshape(3, self.warps, LANES).transpose(1, 0, 2))


class LaunchRun:
    """Runs a launch. Blocks run one after another; one that waits for others lets them go first.

    resident: blocks that may be under way at once.
    """

    def __init__(self, state: LaunchState, code: MachineCode, resident: int) -> None:
        self.state, self.code = state, code
        self.resident = max(1, resident)
        self.log: npt.NDArray[np.uint8] | None = None

    def record(self, sink: Callable[[npt.NDArray[np.uint8]], None]) -> None:
        """Have all accesses written down: `sink` is given pieces of the log."""
        self.log = aligned(LOG_BYTES)
        self._sink = sink
        self._begin_log()
        self.state.launch["log_limit"] = self.log.ctypes.data + LOG_BYTES - max(SLACK, self._largest())

    def _largest(self) -> int:
        """Bytes that a block of code may log at most."""
        most = max(
            len(block) + BULK_ENTRIES * sum(any(map(is_bulk, step.instructions)) for step in block)
            for code in self.state.program.codes
            for block in code.steps
        )
        return (most + 4) * LOG_ENTRY

    def _begin_log(self) -> None:
        assert self.log is not None
        self.state.launch["log"] = self.log.ctypes.data

    def drain(self) -> None:
        """Hand on what has been logged."""
        if self.log is None:
            return
        count = int(self.state.launch["log"]) - self.log.ctypes.data
        if count:
            self._sink(self.log[:count])
        self._begin_log()

    def run(self) -> None:
        """All blocks. Raises Fault and Stuck, and what a callback or the sink raises."""
        state, code = self.state, self.code
        launch = state.address
        single = state.new_block()
        waiting: deque[BlockState] = deque()
        next_block = 0
        while next_block < state.blocks or waiting:
            if next_block < state.blocks and len(waiting) < self.resident:
                last = min(state.blocks, next_block + PIECE)
                status = code.run_blocks(launch, single.address, next_block, last)
                next_block = int(state.launch["current"])
                while status == LOG_FULL:
                    self.drain()
                    status = code.run_block(launch, single.address)
                if self._goes_on(status, single):
                    waiting.append(single)
                    single = state.new_block()
                    state.forget()
                if status == DONE and waiting:
                    state.forget()
                    self._turns(waiting)
                continue
            self._turns(waiting)
        self.drain()

    def _goes_on(self, status: int, block: BlockState) -> bool:
        """Whether a block that came back has not ended."""
        if status == FAULTED:
            self.drain()
            raise Fault
        if status == BLOCKED:
            self.drain()
            raise Stuck(block)
        return status == YIELDED

    def _turns(self, waiting: "deque[BlockState]") -> None:
        """A turn for each block that is under way."""
        state = self.state
        for _ in range(len(waiting)):
            block = waiting.popleft()
            state.forget()
            if self.log is not None:
                self._mark(block)
            status = self.code.run_block(state.address, block.address)
            while status == LOG_FULL:
                self.drain()
                self._mark(block)
                status = self.code.run_block(state.address, block.address)
            if self._goes_on(status, block):
                waiting.append(block)
        state.forget()

    def _mark(self, block: BlockState) -> None:
        """That what follows in the log is of this block."""
        assert self.log is not None
        at = int(self.state.launch["log"]) - self.log.ctypes.data
        self.log[at : at + 8].view(np.int32)[:] = (-2, 0)
        self.log[at + 8 : at + 16].view(np.int64)[:] = int(block.block["number"])
        self.state.launch["log"] += 16

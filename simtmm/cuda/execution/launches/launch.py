"""The state of a launch and of its blocks, in memory that translated code reads and writes."""

import copy
import ctypes
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.layout import (
    ALIGN,
    BLOCK,
    BLOCK_BYTES,
    CACHE,
    CONSTANT,
    GRID_WORKSPACE,
    GRID_WORKSPACE_BYTES,
    LANES,
    LAUNCH,
    PARAMETER_WINDOW,
    RESERVED_BYTES,
    TEXTURE,
    TOUCHED,
    TOUCHED_AND_WRITTEN,
    WARP,
    WARP_BYTES,
)
from simtmm.cuda.execution.runtime.device_clock import DeviceClock
from simtmm.cuda.execution.translation.facts import fact, instructions_of
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.flow.registers import read
from simtmm.native.addresses import address_of

ROUNDS = 16  # turns of its warps that a block may take in its own
CALL_STACK = 1 << 22  # bytes of a warp for the registers of functions that are called: touched when they are
LOCAL_STACK = 1 << 16  # bytes of a thread for the variables of functions that are called


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """An array of zeros, aligned to a multiple of ALIGN."""
    memory = np.zeros(size + ALIGN, np.uint8)
    shift = -address_of(memory) % ALIGN
    return memory[shift : shift + size]


def local_bytes_of(program: Program, stack: int = 0) -> int:
    """Bytes of a thread's local memory: its kernel's variables, and a stack for those of functions.

    stack: what the machine's code takes in their place, as the assembler says.
    """
    own = max(program.entry_code.local_bytes, stack)
    return -(-own // 16) * 16 + (LOCAL_STACK if program.has_calls else 0)


@fact
def reserved_bytes_of(program: Program) -> int:
    """Bytes of shared memory that a block has for the system besides, where the kernel asks where they are."""
    asks = any(
        name.startswith("%reserved_smem_offset")
        for instruction in instructions_of(program)
        for name in read(instruction)
    )
    return RESERVED_BYTES if asks else 0


class BlockState:
    """The memory of a block that runs: its own state, its warps', shared and local memory."""

    def __init__(self, warps: int, warp_bytes: int, shared_bytes: int, local_bytes: int) -> None:
        self.memory = aligned(BLOCK_BYTES + warps * warp_bytes)
        self.shared = aligned(max(ALIGN, shared_bytes))
        self.local = aligned(max(ALIGN, local_bytes * LANES * warps))
        self.block = self.memory[: BLOCK.itemsize].view(BLOCK)[0]
        self.block["shared"], self.block["rounds"] = address_of(self.shared), ROUNDS
        self.warps = [
            self.memory[start : start + WARP.itemsize].view(WARP)[0]
            for start in range(BLOCK_BYTES, BLOCK_BYTES + warps * warp_bytes, warp_bytes)
        ]
        for number, warp in enumerate(self.warps):
            warp["local"] = address_of(self.local) + number * local_bytes * LANES
        self.address = address_of(self.memory)
        self.join([self], 0)

    def join(self, blocks: "Sequence[BlockState]", rank: int) -> None:
        """Make this the block of a rank in a cluster."""
        self._peers = np.array([each.address for each in blocks], np.uint64)
        self.block["cluster_rank"], self.block["cluster_size"] = rank, len(blocks)
        self.block["peers"] = address_of(self._peers)


class LaunchState:
    """Everything that the code of a launch reads and writes, except the state of its blocks."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of a launch
        self,
        program: Program,
        memory: DeviceMemory,
        symbols: dict[str, int],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        parameters: bytes,
        dynamic_shared: int,
        processors: int,
        textures: bytes = b"",
        clock: DeviceClock | None = None,
        cluster: tuple[int, int, int] | None = None,
    ) -> None:
        """symbols: virtual addresses of the module's variables. parameters: as the kernel takes them.

        textures: rows of TEXTURE, one behind the other. clock: what device code reads; a new one if left out. cluster:
        blocks of a cluster in x, y, z, of which those of the grid are multiples; None for a launch without clusters.
        """
        self._clock = (clock or DeviceClock()) if program.times else None
        self.textures = np.frombuffer(textures, TEXTURE)
        self.program, self.memory, self.grid, self.shape = program, memory, grid, block
        self.parameters, self.symbols = parameters, symbols
        self.blocks = grid[0] * grid[1] * grid[2]
        self.cluster = cluster or (1, 1, 1)
        self.threads = block[0] * block[1] * block[2]
        self.warps = -(-self.threads // LANES)
        self.shared_bytes = program.dynamic_offset + dynamic_shared if dynamic_shared else program.shared_bytes
        own, reserved = self.shared_bytes, reserved_bytes_of(program)
        if reserved:
            self.shared_bytes = -(-own // ALIGN) * ALIGN + reserved
        calls = program.has_calls
        entry = program.entry_code
        self.local_bytes = local_bytes_of(program)
        self.entry_bytes = -(-entry.frame_bytes // ALIGN) * ALIGN  # of a warp's activation of the kernel
        self.warp_bytes = WARP_BYTES + self.entry_bytes + (CALL_STACK if calls else 0)
        self._kept: list[npt.NDArray[Any]] = []
        self._whole = aligned(LAUNCH.itemsize)
        self.launch, self.address = self._whole.view(LAUNCH)[0], address_of(self._whole)
        fields: dict[str, Any] = {
            "grid": grid,
            "block": block,
            "parameters": self._keep(np.frombuffer(parameters.ljust(8, b"\0") + bytes(8), np.uint8).copy()),
            "caches": self._keep(self.no_caches()),
            "symbols": self._keep(np.array([symbols[name] for name in program.symbols] or [0], np.uint64)),
            "shared_bytes": self.shared_bytes,
            "reserved_bytes": self.shared_bytes - own,
            "local_bytes": self.local_bytes,
            "warps": self.warps,
            "warp_bytes": self.warp_bytes,
            "frame_bytes": self.entry_bytes,
            "arena_bytes": self.warp_bytes - WARP_BYTES,
            "living": self._keep(_living(self.threads)),
            "thread_ids": self._keep(_thread_ids(block)),
            "entry_local": -(-entry.local_bytes // 16) * 16,
            "fuel": program.fuel,
            "turn_end": -1,
            "cluster": self.cluster,
            "is_clustered": int(cluster is not None),
            "processors": processors,
            "warp_threads": self.threads,
            "log_limit": np.iinfo(np.uint64).max,
            "textures": self._keep(self.textures),
            "texture_count": len(self.textures),
            "timing": self._clock.begin(self.warps, sum(each.bytes for each in memory.allocations))
            if self._clock
            else 0,
        }
        for name, value in fields.items():
            self.launch[name] = value
        self.parameter_bytes = len(parameters)
        self._workspace = aligned(GRID_WORKSPACE_BYTES)
        self.map_memory()

    def map_memory(self) -> None:
        """Give the code the current allocations, which may change between two calls of it."""
        others = [(PARAMETER_WINDOW, self.parameter_bytes, int(self.launch["parameters"]), CONSTANT)]
        if self.program.meets_as_grid:
            others.append((GRID_WORKSPACE, GRID_WORKSPACE_BYTES, address_of(self._workspace), 0))
        self._table = self.memory.table(*others)
        self.launch["allocations"], self.launch["allocation_count"] = address_of(self._table), len(self._table)

    @property
    def touched(self) -> dict[int, bool]:
        """Allocations that were accessed since they were mapped, by their addresses; whether they were written to."""
        written = TOUCHED_AND_WRITTEN & ~TOUCHED
        rows = zip(self._table["low"].tolist(), self._table["flags"].tolist(), strict=True)
        return {low: bool(flags & written) for low, flags in rows if flags & TOUCHED}

    def bytes_at(self, address: int, size: int) -> bytes:
        """The bytes at an address of global memory; none if no allocation has it."""
        for row in self._table:
            if row["low"] <= address < row["low"] + row["bytes"]:
                return ctypes.string_at(int(row["host"]) + address - int(row["low"]), size)
        return b""

    def no_caches(self) -> npt.NDArray[Any]:
        """CACHE[accesses], all empty."""
        caches = np.zeros(max(1, len(self.program.accesses)), CACHE)
        caches["low"] = np.iinfo(np.uint64).max
        return caches

    def forget(self) -> None:
        """What accesses met last may be another block's shared memory."""
        self._caches[:] = self.no_caches()

    def for_another_core(self) -> "LaunchState":
        """The same launch, for blocks that run at the same time as others: what an access met last is its own."""
        other = copy.copy(self)
        other._kept = [*self._kept]
        other._whole = aligned(LAUNCH.itemsize)
        other._whole[:] = self._whole
        other.launch, other.address = other._whole.view(LAUNCH)[0], address_of(other._whole)
        other.launch["caches"] = other._keep(self.no_caches())
        return other

    @property
    def cluster_blocks(self) -> int:
        """The number of blocks in a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def clusters(self) -> Iterator[tuple[int, ...]]:
        """The numbers of the blocks of each cluster, by rank; clusters in the order of their first blocks' numbers."""
        yield from clusters_of(self.grid, self.cluster)

    def new_block(self) -> BlockState:
        """Allocate the memory of a block."""
        return BlockState(self.warps, self.warp_bytes, self.shared_bytes, self.local_bytes)

    def _keep(self, array: npt.NDArray[Any]) -> int:
        start = aligned(array.nbytes)
        address = address_of(start)
        ctypes.memmove(address, array.tobytes(), array.nbytes)
        self._kept.append(start)
        if array.dtype == CACHE:
            self._caches = start.view(CACHE)
        return address


@lru_cache(maxsize=64)
def _living(threads: int) -> npt.NDArray[np.uint32]:
    """uint32[warps]: the lanes of each warp of a block that are there, a bit each."""
    counts = np.minimum(threads - np.arange(-(-threads // LANES)) * LANES, LANES)
    masks: npt.NDArray[np.uint32] = ((np.uint64(1) << counts.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
    return masks


@lru_cache(maxsize=64)
def _thread_ids(shape: tuple[int, int, int]) -> npt.NDArray[np.int32]:
    """int32[warps, 3, LANES]: the index of each lane's thread along x, y and z."""
    x, y, z = shape
    warps = -(-x * y * z // LANES)
    linear = np.arange(warps * LANES, dtype=np.int64)
    ids = np.stack([linear % x, linear // x % y, linear // (x * y)]).astype(np.int32)
    return np.ascontiguousarray(ids.reshape(3, warps, LANES).transpose(1, 0, 2))


def clusters_of(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> Iterator[tuple[int, ...]]:
    """The numbers of the blocks of each cluster, by rank; clusters in the order of their first blocks' numbers.

    grid, cluster: blocks along each axis; those of the grid are multiples.
    """
    (x, y, z), (width, height, _) = cluster, grid
    counts = [size // each for size, each in zip(grid, cluster, strict=True)]
    for number in range(counts[0] * counts[1] * counts[2]):
        left, top, near = number % counts[0], number // counts[0] % counts[1], number // (counts[0] * counts[1])
        yield tuple(
            ((near * z + k) * height + top * y + j) * width + left * x + i
            for k in range(z)
            for j in range(y)
            for i in range(x)
        )

"""What decides how a block goes on: places, registers and local memory of its threads, barriers, shared memory."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.launch import BlockState, LaunchState
from simtmm.cuda.execution.layout import BLOCK, BLOCK_BYTES, LANES, WARP, WARP_BYTES, activation_field
from simtmm.cuda.execution.livelock.deciding import deciding, loop_of
from simtmm.cuda.ptx.types import bits_of

Bytes = npt.NDArray[np.uint8]

# Whose turn it is decides when threads go on, and not how; nor do counted looks at an mbarrier in code that is watched.
_TURNS_OF_BLOCK, _TURNS_OF_WARP = ("next", "rounds", "running"), ("tired", "ran", "polls")


class Snapshot:
    """Blocks of a launch as they were at a moment."""

    def __init__(self, state: LaunchState, blocks: Sequence[BlockState]) -> None:
        self._state = state
        self.numbers = numbers_of(blocks)
        self._taken = [[part.copy() for part in _parts(state, block)] for block in blocks]

    def is_now(self, blocks: Sequence[BlockState]) -> bool:
        """Whether these are the same blocks, and all that decides how they go on is as it was."""
        return self.numbers == numbers_of(blocks) and all(
            self._is_alike(block, taken) for block, taken in zip(blocks, self._taken, strict=True)
        )

    def _is_alike(self, block: BlockState, taken: list[Bytes]) -> bool:
        now = _parts(self._state, block)
        if [part.shape for part in now] != [part.shape for part in taken]:
            return False
        if any(not np.array_equal(a, b) for a, b in zip(now[1:], taken[1:], strict=True)):
            return False
        differs = np.flatnonzero(now[0] != taken[0])
        return not len(differs) or bool(_may_differ(self._state, block)[differs].all())


def numbers_of(blocks: Sequence[BlockState]) -> list[int]:
    """Their numbers in the grid."""
    return [int(block.block["number"]) for block in blocks]


def _parts(state: LaunchState, block: BlockState) -> list[Bytes]:
    """Views of all memory that is the block's own. The first: the block, its warps, and activations of the kernel."""
    found = [block.memory if not state.program.has_calls else _without_stacks(state, block)]
    found.append(block.shared[: state.shared_bytes])
    if state.local_bytes:
        local = block.local[: state.warps * LANES * state.local_bytes].reshape(state.warps, LANES, state.local_bytes)
        found += [local[number, :, : int(warp["local_top"])] for number, warp in enumerate(block.warps)]
    if state.program.has_calls:
        for number, warp in enumerate(block.warps):
            start = BLOCK_BYTES + number * state.warp_bytes + WARP_BYTES
            found.append(block.memory[start + state.entry_bytes : start + int(warp["top"])])
    return found


def _without_stacks(state: LaunchState, block: BlockState) -> Bytes:
    """The block and its warps, each with the activation of the kernel alone."""
    rows = block.memory[BLOCK_BYTES:].reshape(state.warps, state.warp_bytes)[:, : WARP_BYTES + state.entry_bytes]
    return np.concatenate([block.memory[:BLOCK_BYTES], rows.reshape(-1)])


def _may_differ(state: LaunchState, block: BlockState) -> npt.NDArray[np.bool_]:
    """Of the first part's bytes, those that decide nothing."""
    found = np.zeros(BLOCK_BYTES + state.warps * (WARP_BYTES + state.entry_bytes), bool)
    for name in _TURNS_OF_BLOCK:
        _mark(found, 0, BLOCK, name)
    for number, warp in enumerate(block.warps):
        start = BLOCK_BYTES + number * (WARP_BYTES + state.entry_bytes)
        for name in _TURNS_OF_WARP:
            _mark(found, start, WARP, name)
        for place, size in _idle_registers(state, block, warp):
            found[start + WARP_BYTES + place : start + WARP_BYTES + place + size] = True
    return found


def _mark(found: npt.NDArray[np.bool_], start: int, structure: np.dtype[np.void], name: str) -> None:
    assert structure.fields is not None
    kind, offset = structure.fields[name][:2]
    found[start + offset : start + offset + kind.itemsize] = True


def _idle_registers(state: LaunchState, block: BlockState, warp: np.void) -> list[tuple[int, int]]:
    """Places in the kernel's activation, and their sizes, of registers that decide nothing for any thread of a warp."""
    code = state.program.entry_code
    living = int(warp["living"])
    loops = {loop_of(code, place_in_kernel(state, block, warp, lane)) for lane in range(LANES) if living >> lane & 1}
    decide = frozenset().union(*(deciding(code, loop) for loop in loops))
    sizes = {name: 4 if kind == "pred" else LANES * max(1, bits_of(kind) // 8) for name, kind in code.registers.items()}
    return [(place, sizes[name]) for name, place in code.frame.places.items() if name not in decide]


def place_in_kernel(state: LaunchState, block: BlockState, warp: np.void, lane: int) -> int:
    """The kernel's block of code at which a thread is, or to which the function returns that it has called there."""
    kernels = block.address + BLOCK_BYTES + int(warp["number"]) * state.warp_bytes + WARP_BYTES
    number, activation = int(warp["pc"][lane]), int(warp["activation"][lane])
    while activation != kernels:
        number = activation_field(activation, "behind")
        activation = activation_field(activation, "parent")
    return number

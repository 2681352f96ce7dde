"""A kernel as its machine code has it, ready to run; and whether it does what its PTX does."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.compilers.disassembly import disassembled
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.program import Program
from simtmm.cuda.execution.run import SlowError
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.sass.kernel import LiftedKernel, lifted_kernel
from simtmm.errors import CompilerError, DeadlockError, RecordingError, SassError

THREADS = 1 << 14  # of the first blocks, in which machine code and PTX are compared,
MOST_COMPARED = 1 << 29  # bytes of arrays that are, at most
SECONDS = 5.0  # that PTX may take; and machine code, beyond so many times what PTX has taken:
SLOWER = 20  # that of many lines is not optimised
# A shuffle or a vote of machine code waits for nobody: the compiler has ensured that lanes are together. So lanes
# that go round a loop for long let the others of their warp go on much later than they do in PTX.
LONG_TURN = 1 << 26
PIECE = 1 << 20  # bytes of memory that are compared, kept and laid back together
_Changes = dict[int, npt.NDArray[np.uint8]]  # pieces of a memory, by where they begin
CLOSE = 1e-3  # relative: ptxas joins products and sums of PTX, and sums come in another order; a misread one is far off


class MachineFunction(KernelFunction):
    """A kernel whose program is lifted from its machine code; everything else is as of its PTX."""

    def __init__(self, plain: KernelFunction) -> None:
        """plain: the kernel as PTX.

        Raises SassError, and CompilerError where it can't be assembled.
        """
        super().__init__(plain.linked, plain.entry)
        units = plain.linked.units
        if len(units) > 1:
            raise SassError("is linked of several modules")
        unit = units[0]
        resources = plain.linked.resources_of(plain.entry)
        if resources is None:
            raise SassError("the assembler does not say what it takes")
        self._static_shared = resources.shared_bytes
        found = disassembled(unit.ptx, unit.target, unit.assembler, unit.name)
        self.lifted: LiftedKernel = lifted_kernel(
            plain.linked.module, plain.entry, found, unit.architecture, resources.local_bytes
        )

    @cached_property
    def program(self) -> Program:
        """Translated."""
        program = Program(self.lifted.module, self.entry, self.linked.place, LONG_TURN)
        self._assembly = program.assembly()
        return program

    def shared_bytes(self, dynamic: int) -> int:
        """What the machine gives a block, without what is the driver's."""
        return -(-self._static_shared // 16) * 16 + dynamic if dynamic else self._static_shared

    @property
    def at_once(self) -> list[str]:
        """Opcodes, but for loads, whose results a scoreboard signals: how long they take is not known."""
        return self.lifted.at_once

    @property
    def looks_at_time(self) -> bool:
        """Whether it reads a clock, so that no two runs are alike."""
        return any("CLOCK" in each.text or "TIMER" in each.text for each in self.lifted.listing.instructions)


@dataclass(frozen=True)
class Comparison:
    """What came of running a kernel both ways. differs: where, in words; None where it does not. blocks: that ran."""

    differs: str | None
    blocks: int


def compare(device: Device, machine: MachineFunction, plain: KernelFunction, launch: DeviceLaunch) -> Comparison | None:
    """Run the first blocks of a launch as machine code and as PTX, and compare all memory; which is as before then.

    Gives None where that can't be done: too much memory, a clock, blocks that wait for others which don't run, or that
    take too long as PTX. Raises RecordingError where a thread does what it must not, as PTX has it.
    """
    device.symbols(plain.linked)  # its variables are placed, so that they are compared, too
    kept = [each for each in device.memory.allocations if not (each.constant or each.read_only)]
    arrays = [each.data for each in kept]
    if sum(array.nbytes for array in arrays) > MOST_COMPARED or machine.looks_at_time:
        return None
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    grid = launch.grid[0] * launch.grid[1] * launch.grid[2]
    blocks = min(grid, max(1, THREADS // threads))
    found: list[list[_Changes]] = []
    before = [array.copy() for array in arrays]
    allowed = 2 * SECONDS  # compiled quickly, it runs half as fast
    for function in (plain.quick, machine):
        began = time.monotonic()
        try:
            assert function.code  # not to be compiled in that time
            device.launch(function, launch, blocks, lambda text: None, allowed)
            found.append([_changes(array, old) for array, old in zip(arrays, before, strict=True)])
            allowed = SECONDS + SLOWER * (time.monotonic() - began)
        except SlowError:
            # ptxas may release a lock behind where the lanes that want it are waited for, which hangs on a GPU as well.
            return Comparison(f"it has not ended after {allowed:.0f} s", blocks) if function is machine else None
        except RecordingError as error:
            if function is machine:
                return Comparison(str(error), blocks)
            if isinstance(error, DeadlockError) and blocks < grid:  # they may wait for blocks that did not run
                return None
            raise
        finally:
            for array, old in zip(arrays, before, strict=True):
                for start in _changes(array, old):
                    array[start : start + PIECE] = old[start : start + PIECE]
    for allocation, old, expected, ours in zip(kept, before, *found, strict=True):
        if _are_equal(old, expected, ours):
            continue
        kind = allocation.array.dtype if allocation.array is not None else np.dtype(np.uint8)
        place = _difference(_applied(old, expected), _applied(old, ours), kind)
        if place is not None:
            return Comparison(f"{allocation.name}, element {place // kind.itemsize}", blocks)
    return Comparison(None, blocks)


def _changes(array: npt.NDArray[np.uint8], before: npt.NDArray[np.uint8]) -> _Changes:
    """The pieces of a memory that are not as they were: few of a large one, as few blocks run."""
    pieces = {}
    for start in range(0, len(array), PIECE):
        piece = array[start : start + PIECE]
        if not np.array_equal(piece, before[start : start + PIECE]):
            pieces[start] = piece.copy()
    return pieces


def _are_equal(before: npt.NDArray[np.uint8], expected: _Changes, ours: _Changes) -> bool:
    """Whether a memory is the same with either's changes."""

    def piece(changes: _Changes, start: int) -> npt.NDArray[np.uint8]:
        return changes.get(start, before[start : start + PIECE])

    return all(np.array_equal(piece(expected, start), piece(ours, start)) for start in {**expected, **ours})


def _applied(before: npt.NDArray[np.uint8], changes: _Changes) -> npt.NDArray[np.uint8]:
    """A memory with its changes."""
    after = before.copy()
    for start, piece in changes.items():
        after[start : start + PIECE] = piece
    return after


def _difference(expected: npt.NDArray[np.uint8], ours: npt.NDArray[np.uint8], kind: np.dtype[Any]) -> int | None:
    """The first byte at which two contents differ by more than rounding; None if they don't."""
    if np.array_equal(expected, ours):
        return None
    kinds: Sequence[Any] = [kind] if kind.kind in "fc" else [np.float32, np.float64] if kind.itemsize == 1 else []
    for real in kinds:
        size = np.dtype(real).itemsize
        whole = len(expected) // size * size
        a, b = expected[:whole].view(real), ours[:whole].view(real)
        with np.errstate(all="ignore"):
            near = np.isclose(a, b, rtol=CLOSE, atol=CLOSE * _scale(a), equal_nan=True)
        if near.all():
            return None
    return int(np.flatnonzero(expected != ours)[0])


def _scale(values: npt.NDArray[Any]) -> float:
    """How large numbers are that sums may have cancelled from."""
    with np.errstate(all="ignore"):
        finite = np.abs(values[np.isfinite(values)])
    return float(finite.mean()) if len(finite) else 0.0


def machine_function(plain: KernelFunction) -> tuple[MachineFunction | None, str]:
    """A kernel as machine code; or None, and why it can't be had."""
    try:
        if plain.program.allocates:  # so that it can't be run both ways: what it frees would be gone
            return None, "allocates memory"
        function = MachineFunction(plain)
        assert function.program
    except (SassError, CompilerError) as error:
        return None, str(error)
    return function, ""

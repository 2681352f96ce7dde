"""What both recorders share: the arrays of a program as they lie virtually, a launch's arguments, words for faults."""

import mmap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, shown
from simtmm.kernel import Array, Kernel, Launch
from simtmm.recorder.shared_file import SharedFile
from simtmm.trace.schema import ALIGNMENT, TraceArray, TraceLaunch, TraceSite

MOST_ARRAYS = 1024
UNUSED = 0xA5  # a byte between arrays


class GlobalMemory:
    """The arrays of a program, one after another in one piece of memory, as they lie virtually.

    file: what other processes may map, where the memory is shared; None else.
    """

    def __init__(self, inputs: Mapping[str, Array], shared: bool = False) -> None:
        if len(inputs) > MOST_ARRAYS:
            raise KernelError(f"{len(inputs)} arrays: at most {MOST_ARRAYS} can be registered")
        self.bases: dict[str, int] = {}
        end = ALIGNMENT
        for name, array in inputs.items():
            self.bases[name] = end
            end += (array.nbytes // ALIGNMENT + 1) * ALIGNMENT  # a gap: the pointer to an array's end is its own
        native = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("=")) for name, array in inputs.items()}
        # Kept: the arrays are views of it. Page alignment gives kernels the alignment a GPU would.
        if shared:
            self.file: SharedFile | None = SharedFile(-(-end // mmap.PAGESIZE) * mmap.PAGESIZE)
            ends = [self.bases[name] + array.nbytes for name, array in inputs.items()]
            gaps = list(zip([0, *ends], [*self.bases.values(), self.file.size], strict=True))
            unused = [(first, bytes([UNUSED]) * (last - first)) for first, last in gaps]
            parts = [(self.bases[name], array.reshape(-1).view(np.uint8)) for name, array in native.items()]
            self._memory = np.frombuffer(self.file.filled([*unused, *parts]), dtype=np.uint8)
            self._unused = np.concatenate([np.arange(*gap) for gap in gaps])
        else:
            self.file = None
            memory = np.zeros(end + mmap.PAGESIZE, dtype=np.uint8)
            shift = -memory.ctypes.data % mmap.PAGESIZE
            self._memory = memory[shift : shift + end]
            self._unused = np.empty(0, np.int64)
            for name, array in native.items():
                self._memory[self.bases[name] :][: array.nbytes] = array.reshape(-1).view(np.uint8)
        self.origin = self._memory.ctypes.data  # the host address of virtual address 0
        self.whole = self._memory[:end]
        self.arrays: dict[str, Array] = {
            name: self.whole[self.bases[name] :][: array.nbytes].view(array.dtype).reshape(inputs[name].shape)
            for name, array in native.items()
        }

    def overrun(self) -> str | None:
        """The array behind which something was written that is no array's, in words; None where nothing was."""
        written = self._unused[self._memory[self._unused] != UNUSED]
        if not len(written):
            return None
        before = [name for name, base in self.bases.items() if base <= written[0]]
        return f"behind array {before[-1]}" if before else f"before array {next(iter(self.bases))}"

    def address(self, name: str) -> int:
        """Where the array lies in this process."""
        return self.origin + self.bases[name]

    def table(self) -> list[TraceArray]:
        """The arrays as the trace describes them."""
        return [
            TraceArray(name, self.bases[name], array.nbytes, array.dtype.str, tuple(array.shape))
            for name, array in self.arrays.items()
        ]


def trace_launch(launch: Launch) -> TraceLaunch:
    """The launch as the trace describes it."""
    grid, block = launch.grid, launch.block
    assert isinstance(grid, tuple)
    assert isinstance(block, tuple)
    return TraceLaunch(
        launch.kernel,
        (grid[0], grid[1], grid[2]),
        (block[0], block[1], block[2]),
        launch.registers_per_thread,
        launch.shared_memory_bytes,
    )


def argument_value(
    argument: Any, kind: str, size: int, bases: Mapping[str, int], origin: int, where: str
) -> npt.NDArray[Any]:
    """One argument in the form the kernel takes: a pointer, or a number of the right width, in an array of one.

    kind, size: as the kernel's signature says: p(ointer), i(nteger), u(nsigned), f(loat), b(ool), s(tructure), and
    bytes. bases: virtual addresses of the arrays; origin: the address that virtual address 0 has. where: how errors
    begin.

    Raises KernelError.
    """
    if kind == "p":
        if not isinstance(argument, str) or argument not in bases:
            raise KernelError(f"{where} = {argument!r}: must be the name of an array: {', '.join(bases)}")
        return np.array([origin + bases[argument]], dtype=np.uint64)
    if kind == "s":
        raise KernelError(f"{where}: structures can't be passed by value; pass an array of one")
    wanted = np.dtype({"b": "?"}.get(kind, f"{kind}{size}"))
    if not isinstance(argument, (int, float, np.integer, np.floating, np.bool_)):
        raise KernelError(f"{where} = {shown(argument)}: must be a number ({wanted})")
    if kind == "f":
        if np.isfinite(argument) and abs(float(argument)) > float(np.finfo(wanted).max):
            raise KernelError(f"{where} = {argument!r}: does not fit {wanted}")
    elif not np.isfinite(argument) or argument != int(argument):
        raise KernelError(f"{where} = {argument!r}: must be a whole number ({wanted})")
    if kind in "iu" and not np.iinfo(wanted).min <= int(argument) <= np.iinfo(wanted).max:
        raise KernelError(f"{where} = {argument!r}: does not fit {wanted}")
    return np.array([argument], dtype=wanted)


def fault_place(kernel: Kernel, sites: Sequence[TraceSite], number: int, block: int, thread: int) -> str:
    """Where something went wrong: file, line and site if that is known (number >= 0), block and thread."""
    where = f"block {block}, thread {thread}"
    if number < 0:
        return where
    site = sites[number]
    return f"{kernel.folder / site.file}:{site.line}: site {site.site} `{site.source}`, {where}"


def access_fault(
    code: int, array: int, index: int, count: int, arrays: Sequence[str], sites: Sequence[TraceSite]
) -> str:
    """What an access did wrong, by the first four codes of device_cpu.cuh and device_gpu.cuh."""
    match code:
        case 1:
            return f"index {index} is out of bounds: {arrays[array]} has {count} elements of this type"
        case 2:
            return "the pointer does not point into any registered array"
        case 3:
            return f"index {index} is out of bounds: `{sites[array].source}` has {count} elements"
        case _:
            return f"OP and JOIN take no negative number, here {index}"

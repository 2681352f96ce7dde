"""The arrays of a program, as they lie in virtual memory and in this computer's."""

import mmap
from collections.abc import Mapping

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Array
from simtmm.recorder.cpu.shared_file import SharedFile
from simtmm.trace.schema import ALIGNMENT, TraceArray

MOST_ARRAYS = 1024
UNUSED = 0xA5  # a byte between arrays


class GlobalMemory:
    """The arrays of a program, one after another in one piece of memory, as they lie virtually.

    file: what other processes may map, where the memory is shared; None else.
    before: likewise the arrays that it was filled from, which nothing changes.
    """

    def __init__(self, inputs: Mapping[str, Array], shared: bool = False) -> None:
        """Place arrays, each aligned, with a gap behind it.

        inputs: arrays by name, of any shape, in the order of registration.
        shared: whether other processes may map the memory.
        """
        if len(inputs) > MOST_ARRAYS:
            raise KernelError(f"{len(inputs)} arrays: at most {MOST_ARRAYS} can be registered")
        self.bases: dict[str, int] = {}
        end = ALIGNMENT
        for name, array in inputs.items():
            self.bases[name] = end
            end += (array.nbytes // ALIGNMENT + 1) * ALIGNMENT  # a gap: the pointer to an array's end is its own
        native = {name: _own(array) for name, array in inputs.items()}
        self.before = native if shared else None
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
        """Where the array lies in this process.

        name: of an array.
        """
        return self.origin + self.bases[name]

    def table(self) -> list[TraceArray]:
        """The arrays as the trace describes them."""
        return [
            TraceArray(name, self.bases[name], array.nbytes, array.dtype.str, tuple(array.shape))
            for name, array in self.arrays.items()
        ]


def _own(array: Array) -> Array:
    """The same if it lies as C has it, in memory of its own, in the bytes' native order; else such a copy."""
    native = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")  # the same anew would be a copy
    return np.require(array, native, ["C", "W", "O"])

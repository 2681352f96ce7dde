"""PTX on a GPU: a module that the driver has loaded through CuPy, and its kernels."""

import ctypes
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.ptx.syntax import Instruction, Variable
from simtmm.errors import KernelError
from simtmm.recorder.gpu.device import Device
from simtmm.temporary import own_prefix

STATIC_ROOM = 48 * 1024  # bytes of shared memory that a block has without asking for more
_GRID_POINTER = "%envreg"  # registers that tell where the blocks of a grid meet


class PtxModule:
    """A module that is on the device."""

    def __init__(self, device: Device, ptx: str, where: str) -> None:
        """where: begins errors."""
        self._device = device
        folder = tempfile.mkdtemp(prefix=own_prefix("ptx"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)  # not before: CuPy may read it again
        path = Path(folder) / "module.ptx"
        path.write_text(ptx, encoding="utf-8")
        with device.told(where):
            self._module = device.cupy.RawModule(path=str(path))

    def kernel(self, entry: str, parameters: Sequence[Variable], meets: bool = False) -> "PtxKernel":
        """A kernel by its name in PTX, and what it takes. meets: whether its blocks wait for one another."""
        return PtxKernel(self._device, self._module.get_function(entry), parameters, meets)

    def variable(self, name: str, count: int, dtype: Any) -> Any:
        """A variable of global memory, as an array on the device."""
        return self._device.view(self.address(name), count, dtype)

    def address(self, name: str) -> int:
        """Where such a variable lies."""
        return int(self._module.get_global(name).ptr)

    def variables(self, linked: LinkedModule) -> dict[str, Any]:
        """All of those of the program, as bytes on the device."""
        found = linked.module.variables.items()
        return {
            name: self.variable(name, each.size, np.uint8)
            for name, each in found
            if each.space == "global" and not each.extern and each.size
        }


class PtxKernel:
    """A kernel of such a module, which takes the bytes of its parameters as `simtmm.cuda.parameters.pack` gives them.

    raw: CuPy's, whose attributes it has.
    """

    def __init__(self, device: Device, raw: Any, parameters: Sequence[Variable], meets: bool) -> None:
        self._device, self.raw, self._meets = device, raw, meets
        self._places: list[int] = []
        end = 0
        for each in parameters:
            end = -(-end // each.align) * each.align
            self._places.append(end)
            end += each.size

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], parameters: bytes, *, shared_mem: int = 0
    ) -> None:
        """Launch it. grid, block: one to three sizes. shared_mem: dynamic shared memory [bytes]."""
        held = np.frombuffer(parameters.ljust(8, b"\0"), np.uint8).copy()
        pointers = (ctypes.c_void_p * max(1, len(self._places)))(*(held.ctypes.data + at for at in self._places))
        cuda = self._device.cupy.cuda
        launch = cuda.driver.launchCooperativeKernel if self._meets else cuda.driver.launchKernel
        given = [*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared_mem, cuda.get_current_stream().ptr]
        last = [ctypes.addressof(pointers)] if self._meets else [ctypes.addressof(pointers), 0]
        launch(self.raw.kernel.ptr, *given, *last)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Dynamic shared memory that a launch may have [bytes]."""
        return int(self.raw.max_dynamic_shared_size_bytes)

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        self.raw.max_dynamic_shared_size_bytes = size


class GpuFunction(KernelFunction):
    """A kernel that runs on a GPU: nothing of it is translated for this computer."""

    @property
    def program(self) -> Program:
        """What its sites are, and where its variables stand in a trace."""
        known: Program | None = self.__dict__.get("_program")
        if known is None:
            known = self.__dict__["_program"] = Program(self.linked.module, self.entry, self.linked.place)
        return known


def meets_as_grid(linked: LinkedModule, entry: str) -> bool:
    """Whether a kernel, or a function of its module, has its blocks wait for one another (grid.sync)."""
    names = [entry, *(name for name in linked.module.functions if not linked.module.functions[name].entry)]
    return any(
        isinstance(item, Instruction) and _GRID_POINTER in item.text
        for name in names
        for item in linked.module.functions[name].body or ()
    )


def only_unit(linked: LinkedModule) -> str:
    """The PTX of a module that is linked of one alone. Raises KernelError for another."""
    if len(linked.units) > 1:
        names = ", ".join(unit.name for unit in linked.units)
        raise KernelError(f"{names}: several files can't be linked for a GPU: include them in one")
    return linked.units[0].ptx

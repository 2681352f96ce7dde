"""Launch: one launch of a __global__ function, with its sizes and what a block of it needs."""

import math
import re
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from simtmm.errors import KernelError, shown
from simtmm.renamed import tell

MOST_BLOCKS = 2**31 - 1
MOST_THREADS = 2**16


@cache
def bare_name(name: str) -> str:
    """A kernel's name without its namespaces, parameters and template arguments: "saxpy".

    name: as the compiler prints it: "void ns::saxpy<float>(int, float*)".
    """
    rest = name.removeprefix("_ZN").removeprefix("_Z") if name.startswith("_Z") else ""
    found = name
    while sized := re.match(r"L?(\d{1,9})", rest):
        start = sized.end()
        end = start + int(sized[1])
        found, rest = rest[start:end], rest[end:]
        if not name.startswith("_ZN"):
            break
    return found


@dataclass(frozen=True, init=False)
class Launch:
    """One launch of a __global__ function.

    kernel: the function's name.
    arguments: names of arrays, and numbers.
    grid, block: sizes in x, y, z.
    registers_per_thread: 32-bit registers of a thread, for occupancy (Eq 5.2).
    shared_memory_bytes: shared memory of a block [bytes], for occupancy.
    local_memory_bytes: the old name of `shared_memory_bytes`.

    Raises KernelError.
    """

    kernel: str
    arguments: tuple[str | int | float | np.generic, ...]
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    registers_per_thread: int = 0
    shared_memory_bytes: int = 0

    def __init__(
        self,
        kernel: str,
        arguments: tuple[str | int | float | np.generic, ...],
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        registers_per_thread: int = 0,
        shared_memory_bytes: int = 0,
        local_memory_bytes: int | None = None,
    ) -> None:
        if local_memory_bytes is not None:
            if shared_memory_bytes:
                raise KernelError(
                    f"launch of {shown(kernel)}: local_memory_bytes is the old name of shared_memory_bytes: give "
                    "only one of them"
                )
            tell(f"launch of {shown(kernel)}", "local_memory_bytes", "shared_memory_bytes")
            shared_memory_bytes = local_memory_bytes
        given = (kernel, arguments, grid, block, registers_per_thread, shared_memory_bytes)
        for field_, value in zip(fields(self), given, strict=True):
            object.__setattr__(self, field_.name, value)
        self._check()

    @property
    def local_memory_bytes(self) -> int:
        """the old name of `shared_memory_bytes`."""
        return self.shared_memory_bytes

    def _check(self) -> None:
        where = "launch" if self.kernel == "" else f"launch of {shown(self.kernel)}"  # of a file's only kernel
        if not isinstance(self.kernel, str) or not isinstance(self.arguments, (tuple, list)):
            raise KernelError(f"{where}: must have a function's name and a tuple of arguments")
        for name, most in (("grid", MOST_BLOCKS), ("block", MOST_THREADS)):
            sizes = getattr(self, name)
            sizes = sizes if isinstance(sizes, tuple) else (sizes,)
            if not 1 <= len(sizes) <= 3 or not all(_is_whole(size, 1) for size in sizes):
                raise KernelError(f"{where}: {name} = {shown(sizes)}: must be one to three sizes of at least 1")
            if math.prod(int(size) for size in sizes) > most:
                raise KernelError(f"{where}: {name} = {shown(sizes)}: must be at most {most} in all")
            object.__setattr__(self, name, (*(int(size) for size in sizes), 1, 1)[:3])
        for name in ("registers_per_thread", "shared_memory_bytes"):
            value = getattr(self, name)
            if not _is_whole(value, 0):
                raise KernelError(f"{where}: {name} = {shown(value)}: must be a whole number of at least 0")
            object.__setattr__(self, name, int(value))

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return int(np.prod(self.grid, dtype=np.int64))

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return int(np.prod(self.block, dtype=np.int64))


def _is_whole(value: Any, least: int) -> bool:
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and bool(value >= least)

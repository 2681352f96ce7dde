"""Memory that all threads see: allocations at addresses that the caller chose, and the module's variables."""

import numpy as np

from simtmm.cuda.ptx.syntax import Module, Variable

SHARED_WINDOW = 1 << 40
LOCAL_WINDOW = 1 << 41
PARAM_WINDOW = 1 << 42
FUNCTIONS = 1 << 43


class AccessError(Exception):
    """An access outside of every allocation, or misaligned."""


class Memory:
    """The global and constant space.

    printed: what kernels printed, a string a call. registers: special registers that a driver sets, such as %envreg1
    and %envreg2, the address of the workspace of a cooperative launch.
    """

    def __init__(self) -> None:
        self.printed: list[str] = []
        self.variables: dict[str, int] = {}
        self.registers: dict[str, int] = {}
        self._ranges: list[tuple[int, memoryview]] = []

    def allocate(self, array: np.ndarray, address: int) -> None:
        """Let an array (contiguous, of any type) stand at an address; kernels read and write it in place."""
        view = memoryview(array.reshape(-1).view(np.uint8)).cast("B") if array.size else memoryview(b"")
        for start, other in self._ranges:
            if address < start + len(other) and start < address + len(view):
                raise ValueError(f"{address:#x} is allocated already")
        self._ranges.append((address, view))

    def load(self, module: Module, addresses: dict[str, int] | None = None, start: int = 1 << 32) -> None:
        """Place the module's global and constant variables, from `start` on, or where `addresses` has them."""
        placed = []
        for variable in module.variables.values():
            if variable.space not in ("global", "const"):
                continue
            if addresses and variable.name in addresses:
                address = addresses[variable.name]
            else:
                address = start = -(-start // max(256, variable.align)) * max(256, variable.align)
                start += variable.size
            self.variables[variable.name] = address
            placed.append((variable, address))
        for variable, address in placed:
            self.allocate(np.frombuffer(bytearray(self._initial(module, variable)), np.uint8), address)

    def _initial(self, module: Module, variable: Variable) -> bytes:
        held = bytearray(variable.initial or bytes(variable.size))
        for pointer in variable.pointers:
            target = self.variables.get(pointer.symbol.name)
            if target is None:
                target = function_address(module, pointer.symbol.name)
            whole = (target + pointer.symbol.offset).to_bytes(8, "little")
            at = pointer.shift // 8
            held[pointer.offset : pointer.offset + pointer.size] = whole[at : at + pointer.size]
        return bytes(held)

    def find(self, address: int, size: int) -> tuple[memoryview, int]:
        """The array where an access falls, and the offset in it. Raises AccessError."""
        for start, view in self._ranges:
            if start <= address and address + size <= start + len(view):
                return view, address - start
        raise AccessError(f"no allocation has the {size} bytes at {address:#x}")


def function_address(module: Module, name: str) -> int:
    """The address of a function, which a pointer to it holds. Raises KeyError."""
    names = list(module.functions)
    if name not in names:
        raise KeyError(f"{name} is neither a variable nor a function")
    return FUNCTIONS + 16 * (names.index(name) + 1)


def function_at(module: Module, address: int) -> str:
    """The name of the function at an address. Raises AccessError."""
    names = list(module.functions)
    index = (address - FUNCTIONS) // 16 - 1
    if address % 16 or not 0 <= index < len(names):
        raise AccessError(f"no function is at {address:#x}")
    return names[index]


def shared_layout(module: Module) -> tuple[dict[str, int], int]:
    """Offsets of the variables of shared memory, and where those without a size begin [bytes].

    Those of the module come in order of declaration, then those of functions; names of functions' ones hold for that
    function: (function, variable) joined by a slash.
    """
    offsets: dict[str, int] = {}
    dynamic: list[str] = []
    top = 0
    every = [(variable.name, variable) for variable in module.variables.values()]
    for function in module.functions.values():
        every += [(f"{function.name}/{variable.name}", variable) for variable in function.variables]
    for name, variable in every:
        if variable.space != "shared":
            continue
        if variable.size == 0:
            dynamic.append(name)
            continue
        top = -(-top // variable.align) * variable.align
        offsets[name] = top
        top += variable.size
    top = -(-top // 16) * 16
    return offsets | dict.fromkeys(dynamic, top), top

"""An address in words: which element of which array it is, or how far from one."""

import re
from typing import TYPE_CHECKING, Any

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.execution.launches.device_memory import Allocation, DeviceMemory
from simtmm.cuda.execution.launches.launch import LaunchState
from simtmm.cuda.execution.layout import LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW
from simtmm.cuda.execution.translation.function_code import placed
from simtmm.cuda.ptx.flow.origins import UNKNOWN, Origin, origins
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.trace.schema import ALIGNMENT

if TYPE_CHECKING:
    from simtmm.cuda.function import KernelFunction

_NEAR = 4096  # bytes behind or before an array that are told as its elements, where nothing says whose they are
_ALL = (1 << 64) - 1
_SHARED = "shared memory"
_NONE_LAUNCHED = (
    " (its launch gives no dynamic shared memory: --shared, shared_mem= or a number in the launch's brackets)"
)
_MEMORY = {"ld": "reads", "st": "writes", "red": "updates", "atom": "updates"}


def own_name(name: str) -> str:
    """What a variable of a function is called in the source: tile of _ZZ6kernelPfE4tile."""
    found = re.search(r"E(\d+)(\w+)$", name) if name.startswith("_ZZ") else None
    return found.group(2)[: int(found.group(1))] if found else bare_name(name)


def place(
    function: "KernelFunction", state: LaunchState, access: tuple[str, Instruction], address: int, is_wrong: bool
) -> str:
    """An address that an instruction of a function went to, as an index of an array or an offset in its state space.

    is_wrong: whether nothing may lie there: then it is described from the array of the instruction's own pointer.
    """
    came = _origins(function, access) if is_wrong else frozenset()
    pointers = _pointers(function, state, came)
    owner = pointers[0] if len(pointers) == 1 and UNKNOWN not in came else None
    if isinstance(owner, Allocation):
        return _element(function, owner, address)
    if owner is not None:
        name, base, size = owner
        if not base:
            return _behind_null(_signed(address))
        if size:
            return f"byte {_signed(address - base)} of {name}, which has {size:,} bytes of shared memory"
    for window, title, size in (
        (SHARED_WINDOW, _SHARED, state.shared_bytes),
        (LOCAL_WINDOW, "local memory", state.local_bytes),
        (PARAMETER_WINDOW, "the kernel's parameters", int(state.parameter_bytes)),
    ):
        if window <= address < window + WINDOW:
            none = _NONE_LAUNCHED if title == _SHARED and not size else ""
            return f"byte {address - window} of {title}, which has {size:,} bytes{none}"
        if window - WINDOW <= address < window:
            return f"byte {address - window} of {title}"
        if address >= 1 << 63 and window == SHARED_WINDOW:
            return f"address {hex(address)}"
    if address < ALIGNMENT:
        return _behind_null(address)
    return _nearest(function, state.memory, address)


def _behind_null(distance: int) -> str:
    """An address that is made from no pointer."""
    if not distance:
        return "the null pointer"
    where = "behind" if distance > 0 else "before"
    return f"address {hex(distance & _ALL)}, {abs(distance):,} bytes {where} the null pointer"


def _element(function: "KernelFunction", found: Allocation, address: int) -> str:
    """An address as an element of an array, which may have no such."""
    array: Any = found.array
    distance = _signed(address - found.base)
    name = own_name(found.name)
    if array is None or not array.size or found.name in function.linked.module.variables:
        return f"byte {distance} of {name}, which has {found.bytes:,} bytes"
    index, rest = divmod(distance, array.dtype.itemsize)
    beyond = f" and {rest} bytes" if rest else ""
    return f"index {index}{beyond} of {name}, which has {array.size:,} elements ({array.dtype})"


def _nearest(function: "KernelFunction", memory: DeviceMemory, address: int) -> str:
    """An address that nothing says the array of."""
    found = memory.find(address) or memory.nearest(address)
    if found is not None and -_NEAR <= address - found.base < found.bytes + _NEAR:
        return _element(function, found, address)
    where = f"address {hex(address)}, which is not in an array"
    variables = function.linked.module.variables  # the compiler's own strings among them
    others = [each for each in memory.allocations if each.name not in variables and not each.name.startswith("$")]
    found = memory.nearest(address, others)
    if found is None:
        return where
    distance = found.base - address
    if distance > 0:
        return f"{where}, {distance:,} bytes before {own_name(found.name)}"
    return f"{where}, {-distance - found.bytes:,} bytes past the end of {own_name(found.name)}"


def _signed(distance: int) -> int:
    """Of an address that came round the end of memory, how far before."""
    distance &= _ALL
    return distance - (1 << 64) if distance >> 63 else distance


def _origins(function: "KernelFunction", access: tuple[str, Instruction]) -> frozenset[Origin]:
    """What the address of an access may come from; of machine code, those of the same line in its PTX that do alike."""
    name, instruction = access
    module = function.linked.module
    if function.program.module is module:
        return origins(module, name, instruction)
    if instruction.location is None or instruction.opcode not in _MEMORY:
        return frozenset({UNKNOWN})
    alike = [
        item for item in module.functions[function.entry].body or ()
        if isinstance(item, Instruction) and item.location is not None and item.opcode in _MEMORY
        and _MEMORY[item.opcode] == _MEMORY[instruction.opcode] and not item.has("param")
        and (item.location.file, item.location.line) == (instruction.location.file, instruction.location.line)
    ]  # fmt: skip
    return frozenset().union(*(origins(module, function.entry, item) for item in alike)) or frozenset({UNKNOWN})


_Shared = tuple[str, int, int]  # of a variable in shared memory: name, generic address, bytes; 0 of the null pointer


def _pointers(function: "KernelFunction", state: LaunchState, came: frozenset[Origin]) -> list[Allocation | _Shared]:
    """The arrays and variables that these are pointers to."""
    found: dict[int, Allocation | _Shared] = {}
    for origin in came:
        if origin.offset is None:
            if origin.name in state.program.shared:
                base = SHARED_WINDOW + state.program.shared[origin.name]
                found[base] = (own_name(origin.name), base, _shared_bytes(function, origin.name))
                continue
            value = state.symbols.get(origin.name, 0)
        else:
            value, is_pointer = _parameter(function, state, origin)
            if not value and is_pointer:
                found[0] = ("", 0, 0)
        if value and (array := _holder(state.memory, value)) is not None:
            found[array.base] = array
    return list(found.values())


def may_go_to(function: "KernelFunction", state: LaunchState, access: tuple[str, Instruction], address: int) -> bool:
    """Whether an instruction of a function may access what lies at an address, by its state space and its pointers."""
    is_shared = SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW
    space = space_of(access[1])
    if space in ("local", "param", "const") or (space == "shared") > is_shared or (space == "global") > (not is_shared):
        return False
    came = _origins(function, access)
    pointers = _pointers(function, state, came)
    if UNKNOWN in came or not pointers:
        return True
    for pointer in pointers:
        base, size = (pointer.base, pointer.bytes) if isinstance(pointer, Allocation) else pointer[1:]
        if base <= address and (address < base + size or not size):
            return True
    return False


def _shared_bytes(function: "KernelFunction", name: str) -> int:
    """The size of a variable in shared memory; 0 for dynamic memory, and where it is not known."""
    variables = [*function.linked.module.variables.values()]
    for code in function.program.codes:
        variables += code.function.variables
    return next((variable.size for variable in variables if variable.name == name), 0)


def _holder(memory: DeviceMemory, value: int) -> Allocation | None:
    """The array that a pointer is to, which may have been freed."""
    found = memory.find(value) or memory.nearest(value)
    return found if found is not None and found.base <= value < found.base + max(1, found.bytes) else None


def _parameter(function: "KernelFunction", state: LaunchState, origin: Origin) -> tuple[int, bool]:
    """The pointer that a kernel was given, and whether it is declared as one; 0 for a number."""
    assert origin.offset is not None
    parameters = function.parameters
    number = next((number for number, each in enumerate(parameters) if each.name == origin.name), None)
    if number is None or parameters[number].size < 8:
        return 0, False
    declared = function.declared
    kind = declared[number] if declared and len(declared) == len(parameters) else None
    if kind is not None and kind.number_kind:
        return 0, False
    places, _ = placed(parameters)
    at = places[origin.name] + origin.offset
    return int.from_bytes(state.parameters[at : at + 8], "little"), kind is not None and kind.pointers > 0

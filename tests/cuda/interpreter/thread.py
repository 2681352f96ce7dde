"""A thread: frames with registers, local memory, and how operands are read and written."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from simtmm.cuda.ptx.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Register,
    Sink,
    Symbol,
    Variable,
    Vector,
)
from tests.cuda.interpreter import memory as memories
from tests.cuda.interpreter.formats import F32, F64, decode, encode
from tests.cuda.interpreter.types import bits_of

if TYPE_CHECKING:
    from tests.cuda.interpreter.schedule import Block


@dataclass(frozen=True)
class Code:
    """A function's instructions, without labels, and where each label points."""

    instructions: tuple[Instruction, ...]
    labels: dict[str, int]


_CODE: dict[int, tuple[Function, Code]] = {}


def code_of(function: Function) -> Code:
    """The code of a function, which is kept with it."""
    if id(function) not in _CODE or _CODE[id(function)][0] is not function:
        instructions: list[Instruction] = []
        labels = {}
        for item in function.body or ():
            if isinstance(item, Label):
                labels[item.name] = len(instructions)
            else:
                instructions.append(item)
        _CODE[id(function)] = (function, Code(tuple(instructions), labels))
    return _CODE[id(function)][1]


@dataclass
class Frame:
    """A call. base: where its part of local memory begins; offsets: of its variables there."""

    function: Function
    code: Code
    base: int
    offsets: dict[str, int]
    registers: dict[str, int] = field(default_factory=dict)
    pc: int = 0
    returned: tuple[Operand, ...] = ()


class Thread:
    """One thread of a block."""

    def __init__(self, block: "Block", number: int) -> None:
        """number: in the block, x first."""
        width, height, _ = block.launch.block
        self.block, self.number = block, number
        self.index = (number % width, number // width % height, number // (width * height))
        self.lane, self.warp = number % 32, block.warps[number // 32]
        self.frames: list[Frame] = []
        self.frame: Frame  # the innermost call
        self.local = bytearray()
        self.carry = 0
        self.waiting: Instruction | None = None
        self.done = False
        self.enter(block.launch.function)

    def enter(self, function: Function, returned: tuple[Operand, ...] = ()) -> Frame:
        """Call a function: its variables, parameters and results get their places in local memory."""
        base = len(self.local)
        offsets, top = {}, base
        inside = () if function.entry else (*function.returns, *function.parameters)
        for variable in (*inside, *function.variables):
            if variable.space in ("local", "param"):
                align = max(1, variable.align)
                top = -(-top // align) * align
                offsets[variable.name] = top
                top += variable.size
        self.local.extend(bytes(top - base))
        self.frame = Frame(function, code_of(function), base, offsets, returned=returned)
        self.frames.append(self.frame)
        return self.frame

    def leave(self) -> Frame:
        """End the innermost call, and give its part of local memory back."""
        ended = self.frames.pop()
        del self.local[ended.base :]
        self.frame = self.frames[-1]
        return ended

    def read(self, operand: Operand, kind: str) -> int:
        """The bits of an operand of a type."""
        width = bits_of(kind)
        if isinstance(operand, Register):
            registers = self.frame.registers
            value = registers.get(operand.name, 0)
            if operand.name not in self.frame.function.registers:
                value = self.block.special(self, operand.name)
        elif isinstance(operand, Immediate):
            value = _immediate(operand, width)
        elif isinstance(operand, Negated):
            value = 1 - self.read(operand.register, "pred")
        elif isinstance(operand, Symbol):
            value = self.place(operand)[1]
        elif isinstance(operand, Vector):
            part = width // len(operand.parts)
            value = sum(self.read(each, f"b{part}") << part * at for at, each in enumerate(operand.parts))
        else:
            raise TypeError(f"{operand} can't be read")
        return value & ((1 << width) - 1)

    def write(self, operand: Operand, kind: str, bits: int) -> None:
        """Let a destination have bits of a type, extended to the width of its register."""
        width = bits_of(kind)
        bits &= (1 << width) - 1
        if isinstance(operand, Sink):
            return
        if isinstance(operand, Vector):
            part = width // len(operand.parts)
            for at, each in enumerate(operand.parts):
                self.write(each, f"b{part}", bits >> part * at)
            return
        if not isinstance(operand, Register):
            raise TypeError(f"{operand} can't be written")
        full = bits_of(self.frame.function.registers[operand.name])
        if kind[0] == "s" and bits >> (width - 1):
            bits |= (1 << full) - (1 << width)
        self.frame.registers[operand.name] = bits & ((1 << full) - 1)

    def place(self, symbol: Symbol) -> tuple[str, int]:
        """The state space of a variable or function, and its address there."""
        name, frame = symbol.name, self.frame
        launch = self.block.launch
        if name in frame.offsets:
            return "local", frame.offsets[name] + symbol.offset
        if frame.function.entry and name in launch.parameters:
            return "param", launch.parameters[name] + symbol.offset
        for shared in (f"{frame.function.name}/{name}", name):
            if shared in launch.shared:
                return "shared", launch.shared[shared] + symbol.offset
        if name in launch.memory.variables:
            return "global", launch.memory.variables[name] + symbol.offset
        return "function", memories.function_address(launch.module, name) + symbol.offset

    def address(self, operand: Operand, space: str) -> tuple[str, int]:
        """The space and the address in it of an operand in brackets (or a register with an address)."""
        if isinstance(operand, Address):
            if isinstance(operand.base, Symbol):
                found, place = self.place(operand.base)
                return found, place + operand.offset
            address = self.read(operand.base, "u64") + operand.offset
            base = operand.base.name if isinstance(operand.base, Register) else ""
            if bits_of(self.frame.function.registers.get(base, "b64")) == 32:
                address &= (1 << 32) - 1
        else:
            address = self.read(operand, "u64")
        if space == "param" and not self.frame.function.entry:
            space = "local"  # an address of a device function's parameter is one of its copy in local memory
        return space, address & ((1 << 64) - 1)

    def storage(self, space: str, address: int, size: int) -> tuple[bytearray | memoryview, int]:
        """The bytes where an access falls, and the offset in them. Raises AccessError."""
        if space == "generic":
            space, address = generic(address)
        if address % size:
            raise memories.AccessError(f"{space} address {address:#x} is not a multiple of {size}")
        held: bytearray | bytes | None = None
        match space:
            case "shared":
                held = self.block.shared
            case "local":
                held = self.local
            case "param":
                held = self.block.launch.arguments
            case "global" | "const":
                return self.block.launch.memory.find(address, size)
        if held is None or address + size > len(held):
            raise memories.AccessError(f"{size} bytes at {space} address {address:#x} are outside of what there is")
        return held, address  # type: ignore[return-value]

    def load(self, space: str, address: int, size: int) -> int:
        """A number of `size` bytes."""
        held, offset = self.storage(space, address, size)
        return int.from_bytes(held[offset : offset + size], "little")

    def store(self, space: str, address: int, size: int, bits: int) -> None:
        """Write a number of `size` bytes."""
        held, offset = self.storage(space, address, size)
        held[offset : offset + size] = bits.to_bytes(size, "little")


def generic(address: int) -> tuple[str, int]:
    """The space of a generic address, and the address in it."""
    for space, window in (
        ("function", memories.FUNCTIONS),
        ("param", memories.PARAM_WINDOW),
        ("local", memories.LOCAL_WINDOW),
        ("shared", memories.SHARED_WINDOW),
    ):
        if address >= window:
            return space, address - window
    return "global", address


@lru_cache
def space_of(instruction: Instruction) -> str:
    """The state space that an instruction names, "generic" if none."""
    for modifier in instruction.modifiers:
        space = modifier.partition("::")[0]
        if space in ("global", "shared", "local", "const", "param"):
            return space
    return "generic"


def _immediate(operand: Immediate, width: int) -> int:
    """The bits of a number as an operand of so many bits."""
    if operand.float_bits == 64 and width == 32:
        return encode(decode(operand.value, F64), F32)
    if operand.float_bits == 32 and width == 64:
        return encode(decode(operand.value, F32), F64)
    return operand.value


def signed(bits: int, width: int) -> int:
    """Bits as a number of two's complement."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def whole(bits: int, kind: str) -> int:
    """Bits as a whole number of a type such as "s32"."""
    return signed(bits, bits_of(kind)) if kind[0] == "s" else bits & ((1 << bits_of(kind)) - 1)


def parameter_offsets(parameters: tuple[Variable, ...]) -> tuple[dict[str, int], int]:
    """Where the parameters of a kernel stand, and how many bytes they take."""
    offsets, top = {}, 0
    for variable in parameters:
        top = -(-top // max(1, variable.align)) * max(1, variable.align)
        offsets[variable.name] = top
        top += variable.size
    return offsets, top

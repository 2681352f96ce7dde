"""A block of code while it is translated: its registers as values, and which lanes take part."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import ALIGN
from simtmm.cuda.execution.translation.emit import ONE_BIT, Emitter, Value, bits, element_of, lanes
from simtmm.cuda.execution.translation.one_nan import gives_one_nan, with_one_nan
from simtmm.cuda.execution.translation.special_registers import special_register
from simtmm.cuda.ptx.reading.declarations import real_bits
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Negated, Operand, Register, Sink, Symbol
from simtmm.cuda.ptx.types import bits_of
from simtmm.errors import PtxError

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.function_code import FunctionCode

_REALS = {"f16": "half", "f32": "float", "f64": "double"}


class Frame:
    """Where the registers of a function that live beyond a block stand in its activation."""

    def __init__(self, registers: Mapping[str, str], crossing: frozenset[str], begin: int) -> None:
        self.places: dict[str, int] = {}
        self.end = begin
        for name in sorted(crossing & registers.keys()):
            self.places[name] = self.end
            size = 4 if registers[name] == "pred" else max(1, bits_of(registers[name]) // 8) * 32
            self.end += -(-size // ALIGN) * ALIGN


class Context:
    """What the instructions of a block are translated with.

    emit: takes the lines. code: the function and its program. mask: the lanes that are at the block, i32. frame: the
    pointer to the activation.
    """

    def __init__(self, emit: Emitter, code: "FunctionCode", mask: Value, frame: str) -> None:
        self.emit, self.code, self.frame = emit, code, frame
        self.block_mask = mask
        self.block_lanes = emit.lanes_of(mask)
        self.instruction: Instruction | None = None
        self.active = mask
        self.active_lanes = self.block_lanes
        self.carry: Value | None = None
        self.number = -1  # of the block of code, in the program
        self.site = -1  # of the instruction's access in the log
        self._values: dict[str, Value] = {}
        self._looked_at: dict[str, Value] = {}  # of late registers
        self._dirty: set[str] = set()

    def begin(self, instruction: Instruction) -> None:
        """Start translating this instruction."""
        self.instruction = instruction
        self.active, self.active_lanes = self.block_mask, self.block_lanes
        if instruction.guard is not None:
            guard = self.predicate(instruction.guard)
            self.active_lanes = self.emit.binary("and", self.block_lanes, guard)
            self.active = self.emit.mask(self.active_lanes)

    def refuse(self, why: str = "is not known") -> PtxError:
        """The error that this instruction cannot run, with its source line."""
        assert self.instruction is not None
        return self.code.program.refusal(self.code.function.name, self.instruction, why)

    def access_number(self) -> int:
        """The number of the instruction in faults and caches."""
        assert self.instruction is not None
        self.code.program.accesses.append((self.code.function.name, self.instruction))
        return len(self.code.program.accesses) - 1

    def register(self, name: str) -> Value:
        """The value of a register: integers, or <32 x i1> for a predicate."""
        if name in self._values:
            return self._values[name]
        if name not in self.code.registers:
            return special_register(self, name)
        place = self.code.frame.places.get(name)
        kind = self.code.registers[name]
        if place is None:  # read before it is written
            found = Value("zeroinitializer", ONE_BIT if kind == "pred" else lanes(f"i{bits_of(kind)}"))
        elif kind == "pred":
            found = self.emit.lanes_of(self.emit.load("i32", self.emit.at(self.frame, place)))
        else:
            found = self.emit.load(lanes(f"i{bits_of(kind)}"), self.emit.at(self.frame, place), ALIGN)
        self._values[name] = found
        return found

    def looked_at(self, name: str) -> Value:
        """The value of a register, in which each NaN has the bits that a GPU gives it."""
        if name not in self.code.late:
            return self.register(name)
        if name not in self._looked_at:
            self._looked_at[name] = with_one_nan(self.emit, self.register(name))
        return self._looked_at[name]

    def read(self, operand: Operand, element: str, signed: bool = False) -> Value:
        """An operand as integers of a width, such as "i32". signed: whether a narrower register is sign-extended."""
        if isinstance(operand, Register):
            operand = self.code.constants.get(operand.name, operand)
        match operand:
            case Register(name):
                value = self.looked_at(name)
                if element_of(value.type) == "i1":
                    return self.emit.resize(value, element, False)
                return self.emit.resize(value, element, signed)
            case Immediate(number, float_bits):
                if float_bits and float_bits != bits(element):
                    return self.emit.as_type(self.real(operand, f"f{bits(element)}"), lanes(element))
                return self.emit.constant(_wrapped(number, bits(element)), lanes(element))
            case Symbol():
                return self.emit.resize(self.code.address(self, operand), element, False)
            case Negated():
                return self.emit.resize(self.predicate(operand), element, False)
            case _:
                raise self.refuse("has an operand that is not known here")

    def real(self, operand: Operand, kind: str) -> Value:
        """An operand as floating-point numbers: "f32". A NaN among them may have any bits."""
        if isinstance(operand, Register):
            operand = self.code.constants.get(operand.name, operand)
        if kind not in _REALS:
            raise self.refuse(f"takes {kind} where a real number of 16, 32 or 64 bits is")
        if isinstance(operand, Immediate) and operand.float_bits and operand.float_bits != bits_of(kind):
            try:
                operand = Immediate(real_bits(operand, bits_of(kind)), bits_of(kind))
            except PtxError as error:
                raise self.refuse(f"has a number of another size: {error}") from None
        if isinstance(operand, Register) and operand.name in self.code.late and kind == "f32":
            return self.emit.as_type(self.register(operand.name), lanes("float"))
        return self.exact(operand, kind)

    def exact(self, operand: Operand, kind: str) -> Value:
        """An operand as floating-point numbers, in which each NaN has the bits that a GPU gives it."""
        return self.emit.as_type(self.read(operand, f"i{bits_of(kind)}"), lanes(_REALS[kind]))

    def predicate(self, operand: Operand) -> Value:
        """An operand as a condition."""
        match operand:
            case Register(name):
                value = self.register(name)
                return value if element_of(value.type) == "i1" else self.emit.resize(value, "i1", False)
            case Negated(register):
                return self.emit.invert(self.predicate(register))
            case Immediate(number):
                return self.emit.constant("true" if number else "false", ONE_BIT)
            case _:
                raise self.refuse("has a predicate that is not known here")

    def write(self, operand: Operand, value: Value, signed: bool = False) -> None:
        """Write a register in the active lanes; floating-point numbers and integers of any width."""
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register) or operand.name not in self.code.registers:
            raise self.refuse("has a destination that is not known here")
        kind = self.code.registers[operand.name]
        element = element_of(value.type)
        if element not in ("i1",) and not element.startswith("i"):
            value = self.emit.as_type(value, lanes(f"i{bits(value.type)}"))
        if kind == "pred":
            value = self.emit.resize(value, "i1", False)
        else:
            value = self.emit.resize(value, f"i{bits_of(kind)}", signed)
        crosses = operand.name in self.code.frame.places
        assert self.instruction is not None
        if operand.name not in self.code.late and gives_one_nan(self.instruction):
            value = with_one_nan(self.emit, value)
        if crosses or self.instruction.guard is not None:
            value = self.emit.select(self.active_lanes, value, self.register(operand.name))
        self._values[operand.name] = value
        self._looked_at.pop(operand.name, None)
        if crosses:
            self._dirty.add(operand.name)

    def write_everywhere(self, operand: Operand, value: Value) -> None:
        """Write a register in all lanes of the warp, active or not."""
        assert isinstance(operand, Register)
        self._values[operand.name] = value
        self._looked_at.pop(operand.name, None)
        if operand.name in self.code.frame.places:
            self._dirty.add(operand.name)

    def set_carry(self, carry: Value) -> None:
        """Write the carry flag in the active lanes."""
        assert self.instruction is not None
        if self.instruction.guard is not None:
            before = self.carry or self.emit.constant("false", ONE_BIT)
            carry = self.emit.select(self.active_lanes, carry, before)
        self.carry = carry

    def flush(self) -> None:
        """Store the registers that live beyond the block in the activation."""
        for name in sorted(self._dirty):
            value, place = self._values[name], self.emit.at(self.frame, self.code.frame.places[name])
            if element_of(value.type) == "i1":
                self.emit.store(self.emit.mask(value), place)
            else:
                self.emit.store(value, place, ALIGN)
        self._dirty.clear()

    def type_of(self, place: int = -1) -> str:
        """One of the types that the instruction names; the last one by default."""
        assert self.instruction is not None
        from simtmm.cuda.ptx.types import is_type

        found = [modifier for modifier in self.instruction.modifiers if is_type(modifier)]
        if not found:
            raise self.refuse("has no type")
        return found[place]


def _wrapped(number: int, width: int) -> int | str:
    if width == 1:
        return "true" if number else "false"
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number

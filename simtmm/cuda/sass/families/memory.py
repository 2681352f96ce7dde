"""Loads and stores of all memories, and constants."""

from collections.abc import Sequence

from simtmm.cuda.execution.layout import PARAMETER_WINDOW
from simtmm.cuda.execution.translation.function_code import function_address
from simtmm.cuda.ptx.syntax import Address, Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Operand, Reg

_SPACES = {"G": ".global", "S": ".shared", "L": ".local", "": ""}
_TYPES = {"U8": "u8", "S8": "s8", "U16": "u16", "S16": "s16"}


# Who sees it when, what caches are to keep of it, and how much they should fetch: none of it changes what is read.
_HOW = (
    "E", "U", "SYS", "GPU", "SM", "CTA", "VC", "STRONG", "WEAK", "MMIO", "CONSTANT", "PRIVATE", "EF", "EL", "EU", "LU",
    "NA", "LTC64B", "LTC128B", "LTC256B", "ENL2", "EFL2", "ELL2",
)  # fmt: skip


def type_and_count(instruction: MachineInstruction) -> tuple[str, int]:
    """The type of a register's part of an access, and how many registers there are."""
    for name, kind in _TYPES.items():
        if instruction.has(name):
            return kind, 1
    return "b32", next((int(bits) // 32 for bits in ("256", "128", "64") if instruction.has(bits)), 1)


def access_name(lifting: Lifting, instruction: MachineInstruction, stem: str, space: str) -> tuple[str, int]:
    """The PTX instruction of an access, and how many registers it has. Raises SassError."""
    lifting.only(*_HOW, *_TYPES, "64", "128", "256")
    kind, count = type_and_count(instruction)
    if kind != "b32" and instruction.has("64", "128", "256"):
        raise lifting.refuse()
    strong = ".volatile" if instruction.has("STRONG", "MMIO") else ""
    vector = f".v{count}" if count > 1 else ""
    return f"{stem}{strong}{space}{vector}.{kind}", count


def _registers(lifting: Lifting, instruction: MachineInstruction, operands: Sequence[Operand], count: int) -> list[Reg]:
    """The first registers of what is moved: two of 128 bits each for 256."""
    if len(operands) != (2 if count == 8 else 1):
        raise lifting.refuse()
    found = [operand for operand in operands if isinstance(operand, Reg) and not operand.is_predicate]
    if len(found) != len(operands):
        raise lifting.refuse()
    return found


def load(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LDG, LDS, LDL, LD."""
    *to, place = instruction.operands
    name, count = access_name(lifting, instruction, "ld", _SPACES[instruction.opcode[2:]])
    registers = _registers(lifting, instruction, to, count)[::-1]  # of 256 bits the upper half is named first
    if instruction.address in lifting.waiting:
        name = name.replace("ld.", "ld.volatile.", 1)
    address = lifting.address(place)
    parts = [lifting.temporary("b32") for _ in range(count)]
    lifting.access(name, Vector(tuple(parts)) if count > 1 else parts[0], address)
    each = count // len(registers)
    for number, first in enumerate(registers):
        lifting.write_registers(first, parts[number * each : (number + 1) * each])


def store(lifting: Lifting, instruction: MachineInstruction) -> None:
    """STG, STS, STL, ST."""
    place, *given = instruction.operands
    name, count = access_name(lifting, instruction, "st", _SPACES[instruction.opcode[2:]])
    registers = _registers(lifting, instruction, given, count)
    parts = [part for register in registers for part in lifting.registers_of(register, count // len(registers))]
    lifting.access(name, lifting.address(place), Vector(tuple(parts)) if count > 1 else parts[0])


def load_constant(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LDC, ULDC, LDCU: what a place in a constant bank holds."""
    to, source = instruction.operands[0], instruction.operands[-1]
    if len(instruction.operands) != 2 or not isinstance(source, Constant) or not isinstance(to, Reg):
        raise lifting.refuse()
    lifting.only(*_TYPES, "64", "128", "256")
    kind, count = type_and_count(instruction)
    if source.register is not None and source.register.part not in ("", "U32"):
        raise lifting.refuse()
    if source.register is not None or source.bank == 3:
        _load_by_register(lifting, to, source, kind, count)
        return
    found: list[PtxOperand] = []
    for number in range(count):
        part = Constant(source.bank, source.offset & ~3 | 4 * number)
        found.append(lifting.bits(part))
    if kind != "b32":
        bits, wide = int(kind[1:]), "s32" if kind[0] == "s" else "u32"
        found = [lifting.value(f"bfe.{wide}", "b32", found[0], Immediate(8 * (source.offset & 3)), Immediate(bits))]
    lifting.write_registers(to, (lifting.copy(value) for value in found))


def _load_by_register(lifting: Lifting, to: Reg, source: Constant, kind: str, count: int) -> None:
    """A load whose address is in a register, or of the user's constants: one that a trace has."""
    parts: list[PtxOperand] = [lifting.temporary("b32") for _ in range(count)]
    vector = f".v{count}" if count > 1 else ""
    if source.bank == 3:
        address: Register = lifting.constant_address(source)
        lifting.access(f"ld.const{vector}.{kind}", Vector(tuple(parts)) if count > 1 else parts[0], Address(address))
    elif source.bank == 0:
        assert source.register is not None
        index = lifting.value("cvt.s64.s32", "b64", lifting.bits(source.register))
        start = PARAMETER_WINDOW + lifting.banks.launch.index_base(lifting, source.offset)
        lifting.access(
            f"ld.const{vector}.{kind}", Vector(tuple(parts)) if count > 1 else parts[0], Address(index, start)
        )
    elif source.bank == 4 and kind == "b32":
        parts = [_chosen_address(lifting, source, 4 * number) for number in range(count)]
    elif kind == "b32":
        parts = [_chosen(lifting, source, 4 * number) for number in range(count)]
    else:
        raise lifting.refuse("reads a constant bank by a register, which is not supported")
    lifting.write_registers(to, parts)


def _chosen_address(lifting: Lifting, source: Constant, behind: int) -> PtxOperand:
    """Half of an address that stands in bank 4, by its index: one of all that are known there."""
    addresses = lifting.banks.addresses
    assert source.register is not None
    if len(addresses) > MOST_CHOSEN:
        raise lifting.refuse("reads a constant bank by a register, which is not supported")
    offset = lifting.value("add.s32", "b32", lifting.bits(source.register), Immediate(source.offset + behind))
    found: PtxOperand = Immediate(0)
    for start in (at + half for at in addresses for half in (0, 4)):
        here = lifting.value("setp.eq.b32", "pred", offset, Immediate(start))
        found = lifting.value("selp.b32", "b32", lifting.bits(Constant(4, start)), found, here)
    return found


MOST_CHOSEN = 256  # words of a compiler's table


def _chosen(lifting: Lifting, source: Constant, behind: int) -> PtxOperand:
    """A word of a table of the compiler's, by its index: one of all that it has.

    The places of functions stand there as well, and the index is the function's address, which pointers in memory have
    as PTX has it.
    """
    content = lifting.banks.compiler.get(source.bank)
    assert source.register is not None
    if content is None or len(content) > 4 * MOST_CHOSEN:
        raise lifting.refuse("reads a constant bank by a register, which is not supported")
    offset = lifting.value("add.s32", "b32", lifting.bits(source.register), Immediate(source.offset + behind))
    found: PtxOperand = Immediate(0)
    for start in range(0, len(content) - 3, 4):
        here = lifting.value("setp.eq.b32", "pred", offset, Immediate(start))
        found = lifting.value("selp.b32", "b32", lifting.bits(Constant(source.bank, start)), found, here)
    places = [int.from_bytes(content[start : start + 4], "little") for start in range(0, len(content) - 7, 8)]
    for name, place in lifting.functions.items():
        if source.bank == 2 and not source.offset and place in places:
            pointer = function_address(name) + behind & 0xFFFFFFFF
            here = lifting.value("setp.eq.b32", "pred", offset, Immediate(pointer))
            found = lifting.value("selp.b32", "b32", Immediate(0 if behind else place), found, here)
    return found


HANDLERS = {
    **dict.fromkeys(("LDG", "LDS", "LDL", "LD"), load),
    **dict.fromkeys(("STG", "STS", "STL", "ST"), store),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), load_constant),
}

"""Products of matrices by four warps, whose factors lie in shared memory by descriptors."""

import re

from simtmm.cuda.ptx.syntax import Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Descriptors, MachineInstruction, Number, Operand, Reg, Word

_SHAPE = re.compile(r"64x(\d+)x(\d+)")
_TURNS = {"f16", "bf16"}  # types whose matrices may be transposed
_GROUP = "gsb0"  # an instruction with it ends a group
_HALVES, _BYTES, _WHOLE = ("F16", "F32", "BF16", "TF32"), ("F16", "F32", "E4M3", "E5M2"), ("S8", "U8", "SAT")
_BITS = ("AND", "POPC")


def multiply(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HGMMA, QGMMA, IGMMA, BGMMA: D, A and B, C, whether C is added, of a sparse A its metadata, the group's end."""
    shape = next((found for m in instruction.modifiers if (found := _SHAPE.fullmatch(m))), None)
    if shape is None:
        raise lifting.refuse("has a shape that is not supported")
    kinds, how = _kinds(lifting, instruction, shape[0])
    to, *rest = instruction.operands
    ends_group = bool(rest) and rest[-1] == Word(_GROUP)
    rest = rest[:-1] if ends_group else rest
    if not isinstance(to, Reg):
        raise lifting.refuse("has a destination that is not a register")
    if not to.is_zero:  # which ends a group, and multiplies nothing
        columns, sum_kind = int(shape[1]), kinds[0]
        numbers = columns // (4 if sum_kind == "f16" else 2)
        sums = Vector(tuple(lifting.registers_of(Reg(to.name), numbers)))
        factors, flags, rest = _factors(lifting, rest, kinds[1])
        adds, rest = _addend(lifting, to, rest)
        sparse = _metadata(lifting, rest) if instruction.has("SP") else ()
        if rest and not sparse:
            raise lifting.refuse("has unsupported operands")
        name = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{columns}k{shape[2]}{how}.{'.'.join(kinds)}"
        name += ".and.popc" if kinds[1] == "b1" else ""
        lifting.access(name, sums, *factors, *sparse, adds, *(flags if kinds[1] not in ("s8", "u8", "b1") else ()))
    if ends_group:
        lifting.note("wgmma.commit_group.sync.aligned")


def _kinds(lifting: Lifting, instruction: MachineInstruction, shape: str) -> tuple[tuple[str, str, str], str]:
    """The types of sums, A and B, and whether sums saturate."""
    known = {"HGMMA": _HALVES, "QGMMA": _BYTES, "IGMMA": _WHOLE, "BGMMA": _BITS}[instruction.opcode]
    lifting.only(*known, "SP", shape)
    sums = "f32" if instruction.has("F32") else "f16"
    if instruction.opcode == "HGMMA":
        factor = next((m.lower() for m in ("BF16", "TF32") if instruction.has(m)), "f16")
        return (sums, factor, factor), ""
    if instruction.opcode == "BGMMA":
        if not instruction.has("AND"):
            raise lifting.refuse()
        return ("s32", "b1", "b1"), ""
    factors = [m.lower() for m in instruction.modifiers if m in ("E4M3", "E5M2", "S8", "U8")]
    if len(factors) != 2:
        raise lifting.refuse("has factors of types that are not known")
    sums = "s32" if instruction.opcode == "IGMMA" else sums
    return (sums, factors[0], factors[1]), ".satfinite" if instruction.has("SAT") else ""


def _factors(
    lifting: Lifting, operands: list[Operand], kind: str
) -> tuple[list[PtxOperand], list[PtxOperand], list[Operand]]:
    """A and B, their signs and whether they are transposed, and the operands behind them.

    Descriptors of both follow each other; the first means nothing where A is in registers.
    """
    held, rest = operands[0], list(operands)
    in_registers = isinstance(held, Reg)
    rest = rest[int(in_registers) :]
    if not rest or not isinstance(rest[0], Descriptors):
        raise lifting.refuse("has no descriptor")
    given = rest[0]
    parts = set(given.parts) - {"negA", "negB", "tnspA", "tnspB"}
    if parts or (in_registers and {"negA", "tnspA"} & set(given.parts)):
        raise lifting.refuse("has a descriptor that is not supported")
    first = Reg(given.register)
    second = first if first.is_zero else Reg(f"UR{first.number + 2}")
    if isinstance(held, Reg):
        if held.absolute or held.inverted or held.part:
            raise lifting.refuse("has a factor that is not supported")
        left: PtxOperand = Vector(tuple(lifting.registers_of(Reg(held.name), 4)))
    else:
        left = lifting.copy(lifting.pair(first), "b64")
    right = lifting.copy(lifting.pair(second), "b64")
    turns_a_sign = held.negative if isinstance(held, Reg) else "negA" in given.parts
    flags: list[PtxOperand] = [Immediate(-1 if turns else 1) for turns in (turns_a_sign, "negB" in given.parts)]
    if kind in _TURNS:
        flags += [Immediate(int(part in given.parts)) for part in ("tnspA", "tnspB")[int(in_registers) :]]
    elif {"tnspA", "tnspB"} & set(given.parts):
        raise lifting.refuse("has a descriptor that is not supported")
    return [left, right], flags, rest[1:]


def _addend(lifting: Lifting, to: Reg, operands: list[Operand]) -> tuple[PtxOperand, list[Operand]]:
    """Whether C is added, which must be D, and the operands behind it."""
    addend, *rest = operands or [to]
    if not operands or not isinstance(addend, Reg):
        raise lifting.refuse("has unsupported operands")
    adds: Register | Immediate = Immediate(1)
    if rest and isinstance(rest[0], Reg) and rest[0].is_predicate:
        adds = lifting.copy(lifting.predicate(rest.pop(0)), "pred")
    if addend.is_zero:
        return Immediate(0), rest
    if addend != Reg(to.name):
        raise lifting.refuse("adds other registers than it writes")
    return adds, rest


def _metadata(lifting: Lifting, operands: list[Operand]) -> tuple[PtxOperand, ...]:
    """Of a sparse A the register and the selector."""
    match operands:
        case [Reg() as register]:
            return lifting.register(register.name), Immediate(0)
        case [Reg() as register, Number(int(selector))]:
            return lifting.register(register.name), Immediate(selector)
    raise lifting.refuse("has unsupported operands")


def group(lifting: Lifting, instruction: MachineInstruction) -> None:
    """WARPGROUP: .ARRIVE, behind which registers are as they were written; .DEPBAR waits for all groups but so many."""
    lifting.only("ARRIVE", "DEPBAR", "LE")
    if instruction.has("ARRIVE"):
        return
    match instruction.operands:
        case (Word(board), Number(int(left))) if board == _GROUP and instruction.modifiers == ("DEPBAR", "LE"):
            lifting.access("wgmma.wait_group.sync.aligned", Immediate(left))
        case _:
            raise lifting.refuse()


HANDLERS = {**dict.fromkeys(("HGMMA", "QGMMA", "IGMMA", "BGMMA"), multiply), "WARPGROUP": group}

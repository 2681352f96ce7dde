"""Real numbers of 64 bits."""

from simtmm.cuda.ptx.syntax import Immediate
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.integer import write_joined
from simtmm.cuda.sass.families.numbers.real import COMPARISONS, ROUNDINGS, comparison_of, rounding
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Reg

_JOINS = ("AND", "OR", "XOR")


def arithmetic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """DADD, DMUL, DFMA."""
    lifting.only(*ROUNDINGS)
    to, *sources = instruction.operands
    stem = {"DADD": "add", "DMUL": "mul", "DFMA": "fma"}[instruction.opcode]
    numbers = [lifting.double(source) for source in sources]
    if len(numbers) != (3 if stem == "fma" else 2):
        raise lifting.refuse()
    lifting.write_pair(to, lifting.value(f"{stem}.{rounding(instruction)}.f64", "b64", *numbers))


def _is_true(source: object) -> bool:
    return isinstance(source, Reg) and source.is_predicate and source.is_zero and not source.inverted


def compare(lifting: Lifting, instruction: MachineInstruction) -> None:
    """DSETP; .MIN and .MAX tell which of two is the smaller, or the larger, and whether both are NaN."""
    lifting.only(*COMPARISONS, *_JOINS, "MIN", "MAX")
    to, contrary, a, b, joined = instruction.operands
    left, right = lifting.double(a), lifting.double(b)
    if instruction.has("MIN", "MAX"):
        if not instruction.has("AND") or not _is_true(joined):
            raise lifting.refuse()
        first, both = _extreme(lifting, "max" if instruction.has("MAX") else "min", left, right)
        lifting.write_predicate(to, first)
        lifting.write_predicate(contrary, both)
        return
    name = comparison_of(instruction)
    if not name:
        raise lifting.refuse()
    found = lifting.value(f"setp.{name}.f64", "pred", left, right)
    write_joined(lifting, instruction, found, to, contrary, joined)


def _extreme(lifting: Lifting, name: str, left: PtxOperand, right: PtxOperand) -> tuple[PtxOperand, PtxOperand]:
    """Whether the first of two is what min or max gives, and whether both are NaN: then the second becomes quiet."""
    found = lifting.value(f"{name}.f64", "b64", left, right)
    same = lifting.value("setp.eq.b64", "pred", found, left)
    number = lifting.value("setp.num.f64", "pred", left, left)
    nothing = lifting.value("setp.nan.f64", "pred", left, left)
    both = lifting.value("and.pred", "pred", nothing, lifting.value("setp.nan.f64", "pred", right, right))
    return lifting.value("and.pred", "pred", same, number), both


def least_or_most(lifting: Lifting, instruction: MachineInstruction) -> None:
    """DMNMX: the smaller where the condition holds, else the larger."""
    lifting.only()
    to, a, b, condition = instruction.operands
    left, right = lifting.double(a), lifting.double(b)
    least, most = (lifting.value(f"{name}.f64", "b64", left, right) for name in ("min", "max"))
    lifting.write_pair(to, lifting.value("selp.b64", "b64", least, most, lifting.predicate(condition)))


def set_number(lifting: Lifting, instruction: MachineInstruction) -> None:
    """DSET: all bits, or 1.0 of 32 bits with .BF, where a comparison holds."""
    lifting.only(*COMPARISONS, *_JOINS, "BF")
    to, a, b, joined = instruction.operands
    name, way = comparison_of(instruction), next((m.lower() for m in _JOINS if instruction.has(m)), "and")
    if not name:
        raise lifting.refuse()
    found = lifting.value(f"setp.{name}.f64", "pred", lifting.double(a), lifting.double(b))
    found = lifting.value(f"{way}.pred", "pred", found, lifting.predicate(joined))
    one = Immediate(0x3F800000 if instruction.has("BF") else 0xFFFFFFFF)
    lifting.write(to, lifting.value("selp.b32", "b32", one, Immediate(0), found))


HANDLERS = {
    **dict.fromkeys(("DADD", "DMUL", "DFMA"), arithmetic),
    "DSETP": compare,
    "DMNMX": least_or_most,
    "DSET": set_number,
}

"""Real numbers of 32 bits."""

from simtmm.cuda.ptx.syntax import Immediate
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.integer import write_joined
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction

_ROUNDINGS = {"RZ": "rz", "RM": "rm", "RP": "rp"}


def rounding(instruction: MachineInstruction) -> str:
    """The direction of rounding, as PTX names it."""
    return next((name for modifier, name in _ROUNDINGS.items() if instruction.has(modifier)), "rn")


def _name(instruction: MachineInstruction, stem: str, rounds: bool = True) -> str:
    parts = [stem]
    if rounds:
        parts.append(rounding(instruction))
    parts += [name for modifier, name in (("FTZ", "ftz"), ("SAT", "sat")) if instruction.has(modifier)]
    return ".".join((*parts, "f32"))


def arithmetic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FADD, FMUL, FFMA."""
    to, *sources = instruction.operands
    stem = {"FADD": "add", "FMUL": "mul", "FFMA": "fma"}[instruction.opcode.removeprefix("U")]
    if instruction.has("FMZ") or len(sources) != (3 if stem == "fma" else 2):
        raise lifting.refuse()
    numbers = [lifting.real(source) for source in sources]
    lifting.write(to, lifting.value(_name(instruction, stem), "b32", *numbers))


def least_or_most(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FMNMX: the smaller where the condition holds, else the larger."""
    to, a, b, condition = (*instruction.operands[:3], instruction.operands[-1])
    left, right = lifting.real(a), lifting.real(b)
    nan = ".NaN" if instruction.has("NAN") else ""
    ftz = ".ftz" if instruction.has("FTZ") else ""
    if instruction.has("XORSIGN"):
        nan += ".xorsign.abs"
    least = lifting.value(f"min{ftz}{nan}.f32", "b32", left, right)
    most = lifting.value(f"max{ftz}{nan}.f32", "b32", left, right)
    lifting.write(to, lifting.value("selp.b32", "b32", least, most, lifting.predicate(condition)))


def comparison_of(instruction: MachineInstruction) -> str:
    """The comparison, as PTX names it: with U where it holds for NaN."""
    for name in ("EQ", "NE", "LT", "LE", "GT", "GE", "NUM", "NAN", "EQU", "NEU", "LTU", "LEU", "GTU", "GEU"):
        if instruction.has(name):
            return name.lower()
    return ""


def compare(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FSETP."""
    to, contrary, a, b, joined = instruction.operands
    name = comparison_of(instruction)
    ftz = ".ftz" if instruction.has("FTZ") else ""
    left, right = lifting.real(a), lifting.real(b)
    if name:
        found = lifting.value(f"setp.{name}{ftz}.f32", "pred", left, right)
    else:
        raise lifting.refuse()
    write_joined(lifting, instruction, found, to, contrary, joined)


def choose(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FSEL: one of two."""
    to, a, b, condition = instruction.operands
    left, right = lifting.real(a), lifting.real(b)
    lifting.write(to, lifting.value("selp.b32", "b32", left, right, lifting.predicate(condition)))


_FUNCTIONS = {
    "RCP": "rcp.approx{ftz}.f32",
    "RSQ": "rsqrt.approx{ftz}.f32",
    "SQRT": "sqrt.approx{ftz}.f32",
    "LG2": "lg2.approx{ftz}.f32",
    "EX2": "ex2.approx{ftz}.f32",
    "TANH": "tanh.approx.f32",
}
TURN = 0x3E22F983  # 1 / (2 pi), by which RRO or FMUL has multiplied what SIN and COS are given


def function(lifting: Lifting, instruction: MachineInstruction) -> None:
    """MUFU: functions, near what they should be."""
    to, source = instruction.operands
    kind = next((m for m in instruction.modifiers if m in (*_FUNCTIONS, "SIN", "COS", "RCP64H", "RSQ64H")), None)
    if kind is None or instruction.has("F16", "BF16_V2"):
        raise lifting.refuse()
    if kind in ("RCP64H", "RSQ64H"):
        upper = lifting.bits(source)
        from simtmm.cuda.ptx.syntax import Vector

        whole: PtxOperand = lifting.value("mov.b64", "b64", Vector((Immediate(0), upper)))
        whole = lifting.double_signs(whole, source)
        name = "rcp.approx.ftz.f64" if kind == "RCP64H" else "rsqrt.approx.ftz.f64"
        found = lifting.value(name, "b64", whole)
        low, high = lifting.temporary("b32"), lifting.temporary("b32")
        lifting.do("mov.b64", Vector((low, high)), found)
        lifting.write(to, high)
        return
    given = lifting.real(source)
    if kind in ("SIN", "COS"):
        turns = lifting.value("mul.rn.f32", "b32", given, Immediate(0x40C90FDB, 32))
        lifting.write(to, lifting.value(f"{kind.lower()}.approx.f32", "b32", turns))
        return
    lifting.write(to, lifting.value(_FUNCTIONS[kind].format(ftz=""), "b32", given))


HANDLERS = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "UFADD", "UFMUL", "UFFMA"), arithmetic),
    "FMNMX": least_or_most,
    "FSETP": compare,
    "FSEL": choose,
    "MUFU": function,
}

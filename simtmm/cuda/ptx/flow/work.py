"""The class of work of an instruction, for the machine's pipelines."""

from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Instruction, Register, Symbol
from simtmm.cuda.ptx.types import is_type


def class_of(instruction: Instruction) -> str | None:
    """The class, one of trace.schema.WORK_CLASSES; None for what machine code has no instruction for."""
    work = row_of(instruction.opcode).work
    if work == "none" or _is_name(instruction):
        return None
    if instruction.opcode == "wgmma" and "mma_async" not in instruction.modifiers:
        return "control"
    of = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    floats = [kind for kind in of if kind[0] in "ft" or kind[:2] in ("bf", "e4", "e5")]
    if work and not (work == "special" and "f64" in of) and not (work == "multiply" and floats):
        return work
    if instruction.opcode == "cvt":
        return "fp64" if "f64" in floats else "special" if floats else "integer"
    kind = of[-1] if of else ""
    if kind in ("f16", "f16x2", "bf16", "bf16x2"):
        return "fp16"
    if kind in ("f32", "f64"):
        return "fp32" if kind == "f32" else "fp64"
    return "integer"


_WGMMA_COLUMNS = 12  # of a product by four warps, which take the time of one mma.m16n8k16 of the same warp


def times_of(instruction: Instruction) -> int:
    """How many instructions of its class it takes the time of: of wgmma as many mma.m16n8k16 of f16.

    A warp has 16 rows of a product by four, N / 8 times what that mma multiplies, in two thirds of the time for each
    (h100-sxm's pipes.tensor); K is 32 bytes, whatever the type.
    """
    if instruction.opcode != "wgmma" or "mma_async" not in instruction.modifiers:
        return 1
    columns = next((int(each[4:].partition("k")[0]) for each in instruction.modifiers if each.startswith("m64n")), 0)
    return max(1, -(-columns // _WGMMA_COLUMNS))


def _is_name(instruction: Instruction) -> bool:
    """Whether it only gives another name to a value: a parameter, a register, an address."""
    if instruction.opcode in ("ld", "st") and any(m.split("::")[0] == "param" for m in instruction.modifiers):
        return True
    last = instruction.operands[-1] if instruction.operands else None
    return instruction.opcode == "mov" and isinstance(last, Register | Symbol)

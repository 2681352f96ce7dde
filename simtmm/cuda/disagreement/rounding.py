"""A module whose real numbers come out a little otherwise: what stays the same then depends on no rounded number.

The assembler joins products with sums, and reaches approximate functions by steps of its own, so such results may
differ from those of PTX. An instruction that says how it rounds is not touched: the assembler does not change it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from simtmm.cuda.disagreement.rewritten import Rewritten
from simtmm.cuda.ptx.syntax import Function, Immediate, Instruction, Label, Module, Operand, Register, Vector

MORE, LESS = 0, 1  # each result by a thousandth of itself, or what its type has nearest to that
_JOINED = {"add", "sub", "mul", "mad", "fma"}
_APPROXIMATE = {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "div"}
_MATRICES = {"mma", "wmma"}
_ROUNDINGS = {"rn", "rz", "rm", "rp"}
_FACTORS = {  # as bits: 1 + 2^-10 and 1 - 2^-10 of f32 and f64, a step or two of the others
    "f32": (0x3F802000, 0x3F7FC000),
    "f64": (0x3FF0040000000000, 0x3FEFF80000000000),
    "f16": (0x3C02, 0x3BFC),
    "bf16": (0x3F81, 0x3F7E),
    "f16x2": (0x3C023C02, 0x3BFC3BFC),
    "bf16x2": (0x3F813F81, 0x3F7E3F7E),
}
_BITS = {"f32": 32, "f64": 64}


def is_rounded_freely(instruction: Instruction) -> bool:
    """Whether an instruction's result may be another one as machine code: rounding is left to the assembler."""
    if not any(m in _FACTORS for m in instruction.modifiers):
        return False
    if instruction.opcode in _MATRICES:
        return "store" not in instruction.modifiers and "load" not in instruction.modifiers
    if instruction.has("approx", "full"):
        return instruction.opcode in _APPROXIMATE
    return instruction.opcode in _JOINED and not _ROUNDINGS & set(instruction.modifiers)


def rounds_freely(module: Module, names: Iterable[str]) -> bool:
    """Whether any of these functions has such an instruction."""
    return any(
        isinstance(item, Instruction) and is_rounded_freely(item)
        for name in names
        for item in module.functions[name].body or ()
    )


def nudged(module: Module, way: int) -> Module:
    """The module with MORE or LESS of each result that is rounded freely."""

    def change(function: Function) -> Function:
        return function if function.body is None else replace(function, body=tuple(_nudged(function.body, way)))

    return replace(module, functions=Rewritten(module.functions, change))


def _nudged(body: tuple[Instruction | Label, ...], way: int) -> Iterator[Instruction | Label]:
    for item in body:
        yield item
        if isinstance(item, Instruction) and is_rounded_freely(item):
            yield from _scaled(item, way)


def _scaled(instruction: Instruction, way: int) -> Iterator[Instruction]:
    kinds = [m for m in instruction.modifiers if m in _FACTORS]
    to: Operand = instruction.operands[0]
    parts = to.parts if isinstance(to, Vector) else (to,)
    kind = kinds[0] if instruction.opcode in _MATRICES else kinds[-1]
    if instruction.opcode in _MATRICES and kind in ("f16", "bf16"):  # two numbers a register
        kind += "x2"
    for part in parts:
        if isinstance(part, Register):
            operands = (part, part, Immediate(_FACTORS[kind][way], _BITS.get(kind, 0)))
            yield replace(
                instruction, opcode="mul", modifiers=("rn", kind), operands=operands, text=f"mul.rn.{kind}", start=-1,
                end=-1,
            )  # fmt: skip

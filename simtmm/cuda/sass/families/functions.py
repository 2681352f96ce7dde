"""The special function unit: MUFU."""

from simtmm.cuda.ptx.syntax import Immediate, Vector
from simtmm.cuda.sass.families.numbers.half import half_of
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Number

_FUNCTIONS = {
    "RCP": "rcp.approx.ftz.f32",
    "RSQ": "rsqrt.approx.ftz.f32",
    "SQRT": "sqrt.approx.ftz.f32",
    "LG2": "lg2.approx.ftz.f32",
    "EX2": "ex2.approx.ftz.f32",
    "TANH": "tanh.approx.f32",
}
"""What is given and what comes out is flushed: what doesn't flush is given scaled numbers by instructions around it."""

_HALVES = {
    ("EX2", "F16"): "ex2.approx.f16",
    ("EX2", "BF16"): "ex2.approx.ftz.bf16",
    ("TANH", "F16"): "tanh.approx.f16",
    ("TANH", "BF16"): "tanh.approx.bf16",
}
_DOUBLES = {"RCP64H": "rcp.approx.ftz.f64", "RSQ64H": "rsqrt.approx.ftz.f64"}
_WAVES = ("SIN", "COS")
_WHOLE_TURN = 0x40C90FDB  # 2 pi


def function(lifting: Lifting, instruction: MachineInstruction) -> None:
    """Functions near what they should be; SIN and COS are of turns, the 64-bit ones of upper halves."""
    lifting.only(*_FUNCTIONS, *_DOUBLES, *_WAVES, "F16", "BF16", "BF16_V2")
    to, source = instruction.operands
    kind = next((m for m in instruction.modifiers if m in (*_FUNCTIONS, *_DOUBLES, *_WAVES)), None)
    width = next((m.removesuffix("_V2") for m in instruction.modifiers if m in ("F16", "BF16", "BF16_V2")), None)
    if kind is None or (width and (kind, width) not in _HALVES):
        raise lifting.refuse()
    if width is not None:
        lifting.write(to, lifting.value(_HALVES[kind, width], "b32", half_of(lifting, source)))
    elif kind in _DOUBLES:
        upper = lifting.upper_half(source) if isinstance(source, Number) else lifting.real(source)
        whole = lifting.value("mov.b64", "b64", Vector((Immediate(0), upper)))
        low, high = lifting.temporary("b32"), lifting.temporary("b32")
        lifting.do("mov.b64", Vector((low, high)), lifting.value(_DOUBLES[kind], "b64", whole))
        lifting.write(to, high)
    elif kind in _WAVES:
        turns = lifting.real(source)
        whole = lifting.value("cvt.rni.f32.f32", "b32", turns)
        rest = lifting.value("sub.rn.f32", "b32", turns, whole)
        angle = lifting.value("mul.rn.f32", "b32", rest, Immediate(_WHOLE_TURN, 32))
        lifting.write(to, lifting.value(f"{kind.lower()}.approx.f32", "b32", angle))
    else:
        lifting.write(to, lifting.value(_FUNCTIONS[kind], "b32", lifting.real(source)))


HANDLERS = {"MUFU": function}

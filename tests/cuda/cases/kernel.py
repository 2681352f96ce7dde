"""The text of a kernel that applies instructions to elements of arrays."""

from collections.abc import Sequence

import numpy as np

from simtmm.cuda.ptx.types import bits_of, bytes_of
from tests.cuda.cases.case import EXACT, Bound, Case
from tests.cuda.cases.values import dtype_of, values

# Names of registers with inputs; %i, %p and %q are taken.
LETTERS = "abcdefghjklmno"
BLOCKS, THREADS = 2, 64
COUNT = BLOCKS * THREADS


def module(parameters: int, registers: str, body: str, target: str = "sm_90") -> str:
    """A module with an entry "k" of so many pointers; %i is the thread's number, %base0 and so on the pointers."""
    listed = ", ".join(f".param .u64 p{at}" for at in range(parameters))
    loads = "\n".join(f"  ld.param.u64 %base{at}, [p{at}];" for at in range(parameters))
    return f"""\
.version 8.7
.target {target}
.address_size 64
.visible .entry k({listed})
{{
  .reg .b64 %base<{parameters}>, %at;
  .reg .b32 %i, %block, %size, %flag;
  .reg .pred %p, %q;
{registers}
{loads}
  mov.u32 %i, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mad.lo.u32 %i, %block, %size, %i;
{body}
  ret;
}}
"""


def memory_type(kind: str) -> str:
    """The type by which an element is loaded: narrow integers are extended, all else are bits."""
    return kind if kind in ("u8", "s8") else f"b{bits_of(kind)}"


def register_type(kind: str) -> str:
    """The type of a register for an element."""
    return "pred" if kind == "pred" else f"b{max(16, bits_of(kind))}"


def load(register: str, array: int, kind: str) -> str:
    """Let a register have this thread's element."""
    if kind == "pred":
        return (
            f"  mad.wide.u32 %at, %i, 4, %base{array};\n  ld.global.u32 %flag, [%at];\n"
            f"  setp.ne.u32 {register}, %flag, 0;\n"
        )
    return (
        f"  mad.wide.u32 %at, %i, {bytes_of(kind)}, %base{array};\n  ld.global.{memory_type(kind)} {register}, [%at];\n"
    )


def store(register: str, array: int, kind: str) -> str:
    """Let this thread's element have a register's value."""
    if kind == "pred":
        return (
            f"  selp.u32 %flag, 1, 0, {register};\n  mad.wide.u32 %at, %i, 4, %base{array};\n"
            f"  st.global.u32 [%at], %flag;\n"
        )
    return (
        f"  mad.wide.u32 %at, %i, {bytes_of(kind)}, %base{array};\n  st.global.{memory_type(kind)} [%at], {register};\n"
    )


def case(
    name: str,
    body: str,
    outputs: Sequence[str],
    inputs: Sequence[str | tuple[str, np.ndarray]],
    bound: Bound = EXACT,
    target: str = "sm_90",
) -> Case:
    """A case of instructions that read %a, %b, ... and write %x, %y, ...

    inputs: types, with the values or without; outputs: types. An output is 0 where the instructions leave it.
    """
    kinds = [each if isinstance(each, str) else each[0] for each in inputs]
    given = [
        values(each, COUNT, f"{name} {at}") if isinstance(each, str) else each[1] for at, each in enumerate(inputs)
    ]
    sources = [f"%{LETTERS[at]}" for at in range(len(kinds))]
    targets = [f"%{'xyzw'[at]}" for at in range(len(outputs))]
    registers = "\n".join(
        f"  .reg .{register_type(kind)} {register};"
        for register, kind in zip(sources + targets, [*kinds, *outputs], strict=True)
    )
    text = "".join(load(register, at, kind) for at, (register, kind) in enumerate(zip(sources, kinds, strict=True)))
    text += f"  {body}\n"
    text += "".join(
        store(register, len(kinds) + at, kind) for at, (register, kind) in enumerate(zip(targets, outputs, strict=True))
    )
    arrays = [(kind if kind != "pred" else "u32", each) for kind, each in zip(kinds, given, strict=True)]
    arrays += [(kind if kind != "pred" else "u32", np.zeros(COUNT, dtype_of(kind))) for kind in outputs]
    return Case(name, module(len(arrays), registers, text, target), tuple(arrays), BLOCKS, THREADS, bound)


def simple(
    instruction: str, output: str, *inputs: str | tuple[str, np.ndarray], bound: Bound = EXACT, target: str = "sm_90"
) -> Case:
    """A case of one instruction with one destination: its name, and the types of destination and sources."""
    operands = ", ".join(["%x", *(f"%{LETTERS[at]}" for at in range(len(inputs)))])
    return case(instruction, f"{instruction} {operands};", [output], inputs, bound, target)

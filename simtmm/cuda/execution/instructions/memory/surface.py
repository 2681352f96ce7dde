"""suld, sust and suq: surfaces by surface objects, in the shapes that textures have, as bytes."""

from simtmm.cuda.execution.instructions.memory.loads_and_stores import put, take
from simtmm.cuda.execution.instructions.memory.texture import put_place, query, shape_of
from simtmm.cuda.execution.layout import ALIGN, LANES
from simtmm.cuda.execution.runtime.accesses import mover_function
from simtmm.cuda.execution.runtime.assembly_file import assembly_file
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.ptx.flow.steps import width_of
from simtmm.cuda.ptx.syntax import Instruction, Operand

_MODES = {"trap": 0, "clamp": 1, "zero": 2}  # what becomes of what lies outside
_WIDTHS = (1, 2, 4, 8, 16)


def load(context: Context, instruction: Instruction) -> None:
    """suld.b."""
    to, address = instruction.operands
    context.emit.store(context.emit.constant(0, f"<{LANES * width_of(instruction)} x i8>"), "%result", ALIGN)
    _access(context, instruction, address, "load", "%result")
    take(context, to, context.type_of(), width_of(instruction), "%result")


def store(context: Context, instruction: Instruction) -> None:
    """sust.b."""
    address, given = instruction.operands
    put(context, given, context.type_of(), width_of(instruction), "%result")
    _access(context, instruction, address, "store", "%result")


def _access(context: Context, instruction: Instruction, address: Operand, what: str, data: str) -> None:
    """Have the lanes that are inside load or store what lies at `data`."""
    emit, program = context.emit, context.code.program
    shape, width = shape_of(context), width_of(instruction)
    mode = next((number for name, number in _MODES.items() if instruction.has(name)), 0)
    if not instruction.has("b") or width not in _WIDTHS:
        raise context.refuse("accesses a surface by its format, which is not run here; as bytes (.b) it is")
    put_place(context, address, shape, "b32")
    for file in ("texels.ll", "textures.ll", "surfaces.ll"):
        program.helper(file, lambda file=file: assembly_file(file))  # type: ignore[misc]
    mover = mover_function(program, what, width)
    hosts = "%data2"
    found = emit.call(
        "surface.resolve", "{i32, i1}", Value("%launch", "ptr"), Value(str(context.access_number()), "i32"),
        Value(str(context.site), "i32"), context.active, Value("%addresses", "ptr"), Value("%data", "ptr"),
        Value(hosts, "ptr"), *(Value(str(number), "i32") for number in (shape, mode, width)),
    )  # fmt: skip
    inside = emit.value(f"extractvalue {found}, 0", "i32")
    wrong = emit.value(f"extractvalue {found}, 1", "i1")
    right, some, end = (emit.name(stem)[1:] for stem in ("right", "some", "went"))
    emit.do(f"br {wrong}, label %faulted, label %{right}")
    emit.label(right)
    emit.do(f"br {emit.compare('icmp ne', inside, Value('0', 'i32'))}, label %{some}, label %{end}")
    emit.label(some)
    emit.call(mover, "void", inside, Value(hosts, "ptr"), Value(data, "ptr"))
    emit.do(f"br label %{end}")
    emit.label(end)


HANDLERS = {"suld": load, "sust": store, "suq": query}

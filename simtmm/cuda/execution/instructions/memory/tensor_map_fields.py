"""tensormap: fields of tensor maps replaced, and maps copied from shared to global memory."""

from simtmm.cuda.execution.instructions.memory.loads_and_stores import access, address_of
from simtmm.cuda.execution.layout import ALIGN, LANES, TENSOR_MAGIC, TENSOR_MAP
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Operand

_PIECE = 16  # bytes of a map that are copied at once
_BYTES = TENSOR_MAP.itemsize
# By the field's name: ours.
_NUMBERED = {"box_dim": "box", "global_dim": "sizes", "global_stride": "strides", "element_stride": "steps"}
_PLAIN = {"global_address": "address", "rank": "rank"}
# By the field's name: ours, and our numbers of what the instruction may give, as PTX numbers it. Types: bytes too.
_CHOSEN = {
    "swizzle_mode": ("swizzle", {n: n for n in range(4)}),
    "fill_mode": ("fill", {0: 0, 1: 1}),
    "interleave_layout": ("interleave", {0: 0}),
    "elemtype": ("kind", {**{n: n for n in range(8)}, 8: 10, 9: 8, 10: 9, 11: 11, 12: 12}),
}
_TYPE_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)


def change(context: Context, instruction: Instruction) -> None:
    """tensormap.replace and tensormap.cp_fenceproxy."""
    if instruction.has("cp_fenceproxy"):
        _copy(context, instruction)
        return
    emit, operands = context.emit, instruction.operands
    name = next((each for each in instruction.modifiers if each in {*_NUMBERED, *_PLAIN, *_CHOSEN}), "")
    if name in _PLAIN:
        field = _PLAIN[name]
        value = context.read(operands[1], "i64")
        if name == "rank":  # given as one less; a map that is made from zeros becomes one by it
            value = emit.binary("add", value, emit.constant(1, value.type))
            _store(context, operands[0], "magic", emit.constant(TENSOR_MAGIC, lanes("i64")))
        _store(context, operands[0], field, value)
    elif name in _NUMBERED:
        field = _NUMBERED[name]
        number, count = operands[1].value if isinstance(operands[1], Immediate) else -1, TENSOR_MAP[field].shape[0]
        if not 0 <= number < count:
            raise context.refuse(f"names {name} {number}: must be 0 to {count - 1}")
        _store(context, operands[0], field, context.read(operands[2], "i64"), number)
    elif name:
        field, known = _CHOSEN[name]
        given = operands[1].value if isinstance(operands[1], Immediate) else -1
        if given not in known:
            raise context.refuse(
                f"gives {name} the number {given}, which is not run here; known: {', '.join(map(str, known))}"
            )
        _store(context, operands[0], field, emit.constant(known[given], lanes("i64")))
        if name == "elemtype":
            held = emit.constant(_TYPE_BYTES[known[given]], lanes("i64"))
            _store(context, operands[0], "element_bytes", held)
    else:
        raise context.refuse()


def _space(instruction: Instruction) -> str:
    return "shared" if space_of(instruction) == "shared" else "global"


def _store(context: Context, address: Operand, field: str, value: Value, number: int = 0) -> None:
    """A value as a field, into the map of each lane. number: of the field's numbers, if it has several."""
    emit = context.emit
    size = TENSOR_MAP[field].base.itemsize
    offset = int(TENSOR_MAP.fields[field][1]) + size * number  # type: ignore[index]
    assert context.instruction is not None
    emit.store(emit.resize(value, f"i{8 * size}", False), "%data", ALIGN)
    place = address_of(context, address)
    there = emit.binary("add", place, emit.constant(offset, place.type))
    access(context, "store", _space(context.instruction), size, there, "%data")


def _copy(context: Context, instruction: Instruction) -> None:
    """A whole map, by the lowest of the lanes, which all name the same ones."""
    emit = context.emit
    if not instruction.has("global") or not instruction.has("shared::cta"):
        raise context.refuse("copies between state spaces that are not known")
    size = instruction.operands[2]
    if not isinstance(size, Immediate) or size.value != _BYTES:
        raise context.refuse(f"copies a tensor map of another size than {_BYTES} bytes")
    everyone = context.active, context.active_lanes
    context.active = emit.binary("and", context.active, emit.binary("sub", Value("0", "i32"), context.active))
    context.active_lanes = emit.lanes_of(context.active)
    to, given = (address_of(context, operand) for operand in instruction.operands[:2])
    for offset in range(0, _BYTES, _PIECE):
        step = emit.constant(offset, to.type)
        emit.store(emit.constant(0, f"<{LANES * _PIECE} x i8>"), "%data", ALIGN)
        access(context, "load", "shared", _PIECE, emit.binary("add", given, step), "%data")
        access(context, "store", "global", _PIECE, emit.binary("add", to, step), "%data")
    context.active, context.active_lanes = everyone


HANDLERS = {"tensormap": change}

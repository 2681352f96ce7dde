"""tex, tld4 and txq: textures by texture objects, in one to three dimensions, or in layers of one or two."""

from simtmm.cuda.execution.instructions.memory.loads_and_stores import parts_of
from simtmm.cuda.execution.layout import ALIGN, FLAT, KIND_SURFACE, KIND_TEXTURE, LAYERED, TEXTURE
from simtmm.cuda.execution.runtime.assembly_file import assembly_file
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import LAUNCH_POINTER, ONE_BIT, Value, lanes
from simtmm.cuda.ptx.syntax import Address, Instruction, Operand, Pair, Register
from simtmm.cuda.ptx.types import is_type

_LEVELS = {"level": 1, "grad": 2}  # operands that choose among levels, of which a texture has one here
_SHAPES = {"1d": 1, "2d": 2, "3d": 3, "a1d": LAYERED + 1, "a2d": LAYERED + 2}
_OF_MACHINE = "flat"  # the shape of machine code that reads either
_PLACES = {1: (0,), 2: (0, 1), 3: (0, 1, 2), LAYERED + 1: (2, 0), LAYERED + 2: (2, 0, 1), FLAT: (0, 1)}
"""Which of x, y and z each number of a place is, by shapes; a layer lies where z does. A place of three numbers has a
fourth one, which says nothing."""
_QUERIES = {
    "width": "width", "height": "height", "depth": "depth", "array_size": "depth", "normalized_coords": "normalized",
}  # fmt: skip
"""Fields of TEXTURE."""
TEXEL = 4  # numbers
CHANNELS = ("r", "g", "b", "a")
_ALL = -1  # channels of one place, not one of four texels


def gather(context: Context, instruction: Instruction) -> None:
    """tld4."""
    channel = next((number for number, name in enumerate(CHANNELS) if instruction.has(name)), None)
    if channel is None or shape_of(context) not in (_SHAPES["2d"], _SHAPES["a2d"]):
        raise context.refuse("gathers what is not run here: r, g, b and a of 2d, a2d are")
    _read(context, instruction, channel)


def fetch(context: Context, instruction: Instruction) -> None:
    """tex."""
    _read(context, instruction, _ALL)


def _read(context: Context, instruction: Instruction, channel: int) -> None:
    """Four numbers: all channels of the texel at a place, or one of the four texels around it."""
    shape, kinds = shape_of(context), [m for m in instruction.modifiers if is_type(m)]
    if not instruction.has("v4") or len(kinds) != 2 or kinds[0] not in ("f32", "s32", "u32"):
        raise context.refuse("reads a texture in a type that is not run here")
    if kinds[1] not in (("f32", "s32") if channel == _ALL else ("f32",)) or instruction.has("base"):
        raise context.refuse("reads a texture in a way that is not run here")
    to, *rest = instruction.operands
    levels = next((count for name, count in _LEVELS.items() if instruction.has(name)), 0)
    if len(rest) != 1 + levels:
        raise context.refuse("reads a texture with an offset or a comparison, which is not run here")
    put_place(context, rest[0], shape, "b32")
    call(
        context, "texture.fetch", Value(str(context.site), "i32"), context.active, Value("%addresses", "ptr"),
        Value("%data", "ptr"), Value("%result", "ptr"), Value(str(shape), "i32"),
        Value("true" if kinds[1] == "f32" else "false", "i1"), Value(str(channel), "i32"),
    )  # fmt: skip
    if isinstance(to, Pair):  # whether the texel is there, which it is where memory is not sparse
        context.write(to.second, context.emit.constant("true", ONE_BIT))
        to = to.first
    if len(parts_of(to)) != TEXEL:
        raise context.refuse(f"has {len(parts_of(to))} registers for the {TEXEL} numbers of a texel")
    for number, part in enumerate(parts_of(to)):
        context.write(part, context.emit.load(lanes("i32"), context.emit.at("%result", 128 * number), ALIGN))


def query(context: Context, instruction: Instruction) -> None:
    """txq and suq."""
    field = next((_QUERIES[m] for m in instruction.modifiers if m in _QUERIES), None)
    if field is None or instruction.has("level"):
        raise context.refuse("asks for what is not known here: sizes and normalized_coords are")
    to, address = instruction.operands
    put_handles(context, address)
    kind = KIND_TEXTURE if instruction.opcode == "txq" else KIND_SURFACE
    call(
        context, "texture.query", context.active, Value("%addresses", "ptr"), Value("%result", "ptr"),
        Value(str(kind), "i32"), Value(str(TEXTURE.fields[field][1]), "i64"),  # type: ignore[index]
    )  # fmt: skip
    context.write(to, context.emit.load(lanes("i32"), "%result", ALIGN))


def shape_of(context: Context) -> int:
    """The shape, as TEXTURE has it."""
    assert context.instruction is not None
    if context.instruction.issue is not None and context.instruction.has(_OF_MACHINE):
        return FLAT
    for name, shape in _SHAPES.items():
        if context.instruction.has(name):
            return shape
    raise context.refuse(f"accesses a texture or surface of a shape that is not run here: {', '.join(_SHAPES)} are")


def put_handles(context: Context, address: Operand) -> None:
    """Store the texture or surface objects of the lanes at %addresses."""
    if not isinstance(address, Address) or not isinstance(address.base, Register) or address.offset:
        raise context.refuse("names a texture reference, which is not run here: texture objects are")
    context.emit.store(context.read(address.base, "i64"), "%addresses", ALIGN)


def put_place(context: Context, address: Operand, shape: int, kind: str) -> None:
    """The objects that the lanes name, at %addresses, and coordinates: x at %data, y, and z or the layer behind it."""
    put_handles(context, address)
    assert isinstance(address, Address)
    if len(address.rest) != 1:
        raise context.refuse("names a sampler apart from its texture, which is not run here")
    parts = parts_of(address.rest[0])
    places = _PLACES[shape]
    if len(parts) != (4 if len(places) == 3 else len(places)):
        raise context.refuse(f"has {len(parts)} numbers for a place, which is not one of its texture's shape")
    for number, part in zip(places, parts, strict=False):
        context.emit.store(context.read(part, f"i{kind[1:]}"), context.emit.at("%data", 128 * number), ALIGN)


def call(context: Context, name: str, *arguments: Value) -> None:
    """Call a runtime function that returns whether it failed."""
    emit, program = context.emit, context.code.program
    for file in ("texels.ll", "textures.ll"):
        program.helper(file, lambda file=file: assembly_file(file))  # type: ignore[misc]
    number = Value(str(context.access_number()), "i32")
    wrong = emit.call(name, "i1", LAUNCH_POINTER, number, *arguments)
    label = emit.name("went")[1:]
    emit.do(f"br {wrong}, label %faulted, label %{label}")
    emit.label(label)


HANDLERS = {"tex": fetch, "tld4": gather, "txq": query}

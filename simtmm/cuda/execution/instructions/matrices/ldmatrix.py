"""Tiles of 8 times 8 numbers of 16 bits between shared memory and registers: ldmatrix, stmatrix, movmatrix.

A tile has a row in each 16 bytes that a lane names. A register of all lanes, read as one vector, is a tile row by row.
"""

from simtmm.cuda.execution.instructions.memory.loads_and_stores import access, address_of, parts_of
from simtmm.cuda.execution.layout import ALIGN, LANES, SHARED_WINDOW
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Instruction, Operand

ROW_BYTES = 16
_TILE = "<64 x i16>"


def _turned(context: Context, tile: Value) -> Value:
    """The transposed tile."""
    emit = context.emit
    raw = emit.as_type(tile, _TILE)
    return emit.as_type(emit.shuffle(raw, raw, [8 * (n % 8) + n // 8 for n in range(64)]), tile.type)


def _tiles(context: Context, instruction: Instruction) -> int:
    """How many tiles it moves, one a register."""
    count = next((int(m[1:]) for m in instruction.modifiers if m in ("x1", "x2", "x4")), 0)
    if not count or not instruction.has("m8n8") or context.type_of() != "b16":
        raise context.refuse("moves tiles of a kind that is not run here; known: .m8n8 of .b16")
    return count


def _addresses(context: Context, instruction: Instruction, operand: Operand) -> Value:
    """Within shared memory: a generic address is one of it, or lies outside."""
    found = address_of(context, operand)
    if space_of(instruction) == "shared":
        return found
    return context.emit.binary("sub", found, context.emit.constant(SHARED_WINDOW, found.type))


def _rows(context: Context, tiles: int) -> None:
    """From here on take part the lanes that name rows: 8 a tile."""
    mask = (1 << 8 * tiles) - 1
    emit = context.emit
    context.active = emit.binary("and", context.active, Value(str(mask if mask < 1 << 31 else -1), "i32"))
    context.active_lanes = emit.lanes_of(context.active)


def load_tiles(context: Context, instruction: Instruction) -> None:
    """ldmatrix."""
    emit = context.emit
    tiles = _tiles(context, instruction)
    to = parts_of(instruction.operands[0])
    if len(to) != tiles:
        raise context.refuse(f"has {len(to)} registers for {tiles} tiles")
    everyone = context.active, context.active_lanes
    _rows(context, tiles)
    access(context, "load", "shared", ROW_BYTES, _addresses(context, instruction, instruction.operands[1]), "%data")
    context.active, context.active_lanes = everyone
    for number, part in enumerate(to):
        tile = emit.load(lanes("i32"), emit.at("%data", 4 * LANES * number), ALIGN)
        context.write(part, _turned(context, tile) if instruction.has("trans") else tile)


def store_tiles(context: Context, instruction: Instruction) -> None:
    """stmatrix."""
    emit = context.emit
    tiles = _tiles(context, instruction)
    given = parts_of(instruction.operands[1])
    if len(given) != tiles:
        raise context.refuse(f"has {len(given)} registers for {tiles} tiles")
    for number, part in enumerate(given):
        tile = context.read(part, "i32")
        turned = _turned(context, tile) if instruction.has("trans") else tile
        emit.store(turned, emit.at("%data", 4 * LANES * number), ALIGN)
    _rows(context, tiles)
    access(context, "store", "shared", ROW_BYTES, _addresses(context, instruction, instruction.operands[0]), "%data")


def turn_tile(context: Context, instruction: Instruction) -> None:
    """movmatrix."""
    if not instruction.has("m8n8") or not instruction.has("trans") or context.type_of() != "b16":
        raise context.refuse("moves a tile of a kind that is not known")
    context.write(instruction.operands[0], _turned(context, context.read(instruction.operands[1], "i32")))


HANDLERS = {"ldmatrix": load_tiles, "stmatrix": store_tiles, "movmatrix": turn_tile}

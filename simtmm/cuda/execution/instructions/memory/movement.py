"""Moves, addresses of variables, and pointers between state spaces."""

from simtmm.cuda.execution.layout import BLOCK, LOCAL_WINDOW, PARAMETER_WINDOW, PEER_BIT, PEER_OFFSETS, SHARED_WINDOW
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import ONE_BIT, Value, bits, lanes
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Instruction, Operand, Register, Sink, Symbol, Vector
from simtmm.cuda.ptx.types import bits_of

WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
_OWN_PART = {
    32: PEER_OFFSETS,
    64: -(1 << 32) | PEER_OFFSETS,
}  # bits of an address that do not say whose memory it is in


def move(context: Context, instruction: Instruction) -> None:
    """mov: registers, constants, addresses; from a register to several and back."""
    kind = context.type_of()
    to, given = instruction.operands[:2]
    lanes_of_vector = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4")), 0)
    if lanes_of_vector:
        _move_parts(context, to, given, kind, lanes_of_vector)
    elif kind == "pred":
        context.write(to, context.predicate(given))
    elif any(isinstance(each, Vector) and not _packs(context, each) for each in (to, given)):
        raise context.refuse("must pack or unpack 2 or 4 registers")
    elif isinstance(to, Vector):
        _unpack(context, to, context.read(given, f"i{bits_of(kind)}"))
    elif isinstance(given, Vector):
        context.write(to, _packed(context, given, bits_of(kind)))
    elif isinstance(to, Register) and isinstance(given, Register) and {to.name, given.name} <= context.code.late:
        context.write(to, context.register(given.name))
    else:
        context.write(to, context.read(given, f"i{bits_of(kind)}"))


def _move_parts(context: Context, to: Operand, given: Operand, kind: str, count: int) -> None:
    """mov.v2 and mov.v4: part by part, all of them read first."""
    parts = [each.parts[:count] if isinstance(each, Vector) else () for each in (to, given)]
    if any(len(each) != count for each in parts):
        raise context.refuse(f"needs two vectors of {count}")
    values = [context.read(part, f"i{bits_of(kind)}") for part in parts[1]]
    for part, value in zip(parts[0], values, strict=True):
        context.write(part, value)


def _packs(context: Context, vector: Vector) -> bool:
    """Whether it may be the parts of one number; %tid and its kin are none."""
    special = any(isinstance(part, Register) and part.name not in context.code.registers for part in vector.parts)
    return len(vector.parts) in (2, 4) and not special


def _unpack(context: Context, to: Vector, value: Value) -> None:
    emit = context.emit
    width = bits(value.type) // len(to.parts)
    for place, part in enumerate(to.parts):
        if not isinstance(part, Sink):
            shifted = emit.binary("lshr", value, emit.constant(place * width, value.type))
            context.write(part, emit.resize(shifted, f"i{width}", False))


def _packed(context: Context, given: Vector, width: int) -> Value:
    emit = context.emit
    each = width // len(given.parts)
    result = emit.constant(0, lanes(f"i{width}"))
    for place, part in enumerate(given.parts):
        wide = emit.resize(context.read(part, f"i{each}"), f"i{width}", False)
        result = emit.binary("or", result, emit.binary("shl", wide, emit.constant(place * each, wide.type)))
    return result


def convert_address(context: Context, instruction: Instruction) -> None:
    """cvta: between a state space and generic addresses. Global and constant addresses are generic ones, and so are
    those of a kernel's parameters, but for what a move to 32 bits cuts off.
    """
    emit = context.emit
    space = space_of(instruction)
    value = context.read(instruction.operands[1], "i64")
    if space == "param":
        if not context.code.function.entry:
            space = "local"
        elif not instruction.has("to"):
            value = emit.binary("or", value, emit.constant(PARAMETER_WINDOW, value.type))
    window = WINDOWS.get(space)
    if window is not None:
        value = emit.binary("sub" if instruction.has("to") else "add", value, emit.constant(window, value.type))
    context.write(instruction.operands[0], value)


def is_in_space(context: Context, instruction: Instruction) -> None:
    """isspacep: by the window that a generic address lies in, and whether a variable of constant memory is there."""
    emit = context.emit
    value = context.read(instruction.operands[1], "i64")
    window = emit.binary("lshr", value, emit.constant(40, value.type))
    numbers = {"global": 0, "const": 0, "shared": SHARED_WINDOW >> 40, "local": LOCAL_WINDOW >> 40}
    numbers["param"] = PARAMETER_WINDOW >> 40
    space = space_of(instruction)
    if space not in numbers:
        raise context.refuse()
    found = emit.compare("icmp eq", window, emit.constant(numbers[space], window.type))
    if space in ("global", "const"):
        constant = _is_constant(context, value)
        found = constant if space == "const" else emit.binary("and", found, emit.invert(constant))
    if instruction.has("shared::cta", "shared"):  # not another block's
        peer = emit.binary("lshr", value, emit.constant(PEER_BIT, value.type))
        own = emit.compare("icmp eq", peer, emit.constant(SHARED_WINDOW >> PEER_BIT, value.type))
        found = emit.binary("and", found, own)
    context.write(instruction.operands[0], found)


def _is_constant(context: Context, address: Value) -> Value:
    """Whether a variable of constant memory lies at an address."""
    emit = context.emit
    found = emit.constant("false", ONE_BIT)
    for variable in context.code.program.module.variables.values():
        if variable.space == "const" and not variable.extern:
            behind = emit.binary("sub", address, context.code.address(context, Symbol(variable.name)))
            here = emit.compare("icmp ult", behind, emit.constant(max(1, variable.size), behind.type))
            found = emit.binary("or", found, here)
    return found


def map_shared(context: Context, instruction: Instruction) -> None:
    """mapa and getctarank: bits of an address say whose memory it is in."""
    emit = context.emit
    kind = f"i{bits_of(context.type_of())}"
    address = context.read(instruction.operands[1], kind)
    if instruction.opcode == "mapa":
        rank = context.read(instruction.operands[2], kind)
        number = emit.binary("add", rank, emit.constant(1, rank.type))
        number = emit.binary("shl", number, emit.constant(PEER_BIT, rank.type))
        own = emit.binary("and", address, emit.constant(_OWN_PART[bits_of(context.type_of())], address.type))
        context.write(instruction.operands[0], emit.binary("or", own, number))
        return
    found = emit.binary("lshr", address, emit.constant(PEER_BIT, address.type))
    more = emit.resize(emit.binary("and", found, emit.constant(0xFF, found.type)), "i32", False)
    own_rank = emit.splat(emit.field("i32", "%block", int(BLOCK.fields["cluster_rank"][1])))  # type: ignore[index]
    less = emit.binary("sub", more, emit.constant(1, more.type))
    is_own = emit.compare("icmp eq", more, emit.constant(0, more.type))
    context.write(instruction.operands[0], emit.select(is_own, own_rank, less))


def policy(context: Context, instruction: Instruction) -> None:
    """createpolicy: cache hints have no effect, so every policy is the same number."""
    context.write(instruction.operands[0], context.emit.constant(0, lanes("i64")))


def nothing(context: Context, instruction: Instruction) -> None:
    """Instructions without a visible effect here: fences, hints, sleep."""


def active_mask(context: Context, instruction: Instruction) -> None:
    """activemask: the active lanes."""
    context.write(instruction.operands[0], context.emit.splat(context.active))


HANDLERS = {
    "mov": move,
    "cvta": convert_address,
    "isspacep": is_in_space,
    "mapa": map_shared,
    "getctarank": map_shared,
    "activemask": active_mask,
    "createpolicy": policy,
    **dict.fromkeys(
        ("membar", "fence", "prefetch", "prefetchu", "discard", "applypriority", "nanosleep", "pmevent",
         "griddepcontrol", "brkpt"),
        nothing,
    ),
}  # fmt: skip

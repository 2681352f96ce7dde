"""Loads and stores: the runtime gets the lanes' addresses, checks and records them, and moves the bytes."""

from simtmm.cuda.execution.instructions.numbers.integer import is_signed
from simtmm.cuda.execution.layout import ALIGN, LANES, LAUNCH, PARAMETER_WINDOW, ROOM
from simtmm.cuda.execution.runtime.accesses import access_function
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import BLOCK_POINTER, LAUNCH_POINTER, WARP_POINTER, Value, lanes
from simtmm.cuda.ptx.flow.copy_groups import limit_of
from simtmm.cuda.ptx.flow.steps import space_of, width_of
from simtmm.cuda.ptx.syntax import Address, Immediate, Instruction, Negated, Operand, Register, Symbol, Vector
from simtmm.cuda.ptx.types import bits_of, bytes_of
from simtmm.errors import shown

COPIED = (4, 8, 16)  # bytes of a cp.async
POINTERS = (LAUNCH_POINTER, BLOCK_POINTER, WARP_POINTER)


def address_of(context: Context, address: Operand) -> Value:
    """The addresses of the lanes, i64."""
    if not isinstance(address, Address):
        raise context.refuse("needs an address in brackets")
    emit = context.emit
    match address.base:
        case Symbol(name, offset):
            return context.code.address(context, Symbol(name, offset + address.offset))
        case Immediate(number):
            return emit.constant(number + address.offset, lanes("i64"))
        case Register():
            if not address.offset:
                return context.read(address.base, "i64")
            # An address of 32 bits stays one: shared memory may lie below what an offset is added to.
            short = bits_of(context.code.registers.get(address.base.name, "b64")) == 32
            base = context.read(address.base, "i32" if short else "i64")
            offset = (address.offset + (1 << 31)) % (1 << 32) - (1 << 31) if short else address.offset
            return emit.resize(emit.binary("add", base, emit.constant(offset, base.type)), "i64", False)


def parts_of(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector operand; a single register as itself."""
    return operand.parts if isinstance(operand, Vector) else (operand,)


def access(context: Context, what: str, space: str, width: int, address: Value, data: str) -> None:
    """Call the runtime to load or store a number of bytes for each lane, consecutive at `data`."""
    emit = context.emit
    emit.store(address, "%addresses", ALIGN)
    name = access_function(context.code.program, what, space, width)
    number = Value(str(context.access_number()), "i32")
    site = Value(str(context.site), "i32")
    wrong = emit.call(
        name, "i1", *POINTERS, number, site, context.active, Value("%addresses", "ptr"), Value(data, "ptr")
    )
    label = emit.name("went")[1:]
    emit.do(f"br {wrong}, label %faulted, label %{label}")
    emit.label(label)


def load(context: Context, instruction: Instruction) -> None:
    """ld and ldu."""
    space = space_of(instruction)
    to, address = instruction.operands[0], instruction.operands[1]
    if space == "param" and isinstance(address, Address) and isinstance(address.base, Symbol):
        _load_parameter(context, instruction, to, address)
        return
    kind = context.type_of()
    place = address_of(context, address)
    if space == "param" and context.code.function.entry:  # its register may have 32 bits
        place = context.emit.binary("or", place, context.emit.constant(PARAMETER_WINDOW, place.type))
    access(context, "load", _resolved(space), width_of(instruction), place, "%data")
    take(context, to, kind, width_of(instruction), "%data")


def _resolved(space: str) -> str:
    return space if space in ("shared", "local") else "global"


def _parts(context: Context, operand: Operand, kind: str, width: int, data: str) -> tuple[Operand, ...]:
    """The registers of an operand that stand for so many bytes of each lane. Raises PtxError for too many or few."""
    parts = parts_of(operand)
    if len(parts) * bytes_of(kind) != width:
        raise context.refuse(f"has {len(parts)} registers of {bytes_of(kind)} bytes for {width}")
    if width * LANES > ROOM[data]:
        raise context.refuse(f"moves {width} bytes of a thread: must be at most {ROOM[data] // LANES}")
    return parts


def take(context: Context, to: Operand, kind: str, width: int, data: str) -> None:
    """Read registers from `data`, which holds for each lane a number for each register."""
    emit = context.emit
    parts = _parts(context, to, kind, width, data)
    element = f"i{8 * bytes_of(kind)}"
    whole = emit.load(f"<{LANES * len(parts)} x {element}>", data, ALIGN)
    for place, part in enumerate(parts):
        value = whole if len(parts) == 1 else emit.shuffle(whole, whole, range(place, LANES * len(parts), len(parts)))
        context.write(part, value, is_signed(kind))


def put(context: Context, given: Operand, kind: str, width: int, data: str) -> None:
    """Write registers to `data`, likewise."""
    emit = context.emit
    element = f"i{8 * bytes_of(kind)}"
    parts = _parts(context, given, kind, width, data)
    values = [context.read(part, element) for part in parts]
    while len(values) > 1:  # two at a time: each result has all the lanes of one, then all of the next
        values = [
            emit.shuffle(values[n], values[n + 1], range(2 * _count(values[n]))) for n in range(0, len(values), 2)
        ]
    count = len(parts)
    whole = values[0]
    if count > 1:
        order = [lane + LANES * part for lane in range(LANES) for part in range(count)]
        whole = emit.shuffle(whole, whole, order)
    emit.store(whole, data, ALIGN)


def _count(value: Value) -> int:
    return int(value.type[1:].split(" x ")[0])


def store(context: Context, instruction: Instruction) -> None:
    """st."""
    space = space_of(instruction)
    address, given = instruction.operands[0], instruction.operands[1]
    kind = context.type_of()
    if space == "param":
        _store_parameter(context, address, given, kind)
        return
    put(context, given, kind, width_of(instruction), "%data")
    access(context, "store", _resolved(space), width_of(instruction), address_of(context, address), "%data")


def _load_parameter(context: Context, instruction: Instruction, to: Operand, address: Address) -> None:
    emit, code = context.emit, context.code
    assert isinstance(address.base, Symbol)
    name, offset = address.base.name, address.offset + address.base.offset
    kind = context.type_of()
    size = bytes_of(kind)
    parts = parts_of(to)
    if code.function.entry and name in code.parameters:
        if not 0 <= code.parameters[name] + offset <= code.parameter_bytes - size * len(parts):
            raise context.refuse(f"loads what lies beyond the kernel's {code.parameter_bytes} bytes of parameters")
        base = emit.field("ptr", "%launch", int(LAUNCH.fields["parameters"][1]))  # type: ignore[index]
        for place, part in enumerate(parts):
            at = emit.at(base.name, code.parameters[name] + offset + place * size)
            context.write(part, emit.splat(emit.load(f"i{8 * size}", at, size)), is_signed(kind))
        return
    for place, part in enumerate(parts):
        context.write(part, _slot(context, name, offset + place * size, 8 * size), is_signed(kind))


def _slot(context: Context, name: str, offset: int, width: int) -> Value:
    """What each lane has of a parameter in the activation, at an offset."""
    emit = context.emit
    if name not in context.code.places:
        raise context.refuse(f"names {name}, which is no parameter here")
    place, stride = context.code.places[name]
    start = emit.at(context.frame, place)
    count = stride * 8 // width
    if stride * 8 % width or offset * 8 % width:
        raise context.refuse("loads across the parts of a parameter, which is not known")
    if not 0 <= offset * 8 <= stride * 8 - width:
        raise context.refuse(f"loads what lies beyond the {stride} bytes of {name}")
    whole = emit.load(f"<{LANES * count} x i{width}>", start, 4)
    if count == 1:
        return whole
    return emit.shuffle(whole, whole, range(offset * 8 // width, LANES * count, count))


def _store_parameter(context: Context, address: Operand, given: Operand, kind: str) -> None:
    """A lane's part of a parameter that is passed, or of the value that is returned."""
    emit = context.emit
    assert isinstance(address, Address)
    assert isinstance(address.base, Symbol)
    name, offset = address.base.name, address.offset + address.base.offset
    if name not in context.code.places:
        raise context.refuse(f"names {name}, which is no parameter here")
    place, stride = context.code.places[name]
    size = bytes_of(kind)
    count = stride // size
    if stride % size or offset % size:
        raise context.refuse("stores across the parts of a parameter, which is not known")
    stored = parts_of(given)
    if not 0 <= offset <= stride - size * len(stored):
        raise context.refuse(f"stores beyond the {stride} bytes of {name}")
    for number, part in enumerate(stored):
        value = context.read(part, f"i{8 * size}")
        start = emit.at(context.frame, place)
        at = offset // size + number
        of = f"<{LANES * count} x i{8 * size}>"
        before = emit.load(of, start, 4)
        chosen = context.active_lanes
        if count > 1:
            spread = [lane if n == at else LANES for lane in range(LANES) for n in range(count)]
            padding = Value("poison", value.type)
            wide = emit.shuffle(value, padding, [lane if lane < LANES else 0 for lane in spread])
            lanes_wide = emit.shuffle(
                chosen, Value("zeroinitializer", chosen.type), [lane if lane < LANES else LANES for lane in spread]
            )
            value, chosen = wide, lanes_wide
        emit.store(emit.select(chosen, value, before), start, 4)


def copy_asynchronously(context: Context, instruction: Instruction) -> None:
    """cp.async: the copy is done at once, which is one of the times at which it may be done."""
    modifiers = set(instruction.modifiers)
    if {"commit_group", "wait_group", "wait_all"} & modifiers:
        return
    if "async" not in modifiers or {"bulk", "mbarrier", "reduce"} & modifiers:
        raise context.refuse()
    emit = context.emit
    operands = instruction.operands
    if not isinstance(operands[2], Immediate):
        raise context.refuse("copies a number of bytes that is no constant")
    width = operands[2].value
    if width not in COPIED:
        raise context.refuse(f"copies {shown(width)} bytes at once: must be 4, 8 or 16")
    to, given = address_of(context, operands[0]), address_of(context, operands[1])
    limit = limit_of(instruction)
    ignored = context.predicate(limit) if limit is not None and _is_predicate(context, limit) else None
    taken = context.read(limit, "i32") if limit is not None and ignored is None else None
    block_active, block_lanes = context.active, context.active_lanes
    emit.store(emit.constant(0, f"<{LANES * width} x i8>"), "%data", ALIGN)
    if ignored is not None:
        context.active_lanes = emit.binary("and", block_lanes, emit.invert(ignored))
    elif taken is not None:
        context.active_lanes = emit.binary(
            "and", block_lanes, emit.compare("icmp ne", taken, emit.constant(0, taken.type))
        )
    context.active = emit.mask(context.active_lanes)
    access(context, "load", "global", width, given, "%data")
    if taken is not None:  # bytes beyond what is to be read are 0
        whole = emit.load(f"<{LANES * width} x i8>", "%data", ALIGN)
        counts = emit.shuffle(taken, taken, [n // width for n in range(LANES * width)])
        place = Value(f"<{', '.join(f'i32 {n % width}' for n in range(LANES * width))}>", counts.type)
        kept = emit.select(emit.compare("icmp slt", place, counts), whole, emit.constant(0, whole.type))
        emit.store(kept, "%data", ALIGN)
    context.active, context.active_lanes = block_active, block_lanes
    site, context.site = context.site, -1
    access(context, "store", "shared", width, to, "%data")
    context.site = site


def _is_predicate(context: Context, operand: Operand) -> bool:
    if isinstance(operand, Negated):
        return True
    return isinstance(operand, Register) and context.code.registers.get(operand.name) == "pred"


HANDLERS = {"ld": load, "ldu": load, "st": store, "cp": copy_asynchronously}

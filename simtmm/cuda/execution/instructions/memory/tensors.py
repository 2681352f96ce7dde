"""cp.async.bulk.tensor: boxes of tensors that a tensor map describes, moved or added up at once, lane by lane.

How a box lies in shared memory, what lies outside a tensor, and im2col are as the PTX ISA has them ("Tensors"), and as
an H100 did it (traces/measured/h100-sxm/hopper_semantics.txt): rows of a box lie one behind the other, each as
long as the swizzle's pattern, and the swizzle exchanges 16 bytes by bits of the address.
"""

from collections.abc import Iterator

from simtmm.cuda.execution.instructions.memory.loads_and_stores import POINTERS, address_of, parts_of
from simtmm.cuda.execution.instructions.memory.mbarrier import complete
from simtmm.cuda.execution.instructions.memory.tensor_code import OFFSETS, SUMS, variant
from simtmm.cuda.execution.layout import ALIGN, LANES, PEER_BIT, PEER_OFFSETS, SIZE_BIT
from simtmm.cuda.execution.runtime.check_log import log_bulk
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Address, Instruction, Operand
from simtmm.workload import COMPLETE, COMPLETE_MULTICAST

_DIMENSIONS = {f"{n}d": n for n in range(1, 6)}
_MOST_PEERS = 16  # blocks of a cluster that a mask has bits for
_NOT_RUN = ("cta_group::1", "cta_group::2", "tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128",
            "im2col_no_offs")  # fmt: skip


def copy_tensor(context: Context, instruction: Instruction) -> None:
    """cp.async.bulk.tensor and cp.reduce.async.bulk.tensor."""
    unknown = next((each for each in instruction.modifiers if each in _NOT_RUN), None)
    if unknown is not None and unknown != "im2col_no_offs":
        raise context.refuse(f"with .{unknown}, of later machines than sm_90, is not run here")
    rank = next((_DIMENSIONS[each] for each in instruction.modifiers if each in _DIMENSIONS), 0)
    im2col = instruction.has("im2col", "im2col_no_offs")
    loads = space_of(instruction) == "shared"  # what stands first is what is written
    operands = instruction.operands
    if not rank or len(operands) < 2 + loads or (im2col and rank < 3):
        raise context.refuse("lacks the dimensions of a tensor, or operands")
    if instruction.has("reduce"):
        way = next((each for each in instruction.modifiers if each in SUMS), "")
        if not way:
            raise context.refuse("adds up in no way that is known")
    else:
        way = "load" if loads else "store"
    tensor, shared = (operands[1], operands[0]) if loads else (operands[0], operands[1])
    offsets = operands[3] if instruction.has("im2col") and loads and len(operands) > 3 else None
    emit, program = context.emit, context.code.program
    name = variant(program, way, rank, im2col)
    behind = operands[3 + (im2col and instruction.has("im2col")) :] if loads else ()
    mask = behind[0] if behind and instruction.has("multicast::cluster") else None
    for there, site in each_target(context, address_of(context, shared), mask):
        _coordinates(context, tensor, rank, offsets)
        emit.store(address_of(context, tensor), "%addresses", ALIGN)
        emit.store(there, "%data2", ALIGN)
        emit.store(emit.constant(0, lanes("i64")), "%result", ALIGN)
        number = Value(str(context.access_number()), "i32")
        places = [Value(each, "ptr") for each in ("%addresses", "%data2", "%data", "%result")]
        wrong = emit.call(name, "i1", *POINTERS, number, site, context.active, *places)
        label = emit.name("went")[1:]
        emit.do(f"br {wrong}, label %faulted, label %{label}")
        emit.label(label)
        beside = barrier_beside(context, there, operands[2], mask) if loads else None
        sizes = emit.load(lanes("i64"), "%result", ALIGN)
        _log_box(context, loads, there, beside)
        if beside is not None:
            complete(context, beside, sizes, "shared", COMPLETE if mask is None else COMPLETE_MULTICAST)


def _log_box(context: Context, loads: bool, there: Value, told: Value | None) -> None:
    """Log for checks what boxes have in shared memory, of which parts may be left out."""
    emit = context.emit
    whole = emit.load(lanes("i64"), emit.at("%result", 8 * LANES), ALIGN)
    cut = emit.load(lanes("i64"), emit.at("%result", 16 * LANES), ALIGN)
    cut = emit.binary("shl", cut, emit.constant(SIZE_BIT, cut.type))
    log_bulk(context, "shared", loads, there, emit.binary("or", whole, cut), told)


def each_target(context: Context, address: Value, mask: Operand | None) -> Iterator[tuple[Value, Value]]:
    """Where a copy goes in shared memory, and its site; with a mask the same place in each block that it has a bit of.

    Meanwhile those lanes take part whose mask has the bit. What is recorded is one of the copies: the first.
    """
    site = Value(str(context.site), "i32")
    if mask is None:
        yield address, site
        return
    emit = context.emit
    everyone = context.active, context.active_lanes
    bits = context.read(mask, "i32")
    none = emit.constant(0, bits.type)
    own = emit.binary("and", address, emit.constant(PEER_OFFSETS, address.type))
    for rank in range(_MOST_PEERS):
        here = emit.compare("icmp ne", emit.binary("and", bits, emit.constant(1 << rank, bits.type)), none)
        context.active_lanes = emit.binary("and", everyone[1], here)
        context.active = emit.mask(context.active_lanes)
        before = emit.compare("icmp eq", emit.binary("and", bits, emit.constant((1 << rank) - 1, bits.type)), none)
        first = emit.binary("and", emit.mask(before), context.active)
        is_first = emit.compare("icmp ne", first, Value("0", "i32"))
        there = emit.binary("or", own, emit.constant(rank + 1 << PEER_BIT, own.type))
        yield there, emit.select(is_first, site, Value("-1", "i32"))
    context.active, context.active_lanes = everyone


def barrier_beside(context: Context, there: Value, barrier: Operand, mask: Operand | None) -> Value:
    """The address of the mbarrier that is told of a copy: in the block that it goes to, where it goes to several."""
    address, emit = address_of(context, barrier), context.emit
    if mask is None:
        return address
    own = emit.binary("and", address, emit.constant(PEER_OFFSETS, address.type))
    return emit.binary("or", own, emit.binary("and", there, emit.constant(-PEER_OFFSETS - 1, there.type)))


def _coordinates(context: Context, tensor: Operand, rank: int, offsets: Operand | None) -> None:
    """Those of the lanes, and the offsets of im2col, each of all lanes, in %data."""
    emit = context.emit
    if not isinstance(tensor, Address) or len(tensor.rest) != 1 or len(parts_of(tensor.rest[0])) != rank:
        raise context.refuse(f"needs the address of a tensor map and {rank} coordinates")
    for number, part in enumerate(parts_of(tensor.rest[0])):
        emit.store(context.read(part, "i32"), emit.at("%data", 4 * LANES * number), ALIGN)
    given = parts_of(offsets) if offsets is not None else ()
    if offsets is not None and len(given) != rank - 2:
        raise context.refuse(f"needs {rank - 2} offsets of pixels")
    for number in range(3):
        value = context.read(given[number], "i16") if number < len(given) else emit.constant(0, lanes("i16"))
        wide = emit.cast("zext", value, "i32")
        emit.store(wide, emit.at("%data", 4 * LANES * (OFFSETS + number)), ALIGN)

"""How warps go from block to block of code: branches, calls, barriers, and lanes that wait for others."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.emit import Emitter, Value, lanes
from simtmm.cuda.execution.layout import ACTIVATION, ALIGN, BAD_CALL, BLOCK, LANES, NO_STACK, TRAPPED, WARP
from simtmm.cuda.ptx.control_flow import Block
from simtmm.cuda.ptx.syntax import Address, Group, Immediate, Instruction, Register, Sink, Symbol

if TYPE_CHECKING:
    from simtmm.cuda.execution.context import Context
    from simtmm.cuda.execution.program import FunctionCode

_WARP, _BLOCK, _LAUNCH = Value("%warp", "ptr"), Value("%block", "ptr"), Value("%launch", "ptr")
WAITING_COST = 1 << 14  # of a turn's fuel, for a round of a loop in which threads may wait for others


def _number(number: int) -> Value:
    return Value(str(number), "i32")


def _offset(structure: object, name: str) -> int:
    return int(structure.fields[name][1])  # type: ignore[attr-defined]


def go(context: "Context", target: int, source: int) -> None:
    """Lanes in %mask go to a block of the function, unless others wait there or before it."""
    emit, code = context.emit, context.code
    number = code.first_block + target
    program = code.program
    label = f"B{number}"
    if target <= source:
        program.tired.add(number)
        cost = WAITING_COST if target in code.flow.waiting else 1
        fuel = emit.binary("sub", emit.load("i32", "%fuel"), _number(cost))
        emit.store(fuel, "%fuel")
        over = emit.compare("icmp slt", fuel, _number(0))
        label = emit.name("goes")[1:]
        emit.do(f"br {over}, label %tired{number}, label %{label}")
        emit.label(label)
    program.parked.add(number)
    meets = emit.compare("icmp uge", _number(number), emit.load("i32", "%next"))
    emit.do(f"br {meets}, label %park{number}, label %B{number}")


def park_block(emit: Emitter, number: int) -> None:
    """Where lanes wait for others to come to a block of code, or let them go first."""
    emit.label(f"park{number}")
    emit.call("park", "void", _WARP, emit.load("i32", "%mask"), _number(number))
    emit.do("br label %dispatch")


def tired_block(emit: Emitter, number: int) -> None:
    """Where lanes have had their turn: the others go first."""
    emit.label(f"tired{number}")
    mask = emit.load("i32", "%mask")
    place = emit.at("%warp", _offset(WARP, "tired"))
    emit.store(emit.binary("or", emit.load("i32", place), mask), place)
    emit.store(emit.load("i32", "%fuel.at"), "%fuel")
    emit.call("park", "void", _WARP, mask, _number(number))
    emit.do("br label %dispatch")


def gather_lanes(emit: Emitter, code: "FunctionCode", block: Block) -> None:
    """Lanes at an instruction that gathers those of its mask wait until all are there; nothing if all are."""
    from simtmm.cuda.execution.context import Context

    number = code.first_block + block.number
    mask = emit.load("i32", "%mask")
    living = emit.field("i32", "%warp", _offset(WARP, "living"))
    together = emit.compare("icmp eq", mask, living)
    emit.do(f"br {together}, label %gathered{number}, label %gather{number}")
    emit.label(f"gather{number}")
    context = Context(emit, code, mask, emit.load("ptr", "%frame").name)
    context.instruction = block.instructions[0]
    emit.store(context.read(members(block.instructions[0]), "i32"), "%addresses", ALIGN)
    ready = emit.call("gather", "i32", _WARP, mask, _number(number), Value("%addresses", "ptr"))
    nobody = emit.compare("icmp eq", ready, _number(0))
    emit.store(ready, "%mask")
    emit.do(f"br {nobody}, label %dispatch, label %gathered{number}")
    emit.label(f"gathered{number}")


def members(instruction: Instruction) -> Register | Immediate:
    """The mask of the lanes that an instruction gathers."""
    if instruction.opcode == "bar":
        last = instruction.operands[0]
    elif instruction.has("sync") and instruction.opcode in ("shfl", "vote", "match", "redux", "elect"):
        last = instruction.operands[-1]
    else:
        last = Immediate(0xFFFFFFFF)
    assert isinstance(last, Register | Immediate)
    return last


def end_block(context: "Context", block: Block) -> None:
    """What happens at the end of a block of code."""
    from simtmm.cuda.ptx.control_flow import ends_block

    last = block.instructions[-1] if block.instructions else None
    if last is None or not ends_block(last):
        context.flush()
        _go_behind(context, block)
        return
    context.begin(last)
    match last.opcode:
        case "bra":
            _branch(context, block)
        case "brx":
            _branch_by_table(context, block, last)
        case "ret" | "exit":
            _leave(context, block, last)
        case "call":
            _call(context, block, last)
        case "trap":
            _trap(context, block)
        case "bar" if last.has("warp"):  # all are here: the block began with the wait
            context.flush()
            _go_behind(context, block)
        case _:
            _barrier(context, block, last)


def _go_behind(context: "Context", block: Block) -> None:
    if block.behind is None:  # the end of the text: as ret
        context.emit.call("leave", "void", _LAUNCH, _BLOCK, _WARP, context.block_mask)
        context.emit.do("br label %dispatch")
    else:
        go(context, block.behind, block.number)


def _split(context: "Context") -> Value:
    """The lanes of the block that the guard leaves out."""
    emit = context.emit
    return emit.binary("and", context.block_mask, emit.invert(context.active))


def _park(context: "Context", mask: Value, target: int) -> None:
    context.emit.call("park", "void", _WARP, mask, _number(context.code.first_block + target))


def _branch(context: "Context", block: Block) -> None:
    emit = context.emit
    assert block.jump is not None
    context.flush()
    if block.instructions[-1].guard is None or block.behind is None:
        go(context, block.jump, block.number)
        return
    taken, other = context.active, _split(context)
    names = [emit.name(stem)[1:] for stem in ("all", "some", "none", "part")]
    emit.do(f"br {emit.compare('icmp eq', other, _number(0))}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    go(context, block.jump, block.number)
    emit.label(names[1])
    emit.do(f"br {emit.compare('icmp eq', taken, _number(0))}, label %{names[2]}, label %{names[3]}")
    emit.label(names[2])
    go(context, block.behind, block.number)
    emit.label(names[3])
    first, later = (block.jump, block.behind) if block.jump < block.behind else (block.behind, block.jump)
    first_lanes, later_lanes = (taken, other) if first == block.jump else (other, taken)
    _park(context, later_lanes, later)
    emit.store(first_lanes, "%mask")
    waiting = emit.load("i32", "%next")
    emit.store(emit.intrinsic("llvm.umin", "i32", waiting, _number(context.code.first_block + later)), "%next")
    go(context, first, block.number)


def _branch_by_table(context: "Context", block: Block, last: Instruction) -> None:
    """Each lane goes its own way; an index beyond the table takes the last."""
    emit = context.emit
    index = context.read(last.operands[0], "i32")
    context.flush()
    chosen = emit.constant(context.code.first_block + block.table[-1], lanes("i32"))
    for number, target in enumerate(block.table[:-1]):
        here = emit.compare("icmp eq", index, emit.constant(number, lanes("i32")))
        chosen = emit.select(here, emit.constant(context.code.first_block + target, lanes("i32")), chosen)
    if last.guard is not None:
        _park(context, context.block_mask, block.behind or 0)
    before = emit.load(lanes("i32"), "%warp", ALIGN)
    emit.store(emit.select(context.active_lanes, chosen, before), "%warp", ALIGN)
    emit.do("br label %dispatch")


def _rest_goes_on(context: "Context", block: Block) -> None:
    """Lanes that a guard leaves out go on behind the block."""
    if block.instructions[-1].guard is not None and block.behind is not None:
        _park(context, _split(context), block.behind)


def _leave(context: "Context", block: Block, last: Instruction) -> None:
    emit, code = context.emit, context.code
    context.flush()
    _rest_goes_on(context, block)
    if code.function.entry or last.opcode == "exit":
        emit.call("leave", "void", _LAUNCH, _BLOCK, _WARP, context.active)
    else:
        frame = Value(context.frame, "ptr")
        if code.function.returns:
            place, stride = code.places[code.function.returns[0].name]
            to = emit.field("ptr", context.frame, _offset(ACTIVATION, "code"))
            given = Value(emit.at(context.frame, place), "ptr")
            _copy_lanes(context, context.active, to, given, stride)
        emit.call("return.function", "void", _WARP, context.active, frame)
    emit.do("br label %dispatch")


def _copy_lanes(context: "Context", mask: Value, to: Value, given: Value, stride: int) -> None:
    """Copy what each lane of a mask has of a parameter."""
    context.code.program.helper("copy.lanes", lambda: _COPY_LANES)
    context.emit.call("copy.lanes", "void", mask, to, given, Value(str(stride), "i64"))


_COPY_LANES = """
define internal void @copy.lanes(i32 %mask, ptr %to, ptr %from, i64 %stride) noinline {
entry:
  %unwanted = icmp eq ptr %to, null
  br i1 %unwanted, label %end, label %check
check:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %copy ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %end, label %copy
copy:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %lane.64 = zext i32 %lane to i64
  %offset = mul i64 %lane.64, %stride
  %to.lane = getelementptr i8, ptr %to, i64 %offset
  %from.lane = getelementptr i8, ptr %from, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %to.lane, ptr %from.lane, i64 %stride, i1 false)
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  br label %check
end:
  ret void
}
"""


def _fault(context: "Context", code: int, number: int, mask: Value) -> None:
    """The warp ends here, in the first lane of a mask."""
    emit = context.emit
    lane = emit.call("llvm.cttz.i32", "i32", mask, Value("true", "i1"))
    emit.call("fault", "void", _LAUNCH, _number(code), _number(number), lane, Value("0", "i64"))
    emit.do("br label %faulted")


def _trap(context: "Context", block: Block) -> None:
    emit = context.emit
    number = context.access_number()
    context.flush()
    names = [emit.name(stem)[1:] for stem in ("traps", "goes")]
    emit.do(f"br {emit.compare('icmp ne', context.active, _number(0))}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    _fault(context, TRAPPED, number, context.active)
    emit.label(names[1])
    _go_behind(context, block)


def _barrier(context: "Context", block: Block, last: Instruction) -> None:
    emit = context.emit
    operands = list(last.operands)
    predicate = operands.pop() if "red" in last.modifiers else None
    destination = operands.pop(0) if predicate is not None else None
    barrier = uniform(context, operands[0]) if operands else _number(0)
    count = uniform(context, operands[1]) if len(operands) > 1 else _number(0)
    context.flush()
    assert block.behind is not None
    _park(context, context.block_mask, block.behind)
    if predicate is not None and destination is not None:
        true = emit.mask(context.predicate(predicate))
        operation = {"popc": 0, "and": 1, "or": 2}[next(m for m in last.modifiers if m in ("popc", "and", "or"))]
        emit.call("gather.barrier", "void", _BLOCK, context.active, barrier, true, _number(operation))
    emit.call("arrive", "void", _LAUNCH, _BLOCK, _WARP, context.active, barrier, count, Value("true", "i1"))
    emit.do("br label %dispatch")


def barrier_result(context: "Context", last: Instruction) -> None:
    """What bar.red gives, in the block behind it."""
    emit = context.emit
    operands = last.operands
    barrier = uniform(context, operands[1])
    place = emit.at("%block", _offset(BLOCK, "result"))
    scaled = emit.binary("mul", emit.resize(barrier, "i64", False), emit.constant(4, "i64"))
    found = emit.splat(emit.load("i32", emit.at(place, scaled)))
    if "popc" not in last.modifiers:
        found = emit.compare("icmp ne", found, emit.constant(0, found.type))
    context.write(operands[0], found)


def uniform(context: "Context", operand: object) -> Value:
    """An operand that is the same in all lanes that take part, i32."""
    if isinstance(operand, Immediate):
        return _number(operand.value)
    emit = context.emit
    value = context.read(operand, "i32")  # type: ignore[arg-type]
    lane = emit.call("llvm.cttz.i32", "i32", context.active, Value("false", "i1"))
    return emit.value(f"extractelement {value}, i32 {emit.binary('and', lane, _number(31)).name}", "i32")


def _call(context: "Context", block: Block, last: Instruction) -> None:
    emit, code = context.emit, context.code
    groups = [operand for operand in last.operands if isinstance(operand, Group)]
    names = [operand for operand in last.operands if not isinstance(operand, Group)]
    first_is_group = isinstance(last.operands[0], Group)
    returns = groups[0].parts if first_is_group and last.operands[1:] else ()
    passed = groups[-1].parts if len(groups) > (1 if first_is_group else 0) else ()
    target = names[0]
    assert block.behind is not None
    if isinstance(target, Symbol):
        from simtmm.cuda.execution.built_in import BUILT_IN, call_built_in

        if target.name not in code.program.function_numbers:
            if target.name not in BUILT_IN:
                raise context.refuse(f"calls {target.name}, which is not defined")
            call_built_in(context, target.name, passed, returns)
            context.flush()
            _go_behind(context, block)
            return
        context.flush()
        _rest_goes_on(context, block)
        _enter(context, block, code.program.function_numbers[target.name], context.active, passed, returns)
        return
    # Lanes go where the first of them does; those that are called elsewhere come here again.
    pointer = context.read(target, "i64")
    context.flush()
    _rest_goes_on(context, block)
    lane = emit.call("llvm.cttz.i32", "i32", context.active, Value("true", "i1"))
    chosen = emit.value(f"extractelement {pointer}, i32 {lane.name}", "i64")
    same = emit.compare("icmp eq", pointer, emit.splat(chosen))
    together = emit.binary("and", emit.mask(same), context.active)
    others = emit.binary("and", context.active, emit.invert(together))
    from simtmm.cuda.execution.program import FUNCTION_ADDRESS, FUNCTION_STEP

    _park_at_call(context, others, block)
    emit.store(together, "%mask")
    fits = [
        other for other in code.program.codes
        if not other.function.entry and len(other.function.parameters) == len(passed)
    ]  # fmt: skip
    labels = [emit.name("target")[1:] for _ in fits]
    wrong = emit.name("wrong")[1:]
    cases = " ".join(
        f"i64 {FUNCTION_ADDRESS + FUNCTION_STEP * other.number}, label %{label}"
        for other, label in zip(fits, labels, strict=True)
    )
    emit.do(f"switch i64 {chosen.name}, label %{wrong} [ {cases} ]")
    for other, label in zip(fits, labels, strict=True):
        emit.label(label)
        _enter(context, block, other.number, together, passed, returns)
    emit.label(wrong)
    _fault(context, BAD_CALL, context.access_number(), together)


def _park_at_call(context: "Context", mask: Value, block: Block) -> None:
    """Lanes come to this call again: it stands alone in its block but for what may be done twice."""
    _park(context, mask, block.number)


def _enter(
    context: "Context", block: Block, number: int, mask: Value, passed: tuple[object, ...], returns: tuple[object, ...]
) -> None:
    """Lanes enter a function."""
    emit, code = context.emit, context.code
    callee = code.program.codes[number]
    assert block.behind is not None
    frame = emit.call(
        "call.function", "ptr", _LAUNCH, _WARP, mask, Value(str(callee.frame_bytes), "i64"),
        Value(str(-(-callee.local_bytes // 16) * 16), "i64"), Value(context.frame, "ptr"),
        _number(code.first_block + block.behind),
    )  # fmt: skip
    names = [emit.name(stem)[1:] for stem in ("full", "entered")]
    emit.do(f"br {emit.compare('icmp eq', frame, Value('null', 'ptr'))}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    _fault(context, NO_STACK, context.access_number(), mask)
    emit.label(names[1])
    for parameter, argument in zip(callee.function.parameters, passed, strict=True):
        place, stride = callee.places[parameter.name]
        if not isinstance(argument, Symbol) or argument.name not in code.places:
            raise context.refuse("passes an argument in a register, which is not known")
        given, given_stride = code.places[argument.name]
        if given_stride != stride:
            raise context.refuse(f"passes {given_stride} bytes for {parameter.name}, which has {stride}")
        emit.call(
            "llvm.memcpy.p0.p0.i64", "void", Value(emit.at(frame.name, place), "ptr"),
            Value(emit.at(context.frame, given), "ptr"), Value(str(stride * LANES), "i64"), Value("false", "i1"),
        )  # fmt: skip
    if returns and isinstance(returns[0], Symbol):
        to = Value(emit.at(context.frame, code.places[returns[0].name][0]), "ptr")
        emit.store(to, emit.at(frame.name, _offset(ACTIVATION, "code")))
    elif returns and not isinstance(returns[0], Sink):
        raise context.refuse("takes a value back in a register, which is not known")
    elif callee.function.returns:
        emit.store(Value("null", "ptr"), emit.at(frame.name, _offset(ACTIVATION, "code")))
    emit.store(mask, "%mask")
    emit.store(frame, "%frame")
    emit.call("park", "void", _WARP, mask, _number(callee.first_block))
    emit.do("br label %dispatch")


def is_parameter_address(operand: object) -> bool:
    """Whether an address names a parameter."""
    return isinstance(operand, Address) and isinstance(operand.base, Symbol)

"""Calls of functions: lanes enter an activation of their own, and come back with what it returns."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from simtmm.cuda.execution.control_flow.edges import fault, go_behind, number_of, offset_of, park, rest_goes_on
from simtmm.cuda.execution.layout import ACTIVATION, ALIGN, BAD_CALL, LANES, NO_STACK
from simtmm.cuda.execution.runtime.barrier_places import TRIPS, TRIPS_HERE, WAY, WAY_HERE
from simtmm.cuda.execution.runtime.check_log import log_leaving
from simtmm.cuda.execution.translation.emit import BLOCK_POINTER, LAUNCH_POINTER, WARP_POINTER, Value
from simtmm.cuda.ptx.flow.basic_blocks import Block
from simtmm.cuda.ptx.passing import call_of, signatures, sizes
from simtmm.cuda.ptx.syntax import Function, Instruction, Sink, Symbol

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context


def leave(context: "Context", block: Block, last: Instruction) -> None:
    """ret and exit: lanes leave the kernel, or go back to where their function was called."""
    emit, code = context.emit, context.code
    context.flush()
    rest_goes_on(context, block)
    if code.function.entry or last.opcode == "exit":
        if code.program.checks:
            log_leaving(context, context.active)
        emit.call("leave", "void", LAUNCH_POINTER, BLOCK_POINTER, WARP_POINTER, context.active)
    else:
        frame = Value(context.frame, "ptr")
        if code.function.returns:
            place, stride = code.places[code.function.returns[0].name]
            to = emit.field("ptr", context.frame, offset_of(ACTIVATION, "code"))
            given = Value(emit.at(context.frame, place), "ptr")
            _copy_lanes(context, context.active, to, given, stride)
        emit.call("return.function", "void", WARP_POINTER, context.active, frame)
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


def call_function(context: "Context", block: Block, last: Instruction) -> None:
    """call: a function by its name, by an address in a register, or one that is implemented in Python."""
    emit, code = context.emit, context.code
    call = call_of(last)
    returns, target, passed = call.returns, call.target, call.passed
    assert block.behind is not None
    if isinstance(target, Symbol):
        from simtmm.cuda.execution.runtime.built_in import BUILT_IN, call_built_in

        if target.name not in code.program.function_numbers:
            if target.name not in BUILT_IN:
                raise context.refuse(f"calls {target.name}, which is not defined")
            call_built_in(context, target.name, passed, returns)
            context.flush()
            go_behind(context, block)
            return
        context.flush()
        rest_goes_on(context, block)
        _enter(context, block, code.program.function_numbers[target.name], context.active, passed, returns)
        return
    # Lanes go where the first of them does; those that are called elsewhere come here again.
    pointer = context.read(target, "i64")
    context.flush()
    rest_goes_on(context, block)
    lane = emit.call("llvm.cttz.i32", "i32", context.active, Value("true", "i1"))
    chosen = emit.value(f"extractelement {pointer}, i32 {lane.name}", "i64")
    same = emit.compare("icmp eq", pointer, emit.splat(chosen))
    together = emit.binary("and", emit.mask(same), context.active)
    others = emit.binary("and", context.active, emit.invert(together))
    from simtmm.cuda.execution.translation.function_code import function_address

    _park_at_call(context, others, block)
    emit.store(together, "%mask")
    alike = _alike(context, last)
    fits = [other for other in code.program.codes if not other.function.entry and alike(other.function)]
    labels = [emit.name("target")[1:] for _ in fits]
    wrong = emit.name("wrong")[1:]
    cases = " ".join(
        f"i64 {function_address(other.function.name)}, label %{label}"
        for other, label in zip(fits, labels, strict=True)
    )
    emit.do(f"switch i64 {chosen.name}, label %{wrong} [ {cases} ]")
    for other, label in zip(fits, labels, strict=True):
        emit.label(label)
        _enter(context, block, other.number, together, passed, returns)
    emit.label(wrong)
    fault(context, BAD_CALL, context.access_number(), together)


def _alike(context: "Context", last: Instruction) -> Callable[[Function], bool]:
    """Whether a call through a register may be to a function: what it takes and returns is of the sizes that the call
    has by its prototype, or by the first function of its list of targets; else by the arguments that it passes.
    """
    from simtmm.cuda.execution.translation.function_code import stride_of

    code, call = context.code, call_of(last)
    known = signatures(code.function, last, context.code.program.prototype)
    if known:
        wanted = sizes(known[0].returns, known[0].parameters)
        return lambda function: sizes(function.returns, function.parameters) == wanted
    strides = [
        code.places[each.name][1] for each in call.passed if isinstance(each, Symbol) and each.name in code.places
    ]
    return lambda function: [stride_of(each) for each in function.parameters] == strides


def _park_at_call(context: "Context", mask: Value, block: Block) -> None:
    """Lanes come to this call again: it stands alone in its block but for what may be done twice."""
    park(context, mask, block.number)


def _enter(  # noqa: C901 - a case for each way into a function
    context: "Context", block: Block, number: int, mask: Value, passed: tuple[object, ...], returns: tuple[object, ...]
) -> None:
    """Lanes enter a function."""
    emit, code = context.emit, context.code
    callee = code.program.codes[number]
    assert block.behind is not None
    frame = emit.call(
        "call.function", "ptr", LAUNCH_POINTER, WARP_POINTER, mask, Value(str(callee.frame_bytes), "i64"),
        Value(str(-(-callee.local_bytes // 16) * 16), "i64"), Value(context.frame, "ptr"),
        number_of(code.first_block + block.behind),
    )  # fmt: skip
    names = [emit.name(stem)[1:] for stem in ("overflows", "entered")]
    emit.do(f"br {emit.compare('icmp eq', frame, Value('null', 'ptr'))}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    fault(context, NO_STACK, context.access_number(), mask)
    emit.label(names[1])
    if len(passed) != len(callee.function.parameters):
        raise context.refuse(f"passes {len(passed)} arguments, of {len(callee.function.parameters)}")
    for parameter, argument in zip(callee.function.parameters, passed, strict=True):
        place, stride = callee.places[parameter.name]
        if not isinstance(argument, Symbol) or argument.name not in code.places:
            raise context.refuse("passes an argument that is no variable of .param")
        given, given_stride = code.places[argument.name]
        if given_stride != stride:
            raise context.refuse(f"passes {given_stride} bytes for {parameter.name}, which has {stride}")
        emit.call(
            "llvm.memcpy.p0.p0.i64", "void", Value(emit.at(frame.name, place), "ptr"),
            Value(emit.at(context.frame, given), "ptr"), Value(str(stride * LANES), "i64"), Value("false", "i1"),
        )  # fmt: skip
    if len(returns) > 1:
        raise context.refuse(
            "takes several results in variables of .param, where only one may be: registers may be more"
        )
    if returns and not callee.function.returns:
        raise context.refuse(f"takes a result of {callee.function.name}, which returns none")
    if returns and isinstance(returns[0], Symbol):
        to, stride = code.places.get(returns[0].name, (0, 0))
        if stride != callee.places[callee.function.returns[0].name][1]:
            raise context.refuse(f"takes a result of other bytes than {callee.function.name} returns")
        emit.store(Value(emit.at(context.frame, to), "ptr"), emit.at(frame.name, offset_of(ACTIVATION, "code")))
    elif returns and not isinstance(returns[0], Sink):
        raise context.refuse("takes a result in what is no variable of .param")
    elif callee.function.returns:
        emit.store(Value("null", "ptr"), emit.at(frame.name, offset_of(ACTIVATION, "code")))
    for theirs, ours in ((WAY, WAY_HERE), (TRIPS, TRIPS_HERE)) if code.program.checks else ():
        if theirs in callee.frame.places:
            emit.store(context.register(ours), emit.at(frame.name, callee.frame.places[theirs]), ALIGN)
    emit.store(mask, "%mask")
    emit.store(frame, "%frame")
    emit.call("park", "void", WARP_POINTER, mask, number_of(callee.first_block))
    emit.do("br label %dispatch")

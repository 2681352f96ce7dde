"""Functions that a kernel may call and that have no PTX: printf, assert, malloc and free, implemented in Python."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import ALIGN, LAUNCH
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.syntax import Symbol

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context

BUILT_IN = {"vprintf": 0, "__assertfail": 1, "malloc": 2, "free": 3}
MOST_ARGUMENTS = 4  # that are handed on, of 64 bits a lane


def call_built_in(context: "Context", name: str, passed: tuple[object, ...], returns: tuple[object, ...]) -> None:
    """Call Python with the parameters of all lanes, and store the value that it returns for each lane."""
    emit, code = context.emit, context.code
    code.program.calls_host = True
    code.program.allocates = code.program.allocates or name in ("malloc", "free")
    for number in range(MOST_ARGUMENTS):
        place = emit.at("%data", 256 * number)
        value = emit.constant(0, lanes("i64"))
        if number < len(passed):
            argument = passed[number]
            if not isinstance(argument, Symbol):
                raise context.refuse("passes an argument in a register, which is not known")
            start, stride = code.places[argument.name]
            width = f"i{8 * min(8, stride)}"
            value = emit.resize(emit.load(lanes(width), emit.at(context.frame, start), 4), "i64", False)
        emit.store(value, place, ALIGN)
    callback = emit.field("ptr", "%launch", int(LAUNCH.fields["callback"][1]))  # type: ignore[index]
    stops = emit.value(
        f"call i32 {callback.name}(ptr %block, ptr %warp, i32 {BUILT_IN[name]}, i32 {context.access_number()}, "
        f"{context.active}, ptr %data, ptr %result)",
        "i32",
    )
    label = emit.name("came")[1:]
    emit.do(f"br {emit.compare('icmp ne', stops, Value('0', 'i32'))}, label %faulted, label %{label}")
    emit.label(label)
    if returns and isinstance(returns[0], Symbol):
        start, stride = code.places[returns[0].name]
        width = f"i{8 * min(8, stride)}"
        found = emit.resize(emit.load(lanes("i64"), "%result", ALIGN), width, False)
        before = emit.load(found.type, emit.at(context.frame, start), 4)
        emit.store(emit.select(context.active_lanes, found, before), emit.at(context.frame, start), 4)

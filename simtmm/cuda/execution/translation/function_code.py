"""A function in a program: where its registers, parameters and variables are."""

from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING
from zlib import crc32

from simtmm.cuda.execution.layout import ACTIVATION, ACTIVATION_BYTES, ALIGN, LANES, LAUNCH, PARAMETER_WINDOW
from simtmm.cuda.execution.translation.constants import constants
from simtmm.cuda.execution.translation.context import Context, Frame
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.execution.translation.one_nan import late_registers
from simtmm.cuda.ptx.flow.basic_blocks import ControlFlow, control_flow
from simtmm.cuda.ptx.flow.registers import written
from simtmm.cuda.ptx.flow.spinning import turn_ends
from simtmm.cuda.ptx.flow.steps import steps
from simtmm.cuda.ptx.syntax import Function, Instruction, Symbol, Variable

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

FUNCTION_ADDRESS = 1 << 44  # functions' addresses lie from here on, FUNCTION_STEP apart
FUNCTION_STEP = 16


def function_address(name: str) -> int:
    """The address of a function: the same in each kernel, so that one may store it and another call it."""
    return FUNCTION_ADDRESS + FUNCTION_STEP * crc32(name.encode())


class FunctionCode:
    """A function in a program: where its registers, parameters and variables are."""

    def __init__(self, program: "Program", function: Function, number: int, first_block: int) -> None:
        """number: the function's in the program.
        first_block: the number of its first block of code.
        """
        self.program, self.function, self.number, self.first_block = program, function, number, first_block
        self.flow: ControlFlow = control_flow(function)
        if ends := turn_ends(function, self.flow):
            self.flow = control_flow(function, ends)
        self.steps = steps(self.flow)
        counts = [sum(step.is_recorded for step in block) for block in self.steps]
        self.first_sites = tuple(accumulate(counts, initial=len(program.sites)))  # of each block, in the program
        self.registers = function.registers
        self.places: dict[str, tuple[int, int]] = {}  # of parameters in the activation: offset, stride of a lane
        end = ACTIVATION_BYTES
        passed = [] if function.entry else [*function.parameters, *function.returns]
        for variable in (*passed, *(v for v in function.variables if v.space == "param")):
            stride = stride_of(variable)
            self.places[variable.name] = (end, stride)
            end += -(-stride * LANES // ALIGN) * ALIGN
        self.constants = constants(function)
        self.late = late_registers(function)
        self.frame = Frame(function.registers, self.flow.crossing - self.constants.keys(), end)
        self.frame_bytes = self.frame.end
        self.locals, self.local_bytes = placed(v for v in function.variables if v.space == "local")
        self.parameters, self.parameter_bytes = placed(function.parameters)

    def is_constant(self, instruction: Instruction) -> bool:
        """Whether an instruction writes a register that always holds the same number."""
        return instruction.opcode == "mov" and any(name in self.constants for name in written(instruction))

    def address(self, context: Context, symbol: Symbol) -> Value:
        """The address of a symbol, i64 in all lanes, in the state space it belongs to."""
        emit, name = context.emit, symbol.name
        if name in self.locals:
            base = Value("0", "i64")
            if not self.function.entry:
                base = emit.field("i64", context.frame, int(ACTIVATION.fields["local_top"][1]))  # type: ignore[index]
            return emit.splat(emit.binary("add", base, emit.constant(self.locals[name] + symbol.offset, "i64")))
        if self.function.entry and name in self.parameters:
            return emit.constant(PARAMETER_WINDOW + self.parameters[name] + symbol.offset, lanes("i64"))
        shared = self.program.shared
        own = self.program.shared_name(self.function.name, name)
        if own in shared or name in shared:
            return emit.constant(shared.get(own, shared.get(name, 0)) + symbol.offset, lanes("i64"))
        if name in self.program.function_numbers:
            return emit.constant(function_address(name), lanes("i64"))
        if name in self.program.module.variables:
            known = self.program.module.variables.get(name)
            if known is not None and known.extern:
                raise context.refuse(f"names {name}, which is .extern and defined nowhere")
            number = self.program.symbol(name)
            table = emit.field("ptr", "%launch", int(LAUNCH.fields["symbols"][1]))  # type: ignore[index]
            base = emit.load("i64", emit.at(table.name, 8 * number))
            return emit.splat(emit.binary("add", base, emit.constant(symbol.offset, "i64")))
        raise context.refuse(f"names {name}, which is not defined here")

    def dynamic_shared_bytes(self, context: Context) -> Value:
        """What the launch gave beyond the static shared memory, i32 in all lanes."""
        emit = context.emit
        whole, reserved = (
            emit.field("i64", "%launch", int(LAUNCH.fields[name][1]))  # type: ignore[index]
            for name in ("shared_bytes", "reserved_bytes")
        )
        own = emit.constant(self.program.shared_bytes, "i64")
        rest = emit.binary("sub", emit.binary("sub", whole, reserved), own)
        return emit.splat(emit.resize(rest, "i32", False))


def stride_of(variable: Variable) -> int:
    """The stride between lanes of a variable that is passed or returned [bytes]."""
    return max(4, -(-variable.size // variable.align) * variable.align)


def placed(variables: Iterable[Variable]) -> tuple[dict[str, int], int]:
    """The offsets of consecutive variables, and the end of the last one."""
    places: dict[str, int] = {}
    end = 0
    for variable in variables:
        end = -(-end // variable.align) * variable.align
        places[variable.name] = end
        end += variable.size
    return places, end

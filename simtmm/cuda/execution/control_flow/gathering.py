"""Instructions that gather the lanes of a mask: those that come first wait."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.control_flow.edges import number_of, offset_of
from simtmm.cuda.execution.layout import ALIGN, WARP
from simtmm.cuda.execution.runtime.check_log import log_gathering
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import WARP_POINTER, Emitter, Value
from simtmm.cuda.ptx.flow.basic_blocks import EXCLUSIVE, Block
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Register
from simtmm.errors import PtxError

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.function_code import FunctionCode


def gather_lanes(emit: Emitter, code: "FunctionCode", block: Block) -> None:
    """Make lanes wait until all lanes of the instruction's mask have arrived; no code if all have."""
    number = code.first_block + block.number
    mask = emit.load("i32", "%mask")
    living = emit.field("i32", "%warp", offset_of(WARP, "living"))
    together = emit.compare("icmp eq", mask, living)
    context = Context(emit, code, mask, emit.load("ptr", "%frame").name)
    context.instruction = block.instructions[0]
    wanted = context.read(members(block.instructions[0]), "i32")
    if not wanted.name.startswith("splat"):  # not a number: some lanes may be here with other masks
        lane = emit.call("llvm.cttz.i32", "i32", mask, Value("true", "i1"))
        first = emit.value(f"extractelement {wanted}, i32 {lane.name}", "i32")
        alike = emit.mask(emit.compare("icmp eq", wanted, emit.splat(first)))
        others = emit.binary("and", mask, emit.invert(alike))
        together = emit.binary("and", together, emit.compare("icmp eq", others, number_of(0)))
    emit.do(f"br {together}, label %gathered{number}, label %gather{number}")
    emit.label(f"gather{number}")
    emit.store(wanted, "%addresses", ALIGN)
    ready = emit.call("gather", "i32", WARP_POINTER, mask, number_of(number), Value("%addresses", "ptr"))
    nobody = emit.compare("icmp eq", ready, number_of(0))
    emit.store(ready, "%mask")
    emit.do(f"br {nobody}, label %dispatch, label %gathered{number}")
    emit.label(f"gathered{number}")
    if code.program.checks:
        log_gathering(context, wanted)
    if block.instructions[0].has(EXCLUSIVE):  # lanes with other masks come again when these have gone
        here = emit.load("i32", "%mask")
        lane = emit.call("llvm.cttz.i32", "i32", here, Value("true", "i1"))
        first = emit.value(f"extractelement {wanted}, i32 {lane.name}", "i32")
        alike = emit.mask(emit.compare("icmp eq", wanted, emit.splat(first)))
        emit.call("park", "void", WARP_POINTER, emit.binary("and", here, emit.invert(alike)), number_of(number))
        emit.store(emit.binary("and", here, alike), "%mask")


def members(instruction: Instruction) -> Register | Immediate:
    """The mask of the lanes that an instruction waits for."""
    if not instruction.operands:
        raise PtxError(f"PTX line {instruction.line}: {instruction.text}: lacks operands")
    if instruction.opcode == "bar":
        last = instruction.operands[0]
    elif instruction.has("sync") and instruction.opcode in ("shfl", "vote", "match", "redux", "elect"):
        last = instruction.operands[-1]
    else:
        last = Immediate(0xFFFFFFFF)
    if not isinstance(last, Register | Immediate):
        raise PtxError(f"PTX line {instruction.line}: {instruction.text}: the mask of its lanes must be a number")
    return last

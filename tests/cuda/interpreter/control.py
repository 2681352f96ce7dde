"""Branches, calls and the end."""

import struct

from simtmm.cuda.ptx.syntax import Function, Group, Instruction, Operand, Symbol
from tests.cuda.interpreter.memory import AccessError, function_address, function_at
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.printing import formatted, text_at
from tests.cuda.interpreter.thread import Thread


class TrapError(Exception):
    """A kernel ended itself."""


@opcode("bra")
def branch(thread: Thread, instruction: Instruction) -> None:
    """To a label."""
    _jump(thread, instruction.operands[0])


def _jump(thread: Thread, label: Operand) -> None:
    assert isinstance(label, Symbol)
    thread.frame.pc = thread.frame.code.labels[label.name]


@opcode("brx")
def indexed_branch(thread: Thread, instruction: Instruction) -> None:
    """To a label of a table."""
    index, table = instruction.operands
    assert isinstance(table, Symbol)
    _jump(thread, Symbol(thread.frame.function.tables[table.name][thread.read(index, "u32")]))


@opcode("exit")
def end(thread: Thread, instruction: Instruction) -> None:
    """The thread is over."""
    thread.block.leave(thread)


@opcode("trap", "brkpt")
def trap(thread: Thread, instruction: Instruction) -> None:
    """Ends the kernel with an error."""
    raise TrapError("the kernel trapped")


@opcode("call")
def call(thread: Thread, instruction: Instruction) -> None:
    """A function by its name or address; results and arguments are variables, registers or numbers."""
    operands = list(instruction.operands)
    results = operands.pop(0).parts if isinstance(operands[0], Group) else ()
    target = operands.pop(0)
    arguments = operands.pop(0).parts if operands and isinstance(operands[0], Group) else ()
    module = thread.block.launch.module
    if isinstance(target, Symbol):
        name = target.name
        function_address(module, name)
    else:
        name = function_at(module, thread.read(target, "u64"))
    function = module.functions[name]
    if not isinstance(target, Symbol) and operands:
        _check(thread, operands[0], function)
    if function.body is None:
        _outside(thread, name, results, arguments)
        return
    values = [
        _argument(thread, each, variable.size) for each, variable in zip(arguments, function.parameters, strict=True)
    ]
    frame = thread.enter(function, results)
    for variable, value in zip(function.parameters, values, strict=True):
        if variable.space == "reg":
            frame.registers[variable.name] = int.from_bytes(value, "little")
        else:
            at = frame.offsets[variable.name]
            thread.local[at : at + variable.size] = value


def _check(thread: Thread, kind: Operand, function: Function) -> None:
    """That what a register names takes and returns as many bytes as a prototype, or the first of a list, has."""
    assert isinstance(kind, Symbol)
    caller = thread.frame.function
    wanted = caller.prototypes.get(kind.name) or thread.block.launch.module.functions[caller.tables[kind.name][0]]
    for own, other in ((wanted.returns, function.returns), (wanted.parameters, function.parameters)):
        if [each.size for each in own] != [each.size for each in other]:
            raise AccessError(f"{function.name} takes or returns other bytes than the call")


def _argument(thread: Thread, operand: Operand, size: int) -> bytes:
    if isinstance(operand, Symbol) and operand.name in thread.frame.offsets:
        at = thread.frame.offsets[operand.name]
        return bytes(thread.local[at : at + size])
    return thread.read(operand, f"b{8 * size}").to_bytes(size, "little")


@opcode("ret")
def leave(thread: Thread, instruction: Instruction) -> None:
    """Back to the caller, with the results; from the kernel itself it is the end."""
    if len(thread.frames) == 1:
        thread.block.leave(thread)
        return
    frame = thread.frame
    values = []
    for variable in frame.function.returns:
        if variable.space == "reg":
            values.append(frame.registers.get(variable.name, 0).to_bytes(variable.size, "little"))
        else:
            at = frame.offsets[variable.name]
            values.append(bytes(thread.local[at : at + variable.size]))
    thread.leave()
    for operand, value in zip(frame.returned, values if frame.returned else (), strict=True):
        _put(thread, operand, value)


def _put(thread: Thread, operand: Operand, value: bytes) -> None:
    """Let a variable or register of the caller have a result."""
    if isinstance(operand, Symbol):
        at = thread.frame.offsets[operand.name]
        thread.local[at : at + len(value)] = value
    else:
        thread.write(operand, f"b{8 * len(value)}", int.from_bytes(value, "little"))


def _outside(thread: Thread, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]) -> None:
    """The functions that the system brings."""
    if name == "vprintf":
        text, held = (int.from_bytes(_argument(thread, each, 8), "little") for each in arguments)
        thread.block.launch.memory.printed.append(formatted(thread, text, held))
        _put(thread, results[0], struct.pack("<i", 0))
    elif name == "__assertfail":
        message = int.from_bytes(_argument(thread, arguments[0], 8), "little")
        raise TrapError(f"assertion failed: {text_at(thread, message)}")
    else:
        raise NotImplementedError(f"function {name} has no body")

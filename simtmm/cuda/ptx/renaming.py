"""Registers that are written again and again, as machine code does it: a name of its own for each value of a block.

A register that lives beyond a block stands in memory, in the activation. Where a value is read in its own block only,
it needs no place there; so each value gets a name, but the last of a block that others read.
"""

import dataclasses
from collections.abc import Callable, Sequence

from simtmm.cuda.ptx.flow.basic_blocks import BARRIER_RESULT, LEAVE_CONVERGENCE, Block, control_flow
from simtmm.cuda.ptx.flow.registers import has_destination, read, written
from simtmm.cuda.ptx.syntax import (
    Address,
    Function,
    Group,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    Vector,
)


def renamed(function: Function) -> Function:
    """The same function, in which values that stay in a block have names of their own."""
    blocks = control_flow(function).blocks
    leaving = _live_behind(blocks)
    kept = {name for block in blocks for each in block.instructions for name in _kept(each)}
    registers = dict(function.registers)
    instructions: dict[int, Instruction] = {}
    for block in blocks:
        _rename_block(block.instructions, leaving[block.number], kept, registers, instructions)
    body: list[Instruction | Label] = [instructions.get(id(item), item) for item in function.body or ()]
    return dataclasses.replace(function, body=tuple(body), registers=registers)


def _kept(instruction: Instruction) -> set[str]:
    """Names that stay: of what another instruction of ours writes, in another block, or one for all lanes; and of
    registers that are added to in their place.
    """
    if instruction.opcode in (BARRIER_RESULT, LEAVE_CONVERGENCE):
        return _all_names(instruction)
    if instruction.opcode == "bar" and instruction.has("red"):
        return _all_names(instruction)
    return set(written(instruction)) if instruction.opcode == "wgmma" else set()


def _all_names(instruction: Instruction) -> set[str]:
    return {*read(instruction), *written(instruction), *_names(instruction.operands)}


def _names(operands: Sequence[Operand]) -> set[str]:
    found: set[str] = set()

    def take(name: str) -> str:
        found.add(name)
        return name

    for operand in operands:
        _mapped(operand, take)
    return found


def _live_behind(blocks: Sequence[Block]) -> list[set[str]]:
    """The registers that are read behind each block before they are written."""
    needed, given = [], []
    for block in blocks:
        first: set[str] = set()
        whole: set[str] = set()
        for instruction in block.instructions:
            first.update(name for name in read(instruction) if name not in whole)
            for name in written(instruction):
                if instruction.guard is None:
                    whole.add(name)
                elif name not in whole:  # it may keep what it held
                    first.add(name)
        needed.append(first)
        given.append(whole)
    before = [set(first) for first in needed]
    behind: list[set[str]] = [set() for _ in blocks]
    changed = set(range(len(blocks)))
    sources: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for target in block.targets:
            sources[target].append(block.number)
    while changed:
        number = max(changed)
        changed.remove(number)
        behind[number] = set().union(*(before[target] for target in blocks[number].targets))
        now = needed[number] | (behind[number] - given[number])
        if now != before[number]:
            before[number] = now
            changed.update(sources[number])
    return behind


def _rename_block(
    instructions: Sequence[Instruction],
    leaving: set[str],
    kept: set[str],
    registers: dict[str, str],
    renamed_instructions: dict[int, Instruction],
) -> None:
    """Put renamed instructions of a block into `renamed_instructions`, by the identity of those that they stand for."""
    last: dict[str, int] = {}
    for place, instruction in enumerate(instructions):
        if instruction.guard is None:
            last |= dict.fromkeys(written(instruction), place)
    names: dict[str, str] = {}

    def name_now(name: str) -> str:
        return names.get(name, name)

    for place, instruction in enumerate(instructions):
        first = 1 if has_destination(instruction) else 0
        sources = [_mapped(operand, name_now) for operand in instruction.operands[first:]]
        guard = None if instruction.guard is None else _mapped(instruction.guard, name_now)
        for name in written(instruction):
            if instruction.guard is not None or name in kept or name not in registers:
                continue
            if last[name] == place and name in leaving:
                names[name] = name
            else:
                names[name] = f"{name}#{len(registers)}"
                registers[names[name]] = registers[name]
        results = [_mapped(operand, name_now) for operand in instruction.operands[:first]]
        renamed_instructions[id(instruction)] = dataclasses.replace(
            instruction,
            operands=(*results, *sources),
            guard=guard,  # type: ignore[arg-type]
        )


def _mapped(operand: Operand, name_of: Callable[[str], str]) -> Operand:
    match operand:
        case Register(name):
            return Register(name_of(name))
        case Negated(register):
            return Negated(Register(name_of(register.name)))
        case Vector(parts):
            return Vector(tuple(_mapped(part, name_of) for part in parts))
        case Group(parts):
            return Group(tuple(_mapped(part, name_of) for part in parts))
        case Pair(first, second):
            return Pair(_mapped(first, name_of), _mapped(second, name_of))
        case Address(base, offset, rest):
            inner = _mapped(base, name_of) if isinstance(base, Register) else base
            return Address(inner, offset, tuple(_mapped(part, name_of) for part in rest))  # type: ignore[arg-type]
        case _:
            return operand

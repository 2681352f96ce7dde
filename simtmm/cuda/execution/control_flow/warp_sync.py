"""Lanes of a warp that wait at different bar.warp.sync for each other, which is allowed: they meet, and go on.

And lanes of machine code that wait where they should meet again, for others that wait for them: these go on alone.
"""

import ctypes

import numpy as np

from simtmm.cuda.execution.control_flow.gathering import members
from simtmm.cuda.execution.launches.launch import BlockState, LaunchState
from simtmm.cuda.execution.layout import LANES
from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.flow.basic_blocks import RECONVERGE
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Register


def meet(state: LaunchState, block: BlockState) -> bool:
    """Let lanes go on that wait for lanes which wait for them; whether there were any."""
    met = False
    for warp in block.warps:
        gathering, living = int(warp["gathering"]), int(warp["living"])
        if not gathering:
            continue
        waiting = {
            lane: place
            for lane in range(LANES)
            if gathering >> lane & 1
            and (place := _synchronises(state.program, int(warp["pc"][lane]))) is not None
            and not place[2].has(RECONVERGE)
        }
        here: dict[int, int] = {}  # by the mask that lanes wait with
        masks = {lane: _mask(code, instruction, warp, lane) for lane, (code, _, instruction) in waiting.items()}
        for lane, mask in masks.items():
            here[mask] = here.get(mask, 0) | 1 << lane
        ready = [lane for lane, mask in masks.items() if not mask & living & ~here[mask]]
        _let_go(warp, {lane: waiting[lane][1] for lane in ready})
        met = met or bool(ready)
    return met


def _let_go(warp: np.void, places: dict[int, int]) -> None:
    """Lanes go on at blocks of code."""
    for lane, place in places.items():
        warp["pc"][lane] = place
    mask = sum(1 << lane for lane in places)
    warp["gathering"] = int(warp["gathering"]) & ~mask
    warp["blocked"] = int(warp["blocked"]) & ~mask


def part_again(state: LaunchState, block: BlockState, stuck: bool) -> bool:
    """Let lanes go on that should meet others again which wait for them; whether there were any.

    That is where no lane of the warp has anything left to do but to wait for others, or to let others go first in a
    loop. stuck: whether nobody in the block has.
    """
    if not state.program.reconverges:
        return False
    parted = False
    for warp in block.warps:
        gathering, living = int(warp["gathering"]), int(warp["living"])
        if not gathering:
            continue
        places = {lane: int(warp["pc"][lane]) for lane in range(LANES) if living >> lane & 1}
        meeting: dict[int, tuple[FunctionCode, int, Instruction]] = {}
        for lane, number in places.items():
            place = _synchronises(state.program, number) if gathering >> lane & 1 else None
            if place is not None and place[2].has(RECONVERGE):
                meeting[lane] = place
        masks = {lane: _mask(code, instruction, warp, lane) for lane, (code, _, instruction) in meeting.items()}
        blocked = int(warp["blocked"])
        free = {lane for lane in places if not blocked >> lane & 1}
        if any(not _yields(state.program, places[lane]) for lane in free):
            continue
        at_barrier = any(blocked & ~gathering & 1 << lane for lane in places)
        may: dict[int, set[int]] = {}  # lanes that may go on, and those that they wait for
        for lane, (_, _, instruction) in meeting.items():
            missing = {
                one
                for one in places
                if masks[lane] >> one & 1 and (masks.get(one), places[one]) != (masks[lane], places[lane])
            }
            if not instruction.has("strict") and (stuck or not at_barrier or missing & free):
                may[lane] = missing
        go = [lane for lane, missing in may.items() if not missing & meeting.keys()]
        if may and not go:  # they wait in a circle: those in the innermost branch
            fewest = min(masks[lane].bit_count() for lane in may)
            go = [lane for lane in may if masks[lane].bit_count() == fewest]
        for lane in go:
            _leave(warp, lane, meeting[lane], masks[lane], sum(1 << one for one in go if masks[one] == masks[lane]))
        _let_go(warp, {lane: meeting[lane][1] for lane in go})
        parted = parted or bool(go)
    return parted


def _leave(warp: np.void, lane: int, place: tuple[FunctionCode, int, Instruction], mask: int, leaving: int) -> None:
    """Lanes go on without those that they should meet, which then are to wait for them no more."""
    code, _, instruction = place
    operand = members(instruction)
    if isinstance(operand, Immediate):
        return
    for other in range(LANES):
        if mask >> other & 1 and not leaving >> other & 1:
            kept = _kept(code, operand, warp, lane, other)
            if kept.value == mask:
                kept.value = mask & ~leaving


def _yields(program: Program, number: int) -> bool:
    """Whether a block of code is one that threads come to again and again while they let others go first."""
    code = program.code_of(number)
    return number - code.first_block in code.flow.yielding


def _synchronises(program: Program, number: int) -> tuple[FunctionCode, int, Instruction] | None:
    """The bar.warp.sync that a block of code is, and the block behind it; None for another."""
    code = program.code_of(number)
    block = code.flow.blocks[number - code.first_block]
    first = block.instructions[0] if block.instructions else None
    if first is None or first.opcode != "bar" or "warp" not in first.modifiers or block.behind is None:
        return None
    return code, code.first_block + block.behind, first


def _mask(code: FunctionCode, instruction: Instruction, warp: np.void, lane: int) -> int:
    """The lanes that a lane waits for."""
    operand = members(instruction)
    if not isinstance(operand, Immediate):
        operand = code.constants.get(operand.name, operand)
    if isinstance(operand, Immediate):
        return operand.value & 0xFFFFFFFF
    return int(_kept(code, operand, warp, lane, lane).value)


def _kept(code: FunctionCode, register: Register, warp: np.void, lane: int, other: int) -> ctypes.c_uint32:
    """Where a lane's activation of a function keeps a register of another lane that shares it."""
    place = int(warp["activation"][lane]) + code.frame.places[register.name] + 4 * other
    return ctypes.c_uint32.from_address(place)

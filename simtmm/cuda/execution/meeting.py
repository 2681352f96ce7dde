"""Lanes of a warp that wait at different bar.warp.sync for each other, which is allowed: they meet, and go on."""

import numpy as np

from simtmm.cuda.execution.function_code import FunctionCode
from simtmm.cuda.execution.gathering import members
from simtmm.cuda.execution.launch import BlockState, LaunchState
from simtmm.cuda.execution.layout import LANES
from simtmm.cuda.execution.program import Program
from simtmm.cuda.ptx.syntax import Immediate, Instruction


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
            if gathering >> lane & 1 and (place := _synchronises(state.program, int(warp["pc"][lane]))) is not None
        }
        here: dict[int, int] = {}  # by the mask that lanes wait with
        masks = {lane: _mask(code, instruction, warp, lane) for lane, (code, _, instruction) in waiting.items()}
        for lane, mask in masks.items():
            here[mask] = here.get(mask, 0) | 1 << lane
        ready = [lane for lane, mask in masks.items() if not mask & living & ~here[mask]]
        for lane in ready:
            warp["pc"][lane] = waiting[lane][1]
        mask = sum(1 << lane for lane in ready)
        warp["gathering"] = gathering & ~mask
        warp["blocked"] = int(warp["blocked"]) & ~mask
        met = met or bool(ready)
    return met


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
    import ctypes

    place = int(warp["activation"][lane]) + code.frame.places[operand.name] + 4 * lane
    return int(ctypes.c_uint32.from_address(place).value)

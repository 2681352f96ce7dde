"""Lanes that came to a function one after another, and wait for each other in it: their activations become one.

Lanes that call a function together share an activation, with a place for each of them. Lanes that call it apart,
behind a lock for example, have activations of their own, and an instruction that gathers lanes looks at one. So those
that came the same way, call by call, are put into the oldest. A function with local variables keeps its lanes apart:
their addresses may be in registers.
"""

import ctypes

from simtmm.cuda.execution.launches.launch import BlockState, LaunchState
from simtmm.cuda.execution.layout import ACTIVATION, LANES, activation_field
from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.types import bytes_of

_Pair = tuple[FunctionCode, int, int]  # of an activation's function: the activation that takes lanes, and that has them


def merge(state: LaunchState, block: BlockState) -> bool:
    """Let lanes of a block's warps that wait for each other in activations of a function share one; whether any did."""
    if not state.program.has_calls:
        return False
    merged = False
    for warp in block.warps:
        gathering = int(warp["gathering"])
        if not gathering:
            continue
        places: dict[int, dict[int, int]] = {}
        for lane in range(LANES):
            if gathering >> lane & 1:
                masks = places.setdefault(int(warp["pc"][lane]), {})
                activation = int(warp["activation"][lane])
                masks[activation] = masks.get(activation, 0) | 1 << lane
        for number, masks in places.items():
            into, *others = sorted(masks)
            for other in others:
                pairs = _pairs(state.program, number, into, other)
                if pairs is None:
                    continue
                for code, taker, giver in pairs:
                    _move(code, taker, giver, masks[other])
                for lane in range(LANES):
                    if masks[other] >> lane & 1:
                        warp["activation"][lane] = into
                # All come to the instruction again, which counts them anew.
                here = masks[into] | masks[other]
                warp["gathering"] = int(warp["gathering"]) & ~here
                warp["blocked"] = int(warp["blocked"]) & ~here
                merged = True
    return merged


def _pairs(program: Program, number: int, into: int, other: int) -> list[_Pair] | None:
    """The activations to merge, from those of a block of code up to where they are one; None if they can't be."""
    pairs: list[_Pair] = []
    while into != other:
        code = program.code_of(number)
        number = activation_field(into, "behind")
        if code.local_bytes or number != activation_field(other, "behind"):
            return None
        pairs.append((code, into, other))
        into, other = activation_field(into, "parent"), activation_field(other, "parent")
    return pairs


def _move(code: FunctionCode, into: int, other: int, mask: int) -> None:
    """Move what an activation holds of the lanes of a mask to another of the same function."""
    widths = dict(code.places.values())
    for name, place in code.frame.places.items():
        kind = code.registers[name]
        if kind == "pred":
            _put_bits(into + place, other + place, mask)
        else:
            widths[place] = bytes_of(kind)
    for place, width in widths.items():
        for lane in range(LANES):
            if mask >> lane & 1:
                ctypes.memmove(into + place + lane * width, other + place + lane * width, width)
    offset = int(ACTIVATION.fields["lanes"][1])  # type: ignore[index]
    lanes = ctypes.c_uint32.from_address(other + offset)
    _put_bits(into + offset, other + offset, mask)
    lanes.value &= ~mask


def _put_bits(into: int, other: int, mask: int) -> None:
    taker, giver = ctypes.c_uint32.from_address(into), ctypes.c_uint32.from_address(other)
    taker.value = taker.value & ~mask | giver.value & mask

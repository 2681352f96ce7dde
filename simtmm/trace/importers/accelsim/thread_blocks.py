"""The lines of an Accel-Sim kernel trace that are no instructions: where thread blocks and warps begin and end."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any

import numpy as np

from simtmm.trace.importers.accelsim.execution import end_run
from simtmm.trace.importers.accelsim.parser_state import (
    BEGUN,
    E_BEGIN,
    E_BLOCK,
    E_GRID,
    E_INSTRUCTIONS,
    E_MISSING,
    E_TWICE,
    E_WARP,
    E_WARPS,
    IN_BLOCK,
    IN_WARP,
    INSTRUCTIONS,
    OUTSIDE,
    Configuration,
    State,
    wrong,
)
from simtmm.trace.importers.warps import LANES, end_block
from simtmm.trace.importers.words import COMMA, decimal, starts


def _phrase(text: str) -> Any:
    return np.frombuffer(text.encode(), dtype=np.uint8)


_BEGIN_TB, _END_TB = _phrase("#BEGIN_TB"), _phrase("#END_TB")
_THREAD_BLOCK, _WARP_IS, _INSTRUCTIONS_ARE = _phrase("thread block ="), _phrase("warp ="), _phrase("insts =")


def _begin_block(r, text, at):
    c = r.configuration
    s = r.state
    begin = at
    for field in range(3):
        number, end = decimal(text, at)
        if end == at or (field < 2) != (text[end] == COMMA):
            return wrong(r, E_BLOCK, begin)
        if number < 0 or number >= c[Configuration.grid_x + field]:
            return wrong(r, E_GRID, begin)
        s[State.block_x + field] = number
        at = end + np.int64(field < 2)
    s.block = s.block_x + c.grid_x * (s.block_y + c.grid_y * s.block_z)
    s.phase = IN_BLOCK
    return at


def _begin_warp(r, text, at):
    c = r.configuration
    s = r.state
    counts = r.operations.counts
    warps = r.operations.warps
    number, end = decimal(text, at)
    if end == at or number < 0 or number * LANES >= c.threads:
        return wrong(r, E_WARPS, at)
    blocks = counts.blocks
    first = r.operations.blocks[blocks - 1].warps if blocks else 0
    for warp in range(first, counts.warps):
        if warps[warp].number == number:
            return wrong(r, E_TWICE, at)
    s.warp = number
    s.last_pc = -1
    s.phase = IN_WARP
    warps[counts.warps].number = number
    warps[counts.warps].first = counts.operations
    for register in range(len(r.pending)):
        r.pending[register] = 0
    for lane in range(LANES):
        r.issued[lane], r.joined[lane] = 0, 0
    return end


def end_warp(r):
    """Close the warp that is being read: its operations end here."""
    counts = r.operations.counts
    end_run(r)
    r.operations.warps[counts.warps].last = counts.operations
    counts.warps += 1
    r.state.phase = IN_BLOCK


def _missing_warp(r):
    """The first warp of the thread block that has not come, or -1. None has come twice."""
    counts = r.operations.counts
    warps = r.operations.warps
    blocks = counts.blocks
    first = r.operations.blocks[blocks - 1].warps if blocks else 0
    if (counts.warps - first) * LANES >= r.configuration.threads:
        return np.int64(-1)
    missing = np.int64(0)
    place = first
    while place < counts.warps:
        place += 1
        if warps[place - 1].number == missing:
            missing += 1
            place = first
    return missing


def read_frame(r, text, at):
    """Read a line that is no instruction: where it goes on, or FAILED."""
    s = r.state
    phase = s.phase
    if phase == OUTSIDE:
        end = starts(text, at, _BEGIN_TB)
        if end < 0:
            return wrong(r, E_BEGIN, at)
        s.phase = BEGUN
    elif phase == BEGUN:
        end = starts(text, at, _THREAD_BLOCK)
        end = wrong(r, E_BLOCK, at) if end < 0 else _begin_block(r, text, end)
    elif phase == IN_BLOCK:
        end = starts(text, at, _WARP_IS)
        if end >= 0:
            end = _begin_warp(r, text, end)
        else:
            end = starts(text, at, _END_TB)
            if end < 0:
                return wrong(r, E_WARP, at)
            missing = _missing_warp(r)
            if missing >= 0:
                s.warp = missing
                return wrong(r, E_MISSING, at)
            end_block(r.operations, s.block, s.line)
            s.phase = OUTSIDE
    else:
        end = starts(text, at, _INSTRUCTIONS_ARE)
        if end < 0:
            return wrong(r, E_INSTRUCTIONS, at)
        count, after = decimal(text, end)
        if after == end or count < 0:
            return wrong(r, E_INSTRUCTIONS, at)
        end = after
        s.left = count
        s.phase = INSTRUCTIONS
        if count == 0:
            end_warp(r)
    return end

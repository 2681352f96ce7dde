"""The lines of an Accel-Sim kernel trace, read by compiled code: operations of warps come of them."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from simtmm.trace.importers.accelsim.instructions import read_instruction
from simtmm.trace.importers.accelsim.parser_state import (
    E_END,
    FAILED,
    FULL,
    INSTRUCTIONS,
    MORE_ROOM,
    MORE_TEXT,
    NEW_OPCODE,
    OUTSIDE,
    WRONG,
    Reader,
    wrong,
)
from simtmm.trace.importers.accelsim.thread_blocks import end_warp, read_frame
from simtmm.trace.importers.warps import LANES, compiled
from simtmm.trace.importers.words import NEWLINE, blank


@compiled
def read_lines(r: Reader, text, position):
    """Read lines from a position of a text on that ends with a newline: what ended the call; the state has the position
    to go on at.
    """
    s = r.state
    operations = r.operations
    counts = operations.counts
    # One line makes at most a run's end twice, a join, and an access to each of three spaces.
    room = len(operations.kind) - 6
    pool_room = len(operations.pool) - 4 * LANES
    while position < len(text):
        s.next = position
        if (
            counts.operations > room
            or counts.pool > pool_room
            or counts.warps == len(operations.warps)
            or counts.blocks == len(operations.blocks)
        ):
            return MORE_ROOM
        at = blank(text, position)
        if text[at] != NEWLINE and s.phase == INSTRUCTIONS:
            at = read_instruction(r, text, at)
            if at < 0:
                return WRONG if at == FAILED else NEW_OPCODE
            position = at
            s.line += 1
            s.left -= 1
            if s.left == 0:
                end_warp(r)
            continue
        if text[at] != NEWLINE:
            at = read_frame(r, text, at)
            if at < 0:
                return WRONG
            at = blank(text, at)
            if text[at] != NEWLINE:
                wrong(r, E_END, at)
                return WRONG
        position = at + 1
        s.line += 1
        if s.phase == OUTSIDE and counts.events >= r.configuration.most_events:
            s.next = position
            return FULL
    s.next = position
    return MORE_TEXT

"""A line of an Accel-Sim kernel trace that is an instruction: its words are read, then it is executed."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.machine.addresses import LARGEST_GLOBAL
from simtmm.native import inlined
from simtmm.trace.importers.accelsim.execution import execute
from simtmm.trace.importers.accelsim.parser_state import (
    E_ADDRESS,
    E_ADJACENT,
    E_CHANGED,
    E_COUNT,
    E_DELTA,
    E_END,
    E_IMMEDIATE,
    E_LANES,
    E_LINEINFO,
    E_MASK,
    E_MODE,
    E_OPCODE,
    E_PC,
    E_REGISTER,
    E_STRIDE,
    E_WHERE,
    E_WIDTH,
    FAILED,
    MOST_REGISTERS,
    UNKNOWN_OPCODE,
    WIDEST,
    ZERO_REGISTER,
    State,
    wrong,
)
from simtmm.trace.importers.opcodes import COMPUTE, MEMORY
from simtmm.trace.importers.warps import LANES
from simtmm.trace.importers.words import LETTER_A, LETTER_R, LETTER_Z, NEWLINE, blank, decimal, hexadecimal, word_hash


def _registers(r, text, position, row):
    """Read a count and so many registers: (count, where the line goes on), which is FAILED for an error."""
    count, at = decimal(text, position)
    if at == position or count < 0 or count > MOST_REGISTERS:
        return count, wrong(r, E_COUNT, position)
    for index in range(count):
        at = blank(text, at)
        begin = at
        while LETTER_A <= text[at] <= LETTER_Z:
            at += 1
        number, end = decimal(text, at)
        plain = text[begin] == LETTER_R and at == begin + 1
        if at == begin or end == at or number < 0 or (plain and number > ZERO_REGISTER):
            return count, wrong(r, E_REGISTER, begin)
        r.registers[row, index] = number if plain else ZERO_REGISTER  # uniform and predicate registers: not followed
        at = end
    return count, blank(text, at)


def _addresses(r, text, position, mask):  # noqa: C901 - a compiled loop: a case for each form of addresses
    """Read mode and addresses of the lanes of a mask: where the line goes on, or FAILED."""
    mode, at = decimal(text, position)
    if at == position or mode < 0 or mode > 2:
        return wrong(r, E_MODE, position)
    at = blank(text, at)
    address = np.int64(0)
    step = np.int64(0)
    if mode != 0:
        address, end = hexadecimal(text, at)
        if end == at or address > LARGEST_GLOBAL:
            return wrong(r, E_ADDRESS, at)
        at = blank(text, end)
    if mode == 1:
        step, end = decimal(text, at)
        if end == at:
            return wrong(r, E_STRIDE, at)
        lowest = mask & -mask
        if mask & (mask + lowest):
            return wrong(r, E_ADJACENT, position)
        at = blank(text, end)
    seen = 0
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        begin = at
        if mode == 0:
            address, end = hexadecimal(text, at)
            if end == at:
                return wrong(r, E_ADDRESS, at)
            at = blank(text, end)
        elif seen and mode == 2:
            step, end = decimal(text, at)
            if end == at:
                return wrong(r, E_DELTA, at)
            at = blank(text, end)
        if seen:
            address += step
        # A step has 18 digits, below 2^60: the sum does not overflow before it is looked at.
        if address < 0 or address > LARGEST_GLOBAL:
            return wrong(r, E_ADDRESS, begin)
        r.addresses[lane] = address
        seen += 1
        if mode == 0:
            address = np.int64(0)
            step = np.int64(0)
    return at


def _find_pc(r, pc):
    """The place of a program counter among the kernel's, or -1."""
    pcs = r.pcs
    low = r.state.last_pc + 1
    if low < len(pcs) and pcs[low] == pc:
        return low
    low = 0
    high = len(pcs)
    while low < high:
        middle = (low + high) // 2
        if pcs[middle] < pc:
            low = middle + 1
        else:
            high = middle
    return low if low < len(pcs) and pcs[low] == pc else -1


@inlined
def _find_opcode(r, word):
    """The number of the opcode with this hash, or -1."""
    places = len(r.opcode_hash) - 1
    at = (word >> 20) & places
    while r.opcode_number[at] >= 0 and r.opcode_hash[at] != word:
        at = (at + 1) & places
    return r.opcode_number[at]


def read_instruction(r, text, position):  # noqa: C901, PLR0911, PLR0912 - a compiled loop: a field of the line after another
    """Read an instruction: where its line ends, or FAILED, or UNKNOWN_OPCODE where its number is not known yet."""
    c = r.configuration
    s = r.state
    at = position
    if c.version < 3:
        for field in range(4):
            number, end = decimal(text, at)
            if end == at or number != (s[State.block_x + field] if field < 3 else s.warp):
                return wrong(r, E_WHERE, at)
            at = blank(text, end)
    source_line = np.int64(0)
    if c.lineinfo:
        source_line, end = decimal(text, at)
        if end == at or source_line < 0:
            return wrong(r, E_LINEINFO, at)
        at = blank(text, end)
    pc, end = hexadecimal(text, at)
    if end == at:
        return wrong(r, E_PC, at)
    pc = _find_pc(r, pc)
    if pc < 0:
        return wrong(r, E_CHANGED, at)
    at = blank(text, end)
    mask, end = hexadecimal(text, at)
    if end == at or mask >> LANES:
        return wrong(r, E_MASK, at)
    if mask >> max(0, min(c.threads - LANES * s.warp, LANES)):
        return wrong(r, E_LANES, at)
    destinations, at = _registers(r, text, blank(text, end), 0)
    if at < 0:
        return FAILED
    begin = at
    if not LETTER_A <= text[at] <= LETTER_Z:
        return wrong(r, E_OPCODE, at)
    word, at = word_hash(text, at)
    opcode = _find_opcode(r, word)
    if opcode < 0:
        r.state.at = begin
        return UNKNOWN_OPCODE
    sources, at = _registers(r, text, blank(text, at), 1)
    if at < 0:
        return FAILED
    width, end = decimal(text, at)
    if end == at or width < 0 or width > WIDEST:
        return wrong(r, E_WIDTH, at)
    at = blank(text, end)
    if width:
        at = _addresses(r, text, at, mask)
        if at < 0:
            return FAILED
    if c.version >= 5:
        _, end = decimal(text, at)
        if end == at:
            _, end = hexadecimal(text, at)
        if end == at:
            return wrong(r, E_IMMEDIATE, at)
        at = blank(text, end)
    if text[at] != NEWLINE:
        return wrong(r, E_END, at)
    s.last_pc = pc
    r.pc_opcode[pc] = opcode
    r.pc_line[pc] = source_line
    r.opcode_count[opcode] += 1
    if mask:
        what = r.opcode_class[opcode]
        if what >= MEMORY and not width:
            r.bare[opcode] = 1
            what = np.int64(COMPUTE)
        execute(r, pc, what, mask, width, destinations, sources)
    return at + 1

"""The lines of an Accel-Sim kernel trace, read by compiled code: operations of warps come of them.

A load of global or local memory is an async. For each lane it is kept which asyncs are in flight and which registers
they write; before an instruction that reads such a register stands a join, which leaves out the lane's later asyncs.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from simtmm.compiled import helper, inlined
from simtmm.trace.importers.opcodes import (
    BARRIER,
    COMPUTE,
    GENERIC,
    LOAD,
    LOCAL,
    MEMORY,
    SHARED,
)
from simtmm.trace.importers.warps import (
    BLOCK_WARPS,
    BLOCKS,
    EVENTS,
    LANES,
    LARGEST_GLOBAL,
    LOCAL_BASE,
    LOCAL_BYTES,
    OPERATIONS,
    POOL,
    SPREAD,
    WARP_FIRST,
    WARP_LAST,
    WARP_NUMBER,
    WARPS,
    WINDOW,
    Operations,
    compiled,
    emit,
    end_block,
)
from simtmm.trace.importers.words import NEWLINE, SPACE, blank, decimal, hexadecimal, line_end, starts, word_hash
from simtmm.trace.schema import Kind

# Typed, since Numba compiles a function anew for each constant of Python's that it is called with.
_WORK, _BARRIER, _JOIN = np.int64(Kind.WORK), np.int64(Kind.BARRIER), np.int64(Kind.JOIN)
_NOTHING = np.int64(0)
_GLOBAL_KINDS = np.array([Kind.ASYNC, Kind.STORE, Kind.ATOMIC], np.int64)  # by action
_SHARED_KINDS = np.array([Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC], np.int64)

MOST_REGISTERS = 16  # that one line lists
ZERO_REGISTER = 255
WIDEST = 128  # bytes of an access
NO_SITE = 255  # the kind of a site that nothing comes from

MORE_TEXT, MORE_ROOM, FULL, NEW_OPCODE, WRONG = range(5)  # what a call says
OUTSIDE, BEGUN, IN_BLOCK, IN_WARP, INSTRUCTIONS = range(5)  # phases: what the next line must be

# State
(
    PHASE, LINE, BLOCK, BLOCK_X, BLOCK_Y, BLOCK_Z, WARP, LEFT, LAST_PC, RUN_MASK, RUN_LENGTH, RUN_SITE, ERROR, AT,
) = range(14)  # fmt: skip
STATE = 14

# Configuration
(
    VERSION, LINEINFO, GRID_X, GRID_Y, GRID_Z, THREADS, SHARED_BASE, LOCAL_WINDOW, SHARED_END, LOCAL_END, FIRST_SITE,
    SHARED_SITE, MOST_EVENTS,
) = range(13)  # fmt: skip
CONFIGURATION = 13

# Errors, by number: what was expected; {warp} is the state's
EXPECTED = (
    "'#BEGIN_TB'",
    "'thread block = x,y,z'",
    "a thread block within the grid",
    "'warp = w' or '#END_TB'",
    "a warp within the thread block",
    "a warp that the thread block has not had",
    "'insts = n'",
    "the thread block and the warp that the line stands in (versions before 3)",
    "a line number",
    "a program counter, hexadecimal",
    "a program counter that was there when the file was first read",
    "a mask of 32 lanes, hexadecimal",
    "a mask of lanes within the thread block",
    f"a number of registers from 0 to {MOST_REGISTERS}",
    "a register from R0 to R255",
    "an opcode",
    f"a width from 0 to {WIDEST} bytes",
    "an address mode: 0 (list), 1 (base and stride) or 2 (base and deltas)",
    "an address below 2^60, hexadecimal",
    "a stride, decimal",
    "adjacent lanes for a base and a stride",
    "a delta for each active lane but the first, decimal",
    "an immediate, the last word of a line of version 5",
    "the end of the line",
    "warp {warp} of the thread block before its end",
)
(
    E_BEGIN, E_BLOCK, E_GRID, E_WARP, E_WARPS, E_TWICE, E_INSTRUCTIONS, E_WHERE, E_LINEINFO, E_PC, E_CHANGED, E_MASK,
    E_LANES, E_COUNT, E_REGISTER, E_OPCODE, E_WIDTH, E_MODE, E_ADDRESS, E_STRIDE, E_ADJACENT, E_DELTA, E_IMMEDIATE,
    E_END, E_MISSING,
) = (np.int64(number) for number in range(len(EXPECTED)))  # fmt: skip


def _phrase(text: str) -> Any:
    return np.frombuffer(text.encode(), dtype=np.uint8)


_BEGIN_TB, _END_TB = _phrase("#BEGIN_TB"), _phrase("#END_TB")
_THREAD_BLOCK, _WARP_IS, _INSTRUCTIONS_ARE = _phrase("thread block ="), _phrase("warp ="), _phrase("insts =")
_OUTSIDE_LINES = _phrase("#-tw")  # how lines begin that are no instructions; "insts" begins with an i
_LETTER_A, _LETTER_I, _LETTER_R, _LETTER_Z = 65, 105, 82, 90


class Reader(NamedTuple):
    """All that a call needs but the text."""

    configuration: Any  # int64[CONFIGURATION]
    state: Any  # int64[STATE]
    pcs: Any  # int64: the kernel's program counters, ascending
    pc_opcode: Any  # int64, of each of these: its opcode's number
    pc_line: Any  # int64, likewise: its line in the source, 0 where that is not known
    site_kind: Any  # uint8[sites]: what comes from the site, or NO_SITE
    opcode_hash: Any  # int64[2^k], a hash table of opcodes
    opcode_number: Any  # int64[2^k]; -1 where the place is free
    opcode_class: Any  # int64, by number
    bare: Any  # uint8, by number: whether the opcode, of an access to memory, came without addresses
    pending: Any  # int64[256]: lanes for which an async that writes the register may be in flight
    writer: Any  # int64[256, LANES]: the latest such async, counted from 1 for each lane
    issued: Any  # int64[LANES]: asyncs of the lane so far
    joined: Any  # int64[LANES]: those that have been waited for
    addresses: Any  # int64[LANES], by lane
    registers: Any  # int64[2, MOST_REGISTERS]: destinations, sources
    operations: Operations


@inlined
def _wrong(r, error, position):
    r.state[ERROR] = error
    r.state[AT] = position
    return -1


@inlined
def _note(r, kind, site, mask, width, value):
    """Append an operation."""
    emit(r.operations, kind, site, mask, width, value)
    if r.site_kind[site] == NO_SITE:
        r.site_kind[site] = kind


@helper
def _end_run(r):
    """Append the work that has come together."""
    s = r.state
    if s[RUN_LENGTH]:
        _note(r, _WORK, s[RUN_SITE], s[RUN_MASK], _NOTHING, s[RUN_LENGTH])
        s[RUN_LENGTH] = 0


@helper
def _registers(r, text, position, row):
    """Read a count and so many registers: (count, where the line goes on), which is -1 for an error."""
    count, at = decimal(text, position)
    if at == position or count < 0 or count > MOST_REGISTERS:
        return count, _wrong(r, E_COUNT, position)
    for index in range(count):
        at = blank(text, at)
        begin = at
        while _LETTER_A <= text[at] <= _LETTER_Z:
            at += 1
        number, end = decimal(text, at)
        plain = text[begin] == _LETTER_R and at == begin + 1
        if at == begin or end == at or number < 0 or (plain and number > ZERO_REGISTER):
            return count, _wrong(r, E_REGISTER, begin)
        r.registers[row, index] = number if plain else ZERO_REGISTER  # uniform and predicate registers: not followed
        at = end
    return count, blank(text, at)


@helper
def _addresses(r, text, position, mask):
    """Read mode and addresses of the lanes of a mask: where the line goes on, or -1."""
    mode, at = decimal(text, position)
    if at == position or mode < 0 or mode > 2:
        return _wrong(r, E_MODE, position)
    at = blank(text, at)
    address = np.int64(0)
    step = np.int64(0)
    if mode != 0:
        address, end = hexadecimal(text, at)
        if end == at or address > LARGEST_GLOBAL:
            return _wrong(r, E_ADDRESS, at)
        at = blank(text, end)
    if mode == 1:
        step, end = decimal(text, at)
        if end == at:
            return _wrong(r, E_STRIDE, at)
        lowest = mask & -mask
        if mask & (mask + lowest):
            return _wrong(r, E_ADJACENT, position)
        at = blank(text, end)
    seen = 0
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        begin = at
        if mode == 0:
            address, end = hexadecimal(text, at)
            if end == at:
                return _wrong(r, E_ADDRESS, at)
            at = blank(text, end)
        elif seen and mode == 2:
            step, end = decimal(text, at)
            if end == at:
                return _wrong(r, E_DELTA, at)
            at = blank(text, end)
        if seen:
            address += step
        # A step has 18 digits, below 2^60: the sum does not overflow before it is looked at.
        if address < 0 or address > LARGEST_GLOBAL:
            return _wrong(r, E_ADDRESS, begin)
        r.addresses[lane] = address
        seen += 1
        if mode == 0:
            address = np.int64(0)
            step = np.int64(0)
    return at


@helper
def _find_pc(r, pc):
    """The place of a program counter among the kernel's, or -1."""
    pcs = r.pcs
    low = r.state[LAST_PC] + 1
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
def _find_opcode(r, made):
    """The number of the opcode with this hash, or -1."""
    places = len(r.opcode_hash) - 1
    at = (made >> 20) & places
    while r.opcode_number[at] >= 0 and r.opcode_hash[at] != made:
        at = (at + 1) & places
    return r.opcode_number[at]


@helper
def _waiting(r, register, count, mask):
    """The lanes that have to wait before they read `count` registers from this one on; noted as waited for."""
    waiting = np.int64(0)
    for index in range(register, min(register + count, ZERO_REGISTER)):
        lanes = r.pending[index] & mask
        r.pending[index] &= ~mask
        if lanes:
            for lane in range(LANES):
                if lanes >> lane & 1 and r.writer[index, lane] > r.joined[lane]:
                    r.joined[lane] = r.writer[index, lane]
                    waiting |= np.int64(1) << lane
    return waiting


@helper
def _join(r, site, mask):
    """Append a join of what the lanes of a mask have to wait for."""
    _end_run(r)
    pool = r.operations.counts[POOL]
    at = pool
    for lane in range(LANES):
        if mask >> lane & 1:
            r.operations.pool[at] = r.issued[lane] - r.joined[lane]
            at += 1
    r.operations.counts[POOL] = at
    _note(r, _JOIN, site, mask, _NOTHING, pool)


@inlined
def _within(address, base):
    """An address of the window that begins at `base` as an offset; one that is an offset already stays."""
    return (address - base if base <= address < base + WINDOW else address) & WINDOW - 1


@helper
def _access(r, site, mask, width, space, action, destinations):
    """Append an access of the lanes of a mask, all to one space."""
    operations = r.operations
    c = r.configuration
    s = r.state
    pool = operations.counts[POOL]
    at = pool
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        address = r.addresses[lane]
        if space == SHARED:
            address = c[SHARED_SITE] << 32 | _within(address, c[SHARED_BASE])
        elif space == LOCAL:
            # Neighbouring threads' words lie side by side, as the hardware has it.
            unit = np.int64(4)
            while unit < width:
                unit *= 2
            own = _within(address, c[LOCAL_WINDOW]) & LOCAL_BYTES - 1
            thread = s[BLOCK] * c[THREADS] + LANES * s[WARP] + lane
            all_threads = c[GRID_X] * c[GRID_Y] * c[GRID_Z] * c[THREADS]
            address = LOCAL_BASE + (own // unit * all_threads + thread) * unit + own % unit
        operations.pool[at] = address
        at += 1
    operations.counts[POOL] = at
    _note(r, _SHARED_KINDS[action] if space == SHARED else _GLOBAL_KINDS[action], site, mask, width, pool)
    if action == LOAD and space != SHARED:
        for lane in range(LANES):
            r.issued[lane] += mask >> lane & 1
        registers = max((width + 3) // 4, 1)
        for index in range(destinations):
            first = r.registers[0, index]
            for register in range(first, min(first + registers, ZERO_REGISTER)):
                r.pending[register] |= mask
                for lane in range(LANES):
                    if mask >> lane & 1:
                        r.writer[register, lane] = r.issued[lane]


@helper
def _execute(r, pc, what, mask, width, destinations, sources):
    """What an instruction that has been read does."""
    c = r.configuration
    s = r.state
    site = c[FIRST_SITE] + 2 * pc  # of a join; the instruction's own is the next
    waiting = np.int64(0)
    for index in range(sources):
        register = r.registers[1, index]
        # What a store writes has its width; the register that is listed is the first.
        wide = what >= MEMORY and (what - MEMORY) % 3 != LOAD and index == sources - 1
        count = (width + 3) // 4 if wide and width > 4 else 1
        if count > 1 or r.pending[register] & mask:
            waiting |= _waiting(r, register, count, mask)
    if waiting:
        _join(r, site, waiting)
    for index in range(destinations):
        r.pending[r.registers[0, index]] &= ~mask
    site += 1
    if what == COMPUTE:
        if s[RUN_LENGTH] and s[RUN_MASK] != mask:
            _end_run(r)
        if not s[RUN_LENGTH]:
            s[RUN_MASK] = mask
            s[RUN_SITE] = site
        s[RUN_LENGTH] += 1
        return
    _end_run(r)
    if what == BARRIER:
        _note(r, _BARRIER, site, mask, _NOTHING, _NOTHING)
        for lane in range(LANES):  # a barrier waits for all asyncs
            if mask >> lane & 1:
                r.joined[lane] = r.issued[lane]
        return
    space = (what - MEMORY) // 3
    shared = mask if space == SHARED else _NOTHING
    local = mask if space == LOCAL else _NOTHING
    if space == GENERIC:
        for lane in range(LANES):
            if mask >> lane & 1:
                if c[SHARED_BASE] <= r.addresses[lane] < c[SHARED_END]:
                    shared |= np.int64(1) << lane
                elif c[LOCAL_WINDOW] <= r.addresses[lane] < c[LOCAL_END]:
                    local |= np.int64(1) << lane
    for space in range(GENERIC):
        lanes = shared if space == SHARED else local if space == LOCAL else mask & ~(shared | local)
        if lanes:
            _access(r, site, lanes, width, space, (what - MEMORY) % 3, destinations)


@helper
def _instruction(r, text, position):
    """Read an instruction: where its line ends, -1 for an error, -2 for an opcode that has no number yet."""
    c = r.configuration
    s = r.state
    at = position
    if c[VERSION] < 3:
        for field in range(4):
            number, end = decimal(text, at)
            if end == at or number != (s[BLOCK_X + field] if field < 3 else s[WARP]):
                return _wrong(r, E_WHERE, at)
            at = blank(text, end)
    source_line = np.int64(0)
    if c[LINEINFO]:
        source_line, end = decimal(text, at)
        if end == at or source_line < 0:
            return _wrong(r, E_LINEINFO, at)
        at = blank(text, end)
    pc, end = hexadecimal(text, at)
    if end == at:
        return _wrong(r, E_PC, at)
    pc = _find_pc(r, pc)
    if pc < 0:
        return _wrong(r, E_CHANGED, at)
    at = blank(text, end)
    mask, end = hexadecimal(text, at)
    if end == at or mask >> LANES:
        return _wrong(r, E_MASK, at)
    if mask >> max(0, min(c[THREADS] - LANES * s[WARP], LANES)):
        return _wrong(r, E_LANES, at)
    destinations, at = _registers(r, text, blank(text, end), 0)
    if at < 0:
        return -1
    begin = at
    if not _LETTER_A <= text[at] <= _LETTER_Z:
        return _wrong(r, E_OPCODE, at)
    made, at = word_hash(text, at)
    opcode = _find_opcode(r, made)
    if opcode < 0:
        r.state[AT] = begin
        return -2
    sources, at = _registers(r, text, blank(text, at), 1)
    if at < 0:
        return -1
    width, end = decimal(text, at)
    if end == at or width < 0 or width > WIDEST:
        return _wrong(r, E_WIDTH, at)
    at = blank(text, end)
    if width:
        at = _addresses(r, text, at, mask)
        if at < 0:
            return -1
    if c[VERSION] >= 5:
        _, end = decimal(text, at)
        if end == at:
            _, end = hexadecimal(text, at)
        if end == at:
            return _wrong(r, E_IMMEDIATE, at)
        at = blank(text, end)
    if text[at] != NEWLINE:
        return _wrong(r, E_END, at)
    s[LAST_PC] = pc
    r.pc_opcode[pc] = opcode
    r.pc_line[pc] = source_line
    if mask:
        what = r.opcode_class[opcode]
        if what >= MEMORY and not width:
            r.bare[opcode] = 1
            what = np.int64(COMPUTE)
        _execute(r, pc, what, mask, width, destinations, sources)
    return at + 1


@helper
def _begin_block(r, text, at):
    c = r.configuration
    s = r.state
    begin = at
    for field in range(3):
        number, end = decimal(text, at)
        if end == at or (field < 2) != (text[end] == 44):  # a comma
            return _wrong(r, E_BLOCK, begin)
        if number < 0 or number >= c[GRID_X + field]:
            return _wrong(r, E_GRID, begin)
        s[BLOCK_X + field] = number
        at = end + (field < 2)
    s[BLOCK] = s[BLOCK_X] + c[GRID_X] * (s[BLOCK_Y] + c[GRID_Y] * s[BLOCK_Z])
    s[PHASE] = IN_BLOCK
    return at


@helper
def _begin_warp(r, text, at):
    c = r.configuration
    s = r.state
    counts = r.operations.counts
    warps = r.operations.warps
    number, end = decimal(text, at)
    if end == at or number < 0 or number * LANES >= c[THREADS]:
        return _wrong(r, E_WARPS, at)
    blocks = counts[BLOCKS]
    first = r.operations.blocks[blocks - 1, BLOCK_WARPS] if blocks else 0
    for warp in range(first, counts[WARPS]):
        if warps[warp, WARP_NUMBER] == number:
            return _wrong(r, E_TWICE, at)
    s[WARP] = number
    s[LAST_PC] = -1
    s[PHASE] = IN_WARP
    warps[counts[WARPS], WARP_NUMBER] = number
    warps[counts[WARPS], WARP_FIRST] = counts[OPERATIONS]
    r.pending[:] = 0
    r.issued[:] = 0
    r.joined[:] = 0
    return end


@helper
def _end_warp(r):
    counts = r.operations.counts
    _end_run(r)
    r.operations.warps[counts[WARPS], WARP_LAST] = counts[OPERATIONS]
    counts[WARPS] += 1
    r.state[PHASE] = IN_BLOCK


@helper
def _missing_warp(r):
    """The first warp of the thread block that has not come, or -1. None has come twice."""
    counts = r.operations.counts
    warps = r.operations.warps
    blocks = counts[BLOCKS]
    first = r.operations.blocks[blocks - 1, BLOCK_WARPS] if blocks else 0
    if (counts[WARPS] - first) * LANES >= r.configuration[THREADS]:
        return np.int64(-1)
    missing = np.int64(0)
    place = first
    while place < counts[WARPS]:
        place += 1
        if warps[place - 1, WARP_NUMBER] == missing:
            missing += 1
            place = first
    return missing


@helper
def _frame(r, text, at):
    """Read a line that is no instruction: where it goes on, or -1."""
    s = r.state
    phase = s[PHASE]
    if phase == OUTSIDE:
        end = starts(text, at, _BEGIN_TB)
        if end < 0:
            return _wrong(r, E_BEGIN, at)
        s[PHASE] = BEGUN
    elif phase == BEGUN:
        end = starts(text, at, _THREAD_BLOCK)
        end = _wrong(r, E_BLOCK, at) if end < 0 else _begin_block(r, text, end)
    elif phase == IN_BLOCK:
        end = starts(text, at, _WARP_IS)
        if end >= 0:
            end = _begin_warp(r, text, end)
        else:
            end = starts(text, at, _END_TB)
            if end < 0:
                return _wrong(r, E_WARP, at)
            missing = _missing_warp(r)
            if missing >= 0:
                s[WARP] = missing
                return _wrong(r, E_MISSING, at)
            end_block(r.operations, s[BLOCK], s[LINE])
            s[PHASE] = OUTSIDE
    else:
        end = starts(text, at, _INSTRUCTIONS_ARE)
        if end < 0:
            return _wrong(r, E_INSTRUCTIONS, at)
        count, after = decimal(text, end)
        if after == end or count < 0:
            return _wrong(r, E_INSTRUCTIONS, at)
        end = after
        s[LEFT] = count
        s[PHASE] = INSTRUCTIONS
        if count == 0:
            _end_warp(r)
    return end


@compiled
def read_lines(r, text, position):
    """Read lines from a position of a text on that ends with a newline: (what a call says, where to go on)."""
    s = r.state
    operations = r.operations
    counts = operations.counts
    # One line makes at most a run's end twice, a join, and an access to each of three spaces.
    room = len(operations.kind) - 6
    pool_room = len(operations.pool) - 4 * LANES
    while position < len(text):
        if (
            counts[OPERATIONS] > room
            or counts[POOL] > pool_room
            or counts[WARPS] == len(operations.warps)
            or counts[BLOCKS] == len(operations.blocks)
        ):
            return MORE_ROOM, position
        at = blank(text, position)
        if text[at] != NEWLINE and s[PHASE] == INSTRUCTIONS:
            at = _instruction(r, text, at)
            if at < 0:
                return (WRONG if at == -1 else NEW_OPCODE), position
            position = at
            s[LINE] += 1
            s[LEFT] -= 1
            if s[LEFT] == 0:
                _end_warp(r)
            continue
        if text[at] != NEWLINE:
            at = _frame(r, text, at)
            if at < 0:
                return WRONG, position
            at = blank(text, at)
            if text[at] != NEWLINE:
                _wrong(r, E_END, at)
                return WRONG, position
        position = at + 1
        s[LINE] += 1
        if s[PHASE] == OUTSIDE and counts[EVENTS] >= r.configuration[MOST_EVENTS]:
            return FULL, position
    return MORE_TEXT, position


@inlined
def _pc_place(found, kept):
    places = len(found) - 1
    place = (kept * SPREAD >> 20) & places
    while found[place] != 0 and found[place] != kept:
        place = (place + 1) & places
    return place


@compiled
def insert_pcs(found, others):
    """Put what another hash table holds into this one, which is empty: how much that is."""
    used = 0
    for kept in others:
        if kept:
            found[_pc_place(found, kept)] = kept
            used += 1
    return used


@compiled
def find_pcs(text, words_before, found, used):
    """Collect the program counters of a text's instruction lines.

    words_before: words of a line that stand before it. found: int64[2^k], a hash table; a counter is kept as its
    successor, 0 where the place is free. used: int64[1], places taken, at most half of them. Gives the position to go
    on at after the table has been enlarged, or the end.
    """
    places = len(found) - 1
    position = 0
    while position < len(text):
        if 2 * used[0] > places:
            return position
        at = blank(text, position)
        first = text[at]
        instruction = first != NEWLINE and first != _LETTER_I
        for other in _OUTSIDE_LINES:
            instruction = instruction and first != other
        if instruction:
            for _ in range(words_before):
                while text[at] > SPACE:
                    at += 1
                at = blank(text, at)
            pc, end = hexadecimal(text, at)
            if end > at:
                place = _pc_place(found, pc + 1)
                if found[place] == 0:
                    found[place] = pc + 1
                    used[0] += 1
        position = line_end(text, at)
    return position

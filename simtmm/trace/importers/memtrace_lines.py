"""The lines of NVBit's mem_trace that tell of accesses, read by compiled code."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from simtmm.trace.importers.warps import LANES, LARGEST_GLOBAL, compiled, helper, inlined
from simtmm.trace.importers.words import MINUS, NEWLINE, blank, decimal, hexadecimal, line_end, starts, word_hash

MORE_TEXT, FULL, LAUNCH, NEW_OPCODE, WRONG = range(5)  # what a call says

# State
LINE, RECORDS, ERROR, AT, LAUNCH_NUMBER = range(5)
STATE = 5

# Columns of `launches`: its id among the tool's, where its blocks begin among those of all launches, and its shape
IDENTITY, FIRST_BLOCK, GRID_X, GRID_Y, GRID_Z, THREADS = range(6)
LAUNCH_COLUMNS = 6

RECORD = np.dtype(
    [("line", "<i8"), ("block", "<i8"), ("warp", "<i4"), ("opcode", "<i4"), ("mask", "<u4"), ("address", "<i8", LANES)]
)

EXPECTED = (
    "'MEMTRACE: CTX 0x... - grid_launch_id I - CTA x,y,z - warp w - OPCODE - 32 addresses'",
    "a launch id that a LAUNCH line has named before",
    "a thread block within the grid, x,y,z",
    "a warp from 0 to 2^31 - 1",
    "an opcode",
    "an address below 2^60, hexadecimal, for each of 32 lanes",
    "the end of the line",
)
E_LINE, E_LAUNCH, E_BLOCK, E_WARP, E_OPCODE, E_ADDRESS, E_END = (np.int64(number) for number in range(len(EXPECTED)))


def _phrase(text: str) -> Any:
    return np.frombuffer(text.encode(), dtype=np.uint8)


_MEMTRACE, _LAUNCH, _LAUNCH_ID = _phrase("MEMTRACE: CTX "), _phrase("- LAUNCH -"), _phrase("- grid_launch_id ")
_BLOCK, _WARP = _phrase("- CTA "), _phrase("- warp ")
_COMMA = 44
_LETTER_A, _LETTER_Z = 65, 90


class Reader(NamedTuple):
    """All that a call needs but the text."""

    state: Any  # int64[STATE]
    launches: Any  # int64[launches, LAUNCH_COLUMNS]
    opcode_hash: Any  # int64, by the opcode's number
    block_records: Any  # int64, of each block of all launches: how many records it has
    records: Any  # RECORD


@inlined
def _wrong(r, error, position):
    r.state[ERROR] = error
    r.state[AT] = position
    return -1


@helper
def _dash(text, position):
    """Where the line goes on behind a dash, or -1."""
    at = blank(text, position)
    return blank(text, at + 1) if text[at] == MINUS else -1


@helper
def _read_access(r, text, position):
    """Read what stands behind the context: where the line ends; -1 for an error, -2 for a new opcode."""
    at = starts(text, position, _LAUNCH_ID)
    if at < 0:
        return _wrong(r, E_LINE, position)
    identity, end = decimal(text, at)
    if end == at:
        return _wrong(r, E_LAUNCH, at)
    launch = r.state[LAUNCH_NUMBER]
    if launch >= len(r.launches) or r.launches[launch, IDENTITY] != identity:
        launch = len(r.launches) - 1  # of launches with one id, as two contexts have them, the latest
        while launch >= 0 and r.launches[launch, IDENTITY] != identity:
            launch -= 1
        if launch < 0:
            return _wrong(r, E_LAUNCH, at)
        r.state[LAUNCH_NUMBER] = launch
    at = starts(text, blank(text, end), _BLOCK)
    if at < 0:
        return _wrong(r, E_LINE, position)
    begin = at
    block = np.int64(0)
    stride = np.int64(1)
    for field in range(3):
        number, end = decimal(text, at)
        if end == at or number < 0 or number >= r.launches[launch, GRID_X + field]:
            return _wrong(r, E_BLOCK, begin)
        if (field < 2) != (text[end] == _COMMA):
            return _wrong(r, E_BLOCK, begin)
        block += number * stride
        stride *= r.launches[launch, GRID_X + field]
        at = end + 1
    at = starts(text, blank(text, end), _WARP)
    if at < 0:
        return _wrong(r, E_LINE, position)
    warp, end = decimal(text, at)
    if end == at or warp < 0 or warp >> 31:
        return _wrong(r, E_WARP, at)
    at = _dash(text, end)
    if at < 0 or not _LETTER_A <= text[at] <= _LETTER_Z:
        return _wrong(r, E_OPCODE, max(at, end))
    begin = at
    made, at = word_hash(text, at)
    opcode = np.int64(0)
    while opcode < len(r.opcode_hash) and r.opcode_hash[opcode] != made:
        opcode += 1
    if opcode == len(r.opcode_hash):
        r.state[AT] = begin
        return -2
    at = _dash(text, at)
    if at < 0:
        return _wrong(r, E_LINE, position)
    record = r.state[RECORDS]
    row = r.records[record]
    mask = np.int64(0)
    for lane in range(LANES):
        address, end = hexadecimal(text, at)
        if end == at or address > LARGEST_GLOBAL:
            return _wrong(r, E_ADDRESS, at)
        row.address[lane] = address
        if address:
            mask |= np.int64(1) << lane
        at = blank(text, end)
    if text[at] != NEWLINE:
        return _wrong(r, E_END, at)
    row.line = r.state[LINE]
    row.block = r.launches[launch, FIRST_BLOCK] + block
    row.warp = warp
    row.opcode = opcode
    row.mask = mask
    if mask:
        r.block_records[row.block] += 1
        r.state[RECORDS] = record + 1
    return at + 1


@compiled
def read_lines(r, text, position):
    """Read lines from a position of a text on that ends with a newline: (what a call says, where to go on)."""
    s = r.state
    while position < len(text):
        if s[RECORDS] == len(r.records):
            return FULL, position
        at = starts(text, blank(text, position), _MEMTRACE)
        if at < 0:  # a line of the program's, or of the tool's beginning
            position = line_end(text, position)
            s[LINE] += 1
            continue
        _, end = hexadecimal(text, at)
        if end == at:
            _wrong(r, E_LINE, position)
            return WRONG, position
        at = blank(text, end)
        if starts(text, at, _LAUNCH) >= 0:
            return LAUNCH, position
        at = _read_access(r, text, at)
        if at < 0:
            return (WRONG if at == -1 else NEW_OPCODE), position
        position = at
        s[LINE] += 1
    return MORE_TEXT, position


@compiled
def place_records(records, begins, places):
    """Where each record belongs among all, sorted by block; `begins`, of each block, moves behind what is placed."""
    for record in range(len(records)):
        block = records[record].block
        places[record] = begins[block]
        begins[block] += 1


@compiled
def depths(mask, new_warp, depth):
    """Of each record: how many of its warp lie between it and the last one that all lanes took part in that had any
    left. Records of one warp stand together, in order.
    """
    left = np.int64(0)
    for record in range(len(mask) - 1, -1, -1):
        left |= mask[record]
        depth[record] = left  # for now
        if new_warp[record]:
            left = np.int64(0)
    behind = np.int64(0)  # the depth of the record behind
    for record in range(len(mask)):
        together = depth[record] == mask[record]
        depth[record] = 0 if new_warp[record] else behind
        behind = np.int64(0) if together else depth[record] + 1

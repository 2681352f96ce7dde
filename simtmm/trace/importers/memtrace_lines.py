"""The lines of NVBit's mem_trace that report accesses, read by compiled code.

The tool prints among the words of the program, and each record is read exactly as the tool writes it: behind it nothing
may stand, in front of it words of the program may, but no parts of a record. A line without a record is the program's,
unless it has parts of one.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.machine.addresses import LARGEST_GLOBAL
from simtmm.native import Columns, inlined
from simtmm.trace.importers.warps import LANES, compiled
from simtmm.trace.importers.words import (
    HEXADECIMAL,
    LOWER_X,
    MINUS,
    NEWLINE,
    SPACE,
    TAB,
    ZERO,
    blank,
    decimal,
    hexadecimal,
    word_hash,
)

MORE_TEXT, FULL, LAUNCH, NEW_OPCODE, WRONG = range(5)  # what a call returns

State = Columns("line records error at launch_number launches at_zero next")

Launch = Columns(
    "identity",  # among the tool's
    "first_block",  # where its blocks begin among those of all launches
    "grid_x grid_y grid_z threads",
)

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
    "a whole record, 'MEMTRACE: CTX 0x... - grid_launch_id ...' or '... - LAUNCH - ...', where parts of one stand",
)
E_LINE, E_LAUNCH, E_BLOCK, E_WARP, E_OPCODE, E_ADDRESS, E_END, E_PARTS = (
    np.int64(number) for number in range(len(EXPECTED))
)
E_OF_LINE = (E_LINE, E_PARTS)  # these are of the rest of the line, the others of a word


def _phrase(text: str) -> Any:
    return np.frombuffer(text.encode(), dtype=np.uint8)


_MEMTRACE, _LAUNCH, _LAUNCH_ID = _phrase("MEMTRACE: CTX "), _phrase(" - LAUNCH - "), _phrase(" - grid_launch_id ")
_BLOCK, _WARP, _DASH = _phrase(" - CTA "), _phrase(" - warp "), _phrase(" - ")
_COMMA = 44
_LETTER_A, _LETTER_M, _LETTER_Z = 65, 77, 90

# What no line of a program has. Each record has several, so that damage in one place leaves one.
MARKS = (
    "- LAUNCH -", "- Kernel pc ", "- Kernel name ", "- grid launch id ", "- grid size ", "- cuda stream id ",
    "- grid_launch_id ", "- CTA ",
)  # fmt: skip
_MARKS = _phrase("".join(f"{mark}\n" for mark in MARKS))
MARK_ADDRESSES = 8  # so many numbers of more than 32 bits side by side are such a mark as well
_MARK_LETTERS = 5  # so many letters of "MEMTRACE" as well
_NAME = len("MEMTRACE: ")


class Reader(NamedTuple):
    """All that a call needs but the text."""

    state: Annotated[Any, State]
    launches: Annotated[Any, Launch]  # [room], of which the first state.launches are in use
    opcode_hash: Any  # int64, by the opcode's number
    records: Any  # RECORD


@inlined
def _wrong(r, error, position):
    r.state.error = error
    r.state.at = position
    return -1


@inlined
def _behind(text, position, phrase):
    """Where the line goes on behind a phrase, or -1 where it does not stand there; any blanks for a blank."""
    for index in range(len(phrase)):
        if text[position] != phrase[index] and not (phrase[index] == SPACE and text[position] == TAB):
            return -1
        position += 1
        if phrase[index] == SPACE:
            position = blank(text, position)
    return position


@inlined
def _address(text, position):
    """A number of at most 16 digits behind 0x; like `decimal`."""
    if text[position] != ZERO or text[position + 1] != LOWER_X:
        return np.int64(0), position
    number = np.int64(0)
    if position + 18 < len(text):
        wrong = np.int64(0)
        for place in range(position + 2, position + 18):
            digit = HEXADECIMAL[text[place]]
            number = number << 4 | digit
            wrong |= digit
        if wrong >= 0 and text[position + 18] <= SPACE:
            return number, position + 18
    number, end = hexadecimal(text, position)
    return number, (end if end - position <= 18 else position)


@inlined
def _is_mark(text, position):
    """Whether one of the MARKS stands at a position."""
    at = position
    same = True
    for index in range(len(_MARKS)):
        if _MARKS[index] == NEWLINE:
            if same:
                return True
            at = position
            same = True
        elif same:
            same = text[at] == _MARKS[index]
            at += 1
    return False


@inlined
def _alike(text, position):
    """How much of a record's beginning stands at a position."""
    at = position
    while at - position < len(_MEMTRACE) and text[at] == _MEMTRACE[at - position]:
        at += 1
    return at - position


def _find_record(r, text, position):
    """Where in a line that does not begin with a record one begins, or the line's end; -1 where it has parts of one."""
    begun = _alike(text, position)
    if begun and text[blank(text, position + begun)] == NEWLINE:
        return _wrong(r, E_PARTS, position)
    at = position
    addresses = 0  # that stand side by side
    behind = position  # where one more would stand
    while text[at] != NEWLINE:
        if text[at] == _LETTER_M:
            alike = _alike(text, at)
            if alike == len(_MEMTRACE):
                return at if at - position > begun else _wrong(r, E_PARTS, position)
            # With other words behind the colon it is what the tool says of itself.
            if alike >= _MARK_LETTERS and not (alike == _NAME and _LETTER_A <= text[at + alike] <= _LETTER_Z):
                return _wrong(r, E_PARTS, position)
        elif text[at] == MINUS:
            if _is_mark(text, at):
                return _wrong(r, E_PARTS, position)
        elif text[at] == ZERO and text[at + 1] == LOWER_X:
            end = at + 2
            while HEXADECIMAL[text[end]] >= 0:
                end += 1
            addresses = 0 if end - at <= 10 else addresses + 1 if at == behind else 1
            if addresses == MARK_ADDRESSES:
                return _wrong(r, E_PARTS, position)
            behind = end + np.int64(text[end] == SPACE)
            at = end - 1
        at += 1
    return at


def _read_access(r, text, position):  # noqa: C901, PLR0911, PLR0912, PLR0915 - a compiled loop: a field of the line after another
    """Read what stands behind the context: where the line ends; -1 for an error, -2 for a new opcode."""
    at = _behind(text, position, _LAUNCH_ID)
    if at < 0:
        return _wrong(r, E_LINE, position)
    identity, end = decimal(text, at)
    if end == at:
        return _wrong(r, E_LAUNCH, at)
    launch = r.state.launch_number
    if launch >= r.state.launches or r.launches[launch].identity != identity:
        launch = r.state.launches - 1  # of launches with one id, as two contexts have them, the latest
        while launch >= 0 and r.launches[launch].identity != identity:
            launch -= 1
        if launch < 0:
            return _wrong(r, E_LAUNCH, at)
        r.state.launch_number = launch
    at = _behind(text, end, _BLOCK)
    if at < 0:
        return _wrong(r, E_LINE, end)
    begin = at
    block = np.int64(0)
    stride = np.int64(1)
    for field in range(3):
        number, end = decimal(text, at)
        if end == at or number < 0 or number >= r.launches[launch, Launch.grid_x + field]:
            return _wrong(r, E_BLOCK, begin)
        if (field < 2) != (text[end] == _COMMA):
            return _wrong(r, E_BLOCK, begin)
        block += number * stride
        stride *= r.launches[launch, Launch.grid_x + field]
        at = end + 1
    at = _behind(text, end, _WARP)
    if at < 0:
        return _wrong(r, E_LINE, end)
    warp, end = decimal(text, at)
    if end == at or warp < 0 or warp >> 31:
        return _wrong(r, E_WARP, at)
    at = _behind(text, end, _DASH)
    if at < 0:
        return _wrong(r, E_LINE, end)
    if not _LETTER_A <= text[at] <= _LETTER_Z:
        return _wrong(r, E_OPCODE, at)
    begin = at
    word, end = word_hash(text, at)
    opcode = np.int64(0)
    while opcode < len(r.opcode_hash) and r.opcode_hash[opcode] != word:
        opcode += 1
    if opcode == len(r.opcode_hash):
        r.state.at = begin
        return -2
    at = _behind(text, end, _DASH)
    if at < 0:
        return _wrong(r, E_LINE, end)
    record = r.state.records
    row = r.records[record]
    mask = np.int64(0)
    width = 0  # of the first address
    other = at  # where one of another width begins, and where one that has zeros in front of others
    padded = at
    for lane in range(LANES):
        address, end = _address(text, at)
        if end == at or address < 0 or address > LARGEST_GLOBAL:
            return _wrong(r, E_ADDRESS, at)
        row.address[lane] = address
        if address:
            mask |= np.int64(1) << lane
        if lane == 0:
            width = end - at
            other, padded = -1, -1
        elif end - at != width:
            other = at
        if end - at > 3 and text[at + 2] == ZERO:
            padded = at
        at = blank(text, end)
    if text[at] != NEWLINE:
        return _wrong(r, E_END, at)
    # The tool pads all with zeros; another way of writing them may pad none. So a digit that is lost shows.
    if other >= 0 and padded >= 0:
        return _wrong(r, E_ADDRESS, other)
    row.line = r.state.line
    row.block = r.launches[launch].first_block + block
    row.warp = warp
    row.opcode = opcode
    row.mask = mask
    r.state.at_zero += np.int64(mask == 0)
    if mask:
        r.state.records = record + 1
    return at + 1


@compiled
def read_lines(r: Reader, text, position):
    """Read lines from a position of a text on that ends with a newline: what ended the call; the state has the position
    to go on at. For a LAUNCH that is where the record begins, which may be within the line.
    """
    s = r.state
    while position < len(text):
        s.next = position
        if s.records == len(r.records):
            return FULL
        record = position
        at = _behind(text, position, _MEMTRACE)
        if at < 0:
            record = _find_record(r, text, position)
            if record < 0:
                return WRONG
            if text[record] == NEWLINE:  # a line of the program's, or of the tool's beginning
                position = record + 1
                s.line += 1
                continue
            at = record + len(_MEMTRACE)
        _, end = _address(text, at)
        if end == at:
            _wrong(r, E_LINE, record)
            return WRONG
        if _behind(text, end, _LAUNCH) >= 0:
            s.next = record
            return LAUNCH
        at = _read_access(r, text, end)
        if at < 0:
            return WRONG if at == -1 else NEW_OPCODE
        position = at
        s.line += 1
    s.next = position
    return MORE_TEXT


@compiled
def note_together(mask, warp, left, together):
    """Note of each record, the last one first, whether all lanes of its warp take part that have any left.

    warp: int64, a number of the warp, of which the records are in order. left: int64 of each warp, the lanes that have
    records behind these; kept up to date, so that earlier records may follow.
    """
    for record in range(len(mask) - 1, -1, -1):
        left[warp[record]] |= mask[record]
        together[record] = np.int64(left[warp[record]] == mask[record])


@compiled
def depths(warp, together, behind, depth):
    """Of each record: how many of its warp lie between it and the last one that all lanes took part in that had any
    left. behind: int64 of each warp, the depth of its next record; kept up to date, so that later records may follow.
    """
    for record in range(len(warp)):
        own = behind[warp[record]]
        depth[record] = own
        behind[warp[record]] = 0 if together[record] else own + 1

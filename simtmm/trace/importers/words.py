"""Words of a line of text, read by compiled code; every text ends with a newline, at which each of these stops."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.native import inlined

TAB, NEWLINE, SPACE, MINUS, COMMA, ZERO, NINE = 9, 10, 32, 45, 44, 48, 57
_BLANK = np.zeros(256, np.uint8)
_BLANK[list(b" \t\r")] = 1
LOWER_X = 120
LETTER_A, LETTER_I, LETTER_R, LETTER_Z = 65, 105, 82, 90  # A, i, R, Z
HEXADECIMAL = np.full(256, -1, np.int64)  # what a byte means as a digit, -1 for none
for _digit, _bytes in enumerate(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "aA", "bB", "cC", "dD", "eE", "fF"]):
    HEXADECIMAL[list(_bytes.encode())] = _digit
MOST_DIGITS = 18
HASH_BEGIN, HASH_FACTOR = np.int64(0x4BF29CE484222325), np.int64(0x100000001B3)  # FNV-1a, the first without its sign


@inlined
def blank(text, position):
    """Where the next word, the end of the line or a byte that no text has is."""
    while text[position] <= SPACE and _BLANK[text[position]]:
        position += 1
    return position


@inlined
def decimal(text, position):
    """A whole number, perhaps negative: (number, where it ends), which is where it begins if there is none."""
    at = position
    negative = text[at] == MINUS
    if negative:
        at += 1
    begin = at
    number = np.int64(0)
    while ZERO <= text[at] <= NINE and at - begin < MOST_DIGITS:
        number = number * 10 + (np.int64(text[at]) - ZERO)
        at += 1
    if at == begin or not (text[at] <= SPACE or text[at] == COMMA):
        return np.int64(0), position
    return (-number if negative else number), at


@inlined
def hexadecimal(text, position):
    """A hexadecimal number below 2^62, with or without 0x; like `decimal`."""
    at = position
    if text[at] == ZERO and text[at + 1] == LOWER_X:
        at += 2
    begin = at
    number = np.int64(0)
    while number < 1 << 58:
        digit = HEXADECIMAL[text[at]]
        if digit < 0:
            break
        number = number << 4 | digit
        at += 1
    if at == begin or text[at] > SPACE:
        return np.int64(0), position
    return number, at


@inlined
def word_hash(text, position):
    """A hash of the word, and where it ends."""
    value = HASH_BEGIN
    while text[position] > SPACE:
        value = (value ^ np.int64(text[position])) * HASH_FACTOR
        position += 1
    return value, position


def hash_of(word: str) -> int:
    """What `word_hash` gives for a word."""
    value = int(HASH_BEGIN)
    for byte in word.encode("utf-8", "surrogateescape"):
        value = (value ^ byte) * int(HASH_FACTOR) & (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def starts(text, position, phrase):
    """Where the line goes on behind a phrase, or -1 where it does not start with it; any blanks for a blank."""
    for index in range(len(phrase)):
        if phrase[index] == SPACE:
            position = blank(text, position)
        elif text[position] != phrase[index]:
            return -1
        else:
            position += 1
    return blank(text, position)


@inlined
def line_end(text, position):
    """The position behind the newline."""
    while text[position] != NEWLINE:
        position += 1
    return position + 1

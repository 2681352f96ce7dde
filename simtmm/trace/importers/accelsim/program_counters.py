"""The program counters of an Accel-Sim kernel trace, collected in a hash table by compiled code."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.native import SPREAD, inlined
from simtmm.trace.importers.warps import compiled
from simtmm.trace.importers.words import LETTER_I, NEWLINE, SPACE, blank, hexadecimal, line_end

_OUTSIDE_LINES = np.frombuffer(b"#-tw", dtype=np.uint8)  # how lines begin that are no instructions, beside "insts"


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
    for place in range(len(others)):
        if others[place]:
            found[_pc_place(found, others[place])] = others[place]
            used += 1
    return used


@compiled
def find_pcs(text, words_before, found, used):
    """Collect the program counters of a text's instruction lines.

    words_before: words of a line that stand before it. found: int64[2^k], a hash table; a counter is stored as its
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
        instruction = first != NEWLINE and first != LETTER_I
        for other in range(len(_OUTSIDE_LINES)):
            instruction = instruction and first != _OUTSIDE_LINES[other]
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

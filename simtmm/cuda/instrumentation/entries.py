"""Loops over a buffer's entries (layout.py), in words of 64 bits."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.execution.layout import LANES, LOCAL_WINDOW, LOG_ENTRY, NEW_BLOCK, NEW_WARP, SHARED_WINDOW
from simtmm.cuda.instrumentation.layout import LOCAL, SHARED, SPACE_SHIFT, WARP_BITS
from simtmm.native import Loop, inlined
from simtmm.trace.schema import Kind

_WORK, _BARRIER = int(Kind.WORK), int(Kind.BARRIER)
_ENTRY = LOG_ENTRY // 8
_HALF = (1 << 32) - 1
_ADDRESS = (1 << SPACE_SHIFT) - 1
_WARPS = (1 << WARP_BITS) - 1


def find(words, sites, kind, starts, warps):
    """Where each entry begins, and its block and warp: how many there are, of which those with room are written.

    Gives -1 less the word where something else stands.
    """
    count = np.int64(0)
    at = np.int64(0)
    while at < len(words):
        site = words[at] & _HALF
        mask = (words[at] >> 32) & _HALF
        known = np.int64(-1)
        if site < len(sites):
            known = sites[site]
        if known < 0 or mask == 0 or at + 2 > len(words):
            return -1 - at
        if count < len(starts):
            starts[count] = at
            warps[count] = words[at + 1]
        count += 1
        size = np.int64(2)
        if kind[known] != _WORK and kind[known] != _BARRIER:
            for lane in range(LANES):
                size += (mask >> lane) & 1
        if at + size > len(words):
            return -1 - at
        at += size
    return count


def write(words, starts, warps, sites, kind, width, windowed, low, end, virtual, log):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Write entries, in order, as a log; gives 0, or 1 + 32 * an entry + its lane whose address lies in no array."""
    warp = np.int64(-1)
    to = np.int64(0)
    extent = np.int64(0)
    for number in range(len(starts)):
        at = starts[number]
        if warps[number] != warp:
            if warp < 0 or warps[number] >> WARP_BITS != warp >> WARP_BITS:
                log[to] = NEW_BLOCK & _HALF
                log[to + 1] = warps[number] >> WARP_BITS
                to += 2
            warp = warps[number]
            log[to] = (NEW_WARP & _HALF) | ((warp & _WARPS) << 32)
            to += 1
        site = sites[words[at] & _HALF]
        mask = (words[at] >> 32) & _HALF
        log[to] = site | (mask << 32)
        if kind[site] == _WORK or kind[site] == _BARRIER:
            to += 1
            continue
        given = at + 2
        for lane in range(LANES):
            log[to + 1 + lane] = 0
            if (mask >> lane) & 1 != 0:
                address = words[given]
                given += 1
                extent = extent_of(low, end, address, extent)
                space = address >> SPACE_SHIFT
                if extent < len(low) and low[extent] <= address and address + width[site] <= end[extent]:
                    place = virtual[extent] + (address - low[extent])
                elif space == LOCAL:
                    place = address & _ADDRESS  # of a function that is called: its stack is the device's own
                else:
                    return 1 + number * LANES + lane
                if windowed[site] != 0:
                    if space == SHARED:
                        place += SHARED_WINDOW
                    elif space == LOCAL:
                        place += LOCAL_WINDOW
                log[to + 1 + lane] = place
        to += _ENTRY
    return np.int64(0)


@inlined
def extent_of(low, end, address, guess):
    """The last extent that begins at an address or before it; `guess` if that holds it; the first if there is none."""
    if guess < len(low) and low[guess] <= address and address < end[guess]:
        return guess
    first = 0
    behind = len(low)
    while first < behind:
        middle = (first + behind) >> 1
        if low[middle] <= address:
            first = middle + 1
        else:
            behind = middle
    return max(0, first - 1)


FIND, WRITE = Loop(find), Loop(write)

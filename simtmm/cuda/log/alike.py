"""Blocks that log what another one does, at addresses that are further on: their events need not be made.

The blocks of most kernels do the same, each at its own part of the arrays. Where every address of a site is as far from
those of the other block, a number for each site says it all; the encoder takes it for the events (schema.Batch).
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import LANES, LOG_ENTRY, NEW_WARP, PEER_BIT, SHARED_WINDOW
from simtmm.cuda.log.loops import mask_of, site_of
from simtmm.native import Loop, inlined, vectorized
from simtmm.trace.schema import Kind

UNKNOWN = np.iinfo(np.int64).min  # in the place of a distance

_ENTRY = LOG_ENTRY // 8  # words of an access
_ALL_LANES = (1 << LANES) - 1
_WORK, _BARRIER = int(Kind.WORK), int(Kind.BARRIER)
_COPY, _MBARRIER, _PRODUCT = int(Kind.COPY), int(Kind.MBARRIER), int(Kind.PRODUCT)
_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_STORE), int(Kind.SHARED_ATOMIC)
_WINDOW_BIT = SHARED_WINDOW.bit_length() - 1  # from here on an address says more than where something lies


def find_distances(log, other, place, kind, slot, distances):
    """1 if a piece of a block's log is as another's goes on, but that all addresses of a site are equally far from
    those there, else 0.

    log, other: int64[words]. place: int64[2], where the other log goes on, and the warp of what follows there; set to
    what comes behind the piece. kind: uint8[sites]. slot: int64[sites], which of `distances` is a site's own.
    distances: int64, UNKNOWN of each site that was not met yet; set.
    """
    at = np.int64(0)
    warp = np.int64(-1)
    there = place[0]
    warp_there = place[1]
    while True:
        while at < len(log) and site_of(log[at]) < 0:
            at, warp = behind_mark(log, at, warp)
        while there < len(other) and site_of(other[there]) < 0:
            there, warp_there = behind_mark(other, there, warp_there)
        if at == len(log):
            place[0] = there
            place[1] = warp_there
            return np.int64(1)
        if there == len(other) or log[at] != other[there] or warp != warp_there:
            return np.int64(0)
        site = site_of(log[at])
        what = kind[site]
        is_access = what not in (_WORK, _BARRIER)
        distance = distance_of(log, at, other, there, what) if is_access else np.int64(0)
        if distance == UNKNOWN or distances[slot[site]] not in (UNKNOWN, distance):
            return np.int64(0)
        distances[slot[site]] = distance
        words = _ENTRY if is_access else 1
        at += words
        there += words


@inlined
def behind_mark(log, at, warp):
    """Where the log goes on behind a mark, and the warp of what follows there."""
    if site_of(log[at]) == NEW_WARP:
        return at + 1, mask_of(log[at])
    return at + 2, np.int64(-1)


@inlined
def distance_of(log, at, other, there, what):
    """How far all addresses of an access are from those of another; UNKNOWN where they are not equally far, or where
    they say more than that, and differ.
    """
    mask = mask_of(log[at])
    differs = np.int64(0)
    all_bits = np.int64(0)
    distance = np.int64(0)
    if mask == _ALL_LANES:
        distance = log[at + 1] - other[there + 1]
        for lane in vectorized(range(LANES)):
            differs |= (log[at + 1 + lane] - other[there + 1 + lane]) ^ distance
            all_bits |= log[at + 1 + lane] | other[there + 1 + lane]
    else:
        is_first = True
        for lane in range(LANES):
            if (mask >> lane) & 1 != 0:
                apart = log[at + 1 + lane] - other[there + 1 + lane]
                if is_first:
                    distance = apart
                is_first = False
                differs |= apart ^ distance
                all_bits |= log[at + 1 + lane] | other[there + 1 + lane]
    if distance != 0:
        is_shared = what in (_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC)
        if what in (_COPY, _MBARRIER, _PRODUCT) or all_bits >> (PEER_BIT if is_shared else _WINDOW_BIT) != 0:
            return np.int64(UNKNOWN)
    return np.int64(UNKNOWN) if differs != 0 else distance


Words = npt.NDArray[np.int64]
FIND_DISTANCES = Loop(find_distances)


def distances_of(
    pieces: Sequence[Words], other: Words, kind: npt.NDArray[np.uint8], slot: Words, slots: int
) -> Words | None:
    """How far a block's addresses are from another's, of each site; None where it does something else.

    pieces: of the block's log. other: the other block's. kind: uint8[sites]. slot: int64[sites], which of the numbers
    is a site's, of so many. The numbers are UNKNOWN for sites that are not met.
    """
    place, distances = np.array([0, -1], np.int64), np.full(slots, UNKNOWN)
    for piece in pieces:
        if not FIND_DISTANCES(piece, other, place, kind, slot, distances):
            return None
    return distances if place[0] == len(other) else None

"""What the warps of some blocks do, step by step: a compiled loop over events. executions.py says what it counts."""

# simtmm/native compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,assignment"

from typing import Any, NamedTuple

import numpy as np

from simtmm.native import Loop, inlined
from simtmm.trace.schema import Kind
from simtmm.trace.warps.layout import NO_SITE
from simtmm.validation.counters.lanes import Lanes, find_threads, go_on, next_step, place, site_of, takes_part

WARP = 32
BANKS, WORD, SECTOR = 32, 4, 32  # banks of shared memory, bytes of a word of one, bytes of a sector
MOST_WORDS = WARP * 256 // WORD  # that the lanes of a warp access at once

_WORK, _LOAD, _ASYNC, _ATOMIC = int(Kind.WORK), int(Kind.LOAD), int(Kind.ASYNC), int(Kind.ATOMIC)
_SHARED_LOAD, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE)


class Counted(NamedTuple):
    """What is filled: int64[blocks, sites] each, and the sectors of global loads, one by one."""

    warps: Any
    threads: Any
    onwards: Any
    wavefronts: Any
    sectors: Any
    load_blocks: Any  # int64[loads' sectors]: the place of the block
    load_sectors: Any  # int64, likewise: the number of the sector


def lanes_of(events: Any) -> Lanes:
    """A warp's lanes, none of which is anywhere yet."""
    return Lanes(events, np.empty(WARP, np.int64), np.empty(WARP, np.int64), np.empty(WARP, np.int64))


@Loop
def count_steps(lanes, ends, threads, followers, counted, starts, words):
    """Count blocks; how many sectors of loads there are. followers: int64[sites], the site behind each, or -1.

    For the time of the call, starts: int64[threads + 1], where the events of each thread of a block begin; words:
    int64[MOST_WORDS], those that a warp accesses.
    """
    loads, begin = 0, 0
    for block in range(len(ends)):
        find_threads(lanes.events, begin, ends[block], threads, starts)
        begin = ends[block]
        for first in range(0, threads, WARP):
            here = min(WARP, threads - first)
            place(lanes, starts, first, here)
            at, what, leader = next_step(lanes, here)
            while at != NO_SITE:
                site = site_of(lanes, leader)
                if what in (_SHARED_LOAD, _SHARED_LOAD + 1, _SHARED_ATOMIC):
                    counted.wavefronts[block, site] += _wavefronts(lanes, at, what, leader, here, words)
                elif what in (_LOCAL_LOAD, _LOCAL_STORE):
                    counted.sectors[block, site] += _local_sectors(lanes, at, what, leader, here, words)
                elif _LOAD <= what <= _ATOMIC:
                    found = _sectors(lanes, at, what, leader, here, words)
                    counted.sectors[block, site] += found
                    if what in (_LOAD, _ASYNC):
                        for number in range(found):
                            counted.load_blocks[loads] = block
                            counted.load_sectors[loads] = words[number]
                            loads += 1
                _go_on(lanes, at, what, leader, here, followers, counted, block)
                at, what, leader = next_step(lanes, here)
    return loads


@inlined
def _go_on(lanes, at, what, leader, width, followers, counted, block):
    """Count the lanes that take part, which go on; lanes that wait at several barriers are a step at each."""
    last_site, most = -1, 0
    for lane in range(leader, width):
        if takes_part(lanes, at, what, lane):
            event = lanes.events[lanes.position[lane]]
            site = event.site
            times = np.int64(event.value) if what == _WORK else 1
            if site != last_site:
                if last_site >= 0:
                    counted.warps[block, last_site] += most
                last_site, most = site, 0
            most = max(most, times)
            counted.threads[block, site] += times
            go_on(lanes, lane)
            behind = lanes.position[lane]
            if behind < lanes.stop[lane] and lanes.events[behind].site == followers[site]:
                counted.onwards[block, site] += 1
    counted.warps[block, last_site] += most


@inlined
def _wavefronts(lanes, at, what, leader, width, words):
    """Times that the banks are accessed: as often as the bank with most different words has to give one.

    Accesses of 8 bytes are served for half a warp at a time, of 16 bytes for a quarter.
    """
    total, count, group = 0, 0, -1
    for lane in range(leader, width):
        if takes_part(lanes, at, what, lane):
            event = lanes.events[lanes.position[lane]]
            size = max(event.bytes, 1)
            together = max(1, WARP * WORD // max(size, WORD))
            if lane // together != group:
                total += _most_of_a_bank(words, count)
                group, count = lane // together, 0
            value = np.int64(event.value)
            for word in range(value // WORD, (value + size - 1) // WORD + 1):
                count = _with(words, count, word)
    return total + _most_of_a_bank(words, count)


@inlined
def _most_of_a_bank(words, count):
    most = 0
    for bank in range(BANKS):
        own = 0
        for number in range(count):
            if words[number] % BANKS == bank:
                own += 1
        most = max(most, own)
    return most


@inlined
def _sectors(lanes, at, what, leader, width, found):
    """The sectors of global memory that lanes access, each once; how many there are."""
    count = 0
    for lane in range(leader, width):
        if takes_part(lanes, at, what, lane):
            event = lanes.events[lanes.position[lane]]
            value = np.int64(event.value)
            for sector in range(value // SECTOR, (value + max(event.bytes, 1) - 1) // SECTOR + 1):
                count = _with(found, count, sector)
    return count


@inlined
def _local_sectors(lanes, at, what, leader, width, found):
    """Likewise of local memory, where the same word of a warp's threads lies together, lane by lane."""
    count = 0
    for lane in range(leader, width):
        if takes_part(lanes, at, what, lane):
            event = lanes.events[lanes.position[lane]]
            value = np.int64(event.value)
            for word in range(value // WORD, (value + max(event.bytes, 1) - 1) // WORD + 1):
                count = _with(found, count, (word * WARP + lane) * WORD // SECTOR)
    return count


@inlined
def _with(found, count, number):
    """Add a number if it is not among those that are there; how many there are then."""
    known = count - 1
    while known >= 0 and found[known] != number:
        known -= 1
    if known < 0:
        found[count] = number
        return count + 1
    return count

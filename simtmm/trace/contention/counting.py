"""The loop that counts who meets at a word, compiled (finding.py says what a step is)."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np
import numpy.typing as npt

from simtmm.native import SPREAD, Loop, inlined
from simtmm.trace.schema import Events, Kind

PLACE, VISIT, WORD, COUNT = range(4)  # columns of the table of words
WORD_COLUMNS = 4
STEP_PLACE, STEP_VISIT, STEP_MOST = range(3)  # and of that of steps
STEP_COLUMNS = 3
# Of a site: accesses, the most at a word in a step, and where that was; steps, and the sum of their queues
ACCESSES, MOST, AT_WORD, AT_BLOCK, AT_LAUNCH, MET, STEPS, QUEUE = range(8)
SITE_COLUMNS = 8
VISIT_BITS = 31  # of a visit's number; the block stands above it where memory is the block's own
USED_WORDS, USED_STEPS = range(2)
OTHER_SPREAD = 0xBF58476D1CE4E5B  # of a second key
MIX = 29

_BARRIER, _SHARED_LOAD, _SHARED_ATOMIC = int(Kind.BARRIER), int(Kind.SHARED_LOAD), int(Kind.SHARED_ATOMIC)


@Loop
def count_blocks(  # noqa: C901, PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    events: Events,
    rank: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    blocks: npt.NDArray[np.int32],
    launch: int,
    unit: int,
    words: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    used: npt.NDArray[np.int64],
    seen: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
    number: int,
) -> int:
    """Count the accesses of blocks of a launch, from block `number` on; gives the first for which a table has no room.

    rank: of each event's site among those that access memory, -1 for what is no access. unit: bytes of a word.
    words: int64[places, WORD_COLUMNS], steps: int64[places, STEP_COLUMNS], tables whose free places have the count 0.
    used: places taken in both. seen: int64[sites, 2], of each site the thread and stretch that visited it last, and how
    often. found: int64[sites, SITE_COLUMNS].
    """
    sites = seen.shape[0]
    while number < len(starts):
        most = 0
        for place in range(starts[number], ends[number]):
            if rank[place] >= 0:
                most += max(1, events[place].bytes // unit)
        if used[USED_WORDS] + most > words.shape[0] // 2 or used[USED_STEPS] + most > steps.shape[0] // 2:
            return number
        for site in range(sites):
            seen[site, 0] = -1
        block = blocks[number]
        stretch, thread, turn = 0, -1, 0
        for place in range(starts[number], ends[number]):
            event = events[place]
            if event.thread != thread:
                thread, stretch = event.thread, 0
                turn += 1
            if event.kind == _BARRIER:
                stretch += 1
                turn += 1
            site = rank[place]
            if site < 0:
                continue
            if seen[site, 0] != turn:
                seen[site, 0] = turn
                seen[site, 1] = 0
            visit = seen[site, 1]
            seen[site, 1] += 1
            found[site, ACCESSES] += 1
            of_block = _SHARED_LOAD <= event.kind <= _SHARED_ATOMIC
            first = np.int64(event.value)
            at = stretch * sites + site
            who = visit | block << VISIT_BITS if of_block else visit
            for word in range(max(1, event.bytes // unit)):
                key = first // unit + word
                count = _met(words, used, at, who, key)
                if count == 2:
                    found[site, MET] += 2
                elif count > 2:
                    found[site, MET] += 1
                if count > found[site, MOST]:
                    found[site, MOST] = count
                    found[site, AT_WORD] = first + word * unit
                    found[site, AT_BLOCK] = block
                    found[site, AT_LAUNCH] = launch
                _queue(steps, used, at, visit, count, found, site)
        number += 1
    return number


@inlined
def _met(words, used, at, who, key):
    """Count a thread at a word in a step; gives how many have been there by now."""
    spread = (at * SPREAD ^ who * OTHER_SPREAD) + key * SPREAD
    place = (spread ^ spread >> MIX) & (words.shape[0] - 1)
    while words[place, COUNT] != 0 and (
        words[place, WORD] != key or words[place, PLACE] != at or words[place, VISIT] != who
    ):
        place = (place + 1) & (words.shape[0] - 1)
    if words[place, COUNT] == 0:
        words[place, PLACE] = at
        words[place, VISIT] = who
        words[place, WORD] = key
        used[USED_WORDS] += 1
    words[place, COUNT] += 1
    return words[place, COUNT]


@inlined
def _queue(steps, used, at, visit, count, found, site):
    """Note how many have met at a word of a step; the longest queue of each step counts."""
    spread = at * SPREAD ^ visit * OTHER_SPREAD
    place = (spread ^ spread >> MIX) & (steps.shape[0] - 1)
    while steps[place, STEP_MOST] != 0 and (steps[place, STEP_PLACE] != at or steps[place, STEP_VISIT] != visit):
        place = (place + 1) & (steps.shape[0] - 1)
    if steps[place, STEP_MOST] == 0:
        steps[place, STEP_PLACE] = at
        steps[place, STEP_VISIT] = visit
        used[USED_STEPS] += 1
        found[site, STEPS] += 1
    if count > steps[place, STEP_MOST]:
        found[site, QUEUE] += count - steps[place, STEP_MOST]
        steps[place, STEP_MOST] = count


@Loop
def grown(
    words: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    more_words: npt.NDArray[np.int64],
    more_steps: npt.NDArray[np.int64],
) -> None:
    """Put what stands in tables into larger ones, which are zeros."""
    for place in range(words.shape[0]):
        if words[place, COUNT] != 0:
            at, who, key = words[place, PLACE], words[place, VISIT], words[place, WORD]
            spread = (at * SPREAD ^ who * OTHER_SPREAD) + key * SPREAD
            to = (spread ^ spread >> MIX) & (more_words.shape[0] - 1)
            while more_words[to, COUNT] != 0:
                to = (to + 1) & (more_words.shape[0] - 1)
            for column in range(WORD_COLUMNS):
                more_words[to, column] = words[place, column]
    for place in range(steps.shape[0]):
        if steps[place, STEP_MOST] != 0:
            spread = steps[place, STEP_PLACE] * SPREAD ^ steps[place, STEP_VISIT] * OTHER_SPREAD
            to = (spread ^ spread >> MIX) & (more_steps.shape[0] - 1)
            while more_steps[to, STEP_MOST] != 0:
                to = (to + 1) & (more_steps.shape[0] - 1)
            for column in range(STEP_COLUMNS):
                more_steps[to, column] = steps[place, column]

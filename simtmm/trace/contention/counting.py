"""The loop that counts who meets at a word, compiled (finding.py says what a step is)."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from simtmm.native import SPREAD, Columns, Loop, inlined
from simtmm.trace.schema import Events, Kind

Word = Columns("place visit word count")
Step = Columns("place visit most")
# Of a site: accesses, the most at a word in a step, and where that was; steps, and the sum of their queues
Site = Columns("accesses most at_word at_block at_launch met steps queue")
VISIT_BITS = 31  # of a visit's number; the block stands above it where memory is the block's own
Used = Columns("words steps")  # places that are taken
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
    words: Annotated[Any, Word],
    steps: Annotated[Any, Step],
    used: Annotated[Any, Used],
    seen: npt.NDArray[np.int64],
    found: Annotated[Any, Site],
    number: int,
) -> int:
    """Count the accesses of blocks of a launch, from block `number` on; gives the first for which a table has no room.

    rank: of each event's site among those that access memory, -1 for what is no access. unit: bytes of a word.
    words: [places], steps: [places], tables whose free places have the count 0.
    used: places taken in both. seen: int64[sites, 2], of each site the thread and stretch that visited it last, and how
    often. found: [sites].
    """
    sites = seen.shape[0]
    while number < len(starts):
        most = 0
        for place in range(starts[number], ends[number]):
            if rank[place] >= 0:
                most += max(1, events[place].bytes // unit)
        if used.words + most > words.shape[0] // 2 or used.steps + most > steps.shape[0] // 2:
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
            found[site].accesses += 1
            of_block = _SHARED_LOAD <= event.kind <= _SHARED_ATOMIC
            first = np.int64(event.value)
            at = stretch * sites + site
            who = visit | block << VISIT_BITS if of_block else visit
            for word in range(max(1, event.bytes // unit)):
                key = first // unit + word
                count = _met(words, used, at, who, key)
                if count == 2:
                    found[site].met += 2
                elif count > 2:
                    found[site].met += 1
                if count > found[site].most:
                    found[site].most = count
                    found[site].at_word = first + word * unit
                    found[site].at_block = block
                    found[site].at_launch = launch
                _queue(steps, used, at, visit, count, found, site)
        number += 1
    return number


@inlined
def _met(words, used, at, who, key):
    """Count a thread at a word in a step; gives how many have been there by now."""
    spread = (at * SPREAD ^ who * OTHER_SPREAD) + key * SPREAD
    place = (spread ^ spread >> MIX) & (words.shape[0] - 1)
    while words[place].count != 0 and (
        words[place].word != key or words[place].place != at or words[place].visit != who
    ):
        place = (place + 1) & (words.shape[0] - 1)
    if words[place].count == 0:
        words[place].place = at
        words[place].visit = who
        words[place].word = key
        used.words += 1
    words[place].count += 1
    return words[place].count


@inlined
def _queue(steps, used, at, visit, count, found, site):
    """Note how many have met at a word of a step; the longest queue of each step counts."""
    spread = at * SPREAD ^ visit * OTHER_SPREAD
    place = (spread ^ spread >> MIX) & (steps.shape[0] - 1)
    while steps[place].most != 0 and (steps[place].place != at or steps[place].visit != visit):
        place = (place + 1) & (steps.shape[0] - 1)
    if steps[place].most == 0:
        steps[place].place = at
        steps[place].visit = visit
        used.steps += 1
        found[site].steps += 1
    if count > steps[place].most:
        found[site].queue += count - steps[place].most
        steps[place].most = count


@Loop
def grown(
    words: Annotated[Any, Word],
    steps: Annotated[Any, Step],
    more_words: Annotated[Any, Word],
    more_steps: Annotated[Any, Step],
) -> None:
    """Put what stands in tables into larger ones, which are zeros."""
    for place in range(words.shape[0]):
        if words[place].count != 0:
            at, who, key = words[place].place, words[place].visit, words[place].word
            spread = (at * SPREAD ^ who * OTHER_SPREAD) + key * SPREAD
            to = (spread ^ spread >> MIX) & (more_words.shape[0] - 1)
            while more_words[to].count != 0:
                to = (to + 1) & (more_words.shape[0] - 1)
            for column in range(len(Word)):
                more_words[to, column] = words[place, column]
    for place in range(steps.shape[0]):
        if steps[place].most != 0:
            spread = steps[place].place * SPREAD ^ steps[place].visit * OTHER_SPREAD
            to = (spread ^ spread >> MIX) & (more_steps.shape[0] - 1)
            while more_steps[to].most != 0:
                to = (to + 1) & (more_steps.shape[0] - 1)
            for column in range(len(Step)):
                more_steps[to, column] = steps[place, column]

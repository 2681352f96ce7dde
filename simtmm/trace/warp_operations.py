"""What the events of a warp's lanes at one site make of an operation: the chunks that it lists, or its amount.

Each function goes through the lanes that take part in a step, and each of those goes on to its next event.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from simtmm.compiled import inlined
from simtmm.trace.lanes import go_on, takes_part
from simtmm.trace.schema import BEYOND, Kind

REFUSED = -1  # in the place of a count: a value is BEYOND, or negative
NOBODY = np.int64(-1)

_SHARED_ATOMIC = int(Kind.SHARED_ATOMIC)


class Banks(NamedTuple):
    """The words that a shared access touches, a chain for each bank."""

    chain: Any  # int64[banks]: the word added last, or NOBODY
    word: Any  # int64[words]
    following: Any  # int64[words]: the word added to the same bank before, or NOBODY


@inlined
def _is_refused(value):
    """Whether an address or a count is none."""
    return value < 0 or value >= BEYOND


@inlined
def list_events(lanes, step, chunks, count):
    """List the events of the lanes that take part; how many entries there are then, or REFUSED."""
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            if _is_refused(np.int64(lanes.events[lanes.position[lane]].value)):
                return np.int64(REFUSED)
            chunks[count] = lanes.position[lane]
            count += 1
            go_on(lanes, lane)
    return np.int64(count)


@inlined
def list_updates(lanes, step, chunks, count, chunk_bytes):
    """Likewise the chunk of each lane: updates of one word are not served together."""
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            value = np.int64(lanes.events[lanes.position[lane]].value)
            if _is_refused(value):
                return np.int64(REFUSED)
            chunks[count] = value // chunk_bytes
            count += 1
            go_on(lanes, lane)
    return np.int64(count)


@inlined
def list_chunks(lanes, step, chunks, count, chunk_bytes):
    """Likewise each chunk that a lane touches, once."""
    start = count
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            event = lanes.events[lanes.position[lane]]
            value = np.int64(event.value)
            if _is_refused(value):
                return np.int64(REFUSED)
            last = (value + np.int64(max(event.bytes, 1)) - 1) // chunk_bytes
            for chunk in range(value // chunk_bytes, last + 1):
                known = count - 1
                while known >= start and chunks[known] != chunk:
                    known -= 1
                if known < start:
                    chunks[count] = chunk
                    count += 1
            go_on(lanes, lane)
    return np.int64(count)


@inlined
def most_work(lanes, step):
    """The operations of the lane with most, or REFUSED."""
    most = np.int64(0)
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            value = np.int64(lanes.events[lanes.position[lane]].value)
            if _is_refused(value):
                return np.int64(REFUSED)
            most = max(most, value)
            go_on(lanes, lane)
    return most


@inlined
def least_left_out(lanes, step):
    """The asyncs that a join leaves out, of the lane that leaves out fewest, or REFUSED."""
    least = np.int64(BEYOND)
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            value = np.int64(lanes.events[lanes.position[lane]].value)
            if _is_refused(value):
                return np.int64(REFUSED)
            least = min(least, value)
            go_on(lanes, lane)
    return least


@inlined
def count_words(lanes, step, word):
    """How many different words of 4 bytes the lanes read, or REFUSED. word: room for all of them."""
    words = np.int64(0)
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            event = lanes.events[lanes.position[lane]]
            value = np.int64(event.value)
            if _is_refused(value):
                return np.int64(REFUSED)
            for number in range(value // 4, (value + np.int64(max(event.bytes, 1)) - 1) // 4 + 1):
                known = words - 1
                while known >= 0 and word[known] != number:
                    known -= 1
                if known < 0:
                    word[words] = number
                    words += 1
            go_on(lanes, lane)
    return words


@inlined
def pass_barrier(lanes, step):
    """All lanes that wait go on."""
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            go_on(lanes, lane)


@inlined
def conflict_degree(lanes, step, bank, bank_bytes, lanes_together):
    """How often the banks are gone to for a pass, on average over passes and rounded up, or REFUSED.

    lanes_together: lanes that are served in a pass.
    """
    total = 0
    degree = 0
    words = 0
    together = NOBODY
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            event = lanes.events[lanes.position[lane]]
            value = np.int64(event.value)
            if _is_refused(value):
                return np.int64(REFUSED)
            if lane // lanes_together != together:  # these lanes are served in a pass of their own
                together = lane // lanes_together
                total += degree
                degree = 0
                words = 0
                for number in range(len(bank.chain)):
                    bank.chain[number] = NOBODY
            array = value >> 32 << 32
            offset = value - array
            last = (offset + np.int64(max(event.bytes, 1)) - 1) // bank_bytes
            for word in range(offset // bank_bytes, last + 1):
                depth = _depth(bank, array + word, word % len(bank.chain), words, step.kind == _SHARED_ATOMIC)
                if depth > 0:
                    words += 1
                    degree = max(degree, depth)
            go_on(lanes, lane)
    passes = (step.width + lanes_together - 1) // lanes_together
    return np.int64(max(1, (total + degree + passes - 1) // passes))


@inlined
def _depth(bank, word, number, words, updates):
    """Add a word to the chain of its bank: how many it has then, 0 where the word is served with the same one before.

    updates: whether it is updated: lanes that read one word are served at once, updates of it are not.
    """
    depth = 1
    link = bank.chain[number]
    while link >= 0 and (updates or bank.word[link] != word):
        link = bank.following[link]
        depth += 1
    if link >= 0:
        return 0
    bank.word[words] = word
    bank.following[words] = bank.chain[number]
    bank.chain[number] = words
    return depth

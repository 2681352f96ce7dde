"""How often an access that passes a pipe goes to the banks: once for all lanes that are served together, or more often
where words of theirs are in one bank (section 9).
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined, trailing_zeros
from simtmm.trace.schema import Kind
from simtmm.workload import MOST_PASSES, PASSES_SHIFT

NOBODY = -1
ARRAY_SHIFT = 32  # of an address of shared memory: below are the bytes within an array
WORD = 4

_STORE = int(Kind.STORE)
_SHARED, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_ATOMIC)


@inlined
def bank_passes(walk, lanes, kind):
    """Passes over the banks for what the lanes of a step access, in the order of lanes; above bit PASSES_SHIFT how many
    there are without conflicts, less one.
    """
    passes = np.int64(0)
    least = np.int64(0)
    index = np.int64(0)
    while index < lanes:
        end = end_of_words(walk, lanes, index) if kind < _SHARED else index
        runs = runs_of(walk, index, end)
        if runs > 0:
            passes += runs
            least += runs
        elif end > index:  # one of 16 lanes in each of four passes: 0, 4, 8 and 12 in the first
            apart = walk.rules.pipe_run // lanes_together(walk, index, kind)
            for first in range(apart):
                depth = depth_of_group(walk, index, end, apart, first, kind)
                passes += depth
                least += min(depth, np.int64(1))
        else:
            end = end_of_lanes(walk, lanes, index, lanes_together(walk, index, kind))
            passes += depth_of_group(walk, index, end, np.int64(1), np.int64(0), kind)
            least += 1
        index = end
    least = max(np.int64(1), least)
    return min(max(least, passes), np.int64(MOST_PASSES)) + ((least - 1) << PASSES_SHIFT)


@inlined
def lanes_together(walk, index, kind):
    """Lanes with consecutive numbers that are served together: the fewer the wider what they access."""
    together = walk.rules.pipe_lanes if kind < _SHARED else walk.rules.together
    return max(np.int64(1), min(together, walk.rules.phase_bytes // max(walk.bytes[index], np.int64(1))))


@inlined
def end_of_lanes(walk, lanes, index, together):
    """Where lanes end whose numbers lie in one aligned group of so many, from one on."""
    stop = (walk.lane[index] // together + 1) * together
    end = index + 1
    while end < lanes and walk.lane[end] < stop:
        end += 1
    return end


@inlined
def end_of_words(walk, lanes, index):
    """Where lanes end that are looked at together for runs of words, from one on; `index` where none are."""
    most = walk.rules.pipe_run
    if most <= walk.rules.pipe_lanes or walk.bytes[index] != WORD:
        return index
    end = end_of_lanes(walk, lanes, index, most)
    for other in range(index, end):
        if walk.bytes[other] != WORD:
            return index
    return end


@inlined
def runs_of(walk, begin, end):
    """Runs of lanes that access neighbouring words in order, or one word; 0 where one has fewer than `pipe.lanes`."""
    runs = np.int64(0)
    index = begin
    while index < end:
        start = index
        step = np.int64(0)
        index += 1
        while index < end and walk.lane[index] == walk.lane[index - 1] + 1:
            by = walk.value[index] - walk.value[index - 1]
            if by not in (0, WORD) or (index > start + 1 and by != step):
                break
            step = by
            index += 1
        if index - start < walk.rules.pipe_lanes:
            return np.int64(0)
        runs += 1
    return runs


@inlined
def depth_of_group(walk, begin, end, apart, first, kind):
    """Passes that lanes of a group take: as many as the busiest bank has words, or of a global access the busiest bank
    of tags rows. Of lanes from `begin` on, those whose number is `first` modulo `apart`; 0 where there are none.
    """
    row = walk.rules.pipe_banks * WORD
    depth = np.int64(1) if apart == 1 else np.int64(0)
    if kind < _SHARED and walk.rules.tag_banks > 0:
        depth = deepest(walk, begin, end, apart, first, kind, row, walk.rules.tag_banks)
    elif apart > 1:
        for index in range(begin, end):
            if walk.lane[index] % apart == first:
                depth = np.int64(1)
    if kind == _STORE or depth == 0:  # which reads no bank
        return depth
    banks = walk.rules.banks
    width = walk.rules.bank_bytes
    if kind < _SHARED and row > 0:
        width = max(walk.bytes[begin], np.int64(1))
        banks = max(np.int64(1), row // width)
    return max(depth, deepest(walk, begin, end, apart, first, kind, width, banks))


@inlined
def depth_of_banks(walk, begin, end, kind):
    """The most words of one bank of shared memory that lanes access; those of an atomic count as often as they are
    updated.
    """
    one, none = np.int64(1), np.int64(0)
    return deepest(walk, begin, end, one, none, kind, walk.rules.bank_bytes, walk.rules.banks)


@inlined
def deepest(walk, begin, end, apart, first, kind, width, banks):
    """The most words, each of `width` bytes, that lie in one of so many banks; 0 of no lanes."""
    shift = trailing_zeros(np.uint64(width))
    shifts = width == 1 << shift and banks & (banks - 1) == 0  # which is quicker than dividing
    for number in range(banks):
        walk.chain[number] = NOBODY
    words = np.int64(0)
    most = np.int64(0)
    for index in range(begin, end):
        if apart > 1 and walk.lane[index] % apart != first:
            continue
        value = walk.value[index]
        array = (value >> ARRAY_SHIFT) << ARRAY_SHIFT
        offset = value - array
        end_of_access = offset + max(walk.bytes[index], np.int64(1)) - 1
        word = offset >> shift if shifts else offset // width
        last = end_of_access >> shift if shifts else end_of_access // width
        while word <= last:
            number = word & (banks - 1) if shifts else word % banks
            if kind == _SHARED_ATOMIC:  # of which none is served with another one
                walk.chain[number] += 1
                most = max(most, walk.chain[number] - NOBODY)
            else:
                depth = add_word(walk, array + word, number, words)
                if depth > 0:
                    words += 1
                    most = max(most, depth)
            word += 1
    return most


@inlined
def add_word(walk, word, number, words):
    """Add a word to the chain of its bank: how many it has then, 0 where it is served with the same word before."""
    depth = np.int64(1)
    link = walk.chain[number]
    while link >= 0 and walk.word[link] != word:
        link = walk.following[link]
        depth += 1
    if link >= 0:
        return np.int64(0)
    walk.word[words] = word
    walk.following[words] = walk.chain[number]
    walk.chain[number] = words
    return depth

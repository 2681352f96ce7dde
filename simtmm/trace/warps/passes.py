"""How often an access that passes a pipe goes to the banks: once for all lanes that are served together, or more often
where words of theirs are in one bank (section 9).
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined, trailing_zeros
from simtmm.trace.schema import Kind
from simtmm.trace.warps.layout import (
    RULE_BANK_BYTES,
    RULE_BANKS,
    RULE_PHASE_BYTES,
    RULE_PIPE_BANKS,
    RULE_PIPE_LANES,
    RULE_PIPE_RUN,
    RULE_TOGETHER,
)
from simtmm.workload import LISTED, MOST_PASSES, PASSES_SHIFT

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
        end = end_of_run(walk, lanes, index) if kind < _SHARED else index
        if end > index:
            passes += 1
        else:
            end = end_of_group(walk, lanes, index, kind)
            passes += depth_of_banks(walk, index, end, kind)
        least += 1
        index = end
    least = max(np.int64(1), least)
    return min(max(least, passes), np.int64(MOST_PASSES)) + ((least - 1) << PASSES_SHIFT)


@inlined
def taken_by(kind, passes):
    """The passes that a global access takes: of a store those without conflicts, since it reads no bank."""
    return (passes >> PASSES_SHIFT) + 1 if kind == _STORE else passes & LISTED


@inlined
def end_of_group(walk, lanes, index, kind):
    """Where lanes end that are served together from one on: those of its group of lanes, the fewer the wider it is."""
    together = walk.rules[RULE_PIPE_LANES] if kind < _SHARED else walk.rules[RULE_TOGETHER]
    together = max(np.int64(1), min(together, walk.rules[RULE_PHASE_BYTES] // max(walk.bytes[index], np.int64(1))))
    return end_of_lanes(walk, lanes, index, together)


@inlined
def end_of_lanes(walk, lanes, index, together):
    """Where lanes end whose numbers lie in one aligned group of so many, from one on."""
    stop = (walk.lane[index] // together + 1) * together
    end = index + 1
    while end < lanes and walk.lane[end] < stop:
        end += 1
    return end


@inlined
def end_of_run(walk, lanes, index):
    """Where lanes end that access neighbouring words in order, or one word, from one on; `index` if those are no more
    than are served together anyhow.
    """
    most = walk.rules[RULE_PIPE_RUN]
    if most <= walk.rules[RULE_PIPE_LANES] or walk.bytes[index] != WORD:
        return index
    stop = (walk.lane[index] // most + 1) * most
    end = index + 1
    step = np.int64(0)
    while end < lanes and walk.lane[end] == walk.lane[end - 1] + 1 and walk.lane[end] < stop:
        by = walk.value[end] - walk.value[end - 1]
        if walk.bytes[end] != WORD or by not in (0, WORD) or (end > index + 1 and by != step):
            break
        step = by
        end += 1
    return end if end - index > walk.rules[RULE_PIPE_LANES] else index


@inlined
def depth_of_banks(walk, begin, end, kind):
    """The most words of one bank that lanes access; those of an atomic count as often as they are updated."""
    banks = walk.rules[RULE_BANKS]
    width = walk.rules[RULE_BANK_BYTES]
    if kind < _SHARED and walk.rules[RULE_PIPE_BANKS] > 0:
        width = max(walk.bytes[begin], np.int64(1))
        banks = walk.rules[RULE_PIPE_BANKS] * max(np.int64(1), width // WORD)
    shift = trailing_zeros(np.uint64(width))
    shifts = width == 1 << shift and banks & (banks - 1) == 0  # which is quicker than dividing
    for number in range(banks):
        walk.chain[number] = NOBODY
    words = np.int64(0)
    deepest = np.int64(1)
    for index in range(begin, end):
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
                deepest = max(deepest, walk.chain[number] - NOBODY)
            else:
                depth = add_word(walk, array + word, number, words)
                if depth > 0:
                    words += 1
                    deepest = max(deepest, depth)
            word += 1
    return deepest


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

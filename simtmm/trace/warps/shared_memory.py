"""How often the banks of shared memory are gone to for what the lanes of a step access."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.warps.layout import RULE_BANK_BYTES, RULE_BANKS, RULE_TOGETHER, WARP_LANES

NOBODY = -1


@inlined
def conflict_degree(walk, w, lanes, updates):
    """How often the banks are gone to for a pass, on average over passes and rounded up.

    updates: whether the words are updated: lanes that read one word are served at once, updates of it are not.
    """
    bank_bytes = walk.rules[RULE_BANK_BYTES]
    banks = walk.rules[RULE_BANKS]
    at_once = walk.rules[RULE_TOGETHER]
    total = np.int64(0)
    degree = np.int64(0)
    words = np.int64(0)
    together = np.int64(NOBODY)
    for index in range(lanes):
        if walk.lane[index] // at_once != together:  # these lanes are served in a pass of their own
            together = walk.lane[index] // at_once
            total += degree
            degree = np.int64(0)
            words = np.int64(0)
            for number in range(banks):
                walk.chain[number] = NOBODY
        value = walk.value[index]
        array = (value >> 32) << 32
        offset = value - array
        last = (offset + max(walk.bytes[index], np.int64(1)) - 1) // bank_bytes
        word = offset // bank_bytes
        while word <= last:
            depth = add_word(walk, array + word, word % banks, words, updates)
            if depth > 0:
                words += 1
                degree = max(degree, depth)
            word += 1
    passes = (walk.warp[w, WARP_LANES] + at_once - 1) // at_once
    return max(np.int64(1), (total + degree + passes - 1) // passes)


@inlined
def add_word(walk, word, number, words, updates):
    """Add a word to the chain of its bank: how many it has then, 0 where it is served with the same word before."""
    depth = np.int64(1)
    link = walk.chain[number]
    while link >= 0 and (updates or walk.word[link] != word):
        link = walk.following[link]
        depth += 1
    if link >= 0:
        return np.int64(0)
    walk.word[words] = word
    walk.following[words] = walk.chain[number]
    walk.chain[number] = words
    return depth

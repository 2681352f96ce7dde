"""Whether runs that a file says are runs: what loops rely on must hold for any file."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.decoding import ones_of, start_of
from simtmm.trace.runs.layout import (
    DEEPEST,
    EVEN,
    KIND_MASK,
    KIND_SHIFT,
    LISTED,
    LOOP,
    PLAIN,
    SITE_MASK,
    THREAD_MASK,
    THREAD_SHIFT,
    WHAT_MASK,
    Structure,
    Structures,
)
from simtmm.trace.schema import MOST_SITES, Kind

MOST_EVENTS = 1 << 62

_SHARED_ARRAY, _LAST = int(Kind.SHARED_ARRAY), int(Kind.PRODUCT)

# What is wrong with a structure
(FINE, BAD_ENDS, BAD_PARENT, BAD_THREADS, BAD_STEPS, BAD_LOOP, BAD_EVENT, TOO_MANY_EVENTS) = range(8)


def complete(runs, structure, last_child, taken, trips):
    """Check a structure whose ends and threads are there, and fill what follows from the rest: FINE, or what is wrong.

    last_child: int64[nodes]. taken: uint64[words], of the structure. trips: int64[DEEPEST, 2], room.
    """
    first = start_of(runs, structure, Structure.nodes)
    nodes = runs.structure[structure].nodes - first
    first_step = start_of(runs, structure, Structure.steps)
    steps = runs.structure[structure].steps - first_step
    first_word = start_of(runs, structure, Structure.words)
    threads = runs.structure[structure].threads
    words = (threads + 63) // 64
    if nodes < 1 or steps < 0 or runs.structure[structure].words - first_word != nodes * words:
        return np.int64(BAD_ENDS)
    for node in range(nodes):
        found = complete_node(runs, first, first_word, words, threads, np.int64(node), last_child, taken)
        if found != FINE:
            return found
    before = np.int64(0)
    values = np.int64(0)
    runs.structure[structure].events = 0
    for node in range(nodes):
        end = runs.node[first + node].steps
        if end < before or end > steps or (node > 0 and end == before):
            return np.int64(BAD_STEPS)
        many = runs.node[first + node].threads
        values = complete_steps(runs, structure, first_step + before, first_step + end, many, values, trips)
        if values < 0:
            return -values
        before = end
    if before != steps:
        return np.int64(BAD_STEPS)
    runs.structure[structure].values = values
    return np.int64(FINE)


@inlined
def complete_node(runs, first, first_word, words, threads, node, last_child, taken):
    """Whether a node's threads are its parent's, and no other child's; fills its links."""
    row = first + node
    parent = runs.node[row].parent
    if (node == 0 and parent != -1) or (node > 0 and (parent < 0 or parent >= node)):
        return np.int64(BAD_PARENT)
    runs.node[row].child = -1
    runs.node[row].sibling = -1
    runs.node[row].set = node * words
    last_child[node] = -1
    count = np.int64(0)
    for index in range(words):
        own = runs.words[first_word + node * words + index]
        taken[node * words + index] = np.uint64(0)
        if node == 0:
            every = ~np.uint64(0)
            if index == words - 1 and threads & 63 != 0:
                every = (np.uint64(1) << np.uint64(threads & 63)) - np.uint64(1)
            if own != every:
                return np.int64(BAD_THREADS)
        else:
            of_parent = runs.words[first_word + parent * words + index]
            if own & ~of_parent != 0 or own & taken[parent * words + index] != 0:
                return np.int64(BAD_THREADS)
            taken[parent * words + index] |= own
        count += ones_of(own)
    if count == 0:
        return np.int64(BAD_THREADS)
    runs.node[row].threads = count
    if node > 0:
        before = last_child[parent]
        if before < 0:
            runs.node[first + parent].child = node
        else:
            runs.node[first + before].sibling = node
        last_child[parent] = node
    return np.int64(FINE)


def complete_steps(runs, structure, begin, end, threads, values, trips):
    """Fill where the values of a node's steps stand, from `values` on: where the next one's do, or minus what is wrong.

    trips: of each loop around a step, where it ends and how often the step is done.
    """
    deep = np.int64(0)
    row = begin
    while row < end:
        while deep > 0 and trips[deep - 1, 0] == row:
            deep -= 1
        often = trips[deep - 1, 1] if deep > 0 else np.int64(1)
        last = trips[deep - 1, 0] if deep > 0 else end
        if runs.step[row].what == LOOP:
            rounds = runs.step[row].x
            rows = runs.step[row].y
            if deep == DEEPEST or rounds < 1 or rows < 1 or rows > last - row - 1:
                return np.int64(-BAD_LOOP)
            if rounds > MOST_EVENTS // often:
                return np.int64(-TOO_MANY_EVENTS)
            trips[deep, 0] = row + 1 + rows
            trips[deep, 1] = often * rounds
            deep += 1
            row += 1
            if runs.step[row].what == LOOP and runs.step[row].y == 0:
                return np.int64(-BAD_LOOP)
            continue
        what = runs.step[row].what
        form = runs.step[row].form
        if not is_event(what) or what & ~WHAT_MASK != 0 or form < EVEN or form > LISTED:
            return np.int64(-BAD_EVENT)
        if form == LISTED and (runs.step[row].x != 0 or runs.step[row].y != 0 or runs.step[row].z != 0):
            return np.int64(-BAD_EVENT)
        runs.step[row].value = values
        values += threads if form == LISTED else np.int64(1)
        if often > (MOST_EVENTS - runs.structure[structure].events) // threads:
            return np.int64(-TOO_MANY_EVENTS)
        runs.structure[structure].events += often * threads
        row += 1
    return values


@inlined
def is_event(what):
    """Whether a site and a kind are some."""
    kind = (what >> KIND_SHIFT) & KIND_MASK
    return what & SITE_MASK < MOST_SITES and kind <= _LAST and kind != _SHARED_ARRAY


def complete_all(runs: Structures, last_child, taken, trips, wrong):
    """Check all structures: -1, or the first one that is wrong; wrong: int64[1], how."""
    for structure in range(runs.structure.shape[0]):
        found = complete(runs, np.int64(structure), last_child, taken, trips)
        if found != FINE:
            wrong[0] = found
            return np.int64(structure)
    return np.int64(-1)


def check_blocks(runs: Structures, structure_of, values, value_ends, threads, barrier, beyond):
    """Whether blocks of so many threads have the values that their structures need: -1, or the first that has not.

    barrier: the kind whose values may be any. beyond: that values of plain blocks are below.
    """
    begin = np.int64(0)
    for block in range(structure_of.shape[0]):
        structure = structure_of[block]
        end = value_ends[block]
        if structure == PLAIN:
            if end < begin or (end - begin) % 2 != 0:
                return np.int64(block)
            thread = np.int64(0)
            at = begin
            while at < end:
                word = values[at + 1]
                own = (word >> THREAD_SHIFT) & THREAD_MASK
                if own < thread or own >= threads or not is_event(word & WHAT_MASK):
                    return np.int64(block)
                if (word >> KIND_SHIFT) & KIND_MASK != barrier and (values[at] < 0 or values[at] >= beyond):
                    return np.int64(block)
                thread = own
                at += 2
        elif (
            structure < 0
            or structure >= runs.structure.shape[0]
            or runs.structure[structure].threads != threads
            or runs.structure[structure].values != end - begin
        ):
            return np.int64(block)
        begin = end
    return np.int64(-1)

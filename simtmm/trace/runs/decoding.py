"""Structures and values back to events."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.layout import DEEPEST, LISTED, LOOP, PLAIN, THREAD_SHIFT, Step, Structure, Structures


@inlined
def start_of(runs, structure, column):
    """Where a structure's nodes, steps or words begin."""
    return runs.structure[structure - 1, column] if structure > 0 else np.int64(0)


@inlined
def has_thread(runs, word, thread):
    """Whether a thread is one of those whose bits begin at a word."""
    return (runs.words[word + (thread >> 6)] >> np.uint64(thread & 63)) & np.uint64(1) != 0


@inlined
def count_below(runs, word, thread):
    """How many threads of a node come before one."""
    count = np.int64(0)
    for index in range(thread >> 6):
        count += ones_of(runs.words[word + index])
    below = (np.uint64(1) << np.uint64(thread & 63)) - np.uint64(1)
    return count + ones_of(runs.words[word + (thread >> 6)] & below)


@inlined
def ones_of(bits):
    """How many bits are set."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def child_with(runs, nodes, words, node, thread):
    """The child of a node that a thread goes on in, -1 if it ends there."""
    child = runs.node[nodes + node].child
    while child >= 0 and not has_thread(runs, words + runs.node[nodes + child].set, thread):
        child = runs.node[nodes + child].sibling
    return child


@inlined
def begin_of(runs, structure, node):
    """The row of a node's first step."""
    steps = start_of(runs, structure, Structure.steps)
    if node == 0:
        return steps
    return steps + runs.node[start_of(runs, structure, Structure.nodes) + node - 1].steps


@inlined
def end_of(runs, structure, node):
    """The row behind a node's steps."""
    steps = start_of(runs, structure, Structure.steps)
    return steps + runs.node[start_of(runs, structure, Structure.nodes) + node].steps


@inlined
def reached(runs, step, end, nest):
    """The step that a row stands for, or that follows on it, into loops and out of them; -1 behind the last one.

    nest: int64[NEST]: of each loop around the step, from the outermost on, where it begins and ends, and the trip; and
    in the last row how many there are, none in the beginning.
    """
    deep = nest[DEEPEST, 0]
    while step < end or deep > 0:
        if deep > 0 and step == nest[deep - 1, 1]:
            nest[deep - 1, 2] += 1
            if nest[deep - 1, 2] < runs.step[nest[deep - 1, 0]].x:
                step = nest[deep - 1, 0] + 1
            else:
                deep -= 1
        elif runs.step[step].what == LOOP:
            nest[deep, 0] = step
            nest[deep, 1] = step + 1 + runs.step[step].y
            nest[deep, 2] = 0
            deep += 1
            step += 1
        else:
            nest[DEEPEST, 0] = deep
            return step
    nest[DEEPEST, 0] = 0
    return np.int64(-1)


@inlined
def gone_up(runs, step, nest):
    """By how much the values of a step have gone up with the trips through the loops around it."""
    more = np.int64(0)
    deep = nest[DEEPEST, 0]
    for around in range(deep):
        more += runs.step[step, Step.inner + deep - 1 - around] * nest[around, 2]
    return more


def decode(runs: Structures, structure_of, values, value_ends, block_x, block_y, events, ends, nest):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Write the events of blocks. events: int64[n, 2]; ends: int64[blocks], where each block's events end.

    nest: int64[NEST], zeros: see `reached`.
    """
    at = np.int64(0)
    first_value = np.int64(0)
    for block in range(structure_of.shape[0]):
        structure = structure_of[block]
        if structure == PLAIN:
            while first_value < value_ends[block]:
                events[at, 0] = values[first_value]
                events[at, 1] = values[first_value + 1]
                first_value += 2
                at += 1
        else:
            for thread in range(runs.structure[structure].threads):
                at = decode_thread(runs, structure, values, first_value, thread, block_x, block_y, events, at, nest)
            first_value = value_ends[block]
        ends[block] = at
    return at


@inlined
def decode_thread(runs, structure, values, first_value, thread, block_x, block_y, events, at, nest):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Write the events of a thread; where the next one's begin."""
    nodes = start_of(runs, structure, Structure.nodes)
    words = start_of(runs, structure, Structure.words)
    x = thread % block_x
    y = thread // block_x % block_y
    z = thread // (block_x * block_y)
    node = np.int64(0)
    while node >= 0:
        end = end_of(runs, structure, node)
        before = np.int64(-1)  # how many of the node's threads come before, once that is needed
        step = reached(runs, begin_of(runs, structure, node), end, nest)
        while step >= 0:
            place = first_value + runs.step[step].value
            if runs.step[step].form == LISTED:
                if before < 0:
                    before = count_below(runs, words + runs.node[nodes + node].set, thread)
                place += before
            value = values[place] + gone_up(runs, step, nest)
            value += runs.step[step].x * x + runs.step[step].y * y + runs.step[step].z * z
            events[at, 0] = value
            events[at, 1] = runs.step[step].what | (thread << THREAD_SHIFT)
            at += 1
            step = reached(runs, step + 1, end, nest)
        node = child_with(runs, nodes, words, node, thread)
    return at


NEST = (DEEPEST + 1, 3)

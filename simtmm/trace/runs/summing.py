"""Sums over the events of blocks that tell blocks with different events apart, whatever runs were found in them.

The event number i of thread t of a block, whose words in memory are v and w (without the thread; numbers with a sign),
counts as

    (v + a w + c) r^i q^t   modulo 2^31 - 1,

and a block's sum is that of its events: once for each of some (a, c, r, q). As all that is linear in v, the sum over
the threads of an even step follows from sums over q^t that are the same for all steps of a node. Such sums find what
chance changes, one event with certainty and any else but for 1 in 2^124; they are no defence against who forges a file.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.native import Columns, inlined
from simtmm.trace.runs.decoding import begin_of, end_of, gone_up, reached, start_of
from simtmm.trace.runs.layout import DEEPEST, LISTED, PLAIN, THREAD_MASK, THREAD_SHIFT, WHAT_MASK, Structure, Structures

PRIME = (1 << 31) - 1
SUMS = 4  # of a block
# Chosen by chance, once, r and q so that no power below the prime comes twice; a row for each sum: a, c, r, q
FACTORS = np.array(
    [
        [2094669054, 1223465024, 511006616, 1345292428],
        [825961197, 1435103191, 830529022, 1726957224],
        [37568963, 367808755, 487138866, 642477169],
        [855902091, 1134546408, 1947435798, 722825820],
    ],
    np.int64,
)
Factor = Columns("what plus time thread")

Over = Columns("one x y z")  # of a node's threads, sums over q^t of 1, x, y and z
SMALL = 1 << 45  # numbers below it, times coordinates within a block, never go beyond 64 bits


class Scratch(NamedTuple):
    """What summing needs beside the runs; int64."""

    factors: Annotated[Any, Factor]  # [SUMS]: FACTORS
    powers: Any  # [threads, SUMS]: q^t
    over: Annotated[Any, Over]  # [nodes, SUMS]
    time: Any  # [nodes + 1, SUMS]: r^i at the end of each node, and of what is going on
    nest: Any  # [NEST]: see decoding.reached
    weight: Any  # [values + 1, SUMS]: by how much each value of a block counts; in the last row what does not depend on
    # values


@inlined
def times(one, other):
    """A product modulo the prime."""
    return np.int64(np.uint64(one * other) % np.uint64(PRIME))


def sum_runs(runs: Structures, structure_of, values, value_ends, shape, scratch: Scratch, sums):
    """Fill sums: int64[blocks, SUMS]; -1, or the number of nodes for which there is no room."""
    first_value = np.int64(0)
    summed = np.int64(PLAIN)  # the structure whose `over` is there
    weighed = np.int64(PLAIN)  # and whose `weight`
    tried = np.int64(PLAIN)  # or has none
    for block in range(structure_of.shape[0]):
        structure = structure_of[block]
        for which in range(SUMS):
            sums[block, which] = 0
        if structure == PLAIN:
            sum_plain(values, first_value, value_ends[block], scratch, sums, block)
        else:
            nodes = runs.structure[structure].nodes - start_of(runs, structure, Structure.nodes)
            if nodes > scratch.over.shape[0]:
                return nodes
            if structure != summed:
                sum_threads(runs, structure, shape, scratch, nodes)
                summed = structure
            elif structure != tried:  # comes again and again, it seems
                tried = structure
                weighed = structure if weigh(runs, structure, scratch, nodes) else np.int64(PLAIN)
            if structure != weighed or not sum_weighed(values, first_value, value_ends[block], scratch, sums, block):
                for node in range(nodes):
                    sum_node(runs, structure, values, first_value, shape, scratch, sums, block, np.int64(node))
        first_value = value_ends[block]
    return np.int64(-1)


@inlined
def sum_plain(values, first_value, value_end, scratch, sums, block):
    """The events of a plain block."""
    sum_events(values, first_value, value_end, np.int64(-1), scratch, sums, block)


def sum_stretch(values, thread, scratch: Scratch, sums):
    """Add to sums: int64[1, SUMS] those of a stretch of a plain block, and give the thread that it ends in.

    thread: that in which the stretch before has ended, -1 for the first. scratch: as that one has left it.
    """
    return sum_events(values, np.int64(0), np.int64(values.shape[0]), thread, scratch, sums, np.int64(0))


@inlined
def sum_events(values, first_value, value_end, thread, scratch, sums, block):
    """Events as they lie in memory, behind some of a thread; the thread of the last one."""
    going_on = scratch.time.shape[0] - 1
    at = first_value
    while at < value_end:
        word = values[at + 1]
        if ((word >> THREAD_SHIFT) & THREAD_MASK) != thread:
            thread = (word >> THREAD_SHIFT) & THREAD_MASK
            for which in range(SUMS):
                scratch.time[going_on, which] = 1
        for which in range(SUMS):
            event = what_counts(scratch, which, word & WHAT_MASK) + values[at] % PRIME
            event = times(event, times(scratch.time[going_on, which], scratch.powers[thread, which]))
            sums[block, which] = (sums[block, which] + event) % PRIME
            scratch.time[going_on, which] = times(scratch.time[going_on, which], scratch.factors[which].time)
        at += 2
    return thread


@inlined
def what_counts(scratch, which, what):
    """a w + c, below twice the prime."""
    return times(scratch.factors[which].what, what % PRIME) + scratch.factors[which].plus


@inlined
def sum_threads(runs, structure, shape, scratch, nodes):
    """The sums over the threads of each node."""
    first = start_of(runs, structure, Structure.nodes)
    words = start_of(runs, structure, Structure.words)
    threads = runs.structure[structure].threads
    count = (threads + 63) // 64
    for node in range(nodes):
        for which in range(SUMS):
            for over in range(len(Over)):
                scratch.over[node, which, over] = 0
        for index in range(count):
            word = runs.words[words + runs.node[first + node].set + index]
            thread = index * 64
            while word != 0:
                if word & np.uint64(1) != 0:
                    x = thread % shape[0] if shape[0] < threads else thread
                    y, z = np.int64(0), np.int64(0)
                    if shape[0] < threads:
                        y = thread // shape[0] % shape[1]
                        z = thread // (shape[0] * shape[1])
                    for which in range(SUMS):  # below 2^31 each, times a coordinate, of 2^16 threads: below 2^63
                        power = scratch.powers[thread, which]
                        scratch.over[node, which].one += power
                        scratch.over[node, which].x += power * x
                        scratch.over[node, which].y += power * y
                        scratch.over[node, which].z += power * z
                word >>= np.uint64(1)
                thread += 1
        for which in range(SUMS):
            for over in range(len(Over)):
                scratch.over[node, which, over] %= PRIME


def weigh(runs, structure, scratch, nodes):
    """Fill `weight`; whether all values of a structure count as much whatever they are."""
    count = runs.structure[structure].values
    last = scratch.weight.shape[0] - 1
    if count > last:
        return False
    for which in range(SUMS):
        for value in range(count):
            scratch.weight[value, which] = 0
        scratch.weight[last, which] = 0
    first = start_of(runs, structure, Structure.nodes)
    for node in range(nodes):
        begin_time(runs, first, node, scratch)
        end = end_of(runs, structure, node)
        step = reached(runs, begin_of(runs, structure, node), end, scratch.nest)
        while step >= 0:
            more = gone_up(runs, step, scratch.nest)
            if runs.step[step].form == LISTED or not is_small(more) or not is_all_small(runs, step):
                scratch.nest[DEEPEST, 0] = 0  # this walk ends here
                return False
            value = runs.step[step].value
            for which in range(SUMS):
                time = scratch.time[node, which]
                weight = scratch.weight[value, which] + times(scratch.over[node, which].one, time)
                scratch.weight[value, which] = weight % PRIME
                event = times(sum_even(runs, step, more, scratch, node, which), time)
                scratch.weight[last, which] = (scratch.weight[last, which] + event) % PRIME
            pass_time(scratch, node)
            step = reached(runs, step + 1, end, scratch.nest)
    return True


@inlined
def sum_weighed(values, first_value, value_end, scratch, sums, block):
    """The events of a block whose structure was weighed; False where its values are too large."""
    last = scratch.weight.shape[0] - 1
    one, two, three, four = np.int64(0), np.int64(0), np.int64(0), np.int64(0)  # the SUMS
    for value in range(value_end - first_value):
        if not is_small(values[first_value + value]):
            return False
        rest = values[first_value + value] % PRIME
        one += nearly_reduced(rest * scratch.weight[value, 0])
        two += nearly_reduced(rest * scratch.weight[value, 1])
        three += nearly_reduced(rest * scratch.weight[value, 2])
        four += nearly_reduced(rest * scratch.weight[value, 3])
    sums[block, 0] = (one + scratch.weight[last, 0]) % PRIME
    sums[block, 1] = (two + scratch.weight[last, 1]) % PRIME
    sums[block, 2] = (three + scratch.weight[last, 2]) % PRIME
    sums[block, 3] = (four + scratch.weight[last, 3]) % PRIME
    return True


@inlined
def begin_time(runs, first, node, scratch):
    """A node begins when its parent ends. first: the structure's first node."""
    parent = runs.node[first + node].parent
    for which in range(SUMS):
        scratch.time[node, which] = scratch.time[parent, which] if parent >= 0 else np.int64(1)


@inlined
def pass_time(scratch, node):
    """A step of a node is done."""
    for which in range(SUMS):
        scratch.time[node, which] = times(scratch.time[node, which], scratch.factors[which].time)


@inlined
def is_all_small(runs, step):
    """Whether by how much a step's values go up from thread to thread is small."""
    return is_small(runs.step[step].x) and is_small(runs.step[step].y) and is_small(runs.step[step].z)


@inlined
def sum_even(runs, step, base, scratch, node, which):
    """The sum over a node's threads of an even step whose value is `base`, but for when it comes."""
    what = what_counts(scratch, which, runs.step[step].what)
    event = times(what + base % PRIME, scratch.over[node, which].one)
    event += times(runs.step[step].x % PRIME, scratch.over[node, which].x)
    event += times(runs.step[step].y % PRIME, scratch.over[node, which].y)
    event += times(runs.step[step].z % PRIME, scratch.over[node, which].z)
    return event % PRIME


@inlined
def is_small(value):
    """Whether a number, times coordinates within a block, is below 2^62."""
    return -SMALL < value < SMALL


def sum_node(runs, structure, values, first_value, shape, scratch, sums, block, node):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """The events of a node's threads."""
    first = start_of(runs, structure, Structure.nodes)
    begin_time(runs, first, node, scratch)
    end = end_of(runs, structure, node)
    step = reached(runs, begin_of(runs, structure, node), end, scratch.nest)
    while step >= 0:
        more = gone_up(runs, step, scratch.nest)
        place = first_value + runs.step[step].value
        base = values[place] + more
        if runs.step[step].form != LISTED and is_small(base) and is_all_small(runs, step):
            for which in range(SUMS):
                event = times(sum_even(runs, step, base, scratch, node, which), scratch.time[node, which])
                sums[block, which] = (sums[block, which] + event) % PRIME
        else:
            sum_one_by_one(runs, structure, values, place, more, shape, scratch, sums, block, node, step)
        pass_time(scratch, node)
        step = reached(runs, step + 1, end, scratch.nest)


def sum_one_by_one(runs, structure, values, place, more, shape, scratch, sums, block, node, step):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """The events of a step whose values are listed, or so large that they go beyond 64 bits."""
    first = start_of(runs, structure, Structure.nodes)
    words = start_of(runs, structure, Structure.words) + runs.node[first + node].set
    what = runs.step[step].what
    is_listed = runs.step[step].form == LISTED
    own = scratch.time.shape[0] - 1  # a row that nobody needs meanwhile
    one, two, three, four = np.int64(0), np.int64(0), np.int64(0), np.int64(0)  # the SUMS
    for index in range((runs.structure[structure].threads + 63) // 64):
        word = runs.words[words + index]
        thread = index * 64
        while word != 0:
            if word & np.uint64(1) != 0:
                value = values[place] + more
                if is_listed:
                    place += 1
                else:
                    value += runs.step[step].x * (thread % shape[0])
                    value += runs.step[step].y * (thread // shape[0] % shape[1])
                    value += runs.step[step].z * (thread // (shape[0] * shape[1]))
                rest = value % PRIME
                one += nearly_reduced(rest * scratch.powers[thread, 0])
                two += nearly_reduced(rest * scratch.powers[thread, 1])
                three += nearly_reduced(rest * scratch.powers[thread, 2])
                four += nearly_reduced(rest * scratch.powers[thread, 3])
            word >>= np.uint64(1)
            thread += 1
    scratch.time[own, 0] = one
    scratch.time[own, 1] = two
    scratch.time[own, 2] = three
    scratch.time[own, 3] = four
    for which in range(SUMS):
        of_values = scratch.time[own, which] % PRIME
        of_values += times(what_counts(scratch, which, what), scratch.over[node, which].one)
        event = times(of_values % PRIME, scratch.time[node, which])
        sums[block, which] = (sums[block, which] + event) % PRIME


@inlined
def nearly_reduced(product):
    """A product modulo the prime, or more, as 2^31 counts as 1; below 2^32, so those of a block's threads add up."""
    return (product & PRIME) + (product >> 31)

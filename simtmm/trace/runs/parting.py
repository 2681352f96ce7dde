"""From the tree of a block to its nodes, steps and values: threads that go on together form a group."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.native import Columns, inlined
from simtmm.trace.runs.growing import IS_LISTED, STATE_SHIFT
from simtmm.trace.runs.layout import EVEN, LISTED, Node, Step, Structure

DraftUsed = Columns(
    "structures nodes steps words values",
    "made_nodes",  # of the structure under construction
)


class Draft(NamedTuple):
    """Structures and values of blocks that are built one after another; int64 but for the words."""

    used: Annotated[Any, DraftUsed]
    structure: Annotated[Any, Structure]  # see layout.Structures, as are the next three
    node: Annotated[Any, Node]
    step: Annotated[Any, Step]
    words: Any
    values: Any
    threads_below: Any  # [entries]: threads that came by
    node_of: Any  # [entries]: the node that an entry is the last of
    stack: Any  # [entries]: entries that begin a node, still to be seen to
    first_entry: Any  # [nodes]: of the structure under construction
    last_child: Any  # [nodes]: likewise
    deep: Any  # [steps]: loops around a row of the structure under construction
    following: Any  # [steps]: the next row that looks like this one
    buckets: Any  # rows, by what they look like
    more: Any  # [steps]: by how much values go up from one trip to the next
    distance_of: Any  # [room]: of each value of a block, the distance that it has from those of a block before it
    known: Any  # structures by their hash, from 1 on; 0 where there is none


def part(draft, tree, threads, block_x, block_y):
    """Write the nodes of a block behind those of the last structure, with their steps and values; whether there was
    room.
    """
    entries = tree.used.entries
    if entries > draft.threads_below.shape[0]:
        return False
    nodes = find_nodes(draft, tree, entries, threads)
    if nodes < 0:
        return False
    draft.used.made_nodes = nodes
    first_node = draft.used.nodes
    words = (threads + 63) // 64
    first_word = draft.used.words
    if first_word + nodes * words > draft.words.shape[0]:
        return False
    for index in range(first_word, first_word + nodes * words):
        draft.words[index] = np.uint64(0)
    for node in range(nodes):
        draft.node[first_node + node].set = node * words
    for thread in range(threads):
        node = draft.node_of[tree.at[thread]]
        bit = np.uint64(1) << np.uint64(thread & 63)
        while node >= 0:
            draft.words[first_word + node * words + (thread >> 6)] |= bit
            node = draft.node[first_node + node].parent
    step = draft.used.steps
    value = draft.used.values
    for node in range(nodes):
        entry = draft.first_entry[node]
        count = draft.node[first_node + node].threads
        steps = draft.node[first_node + node].steps  # as many as find_nodes has counted
        for _ in range(steps):
            if step == draft.step.shape[0] or value + count > draft.values.shape[0]:
                return False
            draft.step[step].what = tree.entry[entry].what
            draft.step[step].value = value - draft.used.values
            draft.step[step].x = tree.entry[entry].x
            draft.step[step].y = tree.entry[entry].y
            draft.step[step].z = tree.entry[entry].z
            draft.step[step].inner = 0
            draft.step[step].middle = 0
            draft.step[step].outer = 0
            if tree.entry[entry].state & IS_LISTED:
                draft.step[step].form = LISTED
                list_values(draft, tree, entry, first_word + node * words, words, value, block_x, block_y)
                draft.step[step].x = 0
                draft.step[step].y = 0
                draft.step[step].z = 0
                value += count
            else:
                draft.step[step].form = EVEN
                draft.values[value] = tree.entry[entry].value
                value += 1
            step += 1
            entry = tree.entry[entry].child
        draft.node[first_node + node].steps = step - draft.used.steps
    return True


def find_nodes(draft, tree, entries, threads):
    """The nodes, parents before their children, with the number of their steps; how many, or -1 without room."""
    for entry in range(entries):
        draft.threads_below[entry] = 0
    for thread in range(threads):
        draft.threads_below[tree.at[thread]] += 1
    entry = entries - 1
    while entry > 0:
        draft.threads_below[tree.parent[entry]] += draft.threads_below[entry]
        entry -= 1
    first_node = draft.used.nodes
    most = min(draft.node.shape[0] - first_node, draft.first_entry.shape[0])
    nodes = np.int64(0)
    waiting = np.int64(1)
    draft.stack[0] = 0
    while waiting > 0:
        waiting -= 1
        entry = draft.stack[waiting]
        if nodes == most:
            return np.int64(-1)
        row = first_node + nodes
        draft.node[row].child = -1
        draft.node[row].sibling = -1
        draft.node[row].threads = draft.threads_below[entry]
        draft.last_child[nodes] = -1
        steps = np.int64(1)
        if entry == 0:  # the root, which is no event
            draft.node[row].parent = -1
            draft.first_entry[0] = tree.entry[0].child
            steps = np.int64(0)
        else:
            draft.first_entry[nodes] = entry
            parent = draft.node_of[tree.parent[entry]]
            draft.node[row].parent = parent
            before = draft.last_child[parent]
            if before < 0:
                draft.node[first_node + parent].child = nodes
            else:
                draft.node[first_node + before].sibling = nodes
            draft.last_child[parent] = nodes
        child = tree.entry[entry].child
        while child >= 0 and draft.threads_below[child] == draft.threads_below[entry]:
            entry = child
            steps += 1
            child = tree.entry[entry].child
        draft.node[row].steps = steps
        draft.node_of[entry] = nodes
        nodes += 1
        children = waiting
        while child >= 0:
            draft.stack[waiting] = child
            waiting += 1
            child = tree.entry[child].sibling
        last = waiting - 1
        while children < last:  # the first child is the next to come
            child = draft.stack[children]
            draft.stack[children] = draft.stack[last]
            draft.stack[last] = child
            children += 1
            last -= 1
    return nodes


@inlined
def list_values(draft, tree, entry, first_word, words, value, block_x, block_y):
    """The values of a listed step, in the order of its threads."""
    row = tree.entry[entry].state >> STATE_SHIFT
    source = tree.lists[row].begin
    from_thread = tree.lists[row].thread
    for index in range(words):
        word = draft.words[first_word + index]
        thread = index * 64
        while word != 0:
            if word & np.uint64(1):
                if thread < from_thread:
                    draft.values[value] = (
                        tree.entry[entry].value
                        + tree.entry[entry].x * (thread % block_x)
                        + tree.entry[entry].y * (thread // block_x % block_y)
                        + tree.entry[entry].z * (thread // (block_x * block_y))
                    )
                else:
                    draft.values[value] = tree.listed[source]
                    source += 1
                value += 1
            word >>= np.uint64(1)
            thread += 1

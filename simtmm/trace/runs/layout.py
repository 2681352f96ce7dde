"""How a block is held by what its threads have in common: the rows of its tables.

Threads of a block mostly do the same, at addresses that go up by equal steps. So a block is a tree of nodes. A node
is some threads of the block and what they do, event by event, until they part or end: each step of it stands for one
event of each of its threads. Its value is, for the thread with the coordinates x, y, z in the block,

    value + by_x * x + by_y * y + by_z * z

modulo 2^64, or, of a listed step, one of the values that are listed, a value for each of the node's threads in
their order. Where steps come again and again they stand once, behind a row that says how many of them make a loop and
how often it is repeated; their values go up by an amount of its own with each trip through each of the loops that
they are in.

Nodes stand in such an order that a node's children, what its threads do next, are behind it; the node's threads
beyond its children's have ended. Threads are bits, those of a node in as many words as the block's threads need.

Blocks repeat one another: all but the values is a structure, which stands once for all blocks that have it. A block
whose threads have nothing in common stands plainly, as its events.
"""

from typing import Any, NamedTuple

# Columns of a structure
STRUCTURE_NODES, STRUCTURE_STEPS, STRUCTURE_WORDS, STRUCTURE_VALUES, STRUCTURE_EVENTS, STRUCTURE_THREADS = range(6)
STRUCTURE_HASH = 6
STRUCTURE_ROW = 7  # ends of its nodes, steps and words; how many values its blocks have, events, threads

# Columns of a node
NODE_PARENT, NODE_STEPS, NODE_THREADS, NODE_CHILD, NODE_SIBLING, NODE_SET = range(6)
NODE_ROW = 6  # parent, first child and next sibling by number within the structure, or -1; end of its steps within the
# structure; how many threads; where their bits begin, among the structure's words

# Columns of a step
STEP_WHAT, STEP_VALUE, STEP_X, STEP_Y, STEP_Z, STEP_INNER, STEP_MIDDLE, STEP_OUTER, STEP_FORM = range(9)
STEP_ROW = 9  # site, kind and bytes of an event as in its second word; where its value, or the first of them, stands
# among those of the block; by_x, by_y, by_z; by how much the value goes up with each trip of the loops around it, from
# the innermost on; the form
# Of a row that begins a loop: STEP_WHAT is LOOP, STEP_X the trips, STEP_Y the rows of the loop behind this one.
LOOP = -1
DEEPEST = 3  # loops within one another

EVEN, LISTED = range(2)  # STEP_FORM

PLAIN = -1  # in the place of a structure

# The second word of an event, as it lies in memory
THREAD_SHIFT, THREAD_MASK = 32, 0xFFFF
SITE_MASK = 0xFFFFFFFF
KIND_MASK, BYTES_MASK = 0xFF, 0xFF
KIND_SHIFT, BYTES_SHIFT = 48, 56
WHAT_MASK = ~(THREAD_MASK << THREAD_SHIFT)  # all but the thread

DISTANCE = 255  # the kind of what stands in the place of a block's events: see schema.Batch


class Structures(NamedTuple):
    """Structures of blocks, in a row; tables are int64 but for the words."""

    structure: Any  # [structures, STRUCTURE_*]
    node: Any  # [nodes, NODE_*]
    step: Any  # [steps, STEP_*]
    words: Any  # uint64: the threads of nodes

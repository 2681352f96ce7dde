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

from typing import Annotated, Any, NamedTuple

from simtmm.native import Columns

Structure = Columns(
    "nodes steps words",  # their ends
    "values events threads",  # how many its blocks have
    "hash",
)
Node = Columns(
    "parent",  # by number within the structure, as the two below; -1 for none
    "steps",  # their end within the structure
    "threads",  # how many
    "child sibling",  # the first child, and the next sibling
    "set",  # where the threads' bits begin, among the structure's words
)
Step = Columns(
    "what",  # site, kind and bytes of an event as in its second word; LOOP of a row that begins a loop
    "value",  # where its value, or the first of them, stands among those of the block
    "x y z",  # by_x, by_y, by_z; of a loop the trips, and the rows of the loop behind this one
    "inner middle outer",  # by how much the value goes up with each trip of the loops around it
    "form",
)
LOOP = -1
DEEPEST = 3  # loops within one another

EVEN, LISTED = range(2)  # Step.form

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

    structure: Annotated[Any, Structure]  # [structures]
    node: Annotated[Any, Node]  # [nodes]
    step: Annotated[Any, Step]  # [steps]
    words: Any  # uint64: the threads of nodes

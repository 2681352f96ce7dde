"""Blocks of events to structures and values."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.decoding import start_of
from simtmm.trace.runs.folding import fold
from simtmm.trace.runs.growing import Tree, grow, plant
from simtmm.trace.runs.layout import (
    DISTANCE,
    KIND_MASK,
    KIND_SHIFT,
    LISTED,
    LOOP,
    PLAIN,
    SITE_MASK,
    Node,
    Step,
    Structure,
)
from simtmm.trace.runs.parting import Draft, part

MOST_ENTRIES = 1 << 20  # of a block's tree, some 200 bytes each; what has more in it stands as its events


LEFT_PLAIN = -1  # in the place of a block


def grow_stretch(tree: Tree, events, begin, end, block_x, block_y, block_z):
    """Take the events of a block from `begin` up to `end` into the tree, which is planted where `begin` is 0; how far
    that went: see `grow`.
    """
    if begin == 0:
        plant(tree, block_x * block_y * block_z)
    return grow(tree, events, begin, end, block_x, block_y, block_z)


def encode(  # noqa: C901, PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    tree: Tree, draft: Draft, events, ends, first, begin, block_x, block_y, block_z, structure_of, value_ends, is_grown
):
    """Encode blocks from the first on, whose events begin at `begin`; the first one for which there was no room.
    is_grown: whether the tree is that of the first, and it alone is encoded, or LEFT_PLAIN if it had better be plain.

    events: int64[2 n], of each block in the order of threads, or distances (see schema.Batch). ends: int64[blocks], as
    in Batch. Fills structure_of and value_ends: of each block its structure, and where its values end.
    """
    threads = block_x * block_y * block_z
    model = np.int64(-1)  # the block that others stand as distances from, once that is needed
    for block in range(first, ends.shape[0]):
        end = ends[block]
        if is_grown == 0 and end > begin and (events[2 * begin + 1] >> KIND_SHIFT) & KIND_MASK == DISTANCE:
            if model < 0:
                model = find_model(draft, events, ends, block, structure_of)
            if not put_distant(draft, events, ends, begin, model, structure_of, value_ends):
                return np.int64(block)
            structure_of[block] = structure_of[model]
            value_ends[block] = draft.used.values
            begin = end
            continue
        model = np.int64(-1)
        grown = end
        if is_grown == 0:
            plant(tree, threads)
            grown = grow(tree, events, begin, end, block_x, block_y, block_z)
        if grown < end:
            if tree.entry.shape[0] < MOST_ENTRIES or not put_plain(draft, events, begin, end):
                return np.int64(block)
            structure_of[block] = PLAIN
            draft.used.values += 2 * (end - begin)
            value_ends[block] = draft.used.values
            begin = end
            continue
        if not part(draft, tree, threads, block_x, block_y):
            return np.int64(block)
        nodes = draft.used.made_nodes
        values = fold(draft, nodes)
        steps = draft.node[draft.used.nodes + nodes - 1].steps
        number = draft.used.structures
        if number == draft.structure.shape[0] or 2 * number >= draft.known.shape[0]:
            return np.int64(block)
        words = nodes * ((threads + 63) // 64)
        looks = looks_of(draft, nodes, steps, words)
        known = find_known(draft, looks, nodes, steps, words, threads)
        if known >= 0:
            structure_of[block] = known
        elif nodes * len(Node) + steps * len(Step) + words + values > 2 * (end - begin):
            if is_grown != 0:
                return np.int64(LEFT_PLAIN)
            values = 2 * (end - begin)
            if not put_plain(draft, events, begin, end):
                return np.int64(block)
            structure_of[block] = PLAIN
        else:
            draft.structure[number].nodes = draft.used.nodes + nodes
            draft.structure[number].steps = draft.used.steps + steps
            draft.structure[number].words = draft.used.words + words
            draft.structure[number].values = values
            draft.structure[number].events = end - begin
            draft.structure[number].threads = threads
            draft.structure[number].hash = looks
            draft.used.structures = number + 1
            draft.used.nodes += nodes
            draft.used.steps += steps
            draft.used.words += words
            structure_of[block] = number
            note_known(draft, looks, number)
        draft.used.values += values
        value_ends[block] = draft.used.values
        begin = end
    return np.int64(ends.shape[0])


@inlined
def begin_of_block(ends, block):
    """Where a block's events begin."""
    return ends[block - 1] if block > 0 else np.int64(0)


def find_model(draft, events, ends, block, structure_of):
    """The block that one stands as distances from; sets `distance_of` for its values."""
    model = block - 1
    begin = begin_of_block(ends, model)
    while ends[model] == begin or (events[2 * begin + 1] >> KIND_SHIFT) & KIND_MASK == DISTANCE:
        model -= 1
        begin = begin_of_block(ends, model)
    distances = ends[block - 1]
    structure = structure_of[model]
    if structure == PLAIN:
        for event in range(ends[model] - begin):
            site = events[2 * (begin + event) + 1] & SITE_MASK
            draft.distance_of[event] = find_site(events, distances, site) - distances
        return np.int64(model)
    first = start_of(draft, structure, Structure.nodes)
    row = start_of(draft, structure, Structure.steps)
    steps = row
    for node in range(first, draft.structure[structure].nodes):
        while row < steps + draft.node[node].steps:
            if draft.step[row].what != LOOP:
                which = find_site(events, distances, draft.step[row].what & SITE_MASK) - distances
                values = draft.node[node].threads if draft.step[row].form == LISTED else np.int64(1)
                value = draft.step[row].value
                for index in range(value, value + values):
                    draft.distance_of[index] = which
            row += 1
    return np.int64(model)


@inlined
def find_site(events, at, site):
    """Where the distance of a site stands, from `at` on."""
    while events[2 * at + 1] & SITE_MASK != site:
        at += 1
    return at


def put_distant(draft, events, ends, begin, model, structure_of, value_ends):
    """Put the values of a block that stands as distances from `model` behind the others; whether there is room."""
    at = draft.used.values
    is_plain = structure_of[model] == PLAIN
    words = 2 * (ends[model] - begin_of_block(ends, model))
    count = words if is_plain else draft.structure[structure_of[model]].values
    if at + count > draft.values.shape[0]:
        return False
    source = value_ends[model] - count
    if is_plain:
        for event in range(count // 2):
            distance = events[2 * (begin + draft.distance_of[event])]
            draft.values[at + 2 * event] = draft.values[source + 2 * event] + distance
            draft.values[at + 2 * event + 1] = draft.values[source + 2 * event + 1]
    else:
        for index in range(count):
            distance = events[2 * (begin + draft.distance_of[index])]
            draft.values[at + index] = draft.values[source + index] + distance
    draft.used.values = at + count
    return True


@inlined
def put_plain(draft, events, begin, end):
    """Put the events of a block behind the values, unchanged; whether there is room."""
    at = draft.used.values
    if at + 2 * (end - begin) > draft.values.shape[0]:
        return False
    for index in range(begin, end):
        draft.values[at] = events[2 * index]
        draft.values[at + 1] = events[2 * index + 1]
        at += 2
    return True


@inlined
def mixed(looks, number):
    """A hash with another number in it."""
    looks = (looks ^ number) * 0x2545F4914F6CDD1D
    return looks ^ ((looks >> 29) & 0x7FFFFFFFF)


@inlined
def looks_of(draft, nodes, steps, words):
    """A hash of the structure that was built."""
    looks = mixed(mixed(np.int64(nodes), steps), words)
    for node in range(draft.used.nodes, draft.used.nodes + nodes):
        for column in range(len(Node)):
            looks = mixed(looks, draft.node[node, column])
    for step in range(draft.used.steps, draft.used.steps + steps):
        for column in range(len(Step)):
            looks = mixed(looks, draft.step[step, column])
    for word in range(draft.used.words, draft.used.words + words):
        looks = mixed(looks, np.int64(draft.words[word]))
    return looks


@inlined
def find_known(draft, looks, nodes, steps, words, threads):
    """The structure that is the same as the one built, -1 if there is none."""
    mask = draft.known.shape[0] - 1
    bucket = looks & mask
    while draft.known[bucket] > 0:
        other = draft.known[bucket] - 1
        if draft.structure[other].hash == looks and is_same(draft, other, nodes, steps, words, threads):
            return other
        bucket = (bucket + 1) & mask
    return np.int64(-1)


@inlined
def note_known(draft, looks, number):
    """Note a structure by its hash."""
    mask = draft.known.shape[0] - 1
    bucket = looks & mask
    while draft.known[bucket] > 0:
        bucket = (bucket + 1) & mask
    draft.known[bucket] = number + 1


def is_same(draft, other, nodes, steps, words, threads):  # noqa: C901 - a compiled loop: a case for each kind of node
    """Whether a structure is the same as the one built."""
    node = np.int64(0)
    step = np.int64(0)
    word = np.int64(0)
    if other > 0:
        node = draft.structure[other - 1].nodes
        step = draft.structure[other - 1].steps
        word = draft.structure[other - 1].words
    if draft.structure[other].nodes - node != nodes:
        return False
    if draft.structure[other].steps - step != steps:
        return False
    if draft.structure[other].words - word != words:
        return False
    if draft.structure[other].threads != threads:
        return False
    for index in range(nodes):
        for column in range(len(Node)):
            if draft.node[node + index, column] != draft.node[draft.used.nodes + index, column]:
                return False
    for index in range(steps):
        for column in range(len(Step)):
            if draft.step[step + index, column] != draft.step[draft.used.steps + index, column]:
                return False
    for index in range(words):
        if draft.words[word + index] != draft.words[draft.used.words + index]:
            return False
    return True

"""Groups of lanes: how they go along the nodes of their block, step by step, and part."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.decoding import count_below, has_thread, start_of
from simtmm.trace.runs.layout import (
    KIND_MASK,
    KIND_SHIFT,
    LOOP,
    PLAIN,
    SITE_MASK,
    THREAD_MASK,
    THREAD_SHIFT,
    WHAT_MASK,
    Structure,
)
from simtmm.trace.schema import Kind
from simtmm.trace.warps.layout import AT_BARRIER, FREE_NODE, PLAIN_NODE, Group

_BARRIER = int(Kind.BARRIER)


def begin(walk, runs, values, w, value_end):
    """Put a warp, whose row says where its block is and which threads it has, at its first steps.

    value_end: where the values of its block end.
    """
    structure = walk.warp[w].structure
    lanes = walk.warp[w].lanes
    thread = walk.warp[w].thread
    if structure == PLAIN:
        begin_plain(walk, values, w, value_end)
        return
    words = start_of(runs, structure, Structure.words)
    walk.warp[w].groups = 1
    start_group(walk, runs, w, 0, 0, 0, count_below(runs, words, thread))
    walk.group[w, 0].lanes = lanes
    for lane in range(lanes):
        walk.of_lane[w, lane] = 0
    settle(walk, runs, values, w, 0)


@inlined
def begin_plain(walk, values, w, value_end):
    """Likewise in a plain block, whose events are in the order of threads: a group for each thread that has any."""
    first = walk.warp[w].thread
    lanes = walk.warp[w].lanes
    for lane in range(lanes):
        walk.of_lane[w, lane] = -1
    place = first_event(values, walk.warp[w].value, value_end, first)
    groups = np.int64(0)
    while place < value_end:
        lane = ((values[place + 1] >> THREAD_SHIFT) & THREAD_MASK) - first
        if lane >= lanes:
            break
        walk.of_lane[w, lane] = groups
        walk.group[w, groups].node = PLAIN_NODE
        walk.group[w, groups].step = place
        walk.group[w, groups].deep = 0
        walk.group[w, groups].first = lane
        walk.group[w, groups].lanes = 1
        walk.group[w, groups].dense = 1
        walk.group[w, groups].before = 0
        show_plain(walk, values, w, groups)
        place = first_event(values, place, value_end, first + lane + 1)
        walk.group[w, groups].end = place
        groups += 1
    walk.warp[w].groups = groups


@inlined
def first_event(values, begin, end, thread):
    """Where the events of a thread of a plain block begin, or those of the first one behind it that has any."""
    low = np.int64(0)
    high = (end - begin) // 2
    while low < high:
        middle = (low + high) // 2
        if (values[begin + 2 * middle + 1] >> THREAD_SHIFT) & THREAD_MASK < thread:
            low = middle + 1
        else:
            high = middle
    return begin + 2 * low


@inlined
def start_group(walk, runs, w, g, node, lane, before):
    """A group of one lane at the beginning of a node."""
    structure = walk.warp[w].structure
    nodes = start_of(runs, structure, Structure.nodes)
    steps = start_of(runs, structure, Structure.steps)
    walk.group[w, g].node = node
    walk.group[w, g].step = steps + (runs.node[nodes + node - 1].steps if node > 0 else np.int64(0))
    walk.group[w, g].end = steps + runs.node[nodes + node].steps
    walk.group[w, g].deep = 0
    walk.group[w, g].first = lane
    walk.group[w, g].lanes = 1
    walk.group[w, g].dense = 1
    walk.group[w, g].before = before


@inlined
def show(walk, w, g, what):
    """Note what a group does next."""
    walk.group[w, g].what = what
    is_barrier = ((what >> KIND_SHIFT) & KIND_MASK) == _BARRIER
    walk.group[w, g].site = AT_BARRIER if is_barrier else what & SITE_MASK


@inlined
def show_plain(walk, values, w, g):
    """Likewise of a thread of a plain block."""
    show(walk, w, g, values[walk.group[w, g].step + 1] & WHAT_MASK)


@inlined
def arrive(walk, runs, w, g):
    """Go on to the next step of the node, into loops and out of them; whether there is one."""
    while True:
        deep = walk.group[w, g].deep
        step = walk.group[w, g].step
        if deep > 0 and step == walk.group[w, g, Group.nest + 3 * deep - 2]:
            loop = walk.group[w, g, Group.nest + 3 * deep - 3]
            trip = walk.group[w, g, Group.nest + 3 * deep - 1] + 1
            walk.group[w, g, Group.nest + 3 * deep - 1] = trip
            if trip < runs.step[loop].x:
                walk.group[w, g].step = loop + 1
            else:
                walk.group[w, g].deep = deep - 1
            continue
        if step == walk.group[w, g].end:  # no loop is open there: one ends with the node at the latest
            return False
        what = runs.step[step].what
        if what == LOOP:
            walk.group[w, g, Group.nest + 3 * deep] = step
            walk.group[w, g, Group.nest + 3 * deep + 1] = step + 1 + runs.step[step].y
            walk.group[w, g, Group.nest + 3 * deep + 2] = 0
            walk.group[w, g].deep = deep + 1
            walk.group[w, g].step = step + 1
            continue
        show(walk, w, g, what)
        return True


def settle(walk, runs, values, w, g):
    """A group has a step behind it, or begins: it goes on, parts, or is no more."""
    if walk.group[w, g].node == PLAIN_NODE:
        if walk.group[w, g].step < walk.group[w, g].end:
            show_plain(walk, values, w, g)
            return
        walk.of_lane[w, walk.group[w, g].first] = -1
        remove(walk, w, g)
        return
    if not arrive(walk, runs, w, g):
        part(walk, runs, w, g)


def part(walk, runs, w, g):
    """A group's node is over: its lanes go on in the node's children, or are done."""
    structure = walk.warp[w].structure
    nodes = start_of(runs, structure, Structure.nodes)
    words = start_of(runs, structure, Structure.words)
    child = runs.node[nodes + walk.group[w, g].node].child
    first = walk.group[w, g].first
    left = walk.group[w, g].lanes
    walk.group[w, g].node = FREE_NODE
    lane = first
    while left > 0:
        if walk.of_lane[w, lane] == g:
            left -= 1
            thread = walk.warp[w].thread + lane
            node = child
            while node >= 0 and not has_thread(runs, words + runs.node[nodes + node].set, thread):
                node = runs.node[nodes + node].sibling
            if node < 0:
                walk.of_lane[w, lane] = -1
            else:
                other = find_group(walk, w, node)
                if other < 0:
                    other = g
                    if walk.group[w, g].node != FREE_NODE:
                        other = walk.warp[w].groups
                        walk.warp[w].groups = other + 1
                    before = count_below(runs, words + runs.node[nodes + node].set, thread)
                    start_group(walk, runs, w, other, node, lane, before)
                    arrive(walk, runs, w, other)
                else:
                    if lane != walk.group[w, other].first + walk.group[w, other].lanes:
                        walk.group[w, other].dense = 0
                    walk.group[w, other].lanes += 1
                # Lanes that stay in row g would be met again here, were they not behind this one.
                walk.of_lane[w, lane] = other
        lane += 1
    if walk.group[w, g].node == FREE_NODE:
        remove(walk, w, g)


@inlined
def find_group(walk, w, node):
    """The group that is at a node, -1 if none is."""
    for g in range(walk.warp[w].groups):
        if walk.group[w, g].node == node:
            return np.int64(g)
    return np.int64(-1)


@inlined
def remove(walk, w, g):
    """A group is no more; the last one gets its number."""
    last = walk.warp[w].groups - 1
    walk.warp[w].groups = last
    if g != last:
        for column in range(len(Group)):
            walk.group[w, g, column] = walk.group[w, last, column]
        for lane in range(walk.warp[w].lanes):
            if walk.of_lane[w, lane] == last:
                walk.of_lane[w, lane] = g

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
    NODE_CHILD,
    NODE_SET,
    NODE_SIBLING,
    NODE_STEPS,
    PLAIN,
    SITE_MASK,
    STEP_WHAT,
    STEP_X,
    STEP_Y,
    STRUCTURE_NODES,
    STRUCTURE_STEPS,
    STRUCTURE_WORDS,
    THREAD_MASK,
    THREAD_SHIFT,
    WHAT_MASK,
)
from simtmm.trace.schema import Kind
from simtmm.trace.warps.layout import (
    AT_BARRIER,
    FREE_NODE,
    GROUP_BEFORE,
    GROUP_DEEP,
    GROUP_DENSE,
    GROUP_END,
    GROUP_FIRST,
    GROUP_LANES,
    GROUP_NEST,
    GROUP_NODE,
    GROUP_ROW,
    GROUP_SITE,
    GROUP_STEP,
    GROUP_WHAT,
    PLAIN_NODE,
    WARP_GROUPS,
    WARP_LANES,
    WARP_STRUCTURE,
    WARP_THREAD,
    WARP_VALUE,
)

_BARRIER = int(Kind.BARRIER)


def begin(walk, runs, values, w, value_end):
    """Put a warp, whose row says where its block is and which threads it has, at its first steps.

    value_end: where the values of its block end.
    """
    structure = walk.warp[w, WARP_STRUCTURE]
    lanes = walk.warp[w, WARP_LANES]
    thread = walk.warp[w, WARP_THREAD]
    if structure == PLAIN:
        begin_plain(walk, values, w, value_end)
        return
    words = start_of(runs, structure, STRUCTURE_WORDS)
    walk.warp[w, WARP_GROUPS] = 1
    start_group(walk, runs, w, 0, 0, 0, count_below(runs, words, thread))
    walk.group[w, 0, GROUP_LANES] = lanes
    for lane in range(lanes):
        walk.of_lane[w, lane] = 0
    settle(walk, runs, values, w, 0)


@inlined
def begin_plain(walk, values, w, value_end):
    """Likewise in a plain block, whose events are in the order of threads: a group for each thread that has any."""
    first = walk.warp[w, WARP_THREAD]
    lanes = walk.warp[w, WARP_LANES]
    for lane in range(lanes):
        walk.of_lane[w, lane] = -1
    place = first_event(values, walk.warp[w, WARP_VALUE], value_end, first)
    groups = np.int64(0)
    while place < value_end:
        lane = ((values[place + 1] >> THREAD_SHIFT) & THREAD_MASK) - first
        if lane >= lanes:
            break
        walk.of_lane[w, lane] = groups
        walk.group[w, groups, GROUP_NODE] = PLAIN_NODE
        walk.group[w, groups, GROUP_STEP] = place
        walk.group[w, groups, GROUP_DEEP] = 0
        walk.group[w, groups, GROUP_FIRST] = lane
        walk.group[w, groups, GROUP_LANES] = 1
        walk.group[w, groups, GROUP_DENSE] = 1
        walk.group[w, groups, GROUP_BEFORE] = 0
        show_plain(walk, values, w, groups)
        place = first_event(values, place, value_end, first + lane + 1)
        walk.group[w, groups, GROUP_END] = place
        groups += 1
    walk.warp[w, WARP_GROUPS] = groups


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
    structure = walk.warp[w, WARP_STRUCTURE]
    nodes = start_of(runs, structure, STRUCTURE_NODES)
    steps = start_of(runs, structure, STRUCTURE_STEPS)
    walk.group[w, g, GROUP_NODE] = node
    walk.group[w, g, GROUP_STEP] = steps + (runs.node[nodes + node - 1, NODE_STEPS] if node > 0 else np.int64(0))
    walk.group[w, g, GROUP_END] = steps + runs.node[nodes + node, NODE_STEPS]
    walk.group[w, g, GROUP_DEEP] = 0
    walk.group[w, g, GROUP_FIRST] = lane
    walk.group[w, g, GROUP_LANES] = 1
    walk.group[w, g, GROUP_DENSE] = 1
    walk.group[w, g, GROUP_BEFORE] = before


@inlined
def show(walk, w, g, what):
    """Note what a group does next."""
    walk.group[w, g, GROUP_WHAT] = what
    is_barrier = ((what >> KIND_SHIFT) & KIND_MASK) == _BARRIER
    walk.group[w, g, GROUP_SITE] = AT_BARRIER if is_barrier else what & SITE_MASK


@inlined
def show_plain(walk, values, w, g):
    """Likewise of a thread of a plain block."""
    show(walk, w, g, values[walk.group[w, g, GROUP_STEP] + 1] & WHAT_MASK)


@inlined
def arrive(walk, runs, w, g):
    """Go on to the next step of the node, into loops and out of them; whether there is one."""
    while True:
        deep = walk.group[w, g, GROUP_DEEP]
        step = walk.group[w, g, GROUP_STEP]
        if deep > 0 and step == walk.group[w, g, GROUP_NEST + 3 * deep - 2]:
            loop = walk.group[w, g, GROUP_NEST + 3 * deep - 3]
            trip = walk.group[w, g, GROUP_NEST + 3 * deep - 1] + 1
            walk.group[w, g, GROUP_NEST + 3 * deep - 1] = trip
            if trip < runs.step[loop, STEP_X]:
                walk.group[w, g, GROUP_STEP] = loop + 1
            else:
                walk.group[w, g, GROUP_DEEP] = deep - 1
            continue
        if step == walk.group[w, g, GROUP_END]:  # no loop is open there: one ends with the node at the latest
            return False
        what = runs.step[step, STEP_WHAT]
        if what == LOOP:
            walk.group[w, g, GROUP_NEST + 3 * deep] = step
            walk.group[w, g, GROUP_NEST + 3 * deep + 1] = step + 1 + runs.step[step, STEP_Y]
            walk.group[w, g, GROUP_NEST + 3 * deep + 2] = 0
            walk.group[w, g, GROUP_DEEP] = deep + 1
            walk.group[w, g, GROUP_STEP] = step + 1
            continue
        show(walk, w, g, what)
        return True


def settle(walk, runs, values, w, g):
    """A group has a step behind it, or begins: it goes on, parts, or is no more."""
    if walk.group[w, g, GROUP_NODE] == PLAIN_NODE:
        if walk.group[w, g, GROUP_STEP] < walk.group[w, g, GROUP_END]:
            show_plain(walk, values, w, g)
            return
        walk.of_lane[w, walk.group[w, g, GROUP_FIRST]] = -1
        remove(walk, w, g)
        return
    if not arrive(walk, runs, w, g):
        part(walk, runs, w, g)


def part(walk, runs, w, g):
    """A group's node is over: its lanes go on in the node's children, or are done."""
    structure = walk.warp[w, WARP_STRUCTURE]
    nodes = start_of(runs, structure, STRUCTURE_NODES)
    words = start_of(runs, structure, STRUCTURE_WORDS)
    child = runs.node[nodes + walk.group[w, g, GROUP_NODE], NODE_CHILD]
    first = walk.group[w, g, GROUP_FIRST]
    left = walk.group[w, g, GROUP_LANES]
    walk.group[w, g, GROUP_NODE] = FREE_NODE
    lane = first
    while left > 0:
        if walk.of_lane[w, lane] == g:
            left -= 1
            thread = walk.warp[w, WARP_THREAD] + lane
            node = child
            while node >= 0 and not has_thread(runs, words + runs.node[nodes + node, NODE_SET], thread):
                node = runs.node[nodes + node, NODE_SIBLING]
            if node < 0:
                walk.of_lane[w, lane] = -1
            else:
                other = find_group(walk, w, node)
                if other < 0:
                    other = g
                    if walk.group[w, g, GROUP_NODE] != FREE_NODE:
                        other = walk.warp[w, WARP_GROUPS]
                        walk.warp[w, WARP_GROUPS] = other + 1
                    before = count_below(runs, words + runs.node[nodes + node, NODE_SET], thread)
                    start_group(walk, runs, w, other, node, lane, before)
                    arrive(walk, runs, w, other)
                else:
                    if lane != walk.group[w, other, GROUP_FIRST] + walk.group[w, other, GROUP_LANES]:
                        walk.group[w, other, GROUP_DENSE] = 0
                    walk.group[w, other, GROUP_LANES] += 1
                # Lanes that stay in row g would be met again here, were they not behind this one.
                walk.of_lane[w, lane] = other
        lane += 1
    if walk.group[w, g, GROUP_NODE] == FREE_NODE:
        remove(walk, w, g)


@inlined
def find_group(walk, w, node):
    """The group that is at a node, -1 if none is."""
    for g in range(walk.warp[w, WARP_GROUPS]):
        if walk.group[w, g, GROUP_NODE] == node:
            return np.int64(g)
    return np.int64(-1)


@inlined
def remove(walk, w, g):
    """A group is no more; the last one gets its number."""
    last = walk.warp[w, WARP_GROUPS] - 1
    walk.warp[w, WARP_GROUPS] = last
    if g != last:
        for column in range(GROUP_ROW):
            walk.group[w, g, column] = walk.group[w, last, column]
        for lane in range(walk.warp[w, WARP_LANES]):
            if walk.of_lane[w, lane] == last:
                walk.of_lane[w, lane] = g

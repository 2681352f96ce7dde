"""The tree of a block, grown event by event: what threads have in common is found as they go along it."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.native import Columns, inlined, vectorized
from simtmm.trace.runs.layout import THREAD_MASK, THREAD_SHIFT, WHAT_MASK

# One event of each thread that came by; the first entry is the root, no event. A cache line each.
Entry = Columns(
    "what value x y z",
    # bits for x, y and z, whether by how much the value goes up is known; whether values are listed; whether the entry
    # before it in the table is its parent, and it the first child; and above these bits the first thread, or the list's
    # row
    "state",
    "child sibling",
)
KNOWN_X, KNOWN_Y, KNOWN_Z, IS_LISTED, IS_NEXT = 1, 2, 4, 8, 16
ALL_KNOWN, STATE_SHIFT = 7, 5

List = Columns(
    "begin count room",  # where its values begin, how many there are, for how many there is room
    "thread",  # the first of which there is one; those before it are in even steps
)
FIRST_ROOM = 4

TreeUsed = Columns("entries lists listed thread")


NEXT_THREAD = 1 << THREAD_SHIFT  # by how much the second word of an event goes up from a thread to the next
MANY, FEW = 64, 8  # events that are compared at once


class Tree(NamedTuple):
    """A block that grows; int64."""

    used: Annotated[Any, TreeUsed]
    entry: Annotated[Any, Entry]  # [room]
    next_x: Any  # [2 * room]: of each entry, how an event goes up to that of the next thread in a row, a word each; the
    # second is 0 where that is not known, the entry is listed, or not the next of its parent
    parent: Any  # [room]
    lists: Annotated[Any, List]  # [room]
    listed: Any  # [room]: values
    at: Any  # [threads]: the entry that a thread was at last


@inlined
def plant(tree, threads):
    """An empty tree."""
    tree.used.entries = 1
    tree.used.lists = 0
    tree.used.listed = 0
    tree.entry[0].child = -1
    tree.entry[0].sibling = -1
    tree.parent[0] = -1
    for thread in range(threads):
        tree.at[thread] = 0


def grow(tree, events, begin, upto, block_x, block_y, block_z):  # noqa: C901, PLR0912, PLR0915 - a compiled loop: calls cost here
    """Take in events from `begin` up to `upto`: how far that went, less than all where room has run out.

    events: int64[2 n]. An entry's threads come by in their order.
    """
    last = min(events.shape[0] // 2, upto)
    known = 0  # a block of one row has nothing to learn of y
    if block_x == 1:
        known += KNOWN_X
    if block_y == 1:
        known += KNOWN_Y
    if block_z == 1:
        known += KNOWN_Z
    # The thread before: where it began and ended, and the entry behind those that stand one after another at first.
    before = np.int64(-1)
    before_event = np.int64(0)
    before_at = np.int64(0)
    before_last = np.int64(0)
    before_end = np.int64(0)
    index = begin
    while index < last:
        thread = (events[2 * index + 1] >> THREAD_SHIFT) & THREAD_MASK
        x = thread % block_x
        y = thread // block_x % block_y
        z = thread // (block_x * block_y)
        at = tree.at[thread]
        own = events[2 * index + 1] & (THREAD_MASK << THREAD_SHIFT)
        begin_event = index
        begin_at = at
        end = np.int64(-1)
        is_even = x > 0  # whether the thread taught nothing, as its entries have even steps in a row
        if x > 0 and thread == before + 1 and at == before_at and before_end - at > 1:
            passed = pass_alike(tree, events, index, before_event, at + 1, min(before_end - at - 1, last - index))
            index += passed
            at += passed
        while index < last:
            passed = pass_known(tree, events, index, last, own, at, x, y, z)
            index += passed
            at += passed
            if index == last:
                break
            word = events[2 * index + 1]
            if word & (THREAD_MASK << THREAD_SHIFT) != own:
                break
            what = word & WHAT_MASK
            value = events[2 * index]
            child = tree.entry[at].child
            while child >= 0 and tree.entry[child].what != what:
                child = tree.entry[child].sibling
            if child < 0:
                child = tree.used.entries
                if child == tree.entry.shape[0]:
                    tree.at[thread] = at
                    return index
                sprout(tree, at, child, what, value, known, thread)
                is_even = False
            else:
                even = (
                    tree.entry[child].value
                    + tree.entry[child].x * x
                    + tree.entry[child].y * y
                    + tree.entry[child].z * z
                )
                state = tree.entry[child].state
                if state & (KNOWN_X + IS_LISTED) != KNOWN_X or even != value:
                    is_even = False
                if state & (ALL_KNOWN + IS_LISTED) != ALL_KNOWN or even != value:
                    if not learn(tree, child, value, even, thread, x, y, z, block_x, block_y):
                        tree.at[thread] = at
                        return index
            if end < 0 and child != at + 1:
                end = at + 1
            at = child
            index += 1
        tree.at[thread] = at
        period = index - begin_event
        if is_even and thread == before + 1 and at == before_last and begin_event - before_event == period:
            upto = thread + pass_row(events, index, period, min((block_x - 1 - x) * period, last - index))
            while thread < upto and tree.at[thread + 1] == begin_at:
                thread += 1
                tree.at[thread] = at
                index += period
            begin_event = index - period
        before = thread
        before_event = begin_event
        before_at = begin_at
        before_last = at
        before_end = at + 1 if end < 0 else end
    return index


@inlined
def pass_alike(tree, events, index, other, child, most):
    """How many events of a thread, `most` at most, are as those of the thread before it in a row, but for what the
    entries say that they go up by: from its event `other` on, which came by at the entry `child`. Some may be left.
    """
    if tree.next_x[2 * child + 1] == 0:
        return np.int64(0)
    passed = pass_equal(tree, events, index, other, child, most, MANY)
    passed += pass_equal(tree, events, index + passed, other + passed, child + passed, most - passed, FEW)
    while passed < most:
        here = 2 * (index + passed)
        there = 2 * (other + passed)
        entry = 2 * (child + passed)
        if (
            tree.next_x[entry + 1] == 0
            or events[here + 1] != events[there + 1] + tree.next_x[entry + 1]
            or events[here] != events[there] + tree.next_x[entry]
        ):
            break
        passed += 1
    return passed


@inlined
def pass_equal(tree, events, index, other, child, most, together):
    """Likewise, so many together."""
    passed = np.int64(0)
    while passed + together <= most:
        differs = np.int64(0)
        first = 2 * (index + passed)
        first_other = 2 * (other + passed)
        first_entry = 2 * (child + passed)
        for word in vectorized(range(2 * together)):
            differs |= events[first + word] ^ (events[first_other + word] + tree.next_x[first_entry + word])
        if differs != 0:
            break
        passed += together
    return passed


@inlined
def pass_row(events, index, period, most):
    """How many threads, `most` events at most, go up from one to the next as the two before them did, which had
    `period` events each, up to `index`.
    """
    passed = pass_even(events, index, period, most, MANY)
    passed += pass_even(events, index + passed, period, most - passed, FEW)
    return passed // period


@inlined
def pass_even(events, index, period, most, together):
    """Likewise how many events, so many together."""
    passed = np.int64(0)
    while passed + together <= most:
        differs = np.int64(0)
        first = 2 * (index + passed)
        second = first - 2 * period
        third = second - 2 * period
        for word in vectorized(range(2 * together)):
            differs |= (events[first + word] - events[second + word]) ^ (events[second + word] - events[third + word])
        if differs != 0:
            break
        passed += together
    return passed


@inlined
def pass_known(tree, events, index, last, own, at, x, y, z):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """How many events of a thread are as the entries behind `at` say, one after another in the table.

    Most are. Where a thread goes on is not read from the entry here but guessed, so nothing waits for it.
    """
    begin = index
    used = tree.used.entries
    child = at + 1
    while index < last and child < used:
        if (
            tree.entry[child].what | own != events[2 * index + 1]
            or tree.entry[child].state & (ALL_KNOWN + IS_LISTED + IS_NEXT) != ALL_KNOWN + IS_NEXT
            or tree.entry[child].value + tree.entry[child].x * x + tree.entry[child].y * y + tree.entry[child].z * z
            != events[2 * index]
        ):
            break
        child += 1
        index += 1
    return index - begin


def sprout(tree, at, child, what, value, known, thread):
    """A new entry behind another, the last of its children."""
    tree.used.entries = child + 1
    tree.entry[child].what = what
    tree.entry[child].value = value
    tree.entry[child].x = 0
    tree.entry[child].y = 0
    tree.entry[child].z = 0
    is_next = child == at + 1 and tree.entry[at].child < 0
    tree.entry[child].state = known + (IS_NEXT if is_next else 0) + (thread << STATE_SHIFT)
    tree.entry[child].child = -1
    tree.entry[child].sibling = -1
    tree.parent[child] = at
    tree.next_x[2 * child + 1] = 0
    before = tree.entry[at].child
    if before < 0:
        tree.entry[at].child = child
    else:
        while tree.entry[before].sibling >= 0:
            before = tree.entry[before].sibling
        tree.entry[before].sibling = child


def learn(tree, entry, value, even, thread, x, y, z, block_x, block_y):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread comes by of which it was not known that its value would be that; whether there is room to note it."""
    state = tree.entry[entry].state
    if state & IS_LISTED:
        return add_listed(tree, state >> STATE_SHIFT, value)
    first = state >> STATE_SHIFT
    first_x = first % block_x
    first_y = first // block_x % block_y
    first_z = first // (block_x * block_y)
    news = 0
    if not state & KNOWN_X and x != first_x:
        news += KNOWN_X
    if not state & KNOWN_Y and y != first_y:
        news += KNOWN_Y
    if not state & KNOWN_Z and z != first_z:
        news += KNOWN_Z
    more = value - even
    if more == 0:
        learned(tree, entry, state + news)
        return True
    apart = 0
    place = first_x
    column = Entry.x
    if news == KNOWN_X:
        apart = x - first_x
    elif news == KNOWN_Y:
        apart = y - first_y
        place = first_y
        column = Entry.y
    elif news == KNOWN_Z:
        apart = z - first_z
        place = first_z
        column = Entry.z
    if apart != 0:
        step = more // apart
        if step * apart == more:
            tree.entry[entry, column] = step
            tree.entry[entry].value -= step * place
            learned(tree, entry, state + news)
            return True
    row = tree.used.lists
    if row == tree.lists.shape[0] or tree.used.listed + FIRST_ROOM > tree.listed.shape[0]:
        return False
    tree.used.lists = row + 1
    tree.lists[row].begin = tree.used.listed
    tree.lists[row].count = 1
    tree.lists[row].room = FIRST_ROOM
    tree.lists[row].thread = thread
    tree.listed[tree.used.listed] = value
    tree.used.listed += FIRST_ROOM
    tree.entry[entry].state = (row << STATE_SHIFT) + IS_LISTED + (state & IS_NEXT)
    tree.next_x[2 * entry + 1] = 0
    return True


@inlined
def learned(tree, entry, state):
    """Put down how much is known of an entry."""
    tree.entry[entry].state = state
    if state & (KNOWN_X + IS_NEXT) == KNOWN_X + IS_NEXT:
        tree.next_x[2 * entry] = tree.entry[entry].x
        tree.next_x[2 * entry + 1] = NEXT_THREAD


@inlined
def add_listed(tree, row, value):
    """Put a value behind those of a list; whether there is room."""
    count = tree.lists[row].count
    room = tree.lists[row].room
    if count == room:
        begin = tree.used.listed
        if begin + 2 * room > tree.listed.shape[0]:
            return False
        before = tree.lists[row].begin
        for index in range(count):
            tree.listed[begin + index] = tree.listed[before + index]
        tree.used.listed = begin + 2 * room
        tree.lists[row].begin = begin
        tree.lists[row].room = 2 * room
    tree.listed[tree.lists[row].begin + count] = value
    tree.lists[row].count = count + 1
    return True

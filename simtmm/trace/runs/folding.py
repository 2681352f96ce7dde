"""Loops: steps that come again and again, each time with values that have gone up by the same, stand once."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.layout import (
    DEEPEST,
    LISTED,
    LOOP,
    NODE_STEPS,
    NODE_THREADS,
    STEP_FORM,
    STEP_INNER,
    STEP_MIDDLE,
    STEP_OUTER,
    STEP_ROW,
    STEP_VALUE,
    STEP_WHAT,
    STEP_X,
    STEP_Y,
    STEP_Z,
)
from simtmm.trace.runs.parting import USED_NODES, USED_STEPS, USED_VALUES

LONGEST = 2048  # rows of a loop
TRIES = 4  # of different lengths
LEAST_SAVED = 2  # rows


def fold(draft, nodes):
    """Fold the loops of the structure under construction, node by node; how many values are left of its block."""
    first_step = draft.used[USED_STEPS]
    first_value = draft.used[USED_VALUES]
    first_node = draft.used[USED_NODES]
    begin = first_step
    kept = first_step
    values = first_value
    for node in range(nodes):
        end = first_step + draft.node[first_node + node, NODE_STEPS]
        threads = draft.node[first_node + node, NODE_THREADS]
        last = end
        for step in range(begin, end):
            draft.deep[step - first_step] = 0
        for _ in range(DEEPEST):
            shorter = fold_once(draft, begin, last, threads)
            if shorter == last:
                break
            last = shorter
        for step in range(begin, last):  # both rows and values only ever go down
            for column in range(STEP_ROW):
                draft.step[kept, column] = draft.step[step, column]
            if draft.step[kept, STEP_WHAT] != LOOP:
                count = threads if draft.step[kept, STEP_FORM] == LISTED else np.int64(1)
                source = first_value + draft.step[kept, STEP_VALUE]
                draft.step[kept, STEP_VALUE] = values - first_value
                for index in range(count):
                    draft.values[values + index] = draft.values[source + index]
                values += count
            kept += 1
        draft.node[first_node + node, NODE_STEPS] = kept - first_step
        begin = end
    return values - first_value


def fold_once(draft, begin, end, threads):
    """Fold loops of rows from `begin` up to `end` that are in none so far, or are loops; where the rows end then."""
    first_step = draft.used[USED_STEPS]
    if end - begin < 3:
        return end
    look_alike(draft, begin, end)
    row = begin
    kept = begin
    while row < end:
        length = np.int64(0)
        trips = np.int64(0)
        other = draft.following[row - first_step]
        tries = np.int64(0)
        while other >= 0 and other - row <= LONGEST and tries < TRIES:
            trips = count_trips(draft, row, other - row, end, threads)
            if (trips - 1) * (other - row) > LEAST_SAVED:
                length = other - row
                break
            other = draft.following[other - first_step]
            tries += 1
        if length == 0:
            length = np.int64(1)  # a row, or all of a loop
            if draft.step[row, STEP_WHAT] == LOOP:
                length += draft.step[row, STEP_Y]
            for index in range(length):
                copy_row(draft, first_step, row + index, kept + index)
            row += length
            kept += length
            continue
        if kept == row:  # from the end on, for the first row comes to where the second was
            index = length - 1
            while index >= 0:
                put_into_loop(draft, first_step, row + index, kept + 1 + index, draft.more[index])
                index -= 1
        else:
            for index in range(length):
                put_into_loop(draft, first_step, row + index, kept + 1 + index, draft.more[index])
        draft.step[kept, STEP_WHAT] = LOOP
        draft.step[kept, STEP_X] = trips
        draft.step[kept, STEP_Y] = length
        for column in range(STEP_Z, STEP_ROW):
            draft.step[kept, column] = 0
        draft.step[kept, STEP_VALUE] = 0
        draft.deep[kept - first_step] = 0
        row += trips * length
        kept += 1 + length
    return kept


@inlined
def copy_row(draft, first_step, source, to):
    """Bring a row to where another stood."""
    for column in range(STEP_ROW):
        draft.step[to, column] = draft.step[source, column]
    draft.deep[to - first_step] = draft.deep[source - first_step]


@inlined
def put_into_loop(draft, first_step, source, to, more):
    """Bring a row to where another stood, with by how much its value goes up with each trip."""
    copy_row(draft, first_step, source, to)
    deep = draft.deep[to - first_step]
    if draft.step[to, STEP_WHAT] != LOOP:
        draft.step[to, STEP_INNER + deep] = more
    draft.deep[to - first_step] = deep + 1


@inlined
def look_alike(draft, begin, end):
    """Of each row that is in no loop, find the next one that looks the same."""
    first_step = draft.used[USED_STEPS]
    for row in range(begin, end):
        draft.buckets[bucket_of(draft, row)] = -1
    row = end - 1
    while row >= begin:
        draft.following[row - first_step] = -1
        if draft.deep[row - first_step] == 0:
            bucket = bucket_of(draft, row)
            draft.following[row - first_step] = draft.buckets[bucket]
            draft.buckets[bucket] = row
        row -= 1


@inlined
def bucket_of(draft, row):
    """The bucket of rows that look like this one."""
    look = draft.step[row, STEP_WHAT] * 31 + draft.step[row, STEP_X] * 7 + draft.step[row, STEP_Y]
    return ((look ^ (look >> 17)) * 2654435761 >> 11) & (draft.buckets.shape[0] - 1)


@inlined
def count_trips(draft, row, length, end, threads):
    """How often a loop of so many rows is repeated from a row on, 1 if it is none; sets `more`."""
    first_step = draft.used[USED_STEPS]
    if row + 2 * length > end or draft.deep[row + length - first_step] != 0:
        return np.int64(1)
    for index in range(length):
        if draft.deep[row + index - first_step] == DEEPEST:
            return np.int64(1)
        if not are_alike(draft, row + index, row + length + index):
            return np.int64(1)
        if draft.step[row + index, STEP_WHAT] != LOOP:
            draft.more[index] = value_of(draft, row + length + index) - value_of(draft, row + index)
            if not goes_up(draft, row + index, row + length + index, draft.more[index], threads):
                return np.int64(1)
    trips = np.int64(2)
    while row + (trips + 1) * length <= end:
        for index in range(length):
            one = row + (trips - 1) * length + index
            if not are_alike(draft, one, one + length):
                return trips
            if draft.step[one, STEP_WHAT] != LOOP and not goes_up(draft, one, one + length, draft.more[index], threads):
                return trips
        trips += 1
    return trips


@inlined
def are_alike(draft, one, other):
    """Whether two rows are the same but for their values."""
    return (
        draft.step[one, STEP_WHAT] == draft.step[other, STEP_WHAT]
        and draft.step[one, STEP_X] == draft.step[other, STEP_X]
        and draft.step[one, STEP_Y] == draft.step[other, STEP_Y]
        and draft.step[one, STEP_Z] == draft.step[other, STEP_Z]
        and draft.step[one, STEP_INNER] == draft.step[other, STEP_INNER]
        and draft.step[one, STEP_MIDDLE] == draft.step[other, STEP_MIDDLE]
        and draft.step[one, STEP_OUTER] == draft.step[other, STEP_OUTER]
        and draft.step[one, STEP_FORM] == draft.step[other, STEP_FORM]
        and draft.deep[one - draft.used[USED_STEPS]] == draft.deep[other - draft.used[USED_STEPS]]
    )


@inlined
def value_of(draft, row):
    """The first value of a step."""
    return draft.values[draft.used[USED_VALUES] + draft.step[row, STEP_VALUE]]


@inlined
def goes_up(draft, one, other, more, threads):
    """Whether each value of a step is by so much below that of another."""
    first = draft.used[USED_VALUES] + draft.step[one, STEP_VALUE]
    second = draft.used[USED_VALUES] + draft.step[other, STEP_VALUE]
    if draft.values[second] - draft.values[first] != more:
        return False
    if draft.step[one, STEP_FORM] == LISTED:
        for index in range(1, threads):
            if draft.values[second + index] - draft.values[first + index] != more:
                return False
    return True

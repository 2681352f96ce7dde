"""Loops: steps that come again and again, each time with values that have gone up by the same, stand once."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.layout import DEEPEST, LISTED, LOOP, Step

LONGEST = 2048  # rows of a loop
TRIES = 4  # of different lengths
LEAST_SAVED = 2  # rows


def fold(draft, nodes):
    """Fold the loops of the structure under construction, node by node; how many values are left of its block."""
    first_step = draft.used.steps
    first_value = draft.used.values
    first_node = draft.used.nodes
    begin = first_step
    kept = first_step
    values = first_value
    for node in range(nodes):
        end = first_step + draft.node[first_node + node].steps
        threads = draft.node[first_node + node].threads
        last = end
        for step in range(begin, end):
            draft.deep[step - first_step] = 0
        for _ in range(DEEPEST):
            shorter = fold_once(draft, begin, last, threads)
            if shorter == last:
                break
            last = shorter
        for step in range(begin, last):  # both rows and values only ever go down
            for column in range(len(Step)):
                draft.step[kept, column] = draft.step[step, column]
            if draft.step[kept].what != LOOP:
                count = threads if draft.step[kept].form == LISTED else np.int64(1)
                source = first_value + draft.step[kept].value
                draft.step[kept].value = values - first_value
                for index in range(count):
                    draft.values[values + index] = draft.values[source + index]
                values += count
            kept += 1
        draft.node[first_node + node].steps = kept - first_step
        begin = end
    return values - first_value


def fold_once(draft, begin, end, threads):
    """Fold loops of rows from `begin` up to `end` that are in none so far, or are loops; where the rows end then."""
    first_step = draft.used.steps
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
            if draft.step[row].what == LOOP:
                length += draft.step[row].y
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
        draft.step[kept].what = LOOP
        draft.step[kept].x = trips
        draft.step[kept].y = length
        for column in range(Step.z, len(Step)):
            draft.step[kept, column] = 0
        draft.step[kept].value = 0
        draft.deep[kept - first_step] = 0
        row += trips * length
        kept += 1 + length
    return kept


@inlined
def copy_row(draft, first_step, source, to):
    """Bring a row to where another stood."""
    for column in range(len(Step)):
        draft.step[to, column] = draft.step[source, column]
    draft.deep[to - first_step] = draft.deep[source - first_step]


@inlined
def put_into_loop(draft, first_step, source, to, more):
    """Bring a row to where another stood, with by how much its value goes up with each trip."""
    copy_row(draft, first_step, source, to)
    deep = draft.deep[to - first_step]
    if draft.step[to].what != LOOP:
        draft.step[to, Step.inner + deep] = more
    draft.deep[to - first_step] = deep + 1


@inlined
def look_alike(draft, begin, end):
    """Of each row that is in no loop, find the next one that looks the same."""
    first_step = draft.used.steps
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
    look = draft.step[row].what * 31 + draft.step[row].x * 7 + draft.step[row].y
    return ((look ^ (look >> 17)) * 2654435761 >> 11) & (draft.buckets.shape[0] - 1)


@inlined
def count_trips(draft, row, length, end, threads):
    """How often a loop of so many rows is repeated from a row on, 1 if it is none; sets `more`."""
    first_step = draft.used.steps
    if row + 2 * length > end or draft.deep[row + length - first_step] != 0:
        return np.int64(1)
    for index in range(length):
        if draft.deep[row + index - first_step] == DEEPEST:
            return np.int64(1)
        if not are_alike(draft, row + index, row + length + index):
            return np.int64(1)
        if draft.step[row + index].what != LOOP:
            draft.more[index] = value_of(draft, row + length + index) - value_of(draft, row + index)
            if not goes_up(draft, row + index, row + length + index, draft.more[index], threads):
                return np.int64(1)
    trips = np.int64(2)
    while row + (trips + 1) * length <= end:
        for index in range(length):
            one = row + (trips - 1) * length + index
            if not are_alike(draft, one, one + length):
                return trips
            if draft.step[one].what != LOOP and not goes_up(draft, one, one + length, draft.more[index], threads):
                return trips
        trips += 1
    return trips


@inlined
def are_alike(draft, one, other):
    """Whether two rows are the same but for their values."""
    return (
        draft.step[one].what == draft.step[other].what
        and draft.step[one].x == draft.step[other].x
        and draft.step[one].y == draft.step[other].y
        and draft.step[one].z == draft.step[other].z
        and draft.step[one].inner == draft.step[other].inner
        and draft.step[one].middle == draft.step[other].middle
        and draft.step[one].outer == draft.step[other].outer
        and draft.step[one].form == draft.step[other].form
        and draft.deep[one - draft.used.steps] == draft.deep[other - draft.used.steps]
    )


@inlined
def value_of(draft, row):
    """The first value of a step."""
    return draft.values[draft.used.values + draft.step[row].value]


@inlined
def goes_up(draft, one, other, more, threads):
    """Whether each value of a step is by so much below that of another."""
    first = draft.used.values + draft.step[one].value
    second = draft.used.values + draft.step[other].value
    if draft.values[second] - draft.values[first] != more:
        return False
    if draft.step[one].form == LISTED:
        for index in range(1, threads):
            if draft.values[second + index] - draft.values[first + index] != more:
                return False
    return True

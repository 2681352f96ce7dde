"""The counts of blocks, taken from their runs; simtmm/trace/thread_counts.py defines what is counted."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.native import Columns, inlined
from simtmm.trace.runs.decoding import begin_of, child_with, count_below, end_of, gone_up, reached, start_of
from simtmm.trace.runs.layout import (
    BYTES_MASK,
    BYTES_SHIFT,
    KIND_MASK,
    KIND_SHIFT,
    LISTED,
    LOOP,
    PLAIN,
    SITE_MASK,
    THREAD_MASK,
    THREAD_SHIFT,
    Structure,
    Structures,
)
from simtmm.trace.schema import Kind
from simtmm.workload import LARGEST

_WORK, _JOIN, _BARRIER = int(Kind.WORK), int(Kind.JOIN), int(Kind.BARRIER)
_LOAD, _STORE, _ATOMIC, _COPY = int(Kind.LOAD), int(Kind.STORE), int(Kind.ATOMIC), int(Kind.COPY)
_LOCAL_LOAD, _LOCAL_STORE = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE)

Counts = Columns("work span barriers accesses thread_accesses read written widest")  # of a block
# How far threads have come: barriers passed, work since the last of them, accesses
Place = Columns("phase busy accesses")

COUNTED, TOO_MUCH_WORK, NO_ROOM = -1, -2, -3  # of a step, or in the place of a block


class Room(NamedTuple):
    """What counting needs beside the runs; int64."""

    place: Annotated[Any, Place]  # [nodes]: at the end of each node of a structure
    longest: Any  # [phases]: work of the busiest thread, zeros
    nest: Any  # [NEST]: see decoding.reached
    work: Any  # [sites]: instructions that an event issues before its access
    executions: Any  # [sites]: to which is added how often that was done
    thread: Any  # [1]: that a plain block is at


def count_runs(runs: Structures, structure_of, values, value_ends, shape, room: Room, counted: Annotated[Any, Counts]):
    """Fill counted: [blocks]. COUNTED, or the block whose work does not fit 64 bits, or NO_ROOM."""
    first_value = np.int64(0)
    for block in range(structure_of.shape[0]):
        structure = structure_of[block]
        if structure == PLAIN:
            room.thread[0] = -1
            found = count_events(values, first_value, value_ends[block], room, counted, block)
        elif is_uniform(runs, structure):
            found = count_nodes(runs, structure, values, first_value, room, counted, block)
        else:
            found = count_threads(runs, structure, values, first_value, shape, room, counted, block)
        if found == TOO_MUCH_WORK:
            return np.int64(block)
        if found == NO_ROOM:
            return np.int64(NO_ROOM)
        end_block(room, counted, block)
        first_value = value_ends[block]
    return np.int64(COUNTED)


@inlined
def end_block(room, counted, block):
    """The span of a block is that of its phases, one after another."""
    phase = np.int64(0)
    while phase <= counted[block].barriers:
        counted[block].span += room.longest[phase]
        room.longest[phase] = 0
        phase += 1


def count_stretch(values, is_last, room: Room, counted: Annotated[Any, Counts]):
    """Add to counted: [1] a stretch of a plain block. COUNTED, TOO_MUCH_WORK, or NO_ROOM.

    room: as the stretch before has left it; its thread is -1 for the first one.
    """
    found = count_events(values, np.int64(0), np.int64(values.shape[0]), room, counted, np.int64(0))
    if found == COUNTED and is_last != 0:
        end_block(room, counted, np.int64(0))
    return found


@inlined
def is_uniform(runs, structure):
    """Whether all threads of each node do the same work."""
    for step in range(start_of(runs, structure, Structure.steps), runs.structure[structure].steps):
        what = runs.step[step].what
        if what != LOOP and ((what >> KIND_SHIFT) & KIND_MASK) == _WORK:
            if runs.step[step].form == LISTED:
                return False
            if runs.step[step].x != 0 or runs.step[step].y != 0 or runs.step[step].z != 0:
                return False
    return True


@inlined
def count_events(values, first_value, value_end, room, counted, block):
    """Events of a plain block, thread by thread, the first of which comes behind those of room.thread."""
    thread = room.thread[0]
    found = np.int64(COUNTED)
    at = first_value
    while at < value_end and found == COUNTED:
        word = values[at + 1]
        if ((word >> THREAD_SHIFT) & THREAD_MASK) != thread:
            thread = (word >> THREAD_SHIFT) & THREAD_MASK
            begin_place(room)
        found = count_event(room, np.int64(0), counted, block, word, values[at], np.int64(1))
        at += 2
    room.thread[0] = thread
    return found


@inlined
def begin_place(room):
    """A thread is at its beginning."""
    for column in range(len(Place)):
        room.place[0, column] = 0


@inlined
def count_nodes(runs, structure, values, first_value, room, counted, block):
    """A block node by node: what a node's threads have done is the same for all of them."""
    nodes = start_of(runs, structure, Structure.nodes)
    count = runs.structure[structure].nodes - nodes
    if count > room.place.shape[0]:
        return np.int64(NO_ROOM)
    for node in range(count):
        parent = runs.node[nodes + node].parent
        for column in range(len(Place)):
            room.place[node, column] = room.place[parent, column] if parent >= 0 else np.int64(0)
        threads = runs.node[nodes + node].threads
        found = count_steps(
            runs, structure, values, first_value, room, counted, block, np.int64(node), np.int64(node), threads,
            np.int64(-1), np.int64(0), np.int64(0), np.int64(0),
        )  # fmt: skip
        if found != COUNTED:
            return found
    return np.int64(COUNTED)


@inlined
def count_threads(runs, structure, values, first_value, shape, room, counted, block):
    """A block thread by thread."""
    nodes = start_of(runs, structure, Structure.nodes)
    words = start_of(runs, structure, Structure.words)
    for thread in range(runs.structure[structure].threads):
        begin_place(room)
        node = np.int64(0)
        while node >= 0:
            before = count_below(runs, words + runs.node[nodes + node].set, thread)
            found = count_steps(
                runs, structure, values, first_value, room, counted, block, node, np.int64(0), np.int64(1), before,
                thread % shape[0], thread // shape[0] % shape[1], thread // (shape[0] * shape[1]),
            )  # fmt: skip
            if found != COUNTED:
                return found
            node = child_with(runs, nodes, words, node, thread)
    return np.int64(COUNTED)


def count_steps(runs, structure, values, first_value, room, counted, block, node, row, threads, before, x, y, z):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """The steps of a node for so many of its threads: for all, where `before` is -1, or for the one with so many
    before it, at x, y, z. row: of `place`.
    """
    end = end_of(runs, structure, node)
    step = reached(runs, begin_of(runs, structure, node), end, room.nest)
    while step >= 0:
        what = runs.step[step].what
        value = np.int64(0)
        if ((what >> KIND_SHIFT) & KIND_MASK) == _WORK:
            place = first_value + runs.step[step].value
            if runs.step[step].form == LISTED:
                place += before
            value = values[place] + gone_up(runs, step, room.nest)
            value += runs.step[step].x * x + runs.step[step].y * y + runs.step[step].z * z
        found = count_event(room, row, counted, block, what, value, threads)
        if found != COUNTED:
            return found
        step = reached(runs, step + 1, end, room.nest)
    return np.int64(COUNTED)


@inlined
def count_event(room, row, counted, block, what, value, threads):  # noqa: C901 - a compiled loop: a case for each kind of event
    """An event of so many threads that have come equally far: COUNTED, TOO_MUCH_WORK or NO_ROOM."""
    kind = (what >> KIND_SHIFT) & KIND_MASK
    moved = (what >> BYTES_SHIFT) & BYTES_MASK
    site = what & SITE_MASK
    operations = np.int64(1)
    if kind in (_JOIN, _BARRIER):
        operations = np.int64(0)
    elif kind == _WORK:
        operations = value
    if site < room.work.shape[0]:
        each = room.work[site]
        if each > 0:
            times = operations if kind == _WORK else np.int64(1)
            if times < 0 or times > LARGEST // each // threads:
                return np.int64(TOO_MUCH_WORK)
            room.executions[site] += times * threads
            operations = times * each + (np.int64(0) if kind == _WORK else operations)
    if operations < 0 or operations > LARGEST // threads:
        return np.int64(TOO_MUCH_WORK)
    if counted[block].work > LARGEST - operations * threads:
        return np.int64(TOO_MUCH_WORK)
    counted[block].work += operations * threads
    busy = room.place[row].busy + operations
    room.place[row].busy = busy
    phase = room.place[row].phase
    room.longest[phase] = max(room.longest[phase], busy)
    if kind == _BARRIER:
        if phase + 1 == room.longest.shape[0]:
            return np.int64(NO_ROOM)
        room.place[row].phase = phase + 1
        room.place[row].busy = 0
        counted[block].barriers = max(counted[block].barriers, phase + 1)
    elif kind in (_LOCAL_LOAD, _LOCAL_STORE):
        counted[block].widest = max(counted[block].widest, moved)
    elif _LOAD <= kind <= _ATOMIC or kind == _COPY:
        counted[block].accesses += threads
        accesses = room.place[row].accesses + 1
        room.place[row].accesses = accesses
        counted[block].thread_accesses = max(counted[block].thread_accesses, accesses)
        counted[block].widest = max(counted[block].widest, moved)
        if kind != _STORE:
            counted[block].read += moved * threads
        if kind in (_STORE, _ATOMIC):
            counted[block].written += moved * threads
    return np.int64(COUNTED)

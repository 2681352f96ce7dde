"""What the lanes of a step do: the operations of their accesses, work and barriers, behind what their site says."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.schema import GRID_WORKSPACE, GRID_WORKSPACE_BYTES, Kind
from simtmm.trace.warps.accesses import (
    REFUSED,
    add_lanes,
    any_refused,
    clear_sectors,
    count_words,
    is_any_outside,
    least_left_out,
    list_chunks,
    list_local_chunks,
    list_updates,
    list_updates_by_word,
    most_words,
    most_work,
)
from simtmm.trace.warps.arrivals import commit, give_results, spend
from simtmm.trace.warps.barriers import behind_cluster, leaves_loads_in_flight
from simtmm.trace.warps.half_warps import list_local_transactions, list_transactions
from simtmm.trace.warps.holding import begin_turns, hold, put, take_turn
from simtmm.trace.warps.lanes import (
    base_of,
    first_value,
    gather,
    is_alone,
    is_even,
    is_same,
    list_rows,
    plain_or_even_value,
)
from simtmm.trace.warps.load_store_units import access, access_shared, is_remote
from simtmm.trace.warps.mbarriers import multiply, use_mbarriers
from simtmm.trace.warps.passes import bank_passes
from simtmm.trace.warps.places import note_lanes, note_threads, place_at, place_of
from simtmm.trace.warps.shared_memory import NOT_SO, degree_of, even_degree
from simtmm.workload import (
    ASYNC,
    ATOMIC,
    BARRIER,
    COMPUTE,
    COPY,
    GRID_BARRIER,
    JOIN,
    LARGEST,
    LISTED,
    LOAD,
    PAUSE,
    REDUCE,
    STORE,
    SYNC,
)

_WORK, _LOAD, _ASYNC = int(Kind.WORK), int(Kind.LOAD), int(Kind.ASYNC)
_STORE, _ATOMIC, _JOIN, _BARRIER = int(Kind.STORE), int(Kind.ATOMIC), int(Kind.JOIN), int(Kind.BARRIER)
_SHARED_ATOMIC = int(Kind.SHARED_ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE)
_CONSTANT_LOAD, _COPY = int(Kind.CONSTANT_LOAD), int(Kind.COPY)
_MBARRIER, _PRODUCT = int(Kind.MBARRIER), int(Kind.PRODUCT)


@inlined
def act_on(walk, runs, values, w, at, leader, kind, site, says, before, piped, stall, output):  # noqa: C901, PLR0913, PLR0917 - a compiled loop: arrays, and a case for each kind of step
    """What the lanes of a step do in addition to what their site says, found without asking each where that can be."""
    lanes = np.int64(0)
    if walk.rules.grid_barriers != 0 and kind in (_LOAD, _ASYNC, _ATOMIC) and is_alone(walk, w, at, kind):
        address = plain_or_even_value(walk, runs, values, w, leader)
        if GRID_WORKSPACE <= address < GRID_WORKSPACE + GRID_WORKSPACE_BYTES:
            place = place_at(walk, site)
            if walk.rules.places != 0:
                note_threads(walk, w, leader, place, np.int64(1))
            if kind == _ATOMIC:  # that it is counted; loads that look for the others find them there behind it
                put(walk, w, output, GRID_BARRIER, 0, place)
            return True
    if kind != _BARRIER:
        alone = is_alone(walk, w, at, kind)
        if alone and kind in (_WORK, _JOIN) and is_same(walk, runs, w, leader):
            walk.value[0] = base_of(walk, runs, values, w, leader)
            lanes = np.int64(1)
        elif (
            alone
            and kind in (_LOAD, _ASYNC, _STORE, _COPY)
            and walk.rules.half_warps == 0
            and is_even(walk, runs, w, leader)
        ):
            listed = output.used.chunks
            count = list_rows(walk, runs, values, w, leader, output.chunks, output.sectors, listed)
            if count == REFUSED:
                return False
            passes = np.int64(1)
            if count >= 0 and walk.rules.pipe_lanes > 0:
                passes = even_degree(walk, runs, values, w, leader, kind)
            if count >= 0 and passes != NOT_SO:
                place = np.int64(0)
                if walk.rules.places != 0:
                    place = place_of(walk, site, first_value(walk, runs, values, w, leader))
                    note_threads(walk, w, leader, place, np.int64(1))
                passes = passes & LISTED if kind != _COPY else np.int64(1)
                access(walk, w, operation_of(kind), site, says, count, passes, output, place)
                return True
        elif alone and _ATOMIC < kind <= _SHARED_ATOMIC and is_even(walk, runs, w, leader):
            degree = even_degree(walk, runs, values, w, leader, kind)
            if degree != NOT_SO:
                if walk.rules.places != 0:
                    note_threads(walk, w, leader, place_at(walk, site), np.int64(1))
                remote = is_remote(base_of(walk, runs, values, w, leader))
                access_shared(walk, w, kind, site, says, degree, remote, output)
                return True
        if lanes == 0:
            lanes = gather(walk, runs, values, w, at, kind, leader, alone)
            if walk.rules.places != 0 and kind in (_WORK, _JOIN):
                note_lanes(walk, lanes, place_at(walk, site), kind == _WORK)
        elif walk.rules.places != 0:
            times = walk.value[0] if kind == _WORK else np.int64(1)
            note_threads(walk, w, leader, place_at(walk, site), times)
    return act(walk, w, kind, site, says, before, piped, stall, lanes, output)


@inlined
def operation_of(kind):
    """What an access to global memory is."""
    if kind == _ASYNC:
        return np.int64(ASYNC)
    if kind == _COPY:
        return np.int64(COPY)
    if kind == _STORE:
        return np.int64(STORE)
    return np.int64(ATOMIC) if kind == _ATOMIC else np.int64(LOAD)


@inlined
def act(walk, w, kind, site, says, before, piped, stall, lanes, output):  # noqa: C901, PLR0911, PLR0912, PLR0913, PLR0915, PLR0917 - a compiled loop: arrays, and a case for each kind of event
    """What the lanes of a step do in addition to what their site says; whether that can be determined."""
    count = output.used.chunks
    halves = walk.rules.half_warps != 0
    place = place_at(walk, site)
    if kind != _BARRIER and kind <= _COPY and any_refused(walk, lanes):
        return False
    if walk.rules.places != 0 and kind not in (_BARRIER, _WORK, _JOIN):
        if _LOAD <= kind <= _ATOMIC or kind == _COPY:
            place = place_of(walk, site, walk.value[0])
        elif kind in (_LOCAL_LOAD, _LOCAL_STORE):
            place += walk.rules.places - 1
        note_lanes(walk, lanes, place, False)
    if kind == _WORK:
        amount = most_work(walk, lanes)
        # A site that says nothing of its work does the operations themselves.
        each = max(before + piped, np.int64(1))
        if amount > LARGEST // each or (stall > 0 and amount > LARGEST // stall):
            return False
        if says and amount > 1:  # each time waits for what the one before gives
            stall += walk.again[site]
            if amount > LARGEST // max(stall, np.int64(1)):
                return False
        spend(walk, w, amount * each)
        spend(walk, w, amount * stall)
        if amount > 0:
            if says:
                commit(walk, w, site, amount)
                if amount == 1 or walk.again[site] == 0:
                    give_results(walk, w, site)
            walk.warp[w].turns_site = site if says else np.int64(-1)
            begin_turns(walk, w, amount, each - piped, piped + stall > 0, stall, place)
            return take_turn(walk, w, output)
        return True
    if kind == _MBARRIER:
        use_mbarriers(walk, w, lanes, output, place)
        return True
    if kind == _PRODUCT:
        multiply(walk, w, site, walk.value[0], output, place)
        return True
    if kind == _CONSTANT_LOAD:
        words = count_words(walk, lanes)
        spend(walk, w, words)
        return hold(walk, w, output, COMPUTE, words, place)
    if kind == _JOIN:
        left_out = least_left_out(walk, lanes)
        put(walk, w, output, JOIN, left_out, place)
        spend(walk, w, walk.rules.longest)
        walk.warp[w].waited = max(walk.warp[w].waited, walk.warp[w].asyncs - left_out)
        return True
    if kind == _BARRIER:
        behind = walk.warp[w].behind_barrier + behind_cluster(walk, w)
        spend(walk, w, behind)
        if leaves_loads_in_flight(walk, w):
            put(walk, w, output, SYNC, 0, place)
            return hold(walk, w, output, PAUSE, behind, place)
        put(walk, w, output, BARRIER, 0, place)
        walk.warp[w].waited = walk.warp[w].asyncs
        return hold(walk, w, output, PAUSE, behind, place)
    if _ATOMIC < kind <= _SHARED_ATOMIC:
        remote = False
        for lane in range(lanes):
            remote = remote or is_remote(walk.value[lane])
        access_shared(walk, w, kind, site, says, degree_of(walk, w, lanes, kind), remote, output)
        return True
    operation = operation_of(kind)
    if kind == _ATOMIC and walk.rules.reduces != 0 and site < walk.unused.shape[0] and walk.unused[site] != 0:
        operation = np.int64(REDUCE)
    if kind <= _ATOMIC or kind == _COPY:
        if kind == _ATOMIC and walk.rules.by_word != 0:
            count = list_updates_by_word(walk, lanes, output.chunks, count)
        elif halves:
            count = list_transactions(walk, lanes, kind == _ATOMIC, output.chunks, count)
        elif kind == _ATOMIC:
            count = list_updates(walk, lanes, output.chunks, count)
        else:
            count = list_chunks(walk, lanes, output.chunks, count)
        add_lanes(walk, lanes, output.chunks, output.sectors, output.used.chunks, count)
    else:  # local memory; a load whose value nobody could wait for is waited for at once
        if is_any_outside(walk, w, lanes):
            return False
        if kind == _LOCAL_STORE:
            operation = np.int64(STORE)
        elif says and walk.gives_end[site] < walk.gives_end[site + 1]:
            operation = np.int64(ASYNC)
        if halves:
            count = list_local_transactions(walk, w, lanes, output.chunks, count)
        else:
            count = list_local_chunks(walk, w, lanes, output.chunks, count)
        clear_sectors(walk, output.sectors, output.used.chunks, count)
    passes = np.int64(1)
    if walk.rules.pipe_lanes > 0 and kind not in (_ATOMIC, _COPY):
        passes = bank_passes(walk, lanes, kind) & LISTED if kind < _ATOMIC else most_words(walk, lanes)
    access(walk, w, operation, site, says, count, passes, output, place)
    return True

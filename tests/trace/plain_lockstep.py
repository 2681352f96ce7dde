"""Lowering as simtmm/trace/lower.py has it in words, thread by thread and slowly, for tests."""

import numpy as np

from simtmm.trace.coalescing import coalesce
from simtmm.trace.schema import Kind
from simtmm.trace.specification import LoweringSpecification

NAMES = {Kind.LOAD: "load", Kind.ASYNC: "async", Kind.STORE: "store", Kind.ATOMIC: "atomic"}


def operations_of(trace, machine):
    """Of each warp its operations, in the form of a workload's JSON. Sites say nothing here."""
    specification = LoweringSpecification.of(machine)
    (launch,) = trace.info.launches
    found = []
    for batch in trace.batches():
        for begin, end in zip([0, *batch.ends[:-1].tolist()], batch.ends.tolist(), strict=True):
            threads = [[] for _ in range(launch.threads_per_block)]
            for event in batch.events[begin:end].tolist():
                threads[event[2]].append(event)
            width = specification.warp_width
            found += [_warp(threads[first : first + width], specification) for first in range(0, len(threads), width)]
    return found


def _warp(lanes, specification):
    operations, position = [], [0] * len(lanes)
    while True:
        waiting = {lane: lanes[lane][at] for lane, at in enumerate(position) if at < len(lanes[lane])}
        if not waiting:
            return operations
        going = {lane: event for lane, event in waiting.items() if event[3] != Kind.BARRIER}
        if going:
            site = min(event[1] for event in going.values())
            kind = next(event[3] for event in going.values() if event[1] == site)
            step = {lane: event for lane, event in going.items() if (event[1], event[3]) == (site, kind)}
        else:
            step, kind = waiting, Kind.BARRIER
        for lane in step:
            position[lane] += 1
        operation = _operation(Kind(kind), step, len(lanes), specification)
        if operation[0] == "compute" and operation[1] == 0:
            continue
        if operation[0] == "compute" and operations and operations[-1][0] == "compute":
            operations[-1][1] += operation[1]
        else:
            operations.append(operation)


def _operation(kind, step, lanes, specification):
    values = [event[0] for event in step.values()]
    if kind == Kind.BARRIER:
        return ["barrier"]
    if kind == Kind.WORK:
        return ["compute", max(values)]
    if kind == Kind.JOIN:
        return ["join", min(values)]
    if kind == Kind.CONSTANT_LOAD:
        return ["compute", len({word for event in step.values() for word in _parts(event[0], event[4], 4)})]
    if kind in NAMES:
        chunks = _chunks(kind, step, specification)
        passes = 1
        if specification.pipe and kind != Kind.ATOMIC:
            passes = _passes(kind, step, specification)[kind == Kind.STORE]
        return [NAMES[kind], chunks, passes] if passes > 1 else [NAMES[kind], chunks]
    if specification.pipe:
        passes, least = _passes(kind, step, specification)
        return ["shared", passes, least] if least > 1 else ["shared", passes]
    return ["shared", _degree(kind, step, lanes, specification)]


def _passes(kind, step, specification):
    """All of an access: group by group of lanes, for each the words of its bank with most; a pass for a run."""
    together, run, phase_bytes, banks = specification.pipe
    is_global = kind in (Kind.LOAD, Kind.ASYNC, Kind.STORE)
    together = together if is_global else specification.lanes_together
    waiting, passes, groups = sorted(step.items()), 0, 0
    while waiting:
        lane, (first, *_, size) = waiting[0]
        served = 0
        if is_global and run > together and size == 4:
            moves = [event[0] - first for _, event in waiting]
            follow = max(_followers(waiting, moves, by, (lane // run + 1) * run) for by in (0, 4))
            served = follow if follow > together else 0
        if served:
            passes += 1
        else:
            group = max(1, min(together, phase_bytes // max(size, 1)))
            served = sum(other < (lane // group + 1) * group for other, _ in waiting)
            passes += _deepest(kind, [event for _, event in waiting[:served]], specification, banks if is_global else 0)
        waiting, groups = waiting[served:], groups + 1
    return passes, groups


def _followers(waiting, moves, by, stop):
    count = 0
    for at, (lane, event) in enumerate(waiting):
        if lane != waiting[0][0] + at or lane >= stop or event[4] != 4 or moves[at] != by * at:
            break
        count += 1
    return count


def _deepest(kind, events, specification, own_banks):
    width, count = specification.bank_bytes, specification.banks
    if own_banks:
        width = max(events[0][4], 1)
        count = own_banks * max(1, width // 4)
    banks = {}
    for event in events:
        array, offset = event[0] >> 32, event[0] & 0xFFFFFFFF
        for word in _parts(offset, event[4], width):
            banks.setdefault(word % count, []).append((array, word))
    updates = kind == Kind.SHARED_ATOMIC
    return max(1, *(len(words) if updates else len(set(words)) for words in banks.values()))


def _parts(value, size, unit):
    return range(value // unit, (value + max(size, 1) - 1) // unit + 1)


def _chunks(kind, step, specification):
    chunk = specification.chunk_bytes
    if kind == Kind.ATOMIC and specification.atomics_by_word:
        return _rounds([event[0] for event in step.values()], chunk)
    if not specification.half_warp_segments:
        if kind == Kind.ATOMIC:
            return [event[0] // chunk for event in step.values()]
        return list(dict.fromkeys(part for event in step.values() for part in _parts(event[0], event[4], chunk)))
    listed, groups = [], {}
    for lane, event in step.items():
        groups.setdefault(lane if kind == Kind.ATOMIC else lane // 16, []).append(event)
    for group in groups.values():
        where = np.array([event[0] for event in group], np.int64)
        sizes = np.array([max(event[4], 1) for event in group], np.int64)
        listed += (coalesce(where, sizes, np.array([len(group)])).addresses // chunk).tolist()
    return listed


def _rounds(addresses, chunk):
    """Round by round each word that is updated still gives way to its next update; a chunk is listed once a round."""
    listed, rounds = [], {}
    for address in addresses:
        rounds[address] = rounds.get(address, 0) + 1
        if (address // chunk, rounds[address]) not in listed:
            listed.append((address // chunk, rounds[address]))
    return [number for number, _ in listed]


def _degree(kind, step, lanes, specification):
    """Passes of lanes that are served together: for each, words of the bank with most; on average, rounded up."""
    together, total = specification.lanes_together, 0
    for first in range(0, lanes, together):
        banks = {}
        for lane, event in step.items():
            if first <= lane < first + together:
                array, offset = event[0] >> 32, event[0] & 0xFFFFFFFF
                for word in _parts(offset, event[4], specification.bank_bytes):
                    banks.setdefault(word % specification.banks, []).append((array, word))
        updates = kind == Kind.SHARED_ATOMIC
        total += max((len(words) if updates else len(set(words)) for words in banks.values()), default=0)
    passes = -(-lanes // together)
    return max(1, -(-total // passes))

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
            passes, _ = _passes(kind, step, specification)
        return [NAMES[kind], chunks, passes] if passes > 1 else [NAMES[kind], chunks]
    if specification.pipe:
        passes, least = _passes(kind, step, specification)
        return ["shared", passes, least] if least > 1 else ["shared", passes]
    return ["shared", _degree(kind, step, lanes, specification)]


def _passes(kind, step, specification):
    """All of an access: group by group of lanes, for each the words of its bank with most; a pass for a run."""
    together, run, phase_bytes, _, _ = specification.pipe
    is_global = kind in (Kind.LOAD, Kind.ASYNC, Kind.STORE)
    together = together if is_global else specification.lanes_together
    waiting, passes, groups = sorted(step.items()), 0, 0
    while waiting:
        lane, (*_, size) = waiting[0]
        group = max(1, min(together, phase_bytes // max(size, 1)))
        wide = [(other, event) for other, event in waiting if other < (lane // run + 1) * run]
        if is_global and run > together and all(event[4] == 4 for _, event in wide):
            parts = _runs(wide)
            if min(map(len, parts)) >= together:
                depths = [1] * len(parts)
            else:
                apart = run // group
                parts = [[one for one in wide if one[0] % apart == first] for first in range(apart)]
                depths = [_depth(kind, part, specification) for part in parts if part]
            waiting, groups, passes = waiting[len(wide) :], groups + len(depths), passes + sum(depths)
            continue
        served = sum(other < (lane // group + 1) * group for other, _ in waiting)
        passes += _depth(kind, waiting[:served], specification)
        waiting, groups = waiting[served:], groups + 1
    return passes, groups


def _runs(waiting):
    """Lanes of one word, or of neighbouring ones, each run as long as it can be."""
    parts = []
    for lane, event in waiting:
        part = parts[-1] if parts else []
        by = event[0] - part[-1][1][0] if part else None
        follows = part and lane == part[-1][0] + 1 and by in (0, 4)
        if follows and (len(part) == 1 or by == part[1][1][0] - part[0][1][0]):
            part.append((lane, event))
        else:
            parts.append([(lane, event)])
    return parts


def _depth(kind, lanes, specification):
    """Of lanes that are served together: of a store only what its tags take."""
    _, _, _, banks, tag_banks = specification.pipe
    events = [event for _, event in lanes]
    if kind not in (Kind.LOAD, Kind.ASYNC, Kind.STORE):
        return _deepest(kind, events, specification, 0)
    rows = {}
    for event in events:
        for row in _parts(event[0] & 0xFFFFFFFF, event[4], 4 * banks) if tag_banks else ():
            rows.setdefault(row % tag_banks, set()).add((event[0] >> 32, row))
    tags = max((len(rows_of_bank) for rows_of_bank in rows.values()), default=1)
    return tags if kind == Kind.STORE else max(tags, _deepest(kind, events, specification, banks))


def _deepest(kind, events, specification, own_banks):
    width, count = specification.bank_bytes, specification.banks
    if own_banks:
        width = max(events[0][4], 1)
        count = max(1, own_banks * 4 // width)
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

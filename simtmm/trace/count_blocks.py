"""The loop over events that counts them, compiled; what it counts says simtmm/trace/thread_counts.py."""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.compiled import Compiled, inlined
from simtmm.trace.schema import Kind
from simtmm.trace.site_lookups import work_at
from simtmm.trace.thread_counts import COLUMNS
from simtmm.workload import LARGEST

_WORK, _JOIN, _BARRIER = int(Kind.WORK), int(Kind.JOIN), int(Kind.BARRIER)
_LOAD, _STORE, _ATOMIC = int(Kind.LOAD), int(Kind.STORE), int(Kind.ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE)
_ALL_WORK, _SPAN, _BARRIERS, _ACCESSES, _THREAD_ACCESSES, _READ, _WRITTEN, _WIDEST = range(len(COLUMNS))


@Compiled
def count_blocks(events, ends, phase_longest, counted):
    """Of each block work, barriers, accesses and bytes, and the sum over its phases, from barrier to barrier, of the
    busiest thread's work. Returns -1, or the block whose work does not fit 64 bits.
    """
    return _count(events, ends, phase_longest, counted, None, None)


@Compiled
def count_blocks_with_tables(events, ends, phase_longest, counted, tables, executions):
    """Likewise, with the work that sites say; executions: int64[sites], to which is added how often that was done."""
    return _count(events, ends, phase_longest, counted, tables, executions)


@inlined
def _count(events, ends, phase_longest, counted, tables, executions):
    """What both do. tables, executions: None where there are none; Numba leaves out what asks for that."""
    begin = 0
    for block in range(len(ends)):
        last_phase = 0
        phase = 0
        busy = np.int64(0)
        work = np.int64(0)
        thread = -1
        all_accesses = np.int64(0)
        accesses = np.int64(0)
        most_accesses = np.int64(0)
        read = np.int64(0)
        written = np.int64(0)
        widest = np.int64(0)
        for index in range(begin, ends[block]):
            event = events[index]
            kind = event.kind
            if event.thread != thread:
                thread = event.thread
                phase = 0
                busy = np.int64(0)
                accesses = np.int64(0)
            operations = np.int64(0) if kind in (_JOIN, _BARRIER) else np.int64(1)
            if kind == _WORK:
                operations = np.int64(event.value)
            if tables is not None:
                each = work_at(tables, np.int64(event.site))
                if each > 0:
                    times = operations if kind == _WORK else np.int64(1)
                    if times < 0 or times > LARGEST // each:
                        return block
                    executions[event.site] += times
                    operations = times * each + (0 if kind == _WORK else operations)
            if operations < 0 or work > LARGEST - operations:
                return block
            work += operations
            busy += operations
            phase_longest[phase] = max(phase_longest[phase], busy)
            if kind == _BARRIER:
                phase += 1
                busy = np.int64(0)
                last_phase = max(last_phase, phase)
            elif kind in (_LOCAL_LOAD, _LOCAL_STORE):
                widest = max(widest, np.int64(event.bytes))
            elif _LOAD <= kind <= _ATOMIC:
                all_accesses += 1
                accesses += 1
                most_accesses = max(most_accesses, accesses)
                widest = max(widest, np.int64(event.bytes))
                if kind != _STORE:
                    read += event.bytes
                if kind >= _STORE:
                    written += event.bytes
        for phase in range(last_phase + 1):
            counted[block, _SPAN] += phase_longest[phase]
            phase_longest[phase] = 0
        counted[block, _ALL_WORK] = work
        counted[block, _BARRIERS] = last_phase
        counted[block, _ACCESSES] = all_accesses
        counted[block, _THREAD_ACCESSES] = most_accesses
        counted[block, _READ] = read
        counted[block, _WRITTEN] = written
        counted[block, _WIDEST] = widest
        begin = ends[block]
    return -1

"""What an instruction of an Accel-Sim kernel trace does: operations of its warp, and the joins before them.

A load of global or local memory (here CUDA's, a thread's own) is an async. Each lane has a record of which asyncs are
in flight and which registers they write; before an instruction that reads such a register stands a join, which leaves
out the lane's later asyncs.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.native import inlined
from simtmm.trace.importers.accelsim.parser_state import (
    NO_SITE,
    ZERO_REGISTER,
)
from simtmm.trace.importers.opcodes import ACTIONS, BARRIER, COMPUTE, GENERIC, LOAD, LOCAL, MEMORY, SHARED
from simtmm.trace.importers.warps import LANES, LOCAL_BYTES, WINDOW, emit
from simtmm.trace.schema import Kind

_WORK, _BARRIER, _JOIN = int(Kind.WORK), int(Kind.BARRIER), int(Kind.JOIN)
_NOTHING = 0
_GLOBAL_KINDS = np.array([Kind.ASYNC, Kind.STORE, Kind.ATOMIC], np.int64)  # by action
_SHARED_KINDS = np.array([Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC], np.int64)


@inlined
def _space(memory_class):
    return (memory_class - MEMORY) // ACTIONS


@inlined
def _action(memory_class):
    return (memory_class - MEMORY) % ACTIONS


@inlined
def _note(r, kind, site, mask, width, value):
    """Append an operation. A site of several kinds is of the last of them in Kind, in whichever order they come."""
    emit(r.operations, kind, site, mask, width, value)
    if r.site_kind[site] == NO_SITE or r.site_kind[site] < kind:
        r.site_kind[site] = kind


def end_run(r):
    """Append the work that has come together."""
    s = r.state
    if s.run_length:
        _note(r, _WORK, s.run_site, s.run_mask, _NOTHING, s.run_length)
        s.run_length = 0


def _waiting(r, register, count, mask):
    """The lanes that have to wait before they read `count` registers from this one on; noted as waited for."""
    waiting = np.int64(0)
    for index in range(register, min(register + count, ZERO_REGISTER)):
        lanes = r.pending[index] & mask
        r.pending[index] &= ~mask
        if lanes:
            for lane in range(LANES):
                if lanes >> lane & 1 and r.writer[index, lane] > r.joined[lane]:
                    r.joined[lane] = r.writer[index, lane]
                    waiting |= np.int64(1) << lane
    return waiting


def _join(r, site, mask):
    """Append a join of what the lanes of a mask have to wait for."""
    end_run(r)
    pool = r.operations.counts.pool
    at = pool
    for lane in range(LANES):
        if mask >> lane & 1:
            r.operations.pool[at] = r.issued[lane] - r.joined[lane]
            at += 1
    r.operations.counts.pool = at
    _note(r, _JOIN, site, mask, _NOTHING, pool)


@inlined
def _within(address, base):
    """An address of the window that begins at `base` as an offset; one that is an offset already stays."""
    return (address - base if base <= address < base + WINDOW else address) & WINDOW - 1


def _access(r, site, mask, width, space, action, destinations):
    """Append an access of the lanes of a mask, all to one space."""
    operations = r.operations
    c = r.configuration
    s = r.state
    pool = operations.counts.pool
    at = pool
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        address = r.addresses[lane]
        if space == SHARED:
            address = c.shared_site << 32 | _within(address, c.shared_base)
        elif space == LOCAL:
            # Neighbouring threads' words lie side by side, as the hardware has it.
            unit = np.int64(4)
            while unit < width:
                unit *= 2
            own = _within(address, c.local_window) & LOCAL_BYTES - 1
            thread = s.block * c.threads + LANES * s.warp + lane
            all_threads = c.grid_x * c.grid_y * c.grid_z * c.threads
            address = LOCAL_BASE + (own // unit * all_threads + thread) * unit + own % unit
        operations.pool[at] = address
        at += 1
    operations.counts.pool = at
    _note(r, _SHARED_KINDS[action] if space == SHARED else _GLOBAL_KINDS[action], site, mask, width, pool)
    if action == LOAD and space != SHARED:
        for lane in range(LANES):
            r.issued[lane] += mask >> lane & 1
        registers = max((width + 3) // 4, 1)
        for index in range(destinations):
            first = r.registers[0, index]
            for register in range(first, min(first + registers, ZERO_REGISTER)):
                r.pending[register] |= mask
                for lane in range(LANES):
                    if mask >> lane & 1:
                        r.writer[register, lane] = r.issued[lane]


def execute(r, pc, what, mask, width, destinations, sources):  # noqa: C901 - a case for each operation
    """What an instruction that has been read does."""
    c = r.configuration
    s = r.state
    site = c.first_site + 2 * pc  # of a join; the instruction's own is the next
    waiting = np.int64(0)
    for index in range(sources):
        register = r.registers[1, index]
        # What a store writes has its width; the register that is listed is the first.
        wide = what >= MEMORY and _action(what) != LOAD and index == sources - 1
        count = (width + 3) // 4 if wide and width > 4 else 1
        if count > 1 or r.pending[register] & mask:
            waiting |= _waiting(r, register, count, mask)
    if waiting:
        _join(r, site, waiting)
    for index in range(destinations):
        r.pending[r.registers[0, index]] &= ~mask
    site += 1
    if what == COMPUTE:
        if s.run_length and s.run_mask != mask:
            end_run(r)
        if not s.run_length:
            s.run_mask = mask
            s.run_site = site
        s.run_length += 1
        return
    end_run(r)
    if what == BARRIER:
        _note(r, _BARRIER, site, mask, _NOTHING, _NOTHING)
        for lane in range(LANES):  # a barrier waits for all asyncs
            if mask >> lane & 1:
                r.joined[lane] = r.issued[lane]
        return
    space = _space(what)
    shared = mask if space == SHARED else _NOTHING
    local = mask if space == LOCAL else _NOTHING
    if space == GENERIC:
        for lane in range(LANES):
            if mask >> lane & 1:
                if c.shared_base <= r.addresses[lane] < c.shared_end:
                    shared |= np.int64(1) << lane
                elif c.local_window <= r.addresses[lane] < c.local_end:
                    local |= np.int64(1) << lane
    for space in range(GENERIC):
        lanes = shared if space == SHARED else local if space == LOCAL else mask & ~(shared | local)
        if lanes:
            _access(r, site, lanes, width, space, _action(what), destinations)

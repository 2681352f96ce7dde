"""Cells of memory: who wrote and read them last, and what an access races with.

A word holds who: 1, the block (31 bits), the thread (10), the instruction (16), whether the value was the same. The
word behind it holds when: the block's generation (20), the thread's epoch (22), the time (22), or of what cp.async
wrote and of what copies in bulk and products read the thread's group of these, or of what a copy in bulk wrote its
engine (5) and that one's epoch (17).
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.copies import arrived, is_read, open_group
from simtmm.cuda.checks.ordering import known
from simtmm.cuda.checks.proxies import engine_epoch, has_arrived, is_fenced
from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    ALREADY,
    AT_ONCE,
    ATOMIC,
    BETWEEN_BLOCKS,
    BULK,
    BY_CP_ASYNC,
    CELL,
    COPIES,
    ENGINES,
    FIRST_READ,
    FIRST_WRITE,
    IN_BULK,
    OF_BLOCK,
    OF_PRODUCTS,
    PENDING_COPY,
    PRODUCT,
    RAW,
    RING,
    SECOND_READ,
    SECOND_WRITE,
    STRONG,
    THIRD_READ,
    TOP,
    UNDER_WAY,
    UNFENCED,
    VOLATILE,
    WAR,
    WAW,
    WITHIN_BLOCK,
    WITHIN_THREAD,
    WITHIN_WARP,
)
from simtmm.cuda.execution.layout import IN_SHARED, LANES
from simtmm.native import inlined

_SOMEBODY = 1 << 60
_BY_WRITE = 1 << 58  # of what copies in bulk wrote


def touch(log, at, mask, s, memory, first, count, event, flags, where, address, size, thread, reads, writes, silent):  # noqa: C901, PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread accesses cells of memory: what it races with, and what is remembered. log, at, mask: of its warp."""
    slot = s.now.slot
    is_shared = where == IN_SHARED
    own = _SOMEBODY | s.now.number << 27 | thread << 17 | event << 1
    if is_shared and flags & BULK != 0 and writes:
        own |= _BY_WRITE
    generation = min(s.blocks[slot].generation, np.int64(0xFFFFF))
    epoch = min(s.threads[slot * s.sizes.threads + thread].epoch, np.int64(TOP))
    time = s.now.time
    if is_shared and flags & (COPIES | BULK | PRODUCT) != 0:
        time = number_of(s, slot, thread, flags, writes)
    when = generation << 44 | epoch << 22 | time
    reported = np.int64(0)
    for cell in range(first, first + count):
        # The same thread has read it, in this epoch: nothing is new.
        read_before = not writes and memory[cell, FIRST_READ] >> 17 == own >> 17
        read_before = read_before and memory[cell, FIRST_READ + 1] == when
        if read_before and (flags & STRONG != 0 or not is_strong(s, memory[cell, FIRST_READ])):
            continue
        if is_shared and is_stale(s, memory, cell):
            for column in range(CELL):
                memory[cell, column] = 0
        quiet = silent
        if is_shared and memory[cell, FIRST_WRITE] == 0:
            quiet = np.int64(0)  # nobody knows what lay there: that it was the same is a matter of luck
        for column in range(FIRST_WRITE, THIRD_READ + 1, 2):
            who = memory[cell, column]
            if who == 0 or (column >= FIRST_READ and not writes):
                continue
            by = between(s, slot, thread, column, who, memory[cell, column + 1], is_shared, flags)
            if by == 0:
                continue
            before = (who >> 1) & 0xFFFF
            if not conflicts(flags, plain_of(s.events[before]), by):
                continue
            kind = np.int64(WAR)
            harmless = quiet
            if column < FIRST_READ:
                kind = np.int64(RAW)
                harmless = who & 1
                if writes:
                    kind = np.int64(WAW)
                    harmless = quiet
            if (reported >> (2 * kind + harmless)) & 1 != 0:
                continue
            reported |= 1 << (2 * kind + harmless)
            is_same = kind == WAW and by == WITHIN_WARP and before == event
            if is_same and is_at_once(log, at, mask, (who >> 17) & (LANES - 1), thread & (LANES - 1), size):
                by = np.int64(AT_ONCE)
            note(
                s,
                kind,
                by,
                where,
                harmless,
                before,
                event,
                (who >> 27) & 0x7FFFFFFF,
                s.now.number,
                (who >> 17) & 1023,
                thread,
                address,
                size,
            )
        if writes:
            remember_write(s, memory, cell, own | quiet, when, flags)
        else:
            remember_read(s, memory, cell, own, when, slot, thread, is_shared, flags)


@inlined
def plain_of(flags):
    """The flags of an access; where it is of a copy in bulk, of what is copied and not of its mbarrier."""
    if flags & BULK != 0:
        flags &= BULK | ATOMIC
        if flags & ATOMIC != 0:
            flags |= STRONG
    return flags


@inlined
def number_of(s, slot, thread, flags, writes):
    """The group that an access is of, or its engine, as a cell holds it."""
    if flags & COPIES != 0:
        return open_group(s, slot, thread, np.int64(BY_CP_ASYNC))
    if flags & PRODUCT != 0:
        return open_group(s, slot, thread, np.int64(OF_PRODUCTS))
    if not writes:
        return open_group(s, slot, thread, np.int64(IN_BULK))
    if s.now.engine == 0:
        return np.int64(TOP)
    engine = s.now.engine - 1
    return engine_epoch(s, slot, engine) * ENGINES + engine


def relation(s, slot, thread, who, when, is_shared, flags):  # noqa: C901 - a compiled loop: a case for each kind of access
    """Who an earlier access is not ordered before: WITHIN_WARP, WITHIN_BLOCK or BETWEEN_BLOCKS, WITHIN_THREAD for a
    copy of the same thread, or UNDER_WAY; 0 where it is. flags: of the present access, which any thread of a warp may
    be ordered for if it is of a product.
    """
    block = (who >> 27) & 0x7FFFFFFF
    other = (who >> 17) & 1023
    generation = (when >> 44) & 0xFFFFF
    epoch = (when >> 22) & TOP
    if block == s.now.number:
        earlier = s.events[(who >> 1) & 0xFFFF]
        first, last = readers(s, thread, flags)
        if is_shared and s.sizes.has_copies != 0 and earlier & COPIES != 0:
            for one in range(first, last):
                if arrived(s, slot, one, other, np.int64(BY_CP_ASYNC), when & TOP) == ALREADY:
                    return np.int64(0)
            if other == thread:
                return np.int64(WITHIN_THREAD)
            state = arrived(s, slot, thread, other, np.int64(BY_CP_ASYNC), when & TOP)
            if state == PENDING_COPY or other // LANES != thread // LANES:
                return np.int64(WITHIN_BLOCK)
            return np.int64(WITHIN_WARP)
        if is_shared and earlier & (BULK | PRODUCT) != 0:
            if who & _BY_WRITE != 0:
                return np.int64(0) if has_arrived(s, slot, first, last, when & TOP) else np.int64(UNDER_WAY)
            kind = np.int64(IN_BULK) if earlier & BULK != 0 else np.int64(OF_PRODUCTS)
            return np.int64(0) if is_read(s, slot, thread, other, kind, when & TOP) else np.int64(UNDER_WAY)
        if other == thread or generation < s.blocks[slot].generation:
            return np.int64(0)
        for one in range(first, last):
            if one == other or epoch <= known(s, slot, one, other):
                return np.int64(0)
        return np.int64(WITHIN_WARP) if other // LANES == thread // LANES else np.int64(WITHIN_BLOCK)
    if is_shared:
        return np.int64(0)
    if s.sizes.communicates != 0:
        time = max(s.threads[slot * s.sizes.threads + thread].known, s.blocks[slot].known_time)
        published = s.published[block * s.sizes.threads + other]
        if ((when & TOP) < time or time == TOP) and (generation < s.generations[block] or epoch <= published):
            return np.int64(0)
    return np.int64(BETWEEN_BLOCKS)


@inlined
def readers(s, thread, flags):
    """The threads that an access is of: (the first, the one behind the last)."""
    first, last = thread, thread + 1
    if flags & PRODUCT != 0:
        first = thread // LANES * LANES
        last = min(first + LANES, s.sizes.threads)
    return first, last


def between(s, slot, thread, column, who, when, is_shared, flags):
    """Likewise, or UNFENCED where the async proxy need not see what a thread wrote, by the column of a write."""
    found = relation(s, slot, thread, who, when, is_shared, flags)
    if found == 0 and is_shared and flags & (BULK | PRODUCT) != 0 and column < FIRST_READ:
        found = unfenced(s, slot, thread, who, when, flags)
    return found


def unfenced(s, slot, thread, who, when, flags):
    """UNFENCED where the async proxy need not see what a thread wrote before; 0 where it does."""
    block = (who >> 27) & 0x7FFFFFFF
    other = (who >> 17) & 1023
    earlier = s.events[(who >> 1) & 0xFFFF]
    if block != s.now.number or earlier & (BULK | PRODUCT) != 0:
        return np.int64(0)
    generation = (when >> 44) & 0xFFFFF
    epoch = (when >> 22) & TOP
    if earlier & COPIES != 0:  # what counts is when they were waited for
        place = slot * s.sizes.threads + other
        group = when & TOP
        if s.copies[place, BY_CP_ASYNC, group % RING, 0] != group:
            return np.int64(0)
        generation = s.copies[place, BY_CP_ASYNC, group % RING, 1]
        epoch = s.copies[place, BY_CP_ASYNC, group % RING, 2]
    first, last = readers(s, thread, flags)
    return np.int64(0) if is_fenced(s, slot, first, last, other, generation, epoch) else np.int64(UNFENCED)


@inlined
def is_at_once(log, at, mask, other, lane, size):
    """Whether another lane has written what a lane writes by the same execution of an instruction, lanes in order."""
    apart = log[at + 1 + lane] - log[at + 1 + other]
    return other < lane and (mask >> other) & 1 != 0 and -size < apart and apart < size


@inlined
def conflicts(flags, before, who):
    """Whether two accesses that nothing orders race: strong ones do not, if their scopes have both threads, nor do
    they where a warp would have to run in lock step, as volatile ones ask for.
    """
    if flags & STRONG != 0 and before & STRONG != 0:
        if who == BETWEEN_BLOCKS:
            return (flags | before) & OF_BLOCK != 0
        return who == WITHIN_WARP and flags & VOLATILE != 0 and before & VOLATILE != 0
    return True


@inlined
def is_stale(s, memory, cell):
    """Whether a cell of shared memory was last accessed by a block that had it before."""
    who = memory[cell, FIRST_WRITE]
    if who == 0:
        who = memory[cell, FIRST_READ]
    return who != 0 and (who >> 27) & 0x7FFFFFFF != s.now.number


@inlined
def is_strong(s, who):
    """Whether an access that a cell remembers is strong."""
    return plain_of(s.events[(who >> 1) & 0xFFFF]) & STRONG != 0


@inlined
def remember_write(s, memory, cell, own, when, flags):
    """The last that wrote, and before it another, which changed what lay there.

    Strong writes do not race with one another: one takes neither the place of a plain write that others may race with,
    nor of plain reads. An atomic reads what a strong write left, and so is ordered behind it.
    """
    last = memory[cell, FIRST_WRITE]
    second = memory[cell, SECOND_WRITE]
    strong = flags & STRONG != 0
    behind_plain = strong and last != 0 and not is_strong(s, last)
    changes_too = own & 1 == 0 or last & 1 != 0
    gives_way = last == 0 or (last & 1 != 0 and own & 1 != 0)
    gives_way = gives_way or (changes_too and (last >> 17 == own >> 17 or flags & ATOMIC != 0))
    if strong and not behind_plain and second != 0 and not is_strong(s, second):
        is_over = (second >> 27) & 0x7FFFFFFF == s.now.number
        is_over = is_over and (memory[cell, SECOND_WRITE + 1] >> 44) & 0xFFFFF < s.blocks[s.now.slot].generation
        gives_way = gives_way or (changes_too and not is_over)
    if behind_plain or not gives_way:
        memory[cell, SECOND_WRITE] = last
        memory[cell, SECOND_WRITE + 1] = memory[cell, FIRST_WRITE + 1]
    memory[cell, FIRST_WRITE] = own
    memory[cell, FIRST_WRITE + 1] = when
    for column in range(FIRST_READ, THIRD_READ + 1, 2):
        if not strong or (memory[cell, column] != 0 and is_strong(s, memory[cell, column])):
            memory[cell, column] = 0


@inlined
def remember_read(s, memory, cell, own, when, slot, thread, is_shared, flags):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Three that have read; where there are more, one that this one knows of gives way, or one of its warp."""
    chosen = np.int64(-1)
    for column in range(FIRST_READ, THIRD_READ + 1, 2):
        is_own = memory[cell, column] >> 17 == own >> 17
        if chosen < 0 and is_own and (flags & STRONG == 0 or is_strong(s, memory[cell, column])):
            chosen = np.int64(column)
    if chosen < 0:
        for column in range(FIRST_READ, THIRD_READ + 1, 2):
            if chosen < 0 and (
                memory[cell, column] == 0
                or relation(s, slot, thread, memory[cell, column], memory[cell, column + 1], is_shared, np.int64(0))
                == 0
            ):
                chosen = np.int64(column)
    if chosen < 0:
        chosen = np.int64(SECOND_READ) if memory[cell, THIRD_READ] >> 22 != own >> 22 else np.int64(THIRD_READ)
    memory[cell, chosen] = own
    memory[cell, chosen + 1] = when

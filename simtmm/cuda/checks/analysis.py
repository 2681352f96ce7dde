"""The loop over a log for checks (simtmm/cuda/execution/runtime/check_log.py): races, reads of uninitialised memory,
and barriers that threads miss.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.accesses import access, bulk
from simtmm.cuda.checks.barriers import arrive, leave, reset
from simtmm.cuda.checks.copies import groups
from simtmm.cuda.checks.ordering import fence, gather
from simtmm.cuda.checks.proxies import fence_proxy
from simtmm.cuda.checks.state import (
    BLOCK_FENCE,
    ENGINES,
    EPOCH,
    FAR,
    FREE,
    GENERATION,
    HAS_PROXY,
    HAS_VECTORS,
    KNOWN_TIME,
    LIVING,
    NUMBER,
    OF_STAMP,
    OF_THREAD,
    SLOT,
    STAMP,
    THREADS,
    TOP,
    WARP,
    WARP_EPOCH,
)
from simtmm.cuda.execution.layout import (
    ALL_BARRIERS,
    CHECK_BULK_BIT,
    CHECK_SPACE_BIT,
    CHECK_WIDTH_BIT,
    CHECK_WRITE_BIT,
    COPIES_COMMITTED,
    FENCE_BLOCK,
    FENCE_DEVICE,
    LANES,
    LEAVING,
    LOG_ENTRY,
    NEW_BLOCK,
    NEW_WARP,
    PROXY_FENCE,
    SAME_VALUE,
    SYNCHRONISES,
)
from simtmm.cuda.log_events import mask_of, site_of
from simtmm.native import Loop

_ENTRY = LOG_ENTRY // 8
_NUMBER = (1 << CHECK_WIDTH_BIT) - 1


def analyse(log, s):  # noqa: C901 - a compiled loop: a case for each kind of entry
    """Go through a piece of a log."""
    at = np.int64(0)
    while at < len(log):
        site = site_of(log[at])
        mask = mask_of(log[at])
        if site >= 0:
            if (site >> CHECK_SPACE_BIT) & 3 == SYNCHRONISES:
                if (site >> CHECK_WRITE_BIT) & 1 != 0:
                    arrive(log, at, site & _NUMBER, mask, s)
                    at += 3 * _ENTRY
                else:
                    gather(log, at, site & _NUMBER, mask, s)
                    at += _ENTRY
                continue
            if (site >> CHECK_BULK_BIT) & 1 != 0:
                bulk(log, at, site, mask, s)
                at += 3 * _ENTRY
                continue
            same = np.int64(0)
            behind = at + _ENTRY
            if behind < len(log) and site_of(log[behind]) == SAME_VALUE:
                same = mask_of(log[behind])
            access(log, at, site, mask, same, s)
            at = behind
        elif site == NEW_BLOCK:
            begin(log[at + 1], s)
            at += 2
        else:
            if site == NEW_WARP:
                s.now[WARP] = mask * LANES
            elif site in (FENCE_BLOCK, FENCE_DEVICE):
                fence(mask, site == FENCE_DEVICE, s)
            elif site == LEAVING:
                leave(mask, s)
            elif site == PROXY_FENCE:
                fence_proxy(mask, s)
            elif site <= COPIES_COMMITTED:
                groups(site, mask, s)
            at += 1
    return 0


def begin(number, s):
    """A block begins, or goes on."""
    s.now[NUMBER] = number
    if s.slot_of[number] == 0:
        s.now[FREE] -= 1
        slot = s.free[s.now[FREE]]
        s.slot_of[number] = slot + 1
        s.now[STAMP] += 1
        s.blocks[slot, GENERATION] = 0
        s.blocks[slot, LIVING] = s.sizes[THREADS]
        s.blocks[slot, OF_STAMP] = s.now[STAMP]
        s.blocks[slot, FAR] = 0
        s.blocks[slot, KNOWN_TIME] = 0
        first = slot * s.sizes[THREADS]
        # What others know of this slot's threads is of epochs that are over.
        again = s.threads[first, EPOCH] > TOP // 2
        for thread in range(s.sizes[THREADS]):
            s.threads[first + thread, EPOCH] += 1
            for column in range(BLOCK_FENCE, OF_THREAD):
                s.threads[first + thread, column] = 0
            again = again or s.threads[first + thread, EPOCH] > TOP // 2
        if again:
            for thread in range(s.sizes[THREADS]):
                s.threads[first + thread, EPOCH] = 1
                s.threads[first + thread, WARP_EPOCH] = 0
                if s.sizes[HAS_VECTORS] != 0:
                    for other in range(s.sizes[THREADS]):
                        s.vectors[slot, thread, other] = 0
        if s.sizes[HAS_PROXY] != 0:
            for engine in range(ENGINES):
                s.engine_now[slot, engine, 0] = 1
                s.engine_now[slot, engine, 1] = 0
                for thread in range(s.sizes[THREADS]):
                    s.engines[slot, thread, engine] = 0
        for barrier in range(ALL_BARRIERS):
            reset(slot, barrier, s)
    s.now[SLOT] = np.int64(s.slot_of[number]) - 1


ANALYSE = Loop(analyse, what="the checks")

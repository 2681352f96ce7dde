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
    ENGINES,
    TOP,
    OfThread,
    Tables,
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
from simtmm.cuda.log.loops import mask_of, site_of
from simtmm.native import Loop

_ENTRY = LOG_ENTRY // 8
_NUMBER = (1 << CHECK_WIDTH_BIT) - 1


def analyse(log, s: Tables):  # noqa: C901 - a compiled loop: a case for each kind of entry
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
                s.now.warp = mask * LANES
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
    s.now.number = number
    if s.slot_of[number] == 0:
        s.now.free -= 1
        slot = s.free[s.now.free]
        s.slot_of[number] = slot + 1
        s.now.stamp += 1
        s.blocks[slot].generation = 0
        s.blocks[slot].living = s.sizes.threads
        s.blocks[slot].of_stamp = s.now.stamp
        s.blocks[slot].far = 0
        s.blocks[slot].known_time = 0
        s.blocks[slot].pending_time = 0
        s.blocks[slot].has_fenced = 0
        first = slot * s.sizes.threads
        # What others know of this slot's threads is of epochs that are over.
        again = s.threads[first].epoch > TOP // 2
        for thread in range(s.sizes.threads):
            s.threads[first + thread].epoch += 1
            for column in range(OfThread.block_fence, len(OfThread)):
                s.threads[first + thread, column] = 0
            again = again or s.threads[first + thread].epoch > TOP // 2
        if again:
            for thread in range(s.sizes.threads):
                s.threads[first + thread].epoch = 1
                s.threads[first + thread].warp_epoch = 0
                if s.sizes.has_vectors != 0:
                    for other in range(s.sizes.threads):
                        s.vectors[slot, thread, other] = 0
        if s.sizes.has_proxy != 0:
            for engine in range(ENGINES):
                s.engine_now[slot, engine, 0] = 1
                s.engine_now[slot, engine, 1] = 0
                for thread in range(s.sizes.threads):
                    s.engines[slot, thread, engine] = 0
        for barrier in range(ALL_BARRIERS):
            reset(slot, barrier, s)
    s.now.slot = np.int64(s.slot_of[number]) - 1


ANALYSE = Loop(analyse, what="the checks")

"""What warps do at mbarriers, and the products that their group begins, as operations."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.schema import (
    MOST_PRODUCT_GROUPS,
    PRODUCT_COMMIT,
    PRODUCT_WAIT,
    REGISTERS,
    STORES_COMMIT,
    STORES_WAIT,
)
from simtmm.trace.warps.arrivals import spend
from simtmm.trace.warps.holding import put
from simtmm.trace.warps.layout import Warp
from simtmm.trace.warps.places import place_at_mbarrier
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    ARRIVE_COPIED,
    COMPLETE,
    COMPLETE_MULTICAST,
    COMPLETE_SENT,
    DRAIN,
    EXPECT,
    FINISH,
    GIVE_REGISTERS,
    MBARRIER,
    MEET,
    MOST_MBARRIER_COUNT,
    MOST_MBARRIER_NUMBER,
    MOST_REGISTERS,
    MOST_UNDRAINED,
    MOST_UNFINISHED,
    NUMBER_SHIFT,
    PRODUCT,
    STORE_GROUP,
    TAKE_REGISTERS,
)


def use_mbarriers(walk, w, lanes, output, place):
    """An operation for each thing that lanes do: what counts, counts for each of them that does it."""
    for lane in range(lanes):
        what = walk.value[lane] >> NUMBER_SHIFT
        is_known = False
        for before in range(lane):
            if walk.value[before] >> NUMBER_SHIFT == what:
                is_known = True
                break
        if is_known:
            continue
        count = walk.value[lane] & MOST_MBARRIER_COUNT
        action = walk.value[lane] >> ACTION_SHIFT
        if action in (ARRIVE, EXPECT, COMPLETE, COMPLETE_SENT, COMPLETE_MULTICAST, ARRIVE_COPIED):
            for other in range(lane + 1, lanes):
                if walk.value[other] >> NUMBER_SHIFT == what:
                    count += walk.value[other] & MOST_MBARRIER_COUNT
        own = place
        if walk.rules.places != 0 and action != MEET:
            own = place_at_mbarrier(walk, place, what & MOST_MBARRIER_NUMBER)
        put(walk, w, output, MBARRIER, (what << NUMBER_SHIFT) + min(count, np.int64(MOST_MBARRIER_COUNT)), own)
    spend(walk, w, walk.rules.longest)


@inlined
def multiply(walk, w, site, value, output, place):
    """A product begins, those so far are a group, or those of all groups but the latest are waited for; or likewise of
    stores in bulk. Or the warp's threads have so many registers from there on.
    """
    begun = walk.warp[w].products
    if value == 0:
        if site < walk.product.shape[0] and walk.product[site] != 0:
            walk.warp[w].products = begun + 1
            put(walk, w, output, PRODUCT, walk.product[site], place)
    elif value == PRODUCT_COMMIT:
        groups = walk.warp[w].product_groups
        walk.warp[w, Warp.product_ends + groups % MOST_PRODUCT_GROUPS] = begun
        walk.warp[w].product_groups = groups + 1
    elif value == STORES_COMMIT:
        put(walk, w, output, STORE_GROUP, 0, place)
    elif value >= REGISTERS:
        wanted = min(value - REGISTERS, np.int64(MOST_REGISTERS))
        has = walk.warp[w].registers
        if has > 0 and wanted != has:
            what = np.int64(TAKE_REGISTERS if wanted > has else GIVE_REGISTERS)
            put(walk, w, output, what, max(wanted - has, has - wanted), place)
            walk.warp[w].registers = wanted
    elif value >= STORES_WAIT:
        put(walk, w, output, DRAIN, min(value - STORES_WAIT, np.int64(MOST_UNDRAINED)), place)
        spend(walk, w, walk.rules.longest)
    else:
        groups = walk.warp[w].product_groups - (value - PRODUCT_WAIT)
        if groups > 0 and begun > 0:
            last = walk.warp[w, Warp.product_ends + (groups - 1) % MOST_PRODUCT_GROUPS]
            if last > 0:
                put(walk, w, output, FINISH, min(begun - last, np.int64(MOST_UNFINISHED)), place)
        spend(walk, w, walk.rules.longest)

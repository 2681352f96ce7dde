"""Products of matrices that a group's pipes do while the warps go on (section 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.last_waits import note_wait
from simtmm.engine.fast.attribution.stalls import INSTRUCTION, PIPE_QUEUE, book
from simtmm.engine.fast.attribution.units import note_unit
from simtmm.engine.fast.layout import (
    GROUP_BANKS_FREE,
    GROUP_LAST,
    GROUP_SHARED_BANKS,
    P_PIPED,
    P_PRODUCT_LATENCY,
    P_PRODUCT_PIPES,
    P_PRODUCT_STEP,
    P_SHARED_APART,
    P_SHARED_PASS,
    P_SLOTS,
    PRODUCT_FINISH,
    PRODUCT_OWN,
    PRODUCT_PLACE,
    WARP_PRODUCTS,
)
from simtmm.timeline import COPIES
from simtmm.workload import LISTED, STEPS_SHIFT


def begin_product(s, g, slot, amount, place, t):
    """Have matrices multiplied by the pipe of the warp's slot."""
    w = g * s.parameters[P_SLOTS] + slot
    steps = amount & LISTED
    passes = amount >> STEPS_SHIFT
    taken = steps * s.parameters[P_PRODUCT_STEP]
    pipes = s.parameters[P_PRODUCT_PIPES]
    last = t
    if passes > 0 and s.parameters[P_PIPED] != 0:
        banks = GROUP_SHARED_BANKS if s.parameters[P_SHARED_APART] != 0 else GROUP_BANKS_FREE
        last = max(t, s.group[g, banks]) + passes * s.parameters[P_SHARED_PASS]
        s.group[g, banks] = last
        taken = max(taken, pipes * passes * s.parameters[P_SHARED_PASS])
    pipe = g * pipes + slot % pipes
    begin = max(t, s.product_free[pipe])
    end = begin + taken
    note_unit(s, g, w, COPIES + 1 + slot % pipes, begin, end)
    s.product_free[pipe] = end
    finish = end + s.parameters[P_PRODUCT_LATENCY]
    row = s.warp[w, WARP_PRODUCTS] & (s.products.shape[1] - 1)
    s.warp[w, WARP_PRODUCTS] += 1
    s.products[w, row, PRODUCT_FINISH] = finish
    s.products[w, row, PRODUCT_OWN] = taken + s.parameters[P_PRODUCT_LATENCY]
    s.products[w, row, PRODUCT_PLACE] = place
    s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], finish, last)


def book_product_wait(s, g, w, row, ticks):
    """Book a wait for the product that is kept in a row of the warp's; the reason of most of it."""
    finish = s.products[w, row, PRODUCT_FINISH]
    note_wait(s, w, finish - ticks, finish, np.int64(PIPE_QUEUE))
    latency = min(ticks, s.products[w, row, PRODUCT_OWN])
    place = s.products[w, row, PRODUCT_PLACE]
    book(s, g, place, INSTRUCTION, latency)
    book(s, g, place, PIPE_QUEUE, ticks - latency)
    return np.int64(INSTRUCTION) if 2 * latency >= ticks else np.int64(PIPE_QUEUE)

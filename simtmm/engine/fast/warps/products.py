"""Products of matrices that a group's pipes do while the warps go on (section 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.last_waits import note_wait
from simtmm.engine.fast.attribution.stalls import INSTRUCTION, PIPE_QUEUE, book
from simtmm.engine.fast.attribution.units import note_unit
from simtmm.engine.fast.memory.pipe import take_banks
from simtmm.timeline import COPIES
from simtmm.workload import LISTED, STEPS_SHIFT


def begin_product(s, g, slot, amount, place, t):
    """Have matrices multiplied by the pipe of the warp's slot."""
    w = g * s.parameters.slots + slot
    steps = amount & LISTED
    passes = amount >> STEPS_SHIFT
    taken = steps * s.parameters.product_step
    pipes = s.parameters.product_pipes
    if passes > 0 and s.parameters.piped != 0:
        take_banks(s, g, passes, t)
        taken = max(taken, pipes * passes * s.parameters.shared_pass)
    pipe = g * pipes + slot % pipes
    begin = max(t, s.product_free[pipe])
    end = begin + taken
    note_unit(s, g, w, COPIES + 1 + slot % pipes, begin, end)
    s.product_free[pipe] = end
    finish = end + s.parameters.product_latency
    row = s.warp[w].products & (s.products.shape[1] - 1)
    s.warp[w].products += 1
    s.products[w, row].finish = finish
    s.products[w, row].own = taken + s.parameters.product_latency
    s.products[w, row].place = place
    s.group[g].last = max(s.group[g].last, finish)


def book_product_wait(s, g, w, row, ticks):
    """Book a wait for the product that is kept in a row of the warp's; the reason of most of it."""
    finish = s.products[w, row].finish
    note_wait(s, w, finish - ticks, finish, np.int64(PIPE_QUEUE))
    latency = min(ticks, s.products[w, row].own)
    place = s.products[w, row].place
    book(s, g, place, INSTRUCTION, latency)
    book(s, g, place, PIPE_QUEUE, ticks - latency)
    return np.int64(INSTRUCTION) if 2 * latency >= ticks else np.int64(PIPE_QUEUE)

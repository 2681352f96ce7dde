"""Registers that warps of a block give back, and others take (section 3)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.attribution.group_time import turn
from simtmm.engine.fast.attribution.stalls import book
from simtmm.engine.fast.layout import MEMORY, MEMORY_TICKS, Group
from simtmm.engine.fast.ports.scheduler import push
from simtmm.stalls import Reason

REGISTERS = int(Reason.REGISTERS)


def give_registers(s, g, slot, count, t):
    """A warp gives so many of each thread; others that sleep for some take them, oldest first."""
    base = g * s.parameters.slots
    b = s.warp[base + slot].block
    ports = s.parameters.ports
    pool = slot % ports
    s.pools[b, pool] += count
    other = s.block[b].first
    while other >= 0:
        w = base + other
        wanted = s.warp[w].wants
        if wanted > 0 and other % ports == pool and wanted <= s.pools[b, pool]:
            s.pools[b, pool] -= wanted
            s.warp[w].wants = 0
            wakes = t + s.parameters.cycle
            book(s, g, s.warp[w].awaits_place, REGISTERS, wakes - s.warp[w].since)
            push(s, MEMORY_TICKS, g, wakes, other, Group.memory_tail, Group.memory_head)
        other = s.warp[w].next


def take_registers(s, g, slot, count, place, t):
    """Whether a warp sleeps until there are as many, as it does if there are fewer; else it takes them."""
    w = g * s.parameters.slots + slot
    b = s.warp[w].block
    pool = slot % s.parameters.ports
    if s.pools[b, pool] >= count:
        s.pools[b, pool] -= count
        return False
    s.warp[w].wants = count
    s.warp[w].since = t
    s.warp[w].awaits_place = place
    turn(s, g, w, MEMORY, place, REGISTERS, t)
    s.group[g].memory += 1
    return True

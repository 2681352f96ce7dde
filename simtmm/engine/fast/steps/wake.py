"""The ends of waits: when the next one is, warps that wake advance, and what the next ones need is fetched beforehand
(section 2).
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import MEMORY_SLOTS, MEMORY_TICKS, NEVER, OTHER_SLOTS, OTHER_TICKS, OWN, Warp
from simtmm.engine.fast.warps.advance import settle
from simtmm.native import inlined, prefetch

SOON = 4  # operations later, half a cache line of amounts: it may be the next one


@inlined
def fetch_next(s, g, head):
    """Have what the warps that wake next need brought into the cache.

    Thousands of warps read their lists in turns, too many for the hardware to see where each goes on.
    """
    mask = s.parameters.ring - 1
    left = s.group[g].memory_tail - head
    base = g * s.parameters.slots
    if left > 0:
        w = base + s.rings[g, MEMORY_SLOTS, head & mask]
        position = s.warp[w].position
        prefetch(s.kind, position)
        prefetch(s.amount, position)
        prefetch(s.amount, position + SOON)
        prefetch(s.chunks, s.warp[w].chunk)
        prefetch(s.chunks, s.warp[w].chunk + SOON)
        if s.parameters.sectors > 1:
            prefetch(s.sectors, s.warp[w].chunk)
        if s.finishes.shape[0] > 1:
            prefetch(s.finishes, w, 0)
    if left > 1:
        w = base + s.rings[g, MEMORY_SLOTS, (head + 1) & mask]
        prefetch(s.warp, w, Warp.position)
        prefetch(s.warp, w, Warp.untaken)


@inlined
def older_in_others(s, g, row, other, t):
    """Whether the first of the other wake-ups is due, and of an older warp than that in a row of memory's."""
    mask = s.parameters.ring - 1
    if other >= s.group[g].other_tail or s.rings[g, OTHER_TICKS, other & mask] > t:
        return False
    base = g * s.parameters.slots
    age = s.warp[base + s.rings[g, OTHER_SLOTS, other & mask]].age
    return age < s.warp[base + s.rings[g, MEMORY_SLOTS, row]].age


@inlined
def wake_warps(s, order, g, t):
    """Phase 2 for a group: warps whose sleep ends now advance. Their order may show: is_ordered of launches/part.py."""
    mask = s.parameters.ring - 1
    while True:
        head = s.group[g].memory_head
        other = s.group[g].other_head
        others_first = False
        if s.parameters.ordered != 0:
            others_first = head < s.group[g].memory_tail and older_in_others(s, g, head & mask, other, t)
        if head < s.group[g].memory_tail and s.rings[g, MEMORY_TICKS, head & mask] <= t and not others_first:
            slot = s.rings[g, MEMORY_SLOTS, head & mask]
            s.group[g].memory_head = head + 1
            s.group[g].memory -= 1
            fetch_next(s, g, head + 1)
        elif other < s.group[g].other_tail and s.rings[g, OTHER_TICKS, other & mask] <= t:
            slot = s.rings[g, OTHER_SLOTS, other & mask]
            s.group[g].other_head = other + 1
        else:
            break
        settle(s, order, g, slot, t)


@inlined
def next_tick(s, order, g):
    """When something happens in the group next."""
    mask = s.parameters.ring - 1
    ports = s.parameters.ports
    t = NEVER
    if s.group[g].held > 0:
        for p in range(g * ports, g * ports + ports):
            t = min(t, s.port[p].release)
    head = s.group[g].memory_head
    if head < s.group[g].memory_tail:
        t = min(t, s.rings[g, MEMORY_TICKS, head & mask])
    head = s.group[g].other_head
    if head < s.group[g].other_tail:
        t = min(t, s.rings[g, OTHER_TICKS, head & mask])
    if order == OWN:
        t = min(t, s.asked[g].until)
    return t

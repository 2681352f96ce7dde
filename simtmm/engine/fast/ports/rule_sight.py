"""What a user's rule sees of warps, kept as it changes (docs/schedulers.md)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import START, Asked
from simtmm.engine.own_rule.columns import Seen


def see(s, g, slot, number, block):
    """A warp is placed in a slot: the one that had it may still be the one that was granted a port last."""
    ports = s.parameters.ports
    w = g * s.parameters.slots + slot
    for index in range(ports if s.parameters.own_ports != 0 else 1):
        if s.asked[g, Asked.last + index] == w:
            ghost = s.parameters.groups * s.parameters.slots + g * ports + index
            for column in range(len(Seen)):
                s.seen[ghost, column] = s.seen[w, column]
            s.asked[g, Asked.last + index] = ghost
    s.seen[w].number = number
    s.seen[w].age = s.parameters.age
    s.seen[w].slot = slot
    s.seen[w].ready_time = -1
    s.seen[w].block = block
    s.seen[w].state = START
    s.seen[w].operation = 0
    s.seen[w].issued = 0
    s.seen[w].hits = 0
    s.seen[w].misses = 0
    count = s.asked[g].living
    s.living[g, count] = w
    s.asked[g].living = count + 1


def lose(s, g, w):
    """A warp lives no more; those behind it move up."""
    count = s.asked[g].living - 1
    s.asked[g].living = count
    at = count
    moved = s.living[g, count]
    while moved != w:
        at -= 1
        before = s.living[g, at]
        s.living[g, at] = moved
        moved = before

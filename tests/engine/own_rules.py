"""Scheduling rules for tests of both engines: whatever an engine lets them see, they put into what they answer."""

from simtmm.rules import Idle

WORDS = ("start", "ready", "issuing", "pipeline", "memory", "barrier", "pause")
KINDS = ("compute", "load", "store", "atomic", "shared", "async", "reduce", "copy")
PRIME = 1_000_003


def of_state(warp):
    for index in range(7):
        if warp.state == "start" and index == 0:
            return 11
        if warp.state == "ready" and index == 1:
            return 12
    if warp.state == "issuing":
        return 13
    if warp.state == "pipeline":
        return 14
    if warp.state == "memory":
        return 15
    return 16 if warp.state == "barrier" else 17


def of_operation(warp):
    if warp.operation == "compute":
        return 21
    if warp.operation in ("load", "store", "async"):
        return 22 + (warp.operation == "load") + 2 * (warp.operation == "store")
    return 30 if warp.operation else 31


def digest(warp):
    """A number of all that a rule sees of a warp."""
    found = warp.number * 3 + warp.age * 5 + warp.slot * 7 + warp.ready_time * 11 + warp.block * 13
    found += warp.issued * 17 + warp.hits * 19 + warp.misses * 23
    return (found + of_state(warp) * 29 + of_operation(warp) * 31) % PRIME


class SeesAll:
    """Remembers all that it ever saw, and grants, waits or holds back as that falls out."""

    def __init__(self):
        self.memory = 1

    def __call__(self, ready, group):
        self.memory = (self.memory * 31 + group.number * 3 + group.now * 5 + group.cycle) % PRIME
        for warp in group.warps:
            self.memory = (self.memory * 37 + digest(warp)) % PRIME
        for warp in ready:
            self.memory = (self.memory * 41 + digest(warp)) % PRIME
        last = group.granted_last
        if last is not None:
            self.memory = (self.memory * 43 + digest(last) + (last in ready) + 2 * (last in group.warps)) % PRIME
        if self.memory % 5 == 0:
            return Idle(group.now + 1 + self.memory % 9)
        if self.memory % 7 == 0 and len(group.warps) > len(ready):
            return None
        return ready[self.memory % len(ready)]


def sees_all(ready, group):
    """The same without a memory."""
    found = group.now + sum(digest(warp) for warp in group.warps) % PRIME
    if group.granted_last:
        found += digest(group.granted_last)
    if found % 4 == 0:
        return Idle(until=group.now + 1 + found % 3)
    order = sorted(ready, key=lambda warp: (digest(warp) * found % 101, -warp.age))
    return order[found % len(order)]

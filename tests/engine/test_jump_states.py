"""States of a group that jumps compare: what makes two of them differ, and how far they say that one goes on.

The functions run as Python here, each on arrays with a number of its own in every place.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.engine.fast import layout
from simtmm.engine.fast.layout import (
    GROUP_BARRIER,
    GROUP_BLOCKS,
    GROUP_DONE_WARPS,
    GROUP_GRANTED_AGE,
    GROUP_GRANTED_SLOT,
    GROUP_HELD,
    GROUP_LIVING,
    GROUP_MEMORY_HEAD,
    GROUP_MEMORY_TAIL,
    GROUP_OTHER_HEAD,
    GROUP_OTHER_TAIL,
    GROUP_QUEUE_HEAD,
    GROUP_READY,
    GROUP_ROW,
    GROUP_WARPS,
    KEPT,
    KEPT_OF_PORT,
    KEPT_TICK,
    MEMORY_TICKS,
    NEVER,
    OTHER_SLOTS,
    OTHER_TICKS,
    P_BOOKS,
    P_DEPTH,
    P_FIRST_BLOCK,
    P_MOST_BLOCKS,
    P_OWN_PORTS,
    P_PIPES,
    P_PORTS,
    P_RING,
    P_ROOM,
    P_SLOTS,
    PORT_ACCESS,
    PORT_GRANTED,
    PORT_LAST_SLOT,
    PORT_RELEASE,
    PORT_WARP,
    QUEUE,
    QUEUED,
    R_LAST_BLOCK,
    R_PENDING,
    READY_SLOTS,
    WARP_COMPUTED,
    WARP_FILLED,
    WARP_POSITION,
)  # fmt: skip
from simtmm.engine.fast.steps import jump

GROUPS, G, PORTS, PIPES, SLOTS, RING, WORDS = 2, 1, 3, 2, 5, 16, 2
HEAD, SLEEPING, DEPTH, T = 14, 4, 6, 1000  # a ring's positions go around it
SLOTTED = QUEUE + 1  # an order in which warps stand by their slots
OWN_PORTS = slice(G * PORTS, (G + 1) * PORTS)


def state():
    """A group, in which warps hold two of three ports, sleep a short and a long time, and wait."""
    numbers = np.random.default_rng(5)
    size = max(value for name, value in vars(layout).items() if name[:2] in ("P_", "R_")) + 1

    def drawn(*shape):
        return numbers.integers(1, 2**40, shape)

    s = SimpleNamespace(
        parameters=np.zeros(size, np.int64), group=drawn(GROUPS, GROUP_ROW),
        kept=drawn(GROUPS, KEPT + GROUP_ROW + 64 + 2 * RING), port=drawn(GROUPS * PORTS, 16),
        pipe_free=T + drawn(GROUPS * PIPES) % 9 - 4, rings=drawn(GROUPS, 8, RING), bits=drawn(GROUPS, 4, WORDS),
        warp=drawn(GROUPS * SLOTS, 32), kept_warp=drawn(GROUPS * SLOTS, 4), queued=drawn(GROUPS * SLOTS),
        amount=drawn(64), smallest=drawn(8),
    )  # fmt: skip
    for name, value in {
        P_PORTS: PORTS, P_PIPES: PIPES, P_SLOTS: SLOTS, P_RING: RING, P_DEPTH: DEPTH, P_OWN_PORTS: 1, P_BOOKS: 1,
    }.items():  # fmt: skip
        s.parameters[name] = value
    s.group[G, [GROUP_OTHER_HEAD, GROUP_OTHER_TAIL]] = HEAD, HEAD + SLEEPING
    s.group[G, [GROUP_QUEUE_HEAD, GROUP_READY]] = HEAD, 3
    s.group[G, [GROUP_MEMORY_HEAD, GROUP_MEMORY_TAIL]] = 7, 7
    s.port[OWN_PORTS, PORT_RELEASE] = T + 3, NEVER, T + 5
    s.rings[G, OTHER_TICKS, (HEAD + np.arange(SLEEPING)) % RING] = T, T + DEPTH, T + 90, T + 95
    return s


def later(s, ticks):
    """The group as far along some ticks later, with the numbers that tell nothing of it changed."""
    s.port[OWN_PORTS, PORT_RELEASE] += np.where(s.port[OWN_PORTS, PORT_RELEASE] != NEVER, ticks, 0)
    s.port[OWN_PORTS, PORT_GRANTED] += ticks
    s.pipe_free += ticks
    s.rings[G, OTHER_TICKS, [HEAD % RING, (HEAD + 1) % RING]] += ticks  # the others sleep on
    free = G * PORTS + 1
    s.port[free, [PORT_WARP, PORT_GRANTED, PORT_ACCESS]] += 1
    s.port[: G * PORTS] += 1
    s.bits[0] += 1
    return T + ticks


def outcome(change, order=SLOTTED, ticks=40, own_ports=1):
    s = state()
    s.parameters[P_OWN_PORTS] = own_ports
    assert jump.compare(s, order, G, T, np.int64(1)) == jump.RECURS
    t = later(s, ticks)
    change(s)
    return jump.compare(s, order, G, t, np.int64(0))


def more(array, *place):
    def change(s):
        getattr(s, array)[place] += 1

    return change


@pytest.mark.parametrize("order", [SLOTTED, QUEUE])
def test_a_group_recurs_as_long_as_the_long_sleepers_sleep_for_longer_than_a_pipeline(order):
    found = [outcome(lambda s: None, order, ticks) for ticks in (1, 40, 83, 84)]
    assert found == [jump.RECURS, jump.RECURS, jump.RECURS, jump.DIFFERS]  # 90 ticks, of which 6 are the pipeline's


OF_GROUP = (GROUP_HELD, GROUP_READY, GROUP_GRANTED_SLOT, GROUP_GRANTED_AGE)
PARTS = {
    **{f"group {column}": more("group", G, column) for column in OF_GROUP},
    "one more asleep": more("group", G, GROUP_OTHER_TAIL),
    **{
        f"port {port} {column}": more("port", G * PORTS + port, column)
        for port in (0, 2)
        for column in (PORT_RELEASE, PORT_WARP, PORT_GRANTED, PORT_LAST_SLOT, PORT_ACCESS)
    },
    "a free port's last slot": more("port", G * PORTS + 1, PORT_LAST_SLOT),
    **{
        f"sleeper {n}'s {row}": more("rings", G, row, (HEAD + n) % RING)
        for n in range(SLEEPING)
        for row in (OTHER_TICKS, OTHER_SLOTS)
    },
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_state_makes_it_differ(part):
    assert outcome(PARTS[part]) == outcome(PARTS[part], QUEUE) == jump.DIFFERS


@pytest.mark.parametrize("number", range(PIPES))
def test_a_pipe_differs_by_how_long_it_is_taken_and_not_since_when_it_is_free(number):
    at = G * PIPES + number

    def free(by):
        s = state()
        s.pipe_free[at] = T + by
        jump.compare(s, SLOTTED, G, T, np.int64(1))
        t = later(s, 10)
        s.pipe_free[at] += 1
        return jump.compare(s, SLOTTED, G, t, np.int64(0))

    assert [free(by) for by in (-2, -1, 0, 1)] == [jump.RECURS, jump.RECURS, jump.DIFFERS, jump.DIFFERS]


def test_whose_turn_it_is_differs_by_the_queue_or_by_slots_alone():
    for place in range(3):
        of_queue = more("rings", G, QUEUED, (HEAD + place) % RING)
        assert outcome(of_queue, QUEUE) == jump.DIFFERS
        assert outcome(of_queue) == jump.RECURS
    for word in range(WORDS):
        of_slots = more("bits", G, READY_SLOTS, word)
        assert outcome(of_slots) == jump.DIFFERS
        assert outcome(of_slots, QUEUE) == jump.RECURS


def test_ports_that_all_warps_share_have_no_last_slot():
    for port in range(PORTS):
        assert outcome(more("port", G * PORTS + port, PORT_LAST_SLOT), own_ports=0) == jump.RECURS


OF_WARPS = GROUP_LIVING, GROUP_DONE_WARPS, GROUP_BARRIER, GROUP_MEMORY_HEAD, GROUP_MEMORY_TAIL
GOES_ON = {
    **{f"group {c}": more("group", G, c) for c in OF_WARPS},
    **{f"warp {w} {c}": more("warp", G * SLOTS + w, c) for w in range(SLOTS) for c in (WARP_POSITION, WARP_FILLED)},
}


@pytest.mark.parametrize("part", GOES_ON)
def test_a_state_is_over_once_a_warp_has_gone_on(part):
    assert outcome(GOES_ON[part]) == jump.IS_OVER


def test_what_is_kept_of_warps_is_where_they_are():
    s = state()
    jump.compare(s, SLOTTED, G, T, np.int64(1))
    own = slice(G * SLOTS, None)
    columns = [s.warp[own, column] for column in (WARP_POSITION, WARP_COMPUTED, WARP_FILLED)]
    assert (s.kept_warp[own] == np.stack([*columns, s.queued[own]], axis=1)).all()
    assert s.kept[G, KEPT_TICK] == T
    assert (s.kept[G, KEPT : KEPT + GROUP_ROW] == s.group[G]).all()
    assert KEPT_OF_PORT == 5


def ahead(period, left=(), due=None, sleeps=(), blocks_fit=False):
    """Periods until a warp comes to its last instruction, an access is due, or a sleeper wakes: t is T.

    left: of each warp, instructions behind the present one and how many a period has. due: of an access. sleeps: of
    sleepers.
    """
    s = state()
    s.parameters[[R_PENDING, R_LAST_BLOCK, P_FIRST_BLOCK, P_MOST_BLOCKS, P_ROOM]] = (
        13,
        14 if blocks_fit else 13,
        10,
        8,
        20,
    )
    s.group[G, [GROUP_BLOCKS, GROUP_WARPS]] = 7, 16
    s.smallest[3] = 4
    s.warp[:, WARP_COMPUTED] = s.kept_warp[:, 1] = 50
    for w, (behind, done) in zip(range(G * SLOTS, (G + 1) * SLOTS), left, strict=False):
        s.warp[w, WARP_POSITION], s.kept_warp[w, 1] = w, 50 - done
        s.amount[w] = 50 + 1 + behind
    if due is not None:
        s.group[G, GROUP_MEMORY_TAIL] = 9
        s.rings[G, MEMORY_TICKS, 7] = T + due
        s.rings[G, MEMORY_TICKS, 8] = T  # only the first one counts
    s.pipe_free[:] = T
    s.group[G, GROUP_OTHER_TAIL] = HEAD + len(sleeps)
    for place, ticks in enumerate(sleeps):
        s.rings[G, OTHER_TICKS, (HEAD + place) % RING] = T + ticks
    return int(jump.periods_ahead(s, G, T, period))


@pytest.mark.parametrize("period", [7, 10])
@pytest.mark.parametrize("behind", [0, 1, 19, 20, 21, 39, 40])
def test_as_many_periods_are_ahead_as_end_before_anything_else_happens(period, behind):
    """Counted one by one: the last that ends no later than what is due then."""

    def last(is_before):
        return max(times for times in range(200) if times == 0 or is_before(times))

    long = 10 * period
    by_warps = last(lambda times: times * 4 <= behind)
    assert ahead(period, [(10**6, 1), (behind, 4), (3, 0)]) == by_warps
    due = last(lambda times: times * period <= behind)
    assert ahead(period, [(10**6, 1)], due=behind) == due
    for short in ([], [0], [DEPTH]):  # who waits out the pipeline goes on with the others
        wakes = last(lambda times: times * period <= DEPTH + 1 + behind)
        assert ahead(period, [(10**6, 1)], sleeps=[*short, DEPTH + 1 + behind, long]) == wakes
    assert ahead(period, [(behind, 4)], due=behind, sleeps=[DEPTH + 1 + behind]) == min(by_warps, due)


def test_nothing_recurs_where_no_warp_computes_or_a_block_could_come():
    assert ahead(10, [(40, 0)]) == 0
    assert ahead(10, [(40, 4)]) == 10
    assert ahead(10, [(40, 4)], blocks_fit=True) == 0

"""States of a group that jumps compare: what makes two of them differ, and how far they say that one goes on.

The functions run as Python here, each on arrays with a number of its own in every place.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.engine.fast.layout import (
    KEPT,
    KEPT_OF_PORT,
    MEMORY_TICKS,
    NEVER,
    OTHER_SLOTS,
    OTHER_TICKS,
    QUEUE,
    QUEUED,
    READY_SLOTS,
    Group,
    Kept,
    KeptWarp,
    Parameters,
    Port,
    Warp,
)  # fmt: skip
from simtmm.engine.fast.steps import jump
from simtmm.native import Rows

GROUPS, G, PORTS, PIPES, SLOTS, RING, WORDS = 2, 1, 3, 2, 5, 16, 2
HEAD, SLEEPING, DEPTH, T = 14, 4, 6, 1000  # a ring's positions go around it
SLOTTED = QUEUE + 1  # an order in which warps stand by their slots
OWN_PORTS = slice(G * PORTS, (G + 1) * PORTS)


def state():
    """A group, in which warps hold two of three ports, sleep a short and a long time, and wait."""
    numbers = np.random.default_rng(5)

    def drawn(*shape):
        return numbers.integers(1, 2**40, shape)

    s = SimpleNamespace(
        parameters=Rows(np.zeros(len(Parameters), np.int64), Parameters), group=Rows(drawn(GROUPS, len(Group)), Group),
        kept=Rows(drawn(GROUPS, KEPT + len(Group) + 64 + 2 * RING), Kept), port=Rows(drawn(GROUPS * PORTS, 16), Port),
        pipe_free=T + drawn(GROUPS * PIPES) % 9 - 4, rings=drawn(GROUPS, 8, RING), bits=drawn(GROUPS, 4, WORDS),
        warp=Rows(drawn(GROUPS * SLOTS, 32), Warp), kept_warp=Rows(drawn(GROUPS * SLOTS, 4), KeptWarp),
        queued=drawn(GROUPS * SLOTS), amount=drawn(64), smallest=drawn(8),
    )  # fmt: skip
    sizes = {"ports": PORTS, "pipes": PIPES, "slots": SLOTS, "ring": RING, "depth": DEPTH, "own_ports": 1, "books": 1}
    for name, value in sizes.items():
        setattr(s.parameters, name, value)
    s.group[G, [Group.other_head, Group.other_tail]] = HEAD, HEAD + SLEEPING
    s.group[G, [Group.queue_head, Group.ready]] = HEAD, 3
    s.group[G, [Group.memory_head, Group.memory_tail]] = 7, 7
    s.port[OWN_PORTS, Port.release] = T + 3, NEVER, T + 5
    s.rings[G, OTHER_TICKS, (HEAD + np.arange(SLEEPING)) % RING] = T, T + DEPTH, T + 90, T + 95
    return s


def later(s, ticks):
    """The group as far along some ticks later, with the numbers that tell nothing of it changed."""
    s.port[OWN_PORTS, Port.release] += np.where(s.port[OWN_PORTS, Port.release] != NEVER, ticks, 0)
    s.port[OWN_PORTS, Port.granted] += ticks
    s.pipe_free += ticks
    s.rings[G, OTHER_TICKS, [HEAD % RING, (HEAD + 1) % RING]] += ticks  # the others sleep on
    free = G * PORTS + 1
    s.port[free, [Port.warp, Port.granted, Port.access]] += 1
    s.port[: G * PORTS] += 1
    s.bits[0] += 1
    return T + ticks


def outcome(change, order=SLOTTED, ticks=40, own_ports=1):
    s = state()
    s.parameters[Parameters.own_ports] = own_ports
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


OF_GROUP = (Group.held, Group.ready, Group.granted_slot, Group.granted_age)
PARTS = {
    **{f"group {column}": more("group", G, column) for column in OF_GROUP},
    "one more asleep": more("group", G, Group.other_tail),
    **{
        f"port {port} {column}": more("port", G * PORTS + port, column)
        for port in (0, 2)
        for column in (Port.release, Port.warp, Port.granted, Port.last_slot, Port.access)
    },
    "a free port's last slot": more("port", G * PORTS + 1, Port.last_slot),
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
        assert outcome(more("port", G * PORTS + port, Port.last_slot), own_ports=0) == jump.RECURS


OF_WARPS = Group.living, Group.done_warps, Group.barrier, Group.memory_head, Group.memory_tail
GOES_ON = {
    **{f"group {c}": more("group", G, c) for c in OF_WARPS},
    **{f"warp {w} {c}": more("warp", G * SLOTS + w, c) for w in range(SLOTS) for c in (Warp.position, Warp.filled)},
}


@pytest.mark.parametrize("part", GOES_ON)
def test_a_state_is_over_once_a_warp_has_gone_on(part):
    assert outcome(GOES_ON[part]) == jump.IS_OVER


def test_what_is_kept_of_warps_is_where_they_are():
    s = state()
    jump.compare(s, SLOTTED, G, T, np.int64(1))
    own = slice(G * SLOTS, None)
    columns = [s.warp[own, column] for column in (Warp.position, Warp.computed, Warp.filled)]
    assert (s.kept_warp[own] == np.stack([*columns, s.queued[own]], axis=1)).all()
    assert s.kept[G, Kept.tick] == T
    assert (s.kept[G, KEPT : KEPT + len(Group)] == s.group[G]).all()
    assert KEPT_OF_PORT == 5


def ahead(period, left=(), due=None, sleeps=(), blocks_fit=False):
    """Periods until a warp comes to its last instruction, an access is due, or a sleeper wakes: t is T.

    left: of each warp, instructions behind the present one and how many a period has. due: of an access. sleeps: of
    sleepers.
    """
    s = state()
    s.parameters[
        [Parameters.pending, Parameters.last_block, Parameters.first_block, Parameters.most_blocks, Parameters.room]
    ] = (
        13,
        14 if blocks_fit else 13,
        10,
        8,
        20,
    )
    s.group[G, [Group.blocks, Group.warps]] = 7, 16
    s.smallest[3] = 4
    s.warp[:, Warp.computed] = s.kept_warp[:, 1] = 50
    for w, (behind, done) in zip(range(G * SLOTS, (G + 1) * SLOTS), left, strict=False):
        s.warp[w, Warp.position], s.kept_warp[w, 1] = w, 50 - done
        s.amount[w] = 50 + 1 + behind
    if due is not None:
        s.group[G, Group.memory_tail] = 9
        s.rings[G, MEMORY_TICKS, 7] = T + due
        s.rings[G, MEMORY_TICKS, 8] = T  # only the first one counts
    s.pipe_free[:] = T
    s.group[G, Group.other_tail] = HEAD + len(sleeps)
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

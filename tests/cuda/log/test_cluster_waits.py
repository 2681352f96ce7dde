"""Waits for other blocks of a cluster that would have no end are left out of a block's events, and no others."""

import numpy as np
import pytest

from simtmm.cuda.log.cluster_waits import without_endless_waits
from simtmm.trace.schema import EVENT, Kind
from simtmm.workload import ACTION_SHIFT, ARRIVE, AWAIT, COMPLETE, EXPECT, INIT, NUMBER_SHIFT, REMOTE_SHIFT

AWAY = 1  # at another block's mbarrier
NOTHING = (0, EXPECT, 0)


def block(*done):
    """Events of a thread each: (thread, action, count, AWAY), at mbarrier 8; others among them stay."""
    events = np.zeros(len(done) + 1, EVENT)
    events[-1] = (77, 0, 0, Kind.STORE, 4)
    for at, (thread, action, count, *away) in enumerate(done):
        value = (action << ACTION_SHIFT) + (8 << NUMBER_SHIFT) + (len(away) << REMOTE_SHIFT) + count
        events[at] = (value, 0, thread, Kind.MBARRIER, 0)
    return events


@pytest.mark.parametrize(
    "done",
    [
        # what the others do is what it does at theirs: one arrival each, and 32 bytes
        [(0, INIT, 2), (0, EXPECT, 32), (0, ARRIVE, 1), (1, ARRIVE, 1, AWAY), (1, COMPLETE, 32, AWAY), (2, AWAIT, 0)],
        # two phases, by itself alone
        [(0, INIT, 1), (0, ARRIVE, 1), (1, AWAIT, 0), (0, ARRIVE, 1), (1, AWAIT, 1)],
        # the first wait, of odd parity, is for a phase that is over
        [(0, INIT, 1), (1, AWAIT, 1), (0, ARRIVE, 1), (1, AWAIT, 0)],
        # nobody waits
        [(0, INIT, 4), (1, ARRIVE, 1, AWAY)],
        # initialised for one thing after the other, of which nothing is said here
        [(0, INIT, 4), (0, INIT, 2), (1, AWAIT, 0)],
    ],
)
def test_waits_that_end_stay(done):
    events = block(*done)
    before = events.copy()
    assert not without_endless_waits(events, np.array([len(events)]))
    assert (events == before).all()


@pytest.mark.parametrize(
    ("done", "left"),
    [
        # it is told by three others, and tells nobody: it waits no more
        ([(0, INIT, 3), (1, AWAIT, 0)], [(0, INIT, 3), NOTHING]),
        # it completes a phase, and waits for two
        ([(0, INIT, 1), (0, ARRIVE, 1), (1, AWAIT, 0), (1, AWAIT, 1)],
         [(0, INIT, 1), (0, ARRIVE, 1), NOTHING, NOTHING]),
        # it alone sends bytes, to all: those that others get are not taken to come to it as well
        ([(0, INIT, 1), (0, EXPECT, 8), (0, ARRIVE, 1), (0, COMPLETE, 8), (0, COMPLETE, 8, AWAY), (1, AWAIT, 0)],
         [(0, INIT, 1), (0, EXPECT, 8), (0, ARRIVE, 1), (0, COMPLETE, 8), NOTHING, (0, AWAIT, 0)]),
    ],
)  # fmt: skip
def test_waits_without_an_end_are_left_out(done, left):
    events = block(*done)
    assert without_endless_waits(events, np.array([len(events)]))
    expected = block(*left)
    assert events["value"].tolist() == expected["value"].tolist()
    assert events["kind"].tolist() == expected["kind"].tolist()


def test_each_block_is_seen_by_itself():
    fine = block((0, INIT, 1), (0, ARRIVE, 1), (1, AWAIT, 0))
    endless = block((0, INIT, 2), (0, ARRIVE, 1), (1, AWAIT, 0))
    events = np.concatenate([fine, endless, fine])
    assert without_endless_waits(events, np.array([4, 8, 12]))
    changed = np.flatnonzero(events["value"] != np.concatenate([fine, endless, fine])["value"])
    assert changed.tolist() == [6]

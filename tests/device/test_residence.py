"""What an L2 holds of launches' memory, as a program's own clock takes it."""

import numpy as np
import pytest

from simtmm.device.residence import LINE_BYTES, Beginning, FootprintOf, Residence
from simtmm.trace.schema import EVENT, Batch, Kind

WARM, EMPTY = Beginning.WARM, Beginning.EMPTY


def batch(*accesses):
    """Of (kind, address, bytes)."""
    events = np.zeros(len(accesses), EVENT)
    for event, (kind, address, size) in zip(events, accesses, strict=True):
        event["kind"], event["value"], event["bytes"] = int(kind), address, size
    return Batch(events, np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([len(events)], np.int64))


def footprint(*accesses, parts=1):
    collected = FootprintOf()
    for part in range(parts):
        collected.add(batch(*accesses[part::parts]))
    return collected.finish()


def reads(first, lines):
    return footprint(*((Kind.LOAD, first + LINE_BYTES * line, 4) for line in range(lines)))


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("far", [1 << 20, 1 << 47])  # beyond what a table of segments is made for, too
def test_a_footprint_has_each_line_once(parts, far):
    accesses = [
        (Kind.LOAD, 0, 4),
        (Kind.ASYNC, 64, 4),
        (Kind.STORE, 128, 4),
        (Kind.ATOMIC, far, 4),
        (Kind.LOAD, far, 8),
    ]
    found = footprint(*accesses, parts=parts)
    assert found.segments.tolist() == [0, far >> 16]
    assert found.lines.tolist() == [2, 1]
    assert (found.bytes, found.loads, found.stores, found.stored) == (3 * LINE_BYTES, 20, 4, LINE_BYTES)


def test_what_is_no_global_memory_has_no_footprint():
    own, none = 1 << 61, (Kind.SHARED_LOAD, Kind.WORK, Kind.BARRIER, Kind.LOCAL_LOAD, Kind.CONSTANT_LOAD)
    found = footprint((Kind.LOAD, own, 4), *((kind, 4096, 4) for kind in none))
    assert found.bytes == found.loads == found.stores == 0
    assert Residence(1 << 20).meets(found) == {WARM: 1.0}


def test_a_launch_finds_what_launches_before_it_left_as_far_as_there_is_room():
    residence = Residence(100 * LINE_BYTES)
    first, second, third = reads(0, 60), reads(1 << 20, 60), reads(0, 30)
    assert residence.meets(first) == {EMPTY: 1.0}
    assert residence.meets(first) == {WARM: 1.0}
    assert residence.meets(second) == {EMPTY: 1.0}
    assert residence.meets(third) == {WARM: 1.0}  # 60 lines were accessed since
    assert residence.meets(reads(1 << 21, 100)) == {EMPTY: 1.0}
    assert residence.meets(third) == {EMPTY: 1.0}


def test_a_part_may_be_there():
    residence = Residence(1000 * LINE_BYTES)
    residence.meets(reads(0, 30))
    both = footprint(*((Kind.LOAD, (line % 2 << 20) + LINE_BYTES * (line // 2), 4) for line in range(60)))
    assert residence.meets(both) == {WARM: 0.5, EMPTY: 0.5}


def test_a_launch_that_fills_the_l2_finds_what_an_earlier_run_of_it_leaves():
    residence, long = Residence(100 * LINE_BYTES), reads(0, 300)
    assert residence.meets(long) == {EMPTY: 1.0}
    assert residence.meets(long) == {WARM: 1.0}


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        ([(Kind.LOAD, 4 * word, 4) for word in range(64)], Beginning.SMALLER),
        ([(Kind.STORE, 4 * word, 4) for word in range(64)], Beginning.SMALLER),
        ([(Kind.LOAD, 0, 4)] * 300 + [(Kind.STORE, 4096 + 4 * word, 4) for word in range(32)], Beginning.PASSING),
        ([(Kind.LOAD, 0, 4)] * 300 + [(Kind.STORE, 4096, 4)] * 300, EMPTY),
        ([(Kind.LOAD, 0, 4)] * 300, EMPTY),
    ],
)
def test_some_blocks_of_a_launch_that_fills_the_l2_begin_as_it_goes_on(accesses, expected):
    found = footprint(*accesses)
    assert Residence(1 << 20).meets(found, times=1 << 20) == {expected: 1.0}
    fits = Residence(1 << 30)
    assert fits.meets(found, times=2.0) == {EMPTY: 1.0}
    assert fits.meets(found, times=2.0) == {WARM: 1.0}


def test_without_what_launches_left_each_is_warm_but_for_some_blocks_of_a_long_one():
    residence = Residence(100 * LINE_BYTES, is_kept=False)
    part = footprint(*((Kind.LOAD, 4 * word, 4) for word in range(60 * 32)))
    assert residence.meets(part) == residence.meets(reads(1 << 20, 300)) == {WARM: 1.0}
    assert residence.meets(part, times=1.5) == {WARM: 1.0}
    assert residence.meets(part, times=2.0) == {Beginning.SMALLER: 1.0}


def test_all_blocks_count_of_which_some_are_timed():
    residence, part = Residence(100 * LINE_BYTES), reads(0, 20)
    residence.meets(part, times=4.0)
    residence.meets(reads(1 << 20, 30))
    assert residence.meets(part, times=4.0) == {WARM: 1.0}  # 30 lines later
    residence.meets(reads(1 << 20, 30), times=3.0)
    assert residence.meets(part, times=4.0) == {WARM: 1.0}  # 90 lines later
    residence.meets(reads(1 << 21, 40), times=2.5)
    assert residence.meets(part, times=4.0) == {EMPTY: 1.0}  # 100

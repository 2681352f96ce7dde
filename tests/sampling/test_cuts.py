"""The phases of a block, and blocks begun in one of them, beside what their threads do event by event."""

import numpy as np
import pytest

from simtmm.sampling.long.cuts import begun, phases_of
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch, TraceSite

LOAD, STORE = (-1, Kind.LOAD), (-2, Kind.STORE)


def loop(times, *body):
    return [*body] * times


def recorded(threads, sites=(), blocks=1):
    """Blocks of which each thread does some events in turn: amounts of work, each at a site of its own, or accesses."""
    recorder = TraceRecorder()
    launch = TraceLaunch("k", (blocks, 1, 1), (len(threads), 1, 1), 0, 0)
    rows = []
    for thread, events in enumerate(threads):
        for place, (amount, kind) in enumerate(events):
            site = 50 - amount if kind != Kind.WORK else amount % 40
            value = amount if kind == Kind.WORK else 4096 + 4 * (thread + len(threads) * place)
            rows.append((thread, site, kind, 0 if kind == Kind.WORK else 4, value))
    events = np.zeros(len(rows) * blocks, EVENT)
    for name, column in zip(("thread", "site", "kind", "bytes", "value"), zip(*rows, strict=True), strict=True):
        events[name] = np.tile(column, blocks)
    ends = len(rows) * np.arange(1, blocks + 1)
    recorder.add(Batch(events, np.zeros(blocks, np.int32), np.arange(blocks, dtype=np.int32), ends), [launch])
    trace = recorder.finish("k", {}, [launch], [], list(sites), {"recorder": "test"})
    (runs,) = trace.runs()
    return runs, trace.info


def work(*amounts):
    return [(amount, Kind.WORK) for amount in amounts]


PHASED = [*work(50), *loop(20, *work(2), LOAD), *work(100), *loop(30, LOAD, *work(1), STORE), *work(3)]
NESTED = [*loop(10, *loop(6, LOAD, *work(2)), *work(5)), *work(40), *loop(50, STORE, *work(1))]


def done_by(events):
    """Work: amounts, and one for each access."""
    return sum(amount if kind == Kind.WORK else 1 for amount, kind in events)


@pytest.mark.parametrize(
    ("events", "cuts"),
    [
        (PHASED, (0, 50, 110, 210)),  # of 303: the last three are less than a twentieth
        ([*work(3), *PHASED], (0, 3 + 50, 3 + 110, 3 + 210)),  # before what is long
        (NESTED, (0, 230, 270)),
        ([*work(9), *loop(100, LOAD)], (0,)),  # one that has 9 of 10 is all that counts
        ([*work(12), *loop(100, LOAD)], (0, 12)),
        ([*work(94), *work(6), LOAD], (0,)),
        ([*work(80), *work(5), *work(15)], (0, 80, 85)),  # a twentieth
        ([*work(80), *work(4), *work(16)], (0, 84)),
    ],
)
def test_what_is_a_twentieth_of_a_thread_s_work_is_a_phase_of_its_own(events, cuts):
    found = phases_of(*recorded([events] * 8))
    assert (found.cuts, found.whole, found.can_cut) == (cuts, done_by(events), True)
    assert len(found.items) == 0 if cuts == (0,) else sum(item.whole for item in found.items) == found.whole


def test_blocks_whose_threads_part_can_not_be_cut_and_take_as_long_as_the_longest():
    found = phases_of(*recorded([PHASED] * 4 + [[*PHASED, *work(200)]] * 4))
    assert (found.whole, found.can_cut) == (done_by(PHASED) + 200, False)


def test_the_work_of_a_place_counts_for_each_of_its_events():
    of_site = {2: ("work", 3), 51: ("load", 3)}  # of the amount of two, and of the loads
    sites = [
        TraceSite(place, kind, "k.cu", 1, "", work=(("integer", instructions),))
        for place, (kind, instructions) in of_site.items()
    ]
    events = [*loop(20, *work(2), LOAD), *loop(20, *work(3), STORE)]
    found = phases_of(*recorded([events] * 8, sites))
    assert found.cuts == (0, 20 * (2 * 3 + 3 + 1))
    assert found.whole == 20 * (2 * 3 + 3 + 1) + 20 * (3 + 1)


def of_thread(events, thread):
    own = events[events["thread"] == thread]
    return [(int(value), Kind(kind)) for value, kind in zip(own["value"], own["kind"], strict=True)]


@pytest.mark.parametrize("events", [PHASED, NESTED])
def test_a_block_begun_after_some_work_does_the_rest_of_it_from_a_trip_of_its_phase_on(events):
    runs, info = recorded([events] * 8, blocks=24)
    phases = phases_of(runs, info)
    parts = np.linspace(0, phases.whole, 24).tolist()
    found = begun(runs, phases, parts)
    ends = np.append(0, found.events.cumsum())
    all_left, whole = found.to_batch().events, runs.to_batch().events[: 8 * len(events)]
    for block, part in enumerate(parts):
        item_begins = np.cumsum([0, *(item.whole for item in phases.items)])
        item = min(int(np.searchsorted(item_begins, part, side="right")) - 1, len(phases.items) - 1)
        own, within = phases.items[item], part - item_begins[item]
        gone = item_begins[item] + min(within // own.work, own.trips - 1) * own.work  # whole trips, and one is left
        for thread in (0, 7):
            left = of_thread(all_left[ends[block] : ends[block + 1]], thread)
            assert done_by(left) if left else True
            there = of_thread(whole, thread)[-len(left) :]
            assert left[1:] == there[1:]
            assert left[0][1] == there[0][1]
            assert left[0][0] <= there[0][0]  # some of an amount may be done
            accesses = [kind for _, kind in left if kind != Kind.WORK]
            assert sum(value for value, kind in left if kind == Kind.WORK) + len(accesses) == phases.whole - gone

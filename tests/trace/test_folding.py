"""Trips of a loop become one step and a number of trips, where each goes on from the last by as much."""

import numpy as np
import pytest

from tests.trace.build import load, trace, work

LANES = 32


def values(runs):
    return len(runs.structures.step), len(runs.values)


def compressed(trips, more):
    """Steps and values of a block whose threads load at addresses without order, again in each trip so much further."""
    begins = 4096 + 4 * np.random.default_rng(2).permutation(400)[:LANES]
    further = np.array([more(lane) for lane in range(LANES)])
    threads = [
        [event for trip in range(trips) for event in (load(1, int(begin + trip * by)), work(2, 7))]
        for begin, by in zip(begins, further, strict=True)
    ]
    made = trace([threads] * 3)
    assert all((runs.structure == 0).all() for runs in made.runs())
    return {values(runs) for runs in made.runs()}


@pytest.mark.parametrize("more", [1024, 0, -64])
def test_a_loop_takes_no_more_for_more_trips_though_its_addresses_have_no_order(more):
    few, many = (compressed(trips, lambda lane: more) for trips in (6, 60))
    assert few == many
    assert len(few) == 1


def test_where_one_lane_goes_further_than_others_each_trip_is_kept():
    ((few, _),), ((many, _),) = (compressed(trips, lambda lane: 1024 + 4 * (lane == LANES - 1)) for trips in (6, 60))
    assert many - few == 54 * 2

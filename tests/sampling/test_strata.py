"""Which launches are told to be alike, by what their blocks do; and which of them stand for the others."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.sampling.differing.looks import work_of
from simtmm.sampling.simulation import LaunchTime
from simtmm.sampling.strata import ROUGH_LAUNCHES, Stratum, strata_of
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch


class Program:
    """Launches of one kernel: of each its number of blocks, and the sites that each thread of them comes to."""

    is_whole = True

    def __init__(self, *launches, same=None):
        self._sites = [sites for _, sites in launches]
        self.launches = tuple(TraceLaunch("k", (blocks, 1, 1), (4, 1, 1), 0, 0) for blocks, _ in launches)
        self.same = tuple(range(len(launches)) if same is None else same)

    def trace_of(self, chosen):
        recorder = TraceRecorder()
        for launch, blocks in chosen.items():
            for block in blocks.tolist():
                sites = self._sites[launch](block)
                events = np.zeros((4, len(sites)), EVENT)
                events["thread"], events["site"] = np.arange(4)[:, None], sites
                events["kind"], events["value"] = Kind.WORK, 1
                ends = np.array([events.size])
                batch = Batch(events.ravel(), np.array([launch], np.int32), np.array([block], np.int32), ends)
                recorder.add(batch, list(self.launches))
        return recorder.finish("k", {}, list(self.launches), [], [], {"recorder": "test"})


def at(*sites):
    return lambda block: list(sites)


def told(program):
    return [(stratum.launches, stratum.is_same) for stratum in strata_of(program)]


def test_the_work_of_a_launch_is_that_of_all_its_blocks_and_events_are_told_by_place():
    program = Program((3, at(1, 1, 2)), (40, at(5)), (5, at(2, 7, 7, 7)))
    work, events = work_of(program, [2, 0, 1])
    assert work.tolist() == [5 * 4 * 4, 3 * 4 * 3, 40 * 4]  # 40 by some of them
    parts = events / events.sum(axis=1, keepdims=True)
    assert sorted(parts[0][parts[0] > 0].tolist()) == [1 / 4, 3 / 4]
    assert sorted(parts[1][parts[1] > 0].tolist()) == pytest.approx([1 / 3, 2 / 3])
    assert parts[2].max() == 1
    assert (parts[2] * (parts[0] + parts[1])).sum() == 0  # nobody else comes there
    assert np.count_nonzero(parts[0] * parts[1]) == 1  # both come to one


def test_few_launches_are_told_apart_by_whether_they_do_the_very_same():
    program = Program(*[(2, at(1))] * 6, same="abcabc")
    assert told(program) == [((0, 3), True), ((1, 4), True), ((2, 5), True)]
    assert strata_of(program)[1].work == {1: 1.0, 4: 1.0}


def test_many_launches_that_do_the_very_same_are_one_stratum():
    assert told(Program(*[(2, at(1))] * 9, same="a" * 9)) == [(tuple(range(9)), True)]


def test_many_launches_are_told_apart_by_where_their_blocks_come_and_by_how_much_they_do():
    """Work of 4 a block: within a factor of the square root of 2."""
    blocks = [16, 17, 64, 16, 66, 16, 16, 1]
    sites = [at(1), at(1), at(1), at(2), at(1), at(1), at(1), at(1)]
    program = Program(*zip(blocks, sites, strict=True), same=[0, 1, 2, 3, 4, 0, 0, 7])
    assert told(program) == [((0, 1, 5, 6), False), ((2, 4), False), ((3,), True), ((7,), True)]
    assert strata_of(program)[0].work == {0: 64.0, 1: 68.0, 5: 64.0, 6: 64.0}


def test_launches_of_other_kernels_blocks_registers_and_shared_memory_are_strata_of_their_own():
    program = Program(*[(2, at(1))] * 5, same="aaaaa")
    shapes = [("k", (4, 1, 1), 0, 0), ("m", (4, 1, 1), 0, 0), ("k", (2, 2, 1), 0, 0), ("k", (4, 1, 1), 8, 0),
              ("k", (4, 1, 1), 0, 8)]  # fmt: skip
    program.launches = tuple(TraceLaunch(name, (2, 1, 1), *shape) for name, *shape in shapes)
    assert told(program) == [((number,), True) for number in range(5)]


def test_of_launches_that_do_the_very_same_the_first_stands_for_all():
    random = np.random.default_rng(0)
    assert Stratum((3, 5, 7, 9, 11), dict.fromkeys(range(12), 1.0), True).few(random) == [3]
    other = Stratum((3, 5, 7, 9, 11), dict.fromkeys(range(12), 1.0), False).few(random)
    assert len(other) == ROUGH_LAUNCHES == 2
    assert other[0] in {3, 5}  # of two parts: 2.5 each
    assert other[1] in {7, 9, 11}
    assert Stratum((3, 5), {3: 1.0, 5: 9.0}, False).apart(3, 5) == (8.0, 2)


def times(**ticks):
    return {int(name[1:]): SimpleNamespace(ticks=value) for name, value in ticks.items()}


def test_launches_that_do_the_same_take_the_same_and_of_several_it_is_told_how_far_they_differ():
    same = Stratum((0, 1, 2, 3), dict.fromkeys(range(4), 1.0), True)
    assert same.estimated(times(_1=50.0)) == ({0: 50.0, 1: 50.0, 2: 50.0, 3: 50.0}, 0.0)
    found, half = same.estimated(times(_0=40.0, _1=60.0))
    assert found == {0: 40.0, 1: 60.0, 2: 50.0, 3: 50.0}
    # Student's t of one degree, 12.706; a deviation of 14.14; two launches of four by two.
    assert half == pytest.approx(12.7062 * 200**0.5 * (2 * 4 / 2) ** 0.5, rel=1e-5)
    all_of_them = same.estimated(times(_0=1.0, _1=2.0, _2=3.0, _3=9.0))
    assert all_of_them == ({0: 1.0, 1: 2.0, 2: 3.0, 3: 9.0}, 0.0)


def test_one_of_launches_that_differ_tells_nothing_of_the_others():
    other = Stratum((0, 1, 2), {0: 1.0, 1: 1.0, 2: 1.0}, False)
    found, half = other.estimated(times(_2=7.0))
    assert (found, half) == ({0: 7.0, 1: 7.0, 2: 7.0}, np.inf)
    assert LaunchTime.__dataclass_fields__["ticks"]  # which is what is asked of a launch's time

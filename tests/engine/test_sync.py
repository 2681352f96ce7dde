"""A barrier that waits for no loads, and the one that does (docs/machine.md, section 3)."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from simtmm import Machine, Workload, simulate
from simtmm.analysis.what_if.changes import without_barriers
from simtmm.engine import ENGINES
from simtmm.stalls import Reason
from simtmm.testing.strategies import machines, workloads
from simtmm.workload import ASYNC, BARRIER, JOIN, SYNC
from tests.examples import examples, several

LATENCY = 100


def machine(ports=2, **memory):
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32 * ports, "warp_width": 32, "max_threads_per_core": 8},
            "memory": {"latency": LATENCY, "chunk_words": 32, **memory},
        }
    )


def result(engine, *warps, **keys):
    """Of one block."""
    return simulate(machine(), Workload.from_dict({"blocks": [{"warps": list(warps)}]}), engine, **keys)


def with_kinds(workload, **changed):
    """The workload with other operations in the place of some."""
    kind = workload.kind.copy()
    for of, to in ((BARRIER, changed.get("barrier", BARRIER)), (SYNC, changed.get("sync", SYNC))):
        kind[workload.kind == of] = to
    return dataclasses.replace(workload, kind=kind)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("word", "ticks"), [("sync", 11 + 1 + LATENCY - 10), ("barrier", 1 + LATENCY + 10)])
def test_a_load_goes_on_behind_a_sync(engine, word, ticks):
    assert result(engine, [["async", [0]], [word], ["compute", 10], ["join"]]).ticks == ticks - (word == "sync")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sync_waits_for_the_slowest_warp_and_is_booked_as_a_barrier(engine):
    found = result(engine, [["async", [0]], ["sync"], ["compute", 1]], [["compute", 40], ["sync"]], stalls=True)
    assert found.ticks == 1 + LATENCY
    assert found.stalls.ticks[:, Reason.BARRIER].sum() == 39
    assert [row["barrier"] for row in found.stalls.rows() if row["kind"] == "sync"] == [39]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_warp_that_ends_opens_a_sync(engine):
    assert result(engine, [["sync"], ["compute", 1]], [["compute", 7]]).ticks == 8


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("stages", [2, 3, 4, 8])
@pytest.mark.parametrize("work", [10, 60, 200])
def test_a_turn_of_a_pipeline_takes_a_share_of_the_latency_or_its_work(engine, stages, work):
    """Copies are begun stages - 1 turns ahead: a turn is the longer of work and what a copy takes, over these turns."""
    turns = 60

    def warp(count):
        begun = [["async", [number]] for number in range(stages - 1)]
        turn = [["join", stages - 2], ["sync"], ["async", [5]], ["compute", work - 1]]
        return [*begun, *(turn * count)]

    def ticks(count):
        return result(engine, warp(count), warp(count)).ticks

    steady = (ticks(3 * turns) - ticks(turns)) / (2 * turns)
    # A copy is issued with its turn's first instruction, and is there a latency later.
    assert steady == pytest.approx(
        max(work, (1 + LATENCY) / (stages - 1)), rel=0.01
    )  # the last turns are no whole ones


@given(drawn=several(machines()), workload=workloads())
@examples(60)
def test_without_loads_in_flight_a_sync_is_a_barrier(drawn, workload):
    posted = with_kinds(workload, barrier=SYNC)
    posted = dataclasses.replace(posted, kind=np.where(posted.kind == ASYNC, np.uint8(ASYNC - 1), posted.kind))
    for each in drawn:
        found = [simulate(each, other) for other in (posted, with_kinds(posted, sync=BARRIER))]
        assert found[0] == found[1]


@given(drawn=several(machines()), workload=workloads())
@examples(60)
def test_a_lone_warp_is_never_later_for_leaving_its_loads_in_flight(drawn, workload):
    """Many warps may be: they get in one another's way. And a store may have more loads to wait for, were it to."""
    alone = dict(workload.to_dict()["launches"][0])
    alone["blocks"] = [{"warps": block["warps"][:1]} for block in alone["blocks"][:1]]
    one = Workload.from_dict({"launches": [alone]})
    for each in drawn:
        on = each.replace({"memory.return_interval": 0})
        assert simulate(on, with_kinds(one, barrier=SYNC)).ticks <= simulate(on, with_kinds(one, sync=BARRIER)).ticks


def test_the_closed_form_of_waits_counts_a_barriers_and_no_syncs():
    warps = {word: [["async", [0]], [word], ["async", [1]], ["join"]] for word in ("barrier", "sync")}
    found = {word: Workload.from_dict({"blocks": [{"warps": [warp]}]}).tallies[0].waits for word, warp in warps.items()}
    assert found == {"barrier": 2, "sync": 1}


def testwithout_barriers_what_they_waited_for_is_waited_for_and_nothing_else():
    warps = [["async", [0]], ["sync"], ["async", [1]], ["barrier"], ["compute", 1]]
    without = without_barriers(Workload.from_dict({"blocks": [{"warps": [warps]}]}))
    assert without.kind.tolist().count(JOIN) == 2
    for engine in ENGINES:
        assert simulate(machine(), without, engine).ticks == 2 + LATENCY + 1

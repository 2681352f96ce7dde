"""The invariants hold for every built-in rule, and each of them says so when it is broken."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import SimtmmError
from simtmm.stalls import COUNTS, REASONS
from simtmm.testing import INVARIANTS, broken, machines, workloads
from simtmm.timeline import STATES, Timeline
from tests.examples import SHARING, examples, several


@pytest.mark.parametrize("engine", ENGINES)
def test_every_invariant_holds_for_every_machine_and_workload(engine):
    @examples(100 // SHARING)
    @given(drawn=several(machines()), workload=workloads())
    def holds(drawn, workload):
        for machine in drawn:
            assert not broken(machine, workload, simulate(machine, workload, engine, timeline=True, stalls=True))

    holds()


@given(drawn=several(machines()), workload=workloads())
@examples(100 // SHARING)
def test_they_hold_for_a_rule_of_ones_own(drawn, workload):
    def youngest(ready, group):
        return max(ready, key=lambda warp: warp.age)

    for machine in drawn:
        result = simulate(machine, workload, scheduler=youngest, timeline=True, stalls=True)
        assert not broken(machine, workload, result, leave_out=["round_robin_starves_nobody"])


# Two groups of one port; blocks of two warps that compute, load, meet, and compute again.
MACHINE = Machine.from_dict(
    {
        "name": "two",
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
        "scheduling": {"scheduler": "round-robin"},
        "memory": {"latency": 20, "chunk_words": 8},
        "limits": {"blocks_per_group": 1},
    }
)
WARP = [["compute", 3], ["load", [0]], ["barrier"], ["compute", 2]]
WORKLOAD = Workload.from_dict({"blocks": [{"warps": [WARP, WARP]}] * 4})
RESULT = simulate(MACHINE, WORKLOAD, timeline=True, stalls=True)
STALLS = RESULT.stalls


def doctored(**columns):
    """The result with other columns of its timeline: functions of the column that is there."""
    timeline = RESULT.timeline
    changed = {name: change(getattr(timeline, name).copy()) for name, change in columns.items()}
    return replace(RESULT, timeline=replace(timeline, **changed))


def at(row, value):
    def change(column):
        column[row] = value
        return column

    return change


def row_of(warp, state, nth=0):
    rows = np.flatnonzero((RESULT.timeline.warp == warp) & (RESULT.timeline.state == STATES.index(state)))
    return int(rows[nth])


def without(row):
    return replace(
        RESULT, timeline=Timeline(*(np.delete(column, row) for column in RESULT.timeline.columns().values()))
    )


def booked(table, row, name, more):
    """The result with other stalls."""
    changed = getattr(STALLS, table).copy()
    changed[row, (COUNTS if table == "counts" else REASONS).index(name)] += more
    return replace(RESULT, stalls=replace(STALLS, **{table: changed}))


LOAD = row_of(0, "memory")
MEETING = int(RESULT.timeline.place[row_of(0, "barrier")])
LAST = row_of(0, "issuing", 1)

BROKEN = {
    "work_is_conserved": [
        (replace(RESULT, issued=RESULT.issued - 1), "issued is 47: the workload has 48"),
        (without(LAST), "warp 0: operation 3, compute, did not issue at tick 28"),
    ],
    "warps_do_one_thing_at_a_time": [
        (doctored(begin=at(LOAD, 3)), "warp 0: is memory from tick 3 on, and what it did before ended at 4"),
    ],
    "memory_is_never_faster_than_its_latency": [
        (
            doctored(end=at(LOAD, 23), begin=at(LOAD + 1, 23)),
            "warp 0: load left its port at tick 4 and was there at 23",
        ),
    ],
    "no_port_idles_while_a_warp_is_ready": [
        (doctored(state=at(LOAD, STATES.index("ready"))), "group 0, tick 8: a warp is ready and a port is free"),
        (doctored(begin=at(row_of(1, "issuing"), 2)), "group 0, tick 2: more warps issue than ports (1)"),
    ],
    "blocks_are_placed_in_order_within_limits": [
        (doctored(group=at(slice(0, 4), 1)), "block 0: its warps were placed in groups {0, 1} at ticks {0}"),
        (doctored(group=lambda column: column * 0), "group 0, tick 0: holds 2 blocks: at most 1"),
        (doctored(slot=lambda column: column * 0), "group 0, slot 0, tick 0: two warps at once"),
    ],
    "barriers_are_honoured": [
        (
            doctored(end=at(row_of(0, "barrier"), 27), begin=at(row_of(0, "barrier") + 1, 27)),
            "block 0, barrier 0: left",
        ),
    ],
    "time_is_where_the_timeline_says": [
        (replace(RESULT, time={**RESULT.time, "memory": 1}), "time['memory'] is 1: the timeline has 80"),
    ],
    "every_tick_is_booked_once": [
        (booked("ticks", 2, "memory_latency", 1), "ticks of waits for memory: 161 are accounted for, of 160"),
        (booked("ticks", MEETING, "barrier", 1), f"place {MEETING}: 17 ticks of barrier: the timeline has 16"),
        (booked("ticks", 0, "issuing", -1), "ticks of ports: 47 are accounted for, of 48"),
        (booked("counts", 2, "chunks", 1), "chunks: 9 are accounted for, of 8"),
        (booked("launches", 0, "launch", 1), "ticks of launches: "),
    ],
    "chunks_over_time_are_all_chunks": [
        (replace(RESULT, transactions=RESULT.transactions + 1), "chunks at the ports: 8 over time of 9"),
        (replace(RESULT, l1_hits=RESULT.l1_hits + 1), "L1 hits: 0 over time of 1"),
        (replace(RESULT, ticks=1), "chunks within the run: "),
    ],
    "makespan_is_within_bounds": [
        (replace(RESULT, launch_ticks=(22,)), "launch 0: 22 ticks: must be from 26 to 208"),
        (replace(RESULT, launch_ticks=(209,)), "launch 0: 209 ticks: must be from 26 to 208"),
    ],
    "round_robin_starves_nobody": [],  # below
}


def test_the_result_that_is_doctored_breaks_nothing():
    assert not broken(MACHINE, WORKLOAD, RESULT)


@pytest.mark.parametrize("name", INVARIANTS)
def test_an_invariant_says_what_broke(name):
    for result, what in BROKEN[name]:
        findings = broken(MACHINE, WORKLOAD, result)[name]
        assert any(finding.startswith(what) for finding in findings), findings


def test_a_pause_of_another_length_or_none_is_found():
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 3], ["pause", 4], ["compute", 2]]]}]})
    result = simulate(MACHINE, workload, timeline=True)
    line = result.timeline
    assert line.of_warp(0)[1] == ("pause", 3, 7)
    assert not broken(MACHINE, workload, result)
    short = replace(line, begin=np.array([0, 3, 6]), end=np.array([3, 6, 8]))
    skipped = Timeline(*(np.delete(column, 1) for column in line.columns().values()))
    skipped = replace(skipped, begin=np.array([0, 3]), end=np.array([3, 5]))
    idle = Timeline(*(column[:0] for column in line.columns().values()))
    for doctored, what in (
        (short, "warp 0: paused from tick 3 to 6: takes 4"),
        (skipped, "warp 0: did not pause at tick 3"),
        (idle, "warp 0: has work, but did nothing"),
    ):
        assert what in broken(MACHINE, workload, replace(result, timeline=doctored))["work_is_conserved"]


def test_the_bounds_of_a_run_know_pauses():
    workload = Workload.from_dict({"blocks": [{"warps": [[["pause", 7]], [["pause", 5]]]}]})
    result = simulate(MACHINE, workload, timeline=True)
    assert result.ticks == 7
    for ticks in (6, 13):
        wrong = replace(result, launch_ticks=(ticks,))
        assert broken(MACHINE, workload, wrong)["makespan_is_within_bounds"] == [
            f"launch 0: {ticks} ticks: must be from 7 to 12"
        ]


def test_a_rule_that_starves_a_warp_is_found():
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 4]], [["compute", 4]]]}]})
    machine = MACHINE.replace({"scheduling.switch": "every-instruction"})
    result = simulate(machine, workload, scheduler=lambda ready, group: ready[0], timeline=True)
    greedy = simulate(machine.replace({"scheduling.scheduler": "oldest"}), workload, timeline=True)
    assert not broken(machine, workload, result)  # the one that is ready longest is in turn, too
    assert broken(machine, workload, greedy) == {
        "round_robin_starves_nobody": ["warp 1: ready from tick 0 to 4; slot 0 had two turns"]
    }


def test_without_a_timeline_they_say_how_to_get_one():
    with pytest.raises(SimtmmError, match=r"has no timeline: simulate\(\.\.\., timeline=True\)"):
        broken(MACHINE, WORKLOAD, simulate(MACHINE, WORKLOAD))


def test_an_unknown_name_is_refused():
    with pytest.raises(SimtmmError, match="invariant 'fair': unknown; known: work_is_conserved, "):
        broken(MACHINE, WORKLOAD, RESULT, leave_out=["fair"])

"""The timeline of both engines: whole lives of warps, by hand."""

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.engine.fast.launches import launch
from simtmm.errors import EngineError

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def machine(**changes):
    return Machine.from_dict(
        {
            "name": "one",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 20, "chunk_words": 8},
        }
    ).replace(changes)


def lives(on, warps, engine):
    workload = Workload.from_dict({"blocks": [{"warps": warps}]})
    timeline = simulate(on, workload, engine, timeline=True).timeline
    return [timeline.of_warp(warp) for warp in range(len(warps))]


def test_a_warp_issues_waits_for_memory_and_for_a_barrier(engine):
    first, second = lives(
        machine(), [[["compute", 2], ["load", [0]], ["barrier"]], [["compute", 5], ["barrier"]]], engine
    )
    assert first == [("issuing", 0, 3), ("memory", 3, 23)]
    assert second == [("ready", 0, 3), ("issuing", 3, 8), ("barrier", 8, 23)]


def test_warps_start_and_wait_out_the_pipeline(engine):
    on = machine(**{
        "scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4, "scheduling.block_launch": 7,
    })  # fmt: skip
    assert lives(on, [[["compute", 2]]], engine) == [
        [("start", 0, 7), ("issuing", 7, 8), ("pipeline", 8, 11), ("issuing", 11, 12), ("pipeline", 12, 15)]
    ]


def test_a_segment_goes_on_behind_an_async_in_one_interval(engine):
    assert lives(machine(), [[["async", [0]], ["compute", 3], ["join"], ["compute", 1]]], engine) == [
        [("issuing", 0, 4), ("memory", 4, 21), ("issuing", 21, 22)]
    ]


def test_each_pause_is_an_interval_of_its_own(engine):
    assert lives(machine(), [[["compute", 2], ["pause", 3], ["pause", 4], ["compute", 1]]], engine) == [
        [("issuing", 0, 2), ("pause", 2, 5), ("pause", 5, 9), ("issuing", 9, 10)]
    ]


def test_a_pause_begins_where_the_pipeline_or_the_wait_for_memory_ends(engine):
    on = machine(**{"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4, "ticks_per_cycle": 2})
    assert lives(on, [[["compute", 1], ["pause", 3], ["load", [0]], ["pause", 1]]], engine) == [
        [
            ("issuing", 0, 2), ("pipeline", 2, 8), ("pause", 8, 14), ("issuing", 14, 16), ("memory", 16, 56),
            ("pause", 56, 58),
        ]
    ]  # fmt: skip


def test_a_warp_that_pauses_gives_its_port_up_behind_an_async_too(engine):
    warps = [[["async", [0]], ["pause", 1], ["compute", 2]], [["compute", 5]]]
    assert lives(machine(), warps, engine) == [
        [("issuing", 0, 1), ("pause", 1, 2), ("ready", 2, 6), ("issuing", 6, 8), ("memory", 8, 21)],
        [("ready", 0, 1), ("issuing", 1, 6)],
    ]


def test_each_grant_and_each_wait_is_an_interval_of_its_own(engine):
    assert lives(machine(), [[["load", [0]], ["load", [1]], ["compute", 1]]], engine) == [
        [("issuing", 0, 1), ("memory", 1, 21), ("issuing", 21, 22), ("memory", 22, 42), ("issuing", 42, 43)]
    ]


def test_launches_follow_one_another_with_their_overheads(engine):
    launch = {"blocks": [{"warps": [[["compute", 3]]]}]}
    workload = Workload.from_dict({"launches": [launch, launch]})
    timeline = simulate(machine(**{"scheduling.launch_overhead": 10}), workload, engine, timeline=True).timeline
    assert timeline.of_warp(0) == [("issuing", 10, 13)]
    assert timeline.of_warp(1) == [("issuing", 23, 26)]


def test_the_first_launch_of_a_run_takes_first_launch_more(engine):
    """Worked case: 40 and 10 cycles before the first launch, 10 before each other; both are in the launches' ticks."""
    launch = {"blocks": [{"warps": [[["compute", 3]]]}]}
    workload = Workload.from_dict({"launches": [launch] * 3})
    on = machine(**{"scheduling.launch_overhead": 10, "scheduling.first_launch": 40})
    result = simulate(on, workload, engine, timeline=True, stalls=True)
    assert [result.timeline.of_warp(warp) for warp in range(3)] == [
        [("issuing", 50, 53)], [("issuing", 63, 66)], [("issuing", 76, 79)],
    ]  # fmt: skip
    assert result.launch_ticks == (53, 13, 13)
    assert sum(result.time.values()) == 3 * 3  # no group's
    assert simulate(on, Workload.from_dict({"launches": []}), engine).ticks == 0


def test_it_tells_group_and_slot(engine):
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}] * 4})
    on = machine(**{"cores.groups": 2})
    timeline = simulate(on, workload, engine, timeline=True).timeline
    assert list(zip(timeline.warp.tolist(), timeline.group.tolist(), timeline.slot.tolist(), strict=True)) == [
        (0, 0, 0), (1, 1, 0), (2, 0, 1), (2, 0, 1), (3, 1, 1), (3, 1, 1),
    ]  # fmt: skip
    assert timeline.ticks() == {
        "start": 0, "ready": 6, "issuing": 12, "pipeline": 0, "memory": 0, "barrier": 0, "pause": 0,
    }  # fmt: skip


def test_its_columns_are_arrays_of_one_length(engine):
    timeline = simulate(
        machine(), Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}]}), engine, timeline=True
    ).timeline
    columns = timeline.columns()
    assert list(columns) == ["warp", "group", "slot", "state", "begin", "end", "place", "reason"]
    assert {len(column) for column in columns.values()} == {len(timeline)} == {1}
    assert columns["begin"].dtype == columns["end"].dtype == np.int64


def test_there_is_none_unless_asked_for(engine):
    result = simulate(machine(), Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}]}), engine)
    assert result.timeline is None
    assert "timeline" not in result.to_dict()


def test_a_warp_that_does_nothing_has_no_interval(engine):
    assert lives(machine(), [[], [["compute", 1]]], engine) == [[], [("issuing", 0, 1)]]


def test_it_is_whole_however_often_it_is_drained(engine, monkeypatch):
    warps = [[["compute", 2], ["load", [0]]] * 30] * 4
    expected = lives(machine(), warps, engine)
    monkeypatch.setattr(launch, "TIMELINE_ROOM", 1)  # a step a stretch
    assert lives(machine(), warps, engine) == expected
    assert sum(len(life) for life in expected) > 100


def test_ticks_that_do_not_fit_64_bits_are_refused_and_without_a_timeline_they_are_reported(engine):
    launch = {"blocks": [{"warps": [[["compute", 3]]]}]}
    workload = Workload.from_dict({"launches": [launch, launch]})
    slow = machine(**{"scheduling.launch_overhead": 2.0**49, "ticks_per_cycle": 2**20})
    with pytest.raises(EngineError, match="which a timeline can't tell"):
        simulate(slow, workload, engine, timeline=True)
    assert simulate(slow, workload, engine).ticks == 2 * (2**69 + 3 * 2**20)

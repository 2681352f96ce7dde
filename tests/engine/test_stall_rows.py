"""What rows of stalls say of a run beside its ticks, by hand, on both engines."""

import json

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import OutputError

pytestmark = pytest.mark.parametrize("engine", ENGINES)

CACHES = {
    "memory.l1": {"sets": 1, "ways": 4, "latency": 3},
    "memory.l2": {"sets": 1, "ways": 8, "latency": 9, "service": 1},
    "memory.port_interval": 2,
    "memory.service": 4,
}


def machine(**changes):
    """Two groups of one port, an instruction in 3 ticks; chunks of 8 * 4 bytes, a clock of 1 GHz."""
    return Machine.from_dict(
        {
            "name": "two",
            "clock_hz": 1e9,
            "ticks_per_cycle": 3,
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 20, "chunk_words": 8, "word_bytes": 4},
        }
    ).replace(CACHES | changes)


def of(engine, *launches, **changes):
    workload = Workload.from_dict({"launches": [{"blocks": [{"warps": warps}]} for warps in launches]})
    return simulate(machine(**changes), workload, engine, stalls=True)


def test_bytes_and_hits_by_level(engine):
    # Chunk 0 from memory, then from the L1; an atomic and a store pass both caches.
    warp = [["load", [0, 1]], ["load", [0]], ["atomic", [5, 5]], ["store", [7]]]
    rows = {row["kind"]: row for row in of(engine, [warp]).sites}
    loads = rows["load"]
    assert (loads["requests"], loads["chunks"], loads["loads"], loads["chunks_per_request"]) == (2, 3, 3, 1.5)
    assert (loads["l1_bytes"], loads["l2_bytes"], loads["memory_bytes"]) == (3 * 32, 2 * 32, 2 * 32)
    assert (loads["l1_hit_rate"], loads["l2_hit_rate"]) == (1 / 3, 0)
    assert (rows["atomic"]["atomics"], rows["atomic"]["memory_bytes"], rows["atomic"]["l2_bytes"]) == (2, 64, 0)
    assert (rows["store"]["stores"], rows["store"]["memory_bytes"]) == (1, 32)
    assert rows["atomic"]["l1_hit_rate"] is None


def test_stores_that_stay_in_the_l2_do_not_reach_memory(engine):
    (row,) = of(engine, [[["store", [7]]]], **{"memory.l2.writes": "back"}).sites
    assert (row["l1_bytes"], row["l2_bytes"], row["memory_bytes"]) == (32, 32, 0)


def test_conflicts_are_times_that_the_banks_are_gone_to_beyond_the_first(engine):
    (row,) = of(engine, [[["shared", 4], ["shared", 1]]]).sites
    assert (row["conflicts"], row["bank_conflicts"], row["instructions"]) == (3, 9, 2)


def test_bandwidth_is_of_the_whole_time_beside_its_peak(engine):
    result = of(engine, [[["load", [0]]]])
    (row,) = result.lines
    assert row["memory_bandwidth"] == pytest.approx(32 / result.seconds)
    assert row["l1_peak"] == pytest.approx(2 * 32 / 2 * 1e9)  # a chunk in 2 cycles, of each of 2 groups
    assert row["l2_peak"] == pytest.approx(32 * 1e9)
    assert row["memory_peak"] == pytest.approx(32 / 4 * 1e9)
    unlimited = of(engine, [[["load", [0]]]], **{"memory.service": 0}).lines[0]
    assert unlimited["memory_peak"] is None


def test_each_launch_has_its_own_counts_warps_and_bandwidth(engine):
    first, second = of(engine, [[["load", [0]]], [["load", [0]]]], [[["shared", 2]]]).launches
    assert [first["number"], second["number"]] == [0, 1]
    assert (first["loads"], second["loads"], second["instructions"]) == (2, 0, 1)
    assert first["l1_hit_rate"] == 0.5
    assert second["memory_bandwidth"] == 0
    assert second["active_warps"] == 1.0
    assert second["achieved_occupancy"] == 1 / 4  # a group holds 4 warps
    assert 1 < first["active_warps"] <= 2
    assert first["launch"] == 0  # ticks of that reason, as of each other one
    assert sum(row["conflicts"] for row in (first, second)) == 1


def test_what_a_workload_does_not_tell_is_none(engine):
    (row,) = of(engine, [[["load", [0]]]]).sites
    assert row["executions"] is row["thread_instructions"] is row["intensity"] is row["threads_per_warp"] is None
    launch = of(engine, [[["load", [0]]]]).launches[0]
    assert launch["executions"] is launch["intensity"] is None
    quick = simulate(machine(), Workload.from_dict({"blocks": []}), engine, stalls=True, breakdown=False)
    assert quick.launches[0]["active_warps"] is None


def test_rows_are_lists_for_json_and_make_frames(engine, monkeypatch):
    result = of(engine, [[["load", [0]], ["compute", 2]]])
    assert json.loads(json.dumps(result.sites)) == result.sites
    pandas = pytest.importorskip("pandas")
    for rows in (result.sites, result.lines, result.arrays, result.launches):
        frame = rows.to_frame()
        assert list(frame.columns) == list(rows[0])
        assert int(frame["ticks"].sum()) == sum(result.stalls.reasons.values())
        assert isinstance(frame, pandas.DataFrame)


def test_frames_need_pandas(engine, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(OutputError, match=r"to_frame needs pandas, .*: pip install '\.\[plot\]'"):
        of(engine, [[["compute", 2]]]).sites.to_frame()

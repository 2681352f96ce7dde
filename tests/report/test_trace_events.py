"""Timelines as Trace Event files: the format's rules, and that the file says what the timeline says."""

import json
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.errors import OutputError
from simtmm.report.trace_events import COLOURS, write_timeline
from simtmm.timeline import STATES

PHASES = {"M", "X", "C"}
NAMES = {"process_name": "name", "process_sort_index": "sort_index"}
NAMES |= {key.replace("process", "thread"): value for key, value in NAMES.items()}


def machine(**changes):
    return Machine.from_dict(
        {
            "name": "two",
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 20, "chunk_words": 8},
        }
    ).replace(changes)


def workload(blocks=6, times=5):
    """Warps that compute, wait for memory, pause, and meet at barriers."""
    warps = [
        [["compute", 2], ["load", [0, 1]], ["barrier"]] * times,
        [["compute", 3], ["pause", 4], ["compute", 2], ["barrier"]] * times,
    ]
    launch = {"blocks": [{"warps": warps}] * blocks}
    return Workload.from_dict({"launches": [launch, launch]})


def written(tmp_path, on, what, **options):
    """What came of it, the result, and the file, its numbers as exact fractions."""
    result = simulate(on, what, timeline=True)
    path = tmp_path / "out.json"
    made = write_timeline(path, result, on, **options)
    return made, result, json.loads(path.read_text(), parse_float=Fraction)


def check_rules(document):
    """The rules of the format, and those of a good file: sorted, a slice of a track ends before the next begins."""
    events = document["traceEvents"]
    assert {event["ph"] for event in events} <= PHASES
    for event in events:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert event["pid"] > 0  # 0 is the idle process of a kernel for those who read the file
        assert event["ts"] >= 0
        if event["ph"] == "M":
            assert isinstance(event["args"][NAMES[event["name"]]], str | int)
        elif event["ph"] == "X":
            assert event["dur"] >= 0
            assert event["tid"] > 0
        else:
            assert "tid" not in event
            assert "dur" not in event
            assert all(isinstance(value, int) for value in event["args"].values())
    timed = [event["ts"] for event in events if event["ph"] != "M"]
    assert timed == sorted(timed)
    first = next((index for index, event in enumerate(events) if event["ph"] != "M"), len(events))
    assert all(event["ph"] != "M" for event in events[first:])
    ends = defaultdict(int)
    for event in events:
        if event["ph"] == "X":
            track = event["pid"], event["tid"]
            assert event["ts"] >= ends[track]
            ends[track] = event["ts"] + event["dur"]
    named = {(event["pid"], event.get("tid")) for event in events if event["name"] in ("process_name", "thread_name")}
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
    assert used <= named
    assert {(event["pid"], None) for event in events} <= named


def slices(document, category="warp"):
    return [event for event in document["traceEvents"] if event.get("cat") == category]


def changes(document, name):
    """Of a counter: (group, time, value)."""
    found = [event for event in document["traceEvents"] if event["ph"] == "C" and event["name"].startswith(name)]
    return sorted((event["pid"] - 2, event["ts"], event["args"]["warps"]) for event in found)


@pytest.mark.parametrize("clock", [None, 1.296e9, 7e11])
@pytest.mark.parametrize("most", [10**6, 60])
def test_a_file_keeps_the_rules_of_the_format(tmp_path, clock, most):
    _, _, document = written(tmp_path, machine(clock_hz=clock), workload(), most_events=most)
    check_rules(document)


def test_each_interval_is_a_slice_and_without_a_clock_a_tick_is_a_microsecond(tmp_path):
    _, result, document = written(tmp_path, machine(), workload())
    line = result.timeline
    expected = zip(line.group + 2, line.slot + 1, line.begin, line.end - line.begin, line.state, line.warp, strict=True)
    got = [
        (event["pid"], event["tid"], event["ts"], event["dur"], STATES.index(event["name"]), event["args"]["warp"])
        for event in slices(document)
    ]
    assert sorted(got) == sorted(tuple(int(value) for value in row) for row in expected)
    assert {event["name"] for event in slices(document)} == {"ready", "issuing", "memory", "barrier", "pause"}
    assert all(event["cname"] == COLOURS[event["name"]] for event in slices(document))
    assert len(set(COLOURS.values())) == len(STATES)


def test_with_a_clock_ticks_are_time(tmp_path):
    on = machine(clock_hz=2e6, ticks_per_cycle=10)
    _, result, document = written(tmp_path, on, workload())
    last = max(event["ts"] + event["dur"] for event in slices(document))
    assert last == Fraction(result.ticks, 20)  # ticks of a 20th of a microsecond
    assert document["otherData"]["clock_hz"] == Fraction(2_000_000)


@pytest.mark.parametrize(("name", "state"), [("ready warps", "ready"), ("memory in flight", "memory")])
def test_a_counter_says_how_many_warps_of_the_group_are_so(tmp_path, name, state):
    _, result, document = written(tmp_path, machine(), workload())
    line = result.timeline
    so = line.state == STATES.index(state)
    expected = []
    for group in range(2):
        before = 0
        for tick in range(result.ticks + 1):
            now = int(np.sum(so & (line.group == group) & (line.begin <= tick) & (line.end > tick)))
            expected += [(group, tick, now)] if now != before else []
            before = now
    assert changes(document, name) == expected
    assert len(expected) > 20


def test_launches_have_a_track_of_their_own(tmp_path):
    _, result, document = written(tmp_path, machine(**{"scheduling.launch_overhead": 10}), workload())
    first, second = result.launch_ticks
    assert [(event["ts"], event["dur"]) for event in slices(document, "run")] == [(0, first), (first, second)]


def test_a_whole_file_says_so(tmp_path):
    made, _, document = written(tmp_path, machine(), workload(), about={"program": "p"})
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert made.events == made.of == len(timed)
    assert made.share == 1
    assert document["otherData"]["complete"] == "nothing is left out"
    assert document["otherData"]["program"] == "p"
    assert "sample" not in str(made)


def test_a_sample_has_all_that_begins_in_its_windows(tmp_path):
    what, most = workload(blocks=40, times=30), 2500
    _, _, whole = written(tmp_path, machine(), what)
    made, _, document = written(tmp_path, machine(), what, most_events=most)
    check_rules(document)
    marks = [event for event in slices(document, "run") if event["name"] == "window"]
    assert len(marks) == made.windows == 2
    assert len({mark["dur"] for mark in marks}) == 1
    steps = np.diff([int(mark["ts"]) for mark in marks])
    assert len(set(steps.tolist())) == 1

    def inside(event):
        return any(mark["ts"] <= event["ts"] < mark["ts"] + mark["dur"] for mark in marks)

    def timed(events):
        chosen = [event for event in events if event["ph"] != "M" and event["name"] != "window" and inside(event)]
        return sorted(json.dumps(event, default=str) for event in chosen)

    kept = timed(document["traceEvents"])
    assert kept == timed(whole["traceEvents"])
    assert len(kept) + len(marks) == made.events <= most
    assert made.events > most / 2  # the windows are as wide as there is room for
    assert made.of == len([event for event in whole["traceEvents"] if event["ph"] != "M"])
    assert "a sample" in str(made)
    assert document["otherData"]["complete"].startswith("a sample")
    assert document["otherData"]["events"]["sampled"] is True


@pytest.mark.parametrize("most", [1, 2, 3, 50, 999, 1001])
def test_no_more_events_than_asked_for(tmp_path, most):
    made, _, document = written(tmp_path, machine(), workload(blocks=30), most_events=most)
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert 0 < len(timed) == made.events <= most < made.of
    check_rules(document)


def test_an_empty_run_is_a_file_too(tmp_path):
    made, _, document = written(tmp_path, machine(), Workload.from_dict({"blocks": []}))
    check_rules(document)
    assert made.events == len(slices(document, "run")) == 1  # the launch


def test_a_result_without_a_timeline_is_refused(tmp_path):
    on = machine()
    with pytest.raises(OutputError, match=r"out\.json: the result has no timeline: simulate with timeline=True"):
        write_timeline(tmp_path / "out.json", simulate(on, workload()), on)
    assert list(tmp_path.iterdir()) == []


def test_a_sample_of_no_event_is_refused(tmp_path):
    on = machine()
    with pytest.raises(OutputError, match="at most 0 events: must be at least 1"):
        write_timeline(tmp_path / "out.json", simulate(on, workload(), timeline=True), on, most_events=0)

"""Timelines as Trace Event files: the format's rules, and that the file says what the timeline says."""

import gzip
import importlib.util
import json
import os
import re
import shutil
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, Workload, load_trace, lower, simulate
from simtmm.analysis.bandwidth import over_time
from simtmm.errors import OutputError
from simtmm.report.stalls import WHAT_WARPS_DO
from simtmm.report.trace_events import ALL, Choice, file, groups_of, write_timeline
from simtmm.report.trace_events.events import FIRST_UNIT, units_of
from simtmm.report.trace_events.text import COLOURS
from simtmm.stalls import Place, Places, Reason
from simtmm.testing import machines, workloads
from simtmm.timeline import STATES, Blocks, Units, WarpState
from tests.examples import SHARING, examples, several

PHASES = {"M", "X", "C"}
NAMES = {"process_name": "name", "process_sort_index": "sort_index"}
NAMES |= {key.replace("process", "thread"): value for key, value in NAMES.items()}
COUNTED = ["ready", "memory", "barrier", "issuing"]


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


def written(tmp_path, on, what, engine="fast", **options):
    """What came of it, the result, and the file, its numbers as exact fractions."""
    result = simulate(on, what, engine, timeline=True, stalls=True)
    path = Path(tmp_path) / "out.json"
    outcome = write_timeline(path, result, on, **options)
    return outcome, result, json.loads(path.read_text(), parse_float=Fraction)


def blocks_of(what):
    return Blocks(what.launch_blocks, what.block_warps)


def check_rules(document):
    """The rules of the format, and those of a good file: sorted, a slice of a track ends before the next begins.

    So nothing of a track overlaps, and slices nest trivially: none lies within another.
    """
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
            assert isinstance(event["cat"], str)
            assert all(isinstance(value, str | int) for value in event["args"].values())
        else:
            assert "tid" not in event
            assert "dur" not in event
            if list(event["args"]) != COUNTED:
                assert list(event["args"]) in (["GB/s"], ["bytes/cycle"], ["%"])
                assert all(value >= 0 for value in event["args"].values())
                continue
            assert all(value >= 0 for value in event["args"].values())
            assert event["pid"] == 1 or all(isinstance(value, int) for value in event["args"].values())
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
    metadata = Counter((event["pid"], event.get("tid"), event["name"]) for event in events if event["ph"] == "M")
    assert set(metadata.values()) == {1}


PASSING = 4  # the process of bandwidth and hits, behind run and two core groups


def slices(document, category="warp"):
    return [event for event in document["traceEvents"] if event.get("cat") == category]


def changes(document, process):
    """Of a process's counters: the time and all values."""
    found = [event for event in document["traceEvents"] if event["ph"] == "C" and event["pid"] == process]
    return [(event["ts"], *event["args"].values()) for event in found]


def expected_changes(result, groups):
    """Likewise of some core groups together, counted tick by tick."""
    line = result.timeline
    before, found = (0,) * len(COUNTED), []
    for tick in range(result.ticks + 1):
        here = np.isin(line.group, groups) & (line.begin <= tick) & (line.end > tick)
        now = tuple(int(np.sum(here & (line.state == STATES.index(state)))) for state in COUNTED)
        found += [(tick, *now)] if now != before else []
        before = now
    return found


@pytest.mark.parametrize("clock", [None, 1.296e9, 7e11])
@pytest.mark.parametrize("most", [10**6, 60])
def test_a_file_keeps_the_rules_of_the_format(tmp_path, clock, most):
    _, _, document = written(tmp_path, machine(clock_hz=clock), workload(), most_events=most)
    check_rules(document)


def test_each_interval_is_a_slice_and_without_a_clock_a_tick_is_a_microsecond(tmp_path):
    _, result, document = written(tmp_path, machine(), workload())
    line = result.timeline
    expected = []
    for row in zip(*line.columns().values(), strict=True):
        warp, group, slot, state, begin, end, _, reason = (int(value) for value in row)
        name, others, _ = WHAT_WARPS_DO[Reason(reason)]
        called = name if state == WarpState.MEMORY else STATES[state]
        expected.append((group + 2, slot + 1, begin, end - begin, called, warp, f"{name} ({others})"))
    got = [
        (event["pid"], event["tid"], event["ts"], event["dur"], event["name"], *reported)
        for event in slices(document)
        for reported in [(event["args"]["warp"], event["args"]["reason"])]
    ]
    assert sorted(got) == sorted(expected)
    names = {event["name"] for event in slices(document)}
    assert names == {"ready", "issuing", "memory latency", "barrier", "pause"}
    assert all(event["cname"] == COLOURS[event["name"].split()[0]] for event in slices(document))
    assert len(set(COLOURS.values())) == len(STATES)


def test_with_a_clock_ticks_are_time(tmp_path):
    on = machine(clock_hz=2e6, ticks_per_cycle=10)
    _, result, document = written(tmp_path, on, workload())
    last = max(event["ts"] + event["dur"] for event in slices(document))
    assert last == Fraction(result.ticks, 20)  # ticks of a 20th of a microsecond
    assert document["otherData"]["clock_hz"] == Fraction(2_000_000)


def test_counters_say_what_warps_of_each_group_and_of_the_machine_do(tmp_path):
    _, result, document = written(tmp_path, machine(), workload())
    for process, groups in ((2, [0]), (3, [1]), (1, [0, 1])):
        expected = expected_changes(result, groups)
        assert changes(document, process) == expected
        assert len(expected) > 20
    assert document["otherData"]["counters of the machine"] == "every change"


def test_beyond_so_many_changes_the_machines_counters_are_means(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "MOST_CHANGES", 7)
    _, result, document = written(tmp_path, machine(), workload())
    found = changes(document, 1)
    assert len(found) == 7
    at_ticks = [np.zeros(len(COUNTED), int)] * (result.ticks + 1)
    for tick, *now in expected_changes(result, [0, 1]):
        at_ticks[tick:] = [np.array(now)] * (result.ticks + 1 - tick)
    edges = [int(tick) for tick, *_ in found] + [result.ticks]
    for first, last, (_, *means) in zip(edges[:-1], edges[1:], found, strict=True):
        exact = np.sum(at_ticks[first:last], axis=0) / (last - first)
        assert np.abs(exact - np.array([float(mean) for mean in means])).max() <= 0.0005  # told in thousandths
    assert document["otherData"]["counters of the machine"].startswith("means over ")
    check_rules(document)


def test_launches_have_a_track_of_their_own(tmp_path):
    _, result, document = written(tmp_path, machine(**{"scheduling.launch_overhead": 10}), workload())
    first, second = result.launch_ticks
    assert [(event["ts"], event["dur"]) for event in slices(document, "run")] == [(0, first), (first, second)]


def test_a_whole_file_is_reported(tmp_path):
    result, _, document = written(tmp_path, machine(), workload(), about={"program": "p"})
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert result.events == result.of == len(timed)
    assert result.share == 1
    assert document["otherData"]["complete"] == "nothing is left out"
    assert document["otherData"]["program"] == "p"
    assert "sample" not in str(result)


def test_a_sample_has_all_that_begins_in_its_windows(tmp_path):
    what, most = workload(blocks=40, times=30), 3000
    _, _, whole = written(tmp_path, machine(), what)
    result, _, document = written(tmp_path, machine(), what, most_events=most)
    check_rules(document)
    marks = [event for event in slices(document, "run") if event["name"] == "window"]
    assert len(marks) == result.windows == 2
    assert len({mark["dur"] for mark in marks}) == 1
    steps = np.diff([int(mark["ts"]) for mark in marks])
    assert len(set(steps.tolist())) == 1

    def inside(event):
        return any(mark["ts"] <= event["ts"] < mark["ts"] + mark["dur"] for mark in marks)

    def within(events):
        chosen = [event for event in events if "cat" in event or 1 < event["pid"] < PASSING]
        chosen = [event for event in chosen if event["ph"] != "M" and event["name"] != "window" and inside(event)]
        return sorted(json.dumps(event, default=str) for event in chosen)

    kept = within(document["traceEvents"])
    assert kept == within(whole["traceEvents"])
    means = changes(document, 1)  # of the whole time
    assert most // 5 < len(means) <= most // 4
    passing = changes(document, PASSING)  # likewise
    assert len(kept) + len(marks) + len(means) + len(passing) == result.events <= most
    assert result.events > most / 2  # the windows are as wide as there is room for
    timed = [event for event in whole["traceEvents"] if event["ph"] != "M"]
    of_machine = len(changes(whole, 1)) + len(changes(whole, PASSING))
    assert result.of == len(timed) - of_machine + len(means) + len(passing)
    assert "a sample" in str(result)
    assert document["otherData"]["complete"].startswith("a sample")
    assert document["otherData"]["events"]["sampled"] is True


@pytest.mark.parametrize("most", [1, 2, 3, 50, 999, 1001])
def test_no_more_events_than_asked_for(tmp_path, most):
    result, _, document = written(tmp_path, machine(), workload(blocks=30), most_events=most)
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert 0 < len(timed) == result.events <= most < result.of
    check_rules(document)


@pytest.mark.parametrize("kept", [{}, {"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4}])
def test_slices_say_block_launch_kernel_line_array_and_hit(tmp_path, kept):
    caches = {"memory.l1": {"sets": 1, "ways": 1, "latency": 3}, "memory.l2": {"sets": 1, "ways": 9, "latency": 9}}
    places = Places(
        (Place("load", "k.cu", 7, "x = a[i] % 5;", "f", "LDG R1"), Place("store", "k.cu", 9, "a[i] = x;")), ("", "a")
    )
    warp = [["load", [0]], ["load", [0]], ["load", [1]], ["load", [0]], ["store", [0]]]
    given = Workload.from_dict(
        {"launches": [{"blocks": [{"warps": [warp[:1]] * 2}] * 2}, {"blocks": [{"warps": [warp]}]}]}
    )
    operations = np.array([1] * 4 + [1, 1, 1, 1, 3], np.int32)
    columns = {
        name: getattr(given, name)
        for name in Workload.__dataclass_fields__
        if name not in ("place", "places") and not name.startswith("_")
    }
    what = Workload(**columns, place=operations, places=places)
    on = machine(**caches, **kept, **{"memory.stores": "blocking"})
    result = {"blocks": blocks_of(what), "kernels": ["first", "second %d"]}
    _, _, document = written(tmp_path, on, what, **result)
    check_rules(document)
    found = slices(document)
    assert {(event["args"]["launch"], event["args"]["block"], event["args"]["warp"]) for event in found} == {
        (0, 0, 0), (0, 0, 1), (0, 1, 2), (0, 1, 3), (1, 0, 4),
    }  # fmt: skip
    launches = [event["args"] for event in slices(document, "run")]
    assert launches == [{"launch": 0, "kernel": "first"}, {"launch": 1, "kernel": "second %d"}]
    assert all(event["args"]["kernel"] == launches[event["args"]["launch"]]["kernel"] for event in found)
    waits = [event for event in found if event["args"]["warp"] == 4 and event["name"] not in STATES]
    lines = [(event["name"], event["args"]["at"], event["args"]["array"], event["args"].get("hit")) for event in waits]
    load, store = ("k.cu:7: x = a[i] % 5;", "a"), ("k.cu:9: a[i] = x;", "a")
    assert lines == [
        ("memory latency", *load, "miss"),
        ("L1 latency", *load, "L1 hit"),
        ("memory latency", *load, "miss"),
        ("L2 latency", *load, "L2 hit"),
        ("memory latency", *store, None),
    ]
    assert waits[0]["args"]["reason"] == "memory latency (long_scoreboard)"
    assert (waits[0]["args"]["instruction"], waits[0]["args"]["function"]) == ("LDG R1", "f")


def test_copies_and_products_have_tracks_and_warps_have_roles(tmp_path):
    """One warp begins copies and another one products; a third one does neither."""
    on = Machine.from_dict(
        {
            "name": "one",
            "cores": {"groups": 2, "cores_per_group": 1, "warp_width": 1, "max_threads_per_core": 4},
            "memory": {"latency": 20, "chunk_words": 1, "copy_interval": 2},
            "products": {"interval": 4, "count": 2},
        }
    )
    warps = [[["copy", [0]], ["copy", [1]]], [["product", 2], ["product", 1], ["finish", 0]], [["compute", 3]]]
    what = Workload.from_dict({"blocks": [{"warps": warps}]})
    _, _, document = written(tmp_path, on, what)
    tracks = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in document["traceEvents"]
        if event["name"] == "thread_name" and event["pid"] > 1
    }
    assert list(tracks.values()) == [
        "slot 0: producer", "slot 1: consumer", "slot 2", "TMA: copies in bulk under way",
        "tensor pipe 1: products of matrices",
    ]  # fmt: skip
    beside = [
        (tracks[each["pid"], each["tid"]].partition(":")[0], each["ts"], each["ts"] + each["dur"], each["args"])
        for each in slices(document, "unit")
    ]
    assert beside == [("tensor pipe 1", 0, 12, {"products": 2}), ("TMA", 1, 23, {"copies": 2})]
    roles = {each["args"]["warp"]: each["args"].get("role") for each in slices(document)}
    assert roles == {0: "producer", 1: "consumer", 2: None}


def test_without_caches_nothing_is_a_hit_or_a_miss(tmp_path):
    _, _, document = written(tmp_path, machine(), workload())
    assert all("hit" not in event["args"] for event in slices(document))


def test_slices_of_a_trace_have_its_lines_and_arrays(tmp_path):
    on, trace = machine(**{"cores.max_threads_per_core": 64}), load_trace("list-ranking-wyllie")
    what = lower(trace, on, places=True)
    launches = [launch.kernel for launch in trace.info.launches]
    _, result, document = written(tmp_path, on, what, blocks=blocks_of(what), kernels=launches, most_events=3000)
    check_rules(document)
    of_trace = {(site.file, site.line) for site in trace.info.sites}
    lines = {event["args"]["at"].split(": ")[0] for event in slices(document) if "at" in event["args"]}
    assert lines
    assert lines <= {f"{name}:{line}" for name, line in of_trace}
    arrays = {event["args"]["array"] for event in slices(document) if "array" in event["args"]}
    assert arrays
    assert arrays <= {array.name for array in trace.info.arrays}
    ends = np.cumsum(result.launch_ticks)
    for event in slices(document):
        assert event["args"]["launch"] == np.searchsorted(ends, int(event["ts"]), side="right")


@pytest.mark.parametrize("groups", [(0,), (1,), (0, 1), ()])
def test_chosen_core_groups_are_written_and_the_machines_counters_are_of_all(tmp_path, groups):
    _, _, whole = written(tmp_path, machine(), workload())
    result, _, document = written(tmp_path, machine(), workload(), choice=Choice(groups))
    check_rules(document)
    chosen = {1, *(group + 2 for group in groups)}
    assert [event for event in whole["traceEvents"] if event["pid"] in {*chosen, PASSING}] == document["traceEvents"]
    message = f"core groups {'0' if groups == (0,) else '1' if groups else ''} of 2: "
    assert result.what.startswith(message) == (len(groups) < 2)
    assert document["otherData"]["complete"] == ("nothing is left out" if len(groups) == 2 else result.what)


@pytest.mark.parametrize(("begin", "end"), [(0, 40), (25, 26), (30, 100), (50, None), (10, 10**6)])
def test_chosen_cycles_have_what_lies_in_them(tmp_path, begin, end):
    on, what = machine(**{"scheduling.launch_overhead": 7, "ticks_per_cycle": 10}), workload()
    _, result, whole = written(tmp_path, on, what)
    outcome, _, document = written(tmp_path, on, what, choice=Choice(None, begin, end))
    check_rules(document)
    first, last = begin * 10, result.ticks + 1 if end is None else min(end * 10, result.ticks + 1)
    for category in ("warp", "run"):
        inside = [
            event for event in slices(whole, category) if event["ts"] < last and event["ts"] + event["dur"] > first
        ]
        assert slices(document, category) == inside
        assert inside
    for process in (1, 2, 3):
        before = [row for row in changes(whole, process) if row[0] <= first]
        expected = [row for row in changes(whole, process) if first < row[0] < last]
        if before and (any(before[-1][1:]) or before[-1][0] == first):
            expected.insert(0, (first, *before[-1][1:]))
        assert changes(document, process) == expected
    if end != 10**6:
        assert f"of {result.cycles:,.10g}: " in outcome.what


def test_chosen_groups_and_cycles_are_sampled_where_that_is_too_much(tmp_path):
    what = workload(blocks=40, times=30)
    result, _, document = written(tmp_path, machine(), what, choice=Choice((1,), 100, 2000), most_events=500)
    check_rules(document)
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert len(timed) == result.events <= 500
    assert {event["pid"] for event in timed} == {1, 3, PASSING}
    assert all(event["ts"] + event.get("dur", 0) >= 100 and event["ts"] < 2000 for event in timed)
    assert result.what.startswith("core groups 1 of 2, cycles 100 to 2,000 of ")
    assert "a sample, " in result.what


@pytest.mark.parametrize("most", [20_000, 60_000, 200_000])
def test_what_is_too_large_is_sampled_to_a_size(tmp_path, monkeypatch, most):
    monkeypatch.setattr(file, "MOST_BYTES", most + (1 << 16))  # which is for the rest of the file
    result, _, document = written(tmp_path, machine(), workload(blocks=40, times=30))
    check_rules(document)
    size = (tmp_path / "out.json").stat().st_size
    assert most / 3 < size < most + (1 << 16)
    assert result.events < result.of
    assert "a sample, " in result.what


def test_gz_is_compressed_and_the_same_each_time(tmp_path):
    result = simulate(machine(), workload(), timeline=True)
    for name in ("a.json", "a.json.gz"):
        write_timeline(tmp_path / name, result, machine())
    first = (tmp_path / "a.json.gz").read_bytes()
    plain, packed = (json.loads(text) for text in ((tmp_path / "a.json").read_text(), gzip.decompress(first)))
    assert plain["traceEvents"] == packed["traceEvents"]
    assert len(first) < (tmp_path / "a.json").stat().st_size / 5
    write_timeline(tmp_path / "a.json.gz", result, machine())
    assert (tmp_path / "a.json.gz").read_bytes() == first


@examples(20 // SHARING)
@given(
    several(machines()), workloads(), st.sampled_from([None, None, 40]), st.sampled_from([ALL, ALL, Choice((0,), 0, 9)])
)
def test_drawn_files_keep_the_rules_and_have_every_tick_of_every_warp(drawn, what, most, choice):
    for on in drawn:
        check_drawn(on, what, most, choice)


def check_drawn(on, what, most, choice):
    with TemporaryDirectory() as folder:
        outcome, result, document = written(
            folder, on, what, "reference", blocks=blocks_of(what), most_events=most, choice=choice,
            kernels=[f"k{launch}" for launch in range(what.launches)],
        )  # fmt: skip
    check_rules(document)
    timed = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert len(timed) == outcome.events <= (most or outcome.of)
    if outcome.events == outcome.of and choice == ALL:
        spent = Counter()
        for event in slices(document):
            spent[event["args"]["warp"]] += event["dur"]
        line = result.timeline
        assert spent == Counter(
            {int(warp): int((line.end - line.begin)[line.warp == warp].sum()) for warp in line.warp}
        )
        block_of = {warp: block for block in range(what.blocks) for warp in range(*what.block_warps[block : block + 2])}
        for event in slices(document):
            launch, block, warp = (event["args"][key] for key in ("launch", "block", "warp"))
            assert what.launch_blocks[launch] + block == block_of[warp]
            ends = np.cumsum(result.launch_ticks)
            assert ends[launch] - result.launch_ticks[launch] <= event["ts"] < ends[launch]


PROCESSOR = os.environ.get("SIMTMM_TRACE_PROCESSOR") or shutil.which("trace_processor_shell")


@pytest.mark.skipif(
    PROCESSOR is None or importlib.util.find_spec("perfetto") is None,
    reason="Perfetto's trace processor is not installed",
)
def test_perfetto_reads_all_of_it(tmp_path):
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    result, _, document = written(tmp_path, machine(), workload(), blocks=blocks_of(workload()))
    with TraceProcessor(trace=str(tmp_path / "out.json"), config=TraceProcessorConfig(bin_path=PROCESSOR)) as processor:
        (found,) = processor.query("select count(*) as n from slice")
        (values,) = processor.query("select count(*) as n from counter")
        (errors,) = processor.query("select coalesce(sum(value), 0) as n from stats where severity = 'error'")
    counted = [event for event in document["traceEvents"] if event["ph"] == "C"]
    assert (found.n, values.n, errors.n) == (result.events - len(counted), len(COUNTED) * len(counted), 0)


def test_an_empty_run_is_a_file_too(tmp_path):
    result, _, document = written(tmp_path, machine(), Workload.from_dict({"blocks": []}))
    check_rules(document)
    assert result.events == len(slices(document, "run")) == 1  # the launch
    assert document["otherData"]["counters of the machine"] == "none"


def test_without_stalls_slices_have_reasons_and_no_lines(tmp_path):
    on = machine()
    write_timeline(tmp_path / "out.json", simulate(on, workload(), timeline=True), on)
    document = json.loads((tmp_path / "out.json").read_text())
    check_rules(document)
    assert {tuple(event["args"]) for event in slices(document)} == {("warp", "launch", "reason")}


@pytest.mark.parametrize(
    ("text", "groups"), [("0", (0,)), ("0,1,5-7", (0, 1, 5, 6, 7)), ("3, 1-2", (1, 2, 3)), ("2,2-2", (2,))]
)
def test_core_groups_are_read(text, groups):
    assert groups_of(text) == groups


@pytest.mark.parametrize("text", ["", "a", "1,", "-1", "1-", "3-1", "1.5", "0-9999999", "\u00b2", "1--2"])
def test_what_is_no_core_group_is_refused(text):
    with pytest.raises(OutputError, match=r"^--timeline-groups .*: must be core groups, such as 0,1,5-7$"):
        groups_of(text)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"groups": (0, 2)}, "timeline of core group 2: two has the core groups 0 to 1"),
        ({"begin": 10**6}, "timeline from cycle 1e+06: the run ends at cycle "),
        ({"begin": -1}, "timeline from cycle -1: must be at least 0"),
        ({"begin": float("nan")}, "timeline from cycle nan: must be at least 0"),
        ({"begin": 5, "end": 5}, "timeline from cycle 5 to 5: must end after it begins"),
        ({"end": float("inf")}, "timeline from cycle 0 to inf: must end after it begins"),
        ({"end": float("nan")}, "timeline from cycle 0 to nan: must end after it begins"),
    ],
)
def test_what_is_not_there_is_refused(tmp_path, values, said):
    on = machine()
    with pytest.raises(OutputError, match=f"^{re.escape(said)}"):
        write_timeline(tmp_path / "out.json", simulate(on, workload(), timeline=True), on, choice=Choice(**values))
    assert list(tmp_path.iterdir()) == []


def test_a_result_without_a_timeline_is_refused(tmp_path):
    on = machine()
    with pytest.raises(OutputError, match=r"out\.json: the result has no timeline: simulate with timeline=True"):
        write_timeline(tmp_path / "out.json", simulate(on, workload()), on)
    assert list(tmp_path.iterdir()) == []


def test_a_sample_of_no_event_is_refused(tmp_path):
    on = machine()
    with pytest.raises(OutputError, match="at most 0 events: must be at least 1"):
        write_timeline(tmp_path / "out.json", simulate(on, workload(), timeline=True), on, most_events=0)


def test_bandwidth_and_hits_are_means_over_stretches(tmp_path):
    on = machine(**{"memory.service": 4, "memory.l1": {"sets": 1, "ways": 4, "latency": 3}, "clock_hz": 2e9})
    _, result, document = written(tmp_path, on, workload())
    counters = [event for event in document["traceEvents"] if event["ph"] == "C" and event["pid"] == PASSING]
    assert {event["name"] for event in counters} == {"bandwidth, memory ports", "bandwidth, memory", "L1 hits"}
    reported = over_time(on, result, 200)
    ticks = np.diff(reported.edges)
    assert reported.edges[-1] == result.ticks
    moved = float(np.sum(reported.bandwidth["memory ports"] * ticks)) / 2e9
    assert moved == pytest.approx(result.transactions * on.chunk_bytes)
    shown = [event for event in counters if event["name"] == "bandwidth, memory"]
    assert [float(event["args"]["GB/s"]) for event in shown] == pytest.approx(
        reported.bandwidth["memory"] * 1e-9, abs=1e-3
    )
    assert [float(event["ts"]) for event in shown] == pytest.approx(reported.edges[:-1] / 2e3, abs=1e-5)
    hits = [event["args"]["%"] for event in counters if event["name"] == "L1 hits"]
    assert 0 < len(hits) <= len(shown)
    assert all(0 <= value <= 100 for value in hits)


def test_a_few_events_leave_no_room_for_bandwidth(tmp_path):
    result, _, document = written(tmp_path, machine(), workload(blocks=30), most_events=40)
    assert changes(document, PASSING) == []
    assert result.events <= 40


def test_copies_and_pipes_have_tracks_of_their_own_behind_all_slots():
    none = np.array([], np.int64)
    units = Units(
        np.array([0, 2, 1], np.int32), np.array([0, 0, 1], np.int32), np.array([0, 5, 7]), np.array([10, 9, 8]),
        np.array([3, 4, 5]), none, none,
    )  # fmt: skip
    found = units_of(units, np.array([True, True]), 0, 100)
    assert found.process.tolist() == [2, 2, 3]
    assert found.thread.tolist() == [FIRST_UNIT, FIRST_UNIT + 2, FIRST_UNIT + 1]
    assert found.values[:, 0].tolist() == [3, 4, 5]
    names = [file._track(thread, "") for thread in found.thread.tolist()]
    pipe = "tensor pipe {}: products of matrices"
    assert names == ["TMA: copies in bulk under way", pipe.format(1), pipe.format(0)]
    later = units_of(units, np.array([True, False]), 9, 100)  # of one group, and only what has not ended
    assert (later.begin.tolist(), later.thread.tolist()) == ([0], [FIRST_UNIT])

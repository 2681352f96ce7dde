"""The page that explains a run: what it holds, and what a person finds in a browser."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

from simtmm import Machine, Workload
from simtmm.analysis.run import run
from simtmm.analysis.units import chunks_of_kinds, units
from simtmm.engine import simulate
from simtmm.errors import OutputError
from simtmm.report.explain_page import explanation, write_explanation
from simtmm.report.explain_page import heat as heat_module
from simtmm.report.explain_page import lanes as lanes_of_groups
from simtmm.report.explain_page.content import content
from simtmm.report.explain_page.heat import MOST_HOT, MOST_INSTRUCTIONS, MOST_SHOWN, MOST_TEXT, _is_little, heat
from simtmm.report.explain_page.lanes import MOST_SLICES, MOST_SLOTS, lanes
from simtmm.report.explain_page.lanes import _kept as shown_slices
from simtmm.report.explain_page.measures import GROUPS, Measured
from simtmm.report.explain_page.over_time import MOST_POINTS, over_time
from simtmm.report.explain_page.roofline import roofline
from simtmm.report.stalls import WHAT_WARPS_DO
from simtmm.result import Result
from simtmm.stalls import (
    ATOMICS,
    COUNTS,
    LAUNCH_COUNTS,
    REASONS,
    STORES,
    THREADS,
    Count,
    Place,
    Places,
    Reason,
    Stalls,
)
from simtmm.testing.strategies import machines, workloads
from simtmm.timeline import Blocks, Timeline
from simtmm.trace.info import TraceInfo
from simtmm.trace.schedule import NO_SITE, Listing
from tests.examples import SHARING, examples, several
from tests.report.browser import CHROMIUM, Browser, contrast

MACHINE = Machine.from_dict(
    {
        "name": "with everything",
        "clock_hz": 1e9,
        "ticks_per_cycle": 10,
        "cores": {"groups": 4, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 32},
        "scheduling": {"switch": "every-instruction", "scheduler": "oldest", "pipeline_depth": 4, "block_launch": 20},
        "memory": {
            "latency": 400,
            "chunk_words": 32,
            "partitions": 4,
            "service": 4,
            "atomic_service": 8,
            "port_interval": 2,
            "l1": {"sets": 4, "ways": 2, "latency": 30},
            "l2": {"sets": 64, "ways": 4, "latency": 150, "service": 1},
        },
    }
)
WARP = [
    *[operation for turn in range(4) for operation in (["load", [turn, turn + 9]], ["compute", 5], ["shared", 4])],
    ["store", [50, 51]],
    ["atomic", [7, 7, 7]],
    ["barrier"],
]
WORKLOAD = Workload.from_dict({"blocks": [{"warps": [WARP] * 6}] * 12})


@pytest.fixture(scope="module")
def traced():
    """A run of the shipped trace, of whose kernel the recorded lines alone are there."""
    return run(None, "gtx480", timeline=True)


@pytest.fixture(scope="module")
def written(traced):
    """The same with its file of source."""
    lines = [f"line {number};" for number in range(1, 61)]
    lines[17] = "Node next = LD(before, successor);"
    return replace(traced, sources={"kernel.cu": tuple(lines)})


@pytest.fixture(scope="module")
def bare():
    """A run of a workload, which names no lines and no arrays."""
    return run(WORKLOAD, MACHINE, timeline=True)


@pytest.fixture(scope="module")
def compiled(bare):
    """The same as if each kind of operation were instructions of a line: two kinds to a line."""
    stalls = bare.result.stalls
    sites = tuple(
        replace(
            site, file="k.cu", line=1 + number // 2, source="x;", function="k", instruction=f"{site.kind.upper()} R1"
        )
        for number, site in enumerate(stalls.places.sites)
    )
    places = replace(stalls.places, sites=sites)
    return replace(bare, result=replace(bare.result, stalls=replace(stalls, places=places)))


def data_of(text):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def test_the_page_needs_nothing_beside_it(traced):
    text = explanation(traced)
    assert re.findall(r'(?:src|href)="(?!data:,"|#)[^"]*"', text) == []
    assert [url for url in re.findall(r"https?://[^\s\"']+", text) if "www.w3.org" not in url] == []
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_words_of_the_program_stay_words(traced):
    bad = "</script><script>alert(1)</script> @SCRIPT@ \u2028 <!--"
    text = explanation(replace(traced, program=bad, parameters={bad: bad}, sources={"kernel.cu": (bad,) * 30}))
    assert data_of(text)["parameters"] == {bad: bad}
    assert "alert(1)</script>" not in text.replace("&lt;/script&gt;", "")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, traced):
    write_explanation(tmp_path / "page.html", traced)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == explanation(traced)
    with pytest.raises(OutputError, match=r"no/page\.html: can\'t be written"):
        write_explanation(tmp_path / "no" / "page.html", traced)


def test_it_says_what_the_run_says(traced):
    data = data_of(explanation(traced))
    assert data["verdict"] == traced.verdict.words
    assert {each["words"]: each["speedup"] for each in data["whatIfs"]} == {
        each.words: each.speedup for each in traced.verdict.what_ifs
    }
    assert ["cycles", traced.result.cycles, ""] in data["facts"]
    assert {row["name"]: row["cycles"] for row in data["models"]} == {
        "TMM": traced.predictions["tmm"].cycles,
        "TMM, warps wait": traced.predictions["tmm-warps"].cycles,
        "PRAM": traced.predictions["pram"].cycles,
    }
    assert data["models"][0]["ratio"] == pytest.approx(traced.predictions["tmm"].cycles / traced.result.cycles)
    assert data["about"]["machine"] == traced.machine.digest()


def test_units_that_are_given_are_shown(traced):
    given_ = [replace(unit, busy=0.125) for unit in units(traced.machine, traced.result)]
    assert {unit["busy"] for unit in content(traced, given_)["units"]} == {0.125}
    assert content(traced)["units"][0]["busy"] == units(traced.machine, traced.result)[0].busy


def test_each_reason_has_a_group_and_their_shares_are_all_of_the_time(traced, bare):
    assert sorted(reason for members in GROUPS.values() for reason in members) == list(Reason)
    for each in (traced, bare):
        assert sum(reason["share"] for reason in content(each)["reasons"]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["traced", "written", "bare", "compiled"])
def test_lines_and_what_precedes_them_are_all_of_the_time(name, request):
    data = content(request.getfixturevalue(name))
    hot = data["heat"]["hot"]
    assert sum(line["share"] for line in hot) + data["start"] == pytest.approx(1, rel=1e-4)  # five digits of each
    assert [line["share"] for line in hot] == sorted((line["share"] for line in hot), reverse=True)
    listed = [index for file in data["heat"]["files"] for _, _, index in file["lines"] if index is not None]
    assert sorted(listed) == list(range(len(hot)))


def test_a_line_says_what_its_places_say(traced):
    rows = [row for row in traced.result.stalls.rows() if row["line"] == 18]
    line = next(line for line in content(traced)["heat"]["hot"] if line["line"] == 18)

    def total(key):
        return sum(row[key] for row in rows)

    assert line["chunks"] == total("chunks")
    assert line["requests"] == total("requests")
    assert line["asked"] == total("bytes_asked")
    assert line["l1"] == pytest.approx(total("l1_hits") / total("chunks"), rel=1e-4)
    assert line["l2"] == pytest.approx(total("l2_hits") / (total("chunks") - total("l1_hits")), rel=1e-4)
    assert line["threads"] == pytest.approx(total("threads") / total("executions"), rel=1e-4)
    assert sorted(line["arrays"]) == sorted({row["array"] for row in rows})
    reason, _, share = line["reasons"][0]
    most = max(REASONS, key=total)
    assert reason.replace(" ", "_").lower() == most
    assert share == pytest.approx(total(most) / sum(total(name) for name in REASONS), rel=1e-4)


def test_stores_and_atomics_are_no_misses(bare):
    hot = {line["text"]: line for line in content(bare)["heat"]["hot"]}
    assert 0 < hot["load"]["l1"] < 1
    assert "l1" not in hot["store"]
    assert "l2" not in hot["atomic"]
    assert hot["atomic"]["chunks"] == 3 * hot["atomic"]["requests"]


def test_the_lines_of_a_file_are_shown_as_far_as_it_is_at_hand(traced, written):
    (file,) = content(traced)["heat"]["files"]
    assert [number for number, _, _ in file["lines"]] == [14, 16, 18, 20, 22]
    assert "only the recorded lines" in file["note"]
    (file,) = content(written)["heat"]["files"]
    assert [number for number, _, _ in file["lines"]] == list(range(1, 61))
    assert file["lines"][17][1] == "Node next = LD(before, successor);"
    assert not file["note"]


def test_instructions_stand_below_their_line(compiled):
    hot = content(compiled)["heat"]["hot"]
    line = next(line for line in hot if line["line"] == 2)
    result = {each["text"]: each for each in line["made"]}
    assert set(result) == {"LOAD R1"}  # there is no async
    assert sum(each["share"] for each in line["made"]) == pytest.approx(line["share"], rel=1e-4)
    assert {each["text"] for each in next(line for line in hot if line["line"] == 1)["made"]} == {
        "COMPUTE R1",
        "SHARED R1",
    }


LONG = 120_000  # slices
ONE_BLOCK_EACH = Blocks(np.array([0, LONG]), np.arange(LONG + 1))


def long_timeline(rng, places):
    """Of three core groups, in which each slice is a warp of its own: the most that a page can have to tell."""
    number = np.arange(LONG)
    begin = number // 120 * 5000 + rng.integers(0, 500, LONG)
    end = begin + rng.integers(1, 4000, LONG)
    columns = (number, number % 3, number % 120 // 3, rng.integers(1, 6, LONG), begin, end)
    rows = np.stack([*columns, rng.integers(0, places, LONG), rng.integers(0, len(REASONS), LONG)], axis=1)
    return Timeline.from_rows(rows.astype(np.int64))


def test_a_program_of_any_length_makes_a_page_of_a_few_megabytes(bare):
    lines, sites, arrays = 40_000, 20_000, 5
    rng = np.random.default_rng(0)
    where = rng.integers(1, lines, sites)
    words = "float value = table[index] * other_table[index + offset]; " * 3
    places = Places(
        tuple(
            Place(
                "load", "k.cu", int(line), words, "kernel", f"LDG.E.128.CONSTANT R{number}, desc[UR6][R2.64+{number}]"
            )
            for number, line in enumerate(where)
        ),
        ("", *(f"array{number}" for number in range(1, arrays))),
        rng.integers(1, 100, (sites * arrays, len(THREADS))),
    )
    ticks = rng.integers(0, 10**9, (len(places) + 1, len(REASONS)))
    counts = np.sort(rng.integers(1, 10**6, (len(places) + 1, len(COUNTS))), axis=1)[:, ::-1].copy()
    stalls = Stalls(ticks, counts, ticks[:1], places, *of_launches(1))
    sources = {"k.cu": (words,) * lines}
    result = replace(bare.result, stalls=stalls, timeline=long_timeline(rng, len(places)), ticks=10**7)
    text = explanation(replace(bare, result=result, sources=sources, blocks=ONE_BLOCK_EACH))
    assert len(text.encode()) < 5_000_000
    assert sum(len(group["look"]) for group in data_of(text)["lanes"]["groups"]) == MOST_SLICES
    found = data_of(text)["heat"]
    assert len(found["hot"]) == MOST_HOT
    assert sum(len(line.get("made", ())) for line in found["hot"]) <= MOST_INSTRUCTIONS
    assert sum(number > 0 for file in found["files"] for number, _, _ in file["lines"]) <= MOST_SHOWN
    assert sum(line["share"] for line in found["hot"]) + found["left"]["share"] == pytest.approx(1, abs=1e-3)
    assert found["left"]["lines"] == len(set(where.tolist())) - MOST_HOT


def of_launches(number):
    return np.zeros((number, len(LAUNCH_COUNTS)), np.int64), np.zeros(number, np.int64)


def test_what_lies_far_from_any_heat_is_left_out(bare):
    places = Places((Place("load", "k.cu", 50, "a"), Place("store", "k.cu", 15_000, "b")))
    ticks = np.ones((3, len(REASONS)), np.int64)
    counts = np.ones((3, len(COUNTS)), np.int64)
    found = heat(Measured.of(Stalls(ticks, counts, ticks, places, *of_launches(3)), MACHINE), {"k.cu": ("x",) * 20_000})
    lines = found["files"][0]["lines"]
    assert [line for line in lines if line[0] == 0] == [
        (0, "12,949 lines without time", None),
        (0, "4,000 lines without time", None),
    ]
    assert [line[0] for line in lines if line[2] is not None] == [50, 15_000]


def test_arrays_and_levels_say_what_moves(traced, bare):
    data = content(traced)
    assert {row["name"] for row in data["arrays"]} == {"nodes", "jumped"}
    assert sum(row["chunks"] for row in data["arrays"]) == traced.result.transactions
    memory = data["memory"]
    assert [level["name"] for level in memory["levels"]] == ["core groups", "L1", "L2", "memory"]
    first, second, third = ([way["loads"], way["stores"], way["atomics"]] for way in memory["ways"])
    assert sum(first) == traced.result.transactions * 128
    assert first[0] - second[0] == traced.result.l1_hits * 128
    assert second[0] - third[0] == traced.result.l2_hits * 128
    assert first[1:] == second[1:] == third[1:]
    assert memory["levels"][1]["rate"] == pytest.approx(traced.result.l1_hits * 128 / first[0])
    plain = run(WORKLOAD, MACHINE.replace({"memory.l1": None, "memory.l2": None}), what_if=False)
    assert [level["name"] for level in content(plain)["memory"]["levels"]] == ["core groups", "memory"]
    back = run(WORKLOAD, MACHINE.replace({"memory.l2.writes": "back"}), what_if=False)
    ways = content(back)["memory"]["ways"]
    assert (ways[1]["stores"], ways[2]["stores"], ways[2]["least"]) == (72 * 2 * 128, 0, True)
    assert not content(bare)["memory"]["ways"][2]["least"]


@pytest.mark.parametrize("absent", [(), ("memory.l1",), ("memory.l2",), ("memory.l1", "memory.l2")])
def test_sectors_that_move_are_those_counted_behind_each_level(absent):
    """Of loads, stores and atomics, each counted apart."""
    machine = MACHINE.replace({"memory.sectors": 4, **dict.fromkeys(absent)})
    made = run(WORKLOAD, machine, what_if=False, timeline=True)
    memory = content(made)["memory"]
    names = [level["name"] for level in memory["levels"]]
    assert names == [
        "core groups",
        *(name for name in ("L1", "L2") if f"memory.{name.lower()}" not in absent),
        "memory",
    ]

    def sectors(what):
        found = chunks_of_kinds(made.result.stalls, what)
        kinds = [sum(found.get(kind, 0) for kind in group) for group in (STORES, ATOMICS)]
        return [32 * (sum(found.values()) - sum(kinds)), 32 * kinds[0], 32 * kinds[1]]

    into = {"L2": Count.L2_SECTORS, "memory": Count.MEMORY_SECTORS}
    moved = [[way["loads"], way["stores"], way["atomics"]] for way in memory["ways"]]
    passing = sectors(Count.MEMORY_SECTORS)[1:]  # stores and atomics that end at no L2 go by it
    for way, level in list(zip(moved, names[1:], strict=True))[1:]:
        counted = sectors(into[level])
        expected = [counted[0], counted[1] + passing[0], counted[2] + passing[1]] if level == "L2" else counted
        assert way == expected, level
    if len(names) > 2:
        assert sum(moved[-1]) > 0


@examples(60 // SHARING)
@given(several(machines()), workloads())
def test_warps_over_time_are_the_timelines(drawn, workload):
    for machine in drawn:
        result = simulate(machine, workload, timeline=True)
        reported = over_time(machine, result)
        if reported is None:
            assert result.ticks == 0
            continue
        living = reported["series"]["living"]
        assert len(living) == min(MOST_POINTS, result.ticks)
        assert max(living) <= machine.warps_per_group * 1.001
        stretch = result.ticks / len(living)
        spent = int((result.timeline.end - result.timeline.begin).sum())
        rounded = 5e-4 * spent + 1e-9  # values are kept with four digits
        assert sum(living) * stretch * machine.cores.groups == pytest.approx(spent, abs=rounded)
        for name in ("waiting for memory", "ready", "issuing"):
            assert all(part <= whole * 1.001 for part, whole in zip(reported["series"][name], living, strict=True))


def test_a_stretch_has_the_warps_that_are_there(bare):
    timeline = bare.result.timeline
    reported = over_time(bare.machine, bare.result)
    middle = (len(reported["series"]["ready"]) // 2 + 0.5) * bare.result.ticks / len(reported["series"]["ready"])
    there = int(((timeline.begin <= middle) & (timeline.end > middle)).sum())
    assert reported["series"]["living"][len(reported["series"]["ready"]) // 2] == pytest.approx(there / 4, abs=0.5)
    assert reported["unit"] == "s"
    assert reported["whole"] == bare.result.seconds


@examples(60 // SHARING)
@given(several(machines()), workloads())
def test_no_point_lies_above_its_own_roof(drawn, workload):
    for machine in drawn:
        found = run(workload, machine, what_if=False)
        lies_below(roofline(found, units(machine, found.result)))


def lies_below(told):
    for level in told["levels"] if told else ():
        roof = (
            told["flat"] if level["bandwidth"] is None else min(told["flat"], level["bandwidth"] * level["intensity"])
        )
        assert told["rate"] <= roof * (1 + 1e-9)


def test_a_roofline_says_what_it_counts(traced, bare):
    of_trace = content(traced)["roofline"]
    assert of_trace["counted"] == "operations of threads"
    assert of_trace["rate"] == pytest.approx(traced.counts.work / traced.result.seconds)
    to_memory = sum(content(traced)["memory"]["ways"][-1][kind] for kind in ("loads", "stores", "atomics"))
    assert [level["name"] for level in of_trace["levels"]] == ["memory"]  # the only one with a limit
    assert of_trace["levels"][0]["intensity"] == pytest.approx(traced.counts.work / to_memory)
    lies_below(of_trace)
    counts = replace(traced.counts, work_by_class={"fp32": 1000, "integer": 5000})
    of_classes = content(replace(traced, counts=counts))["roofline"]
    assert "floating-point instructions of threads (fp32;" in of_classes["counted"]
    assert of_classes["rate"] == pytest.approx(1000 / traced.result.seconds)
    of_workload = content(bare)["roofline"]
    assert of_workload["counted"] == "instructions of warps"
    assert [level["name"] for level in of_workload["levels"]] == ["memory ports", "L2", "memory"]
    lies_below(of_workload)


def decoded(told, group):
    """(slot, begin, end, reason, warp) of each slice, and its columns of the looks, as the page's script does it."""
    found = []
    warps = {name: np.cumsum(column).tolist() for name, column in group["warps"].items()}
    for lane, (slot, first) in enumerate(zip(group["slots"], group["first"], strict=True)):
        now = 0
        for number in range(first, [*group["first"], len(group["look"])][lane + 1]):
            begin = now + group["gap"][number]
            now = begin + group["length"][number]
            turn = np.searchsorted(warps["first"], number, side="right") - 1
            look = {name: column[group["look"][number]] for name, column in told["looks"].items()}
            of_warp = {name: column[turn] for name, column in warps.items() if name != "first"}
            found.append({"slot": slot, "begin": begin, "end": now, **look, **of_warp})
    return found


def named(names, number):
    return names[-3 - number] if number <= -3 else ""


def rows_of(timeline, group):
    """The same of a timeline, with names of reasons."""
    own = timeline.group == group
    columns = (timeline.slot, timeline.begin, timeline.end, timeline.reason, timeline.warp)
    rows = zip(*(column[own].tolist() for column in columns), strict=True)
    return sorted((slot, begin, end, WHAT_WARPS_DO[Reason(why)][0], warp) for slot, begin, end, why, warp in rows)


@examples(40 // SHARING)
@given(several(machines()), workloads())
def test_lanes_hold_the_timeline_of_their_groups(drawn, workload):
    for machine in drawn:
        done = run(workload, machine, timeline=True, what_if=False)
        reported, timeline = lanes(done, {}), done.result.timeline
        if reported is None:
            assert done.result.ticks == 0 or len(timeline) == 0
            continue
        groups = [group["group"] for group in reported["groups"]]
        assert {min(timeline.group), max(timeline.group)} <= set(groups)
        assert reported["withBlocks"] == len(set(timeline.group.tolist()))
        for group in reported["groups"]:
            assert group["until"] == reported["ticks"]
            found = decoded(reported, group)
            shown = [(e["slot"], e["begin"], e["end"], reported["reasons"][e["reason"]][0], e["warp"]) for e in found]
            assert shown == rows_of(timeline, group["group"])
            warps = np.array([each["warp"] for each in found])
            launch, block = done.blocks.of_warps(warps)
            assert [each["launch"] for each in found] == launch.tolist()
            assert [each["block"] for each in found] == block.tolist()


def test_the_first_the_busiest_and_the_last_group_are_shown():
    blocks = [[["compute", 3]], [["compute", 90]], [["compute", 5]], [["load", [0]]]]  # the last one waits for longest
    workload = Workload.from_dict({"blocks": [{"warps": [warp]} for warp in blocks]})
    reported = lanes(run(workload, MACHINE, timeline=True, what_if=False), {})
    assert [(group["group"], group["why"]) for group in reported["groups"]] == [
        (0, ["first"]),
        (1, ["busiest"]),
        (3, ["last"]),
    ]
    alone = Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}]})
    reported = lanes(run(alone, MACHINE, timeline=True, what_if=False), {})
    assert [(group["group"], group["why"]) for group in reported["groups"]] == [(0, [])]


@pytest.mark.parametrize("most", [3, 100, 1000])
def test_of_too_many_slices_the_beginning_of_each_group_is_shown(bare, monkeypatch, most):
    timeline = bare.result.timeline
    monkeypatch.setattr(lanes_of_groups, "MOST_SLICES", most)
    reported = lanes(bare, {})
    numbers = [len(group["look"]) for group in reported["groups"]]
    assert 0.9 * most - 10 < sum(numbers) <= most
    assert max(numbers) - min(numbers) < 0.1 * most + 10  # what begins at one tick is there together, or not at all
    for group in reported["groups"]:
        rows = rows_of(timeline, group["group"])
        found = decoded(reported, group)
        assert group["of"] == len(rows)
        assert len(found) < len(rows)
        if most > 3:  # of three at one tick there is one
            assert [(e["slot"], e["begin"]) for e in found] == [row[:2] for row in rows if row[1] < group["until"]]


def test_of_too_many_slots_the_first_are_shown(bare, monkeypatch):
    monkeypatch.setattr(lanes_of_groups, "MOST_SLOTS", 5)
    for group in lanes(bare, {})["groups"]:
        there = sorted({row[0] for row in rows_of(bare.result.timeline, group["group"])})
        assert group["slots"] == there[:5]
        assert group["left"] == len(there) - 5 > 0


def test_a_slice_says_line_array_and_whether_it_was_a_hit(traced):
    data = content(traced)
    reported, hot = data["lanes"], data["heat"]["hot"]
    found = [each for group in reported["groups"] for each in decoded(reported, group)]
    arrays = {line["line"]: set(line["arrays"]) for line in hot}
    seen = set()
    for each in found:
        reason = reported["reasons"][each["reason"]][0]
        if each["line"] < 0:
            assert reason == "launch"
            continue
        if each["array"] != -1:
            assert named(reported["arrays"], each["array"]) in arrays[hot[each["line"]]["line"]]
        seen.add((reason, named(reported["hits"], each["hit"])))
    hits = {("L2 latency", "L2 hit"), ("memory latency", "miss"), ("line in flight", "hit, line in flight")}
    assert hits <= seen  # stores end in the L2, too
    assert {name for name, hit in seen if hit} <= {"memory latency", "queue at memory", *(name for name, _ in hits)}
    assert {hot[each["line"]]["line"] for each in found if each["line"] >= 0} == lines_of_slices(traced, reported)


def test_only_loads_hit_or_miss(bare):
    data = content(bare)
    reported, hot = data["lanes"], data["heat"]["hot"]
    found = [each for group in reported["groups"] for each in decoded(reported, group)]
    assert {hot[each["line"]]["text"] for each in found if each["hit"] != -1} == {"load"}
    latency = {
        hot[each["line"]]["text"] for each in found if reported["reasons"][each["reason"]][0] == "memory latency"
    }
    assert {"load", "atomic"} <= latency


def lines_of_slices(done, told):
    timeline, places = done.result.timeline, done.result.stalls.places
    own = np.isin(timeline.group, [group["group"] for group in told["groups"]])
    numbers = set(timeline.place[own].tolist()) - {len(places)}
    assert len(numbers) > 3
    return {places.place(number)[0].line for number in numbers}


def test_lines_that_the_source_heat_leaves_out_are_named(traced, monkeypatch):
    reported = lanes(traced, {})
    assert {named(reported["others"], line) for line in reported["looks"]["line"]} - {""} == {
        f"kernel.cu:{line}" for line in lines_of_slices(traced, reported)
    }
    monkeypatch.setattr(lanes_of_groups, "MOST_NAMES", 2)
    reported = lanes(traced, {})
    assert len(reported["others"]) == 2
    assert -2 in reported["looks"]["line"]


EMPTY = Workload.from_dict({"blocks": []})
ODD = {
    "nothing to run": lambda: run(EMPTY, MACHINE, timeline=True),
    "no memory": lambda: run(Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}]}), MACHINE, timeline=True),
    "no clock, no limits": lambda: run(
        WORKLOAD,
        MACHINE.replace({"clock_hz": None, "memory.service": 0, "memory.port_interval": 0, "memory.l2.service": 0}),
        timeline=True,
    ),
    "no timeline": lambda: run(WORKLOAD, MACHINE, what_if=False),
    "no stalls": lambda: without_stalls(run(None, "gtx280")),
    "many parameters": lambda: replace(
        run(None, "gtx280", what_if=False), parameters={f"parameter_{number}": "x" * 60 for number in range(12)}
    ),
}  # fmt: skip


def without_stalls(done):
    bare = Result.from_dict(done.result.to_dict(), done.machine.ticks_per_cycle, done.machine.clock_hz)
    return replace(done, result=bare)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def show(chromium, tmp_path):
    """Shows a run's page. Whatever a test does there, nothing may come on the console."""
    chromium.errors.clear()
    chromium.dark(False)
    chromium.size(1200, 1000)

    def shown(done, profiled=None):
        write_explanation(tmp_path / "page.html", done, profiled=profiled)
        chromium.open(tmp_path / "page.html")
        return chromium

    yield shown
    assert chromium.errors == []


# Pieces of text as they are seen, cut off where something cuts them off; those that overlap
OVERLAPPING = """(() => {
  const seen = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || node.parentElement.closest('script, noscript, style, .skip, title')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      let { left, right, top, bottom } = box;
      for (let at = node.parentElement; at && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflow === 'visible') continue;
        const edge = at.getBoundingClientRect();
        left = Math.max(left, edge.left); right = Math.min(right, edge.right);
        top = Math.max(top, edge.top); bottom = Math.min(bottom, edge.bottom);
      }
      top += 2; bottom -= 2;  // what letters leave free
      if (right - left > 1 && bottom - top > 1) seen.push({ left, right, top, bottom, node });
    }
  }
  const found = [];
  seen.forEach((a, i) => seen.slice(i + 1).forEach((b) => {
    const across = a.left < b.right - 1 && b.left < a.right - 1, up = a.top < b.bottom && b.top < a.bottom;
    if (across && up && a.node !== b.node) found.push([a.node.data, b.node.data]);
  }));
  return { number: seen.length, found };
})()"""
# What reaches beyond the window, but for what scrolls by itself
BEYOND = """[...document.querySelectorAll('body *')]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5)
  .filter((each) => !each.parentElement.closest('.scroll, nav ul'))
  .map((each) => each.tagName + '.' + each.className)"""


def at_rest(browser):
    """Once a jump has come to rest."""
    frames = "let left = 12; const next = () => (left-- ? requestAnimationFrame(next) : done()); next();"
    browser.run(f"new Promise(done => {{ {frames} }})")


def to_the_top(browser):
    at_rest(browser)
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")


def number(browser, selector):
    return browser.run(f"document.querySelectorAll({selector!r}).length")


def text(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).innerText")


def test_an_open_line_has_what_a_profiler_measured_there(show, written):
    data = data_of(explanation(written))["heat"]
    hottest = data["hot"][0]
    place = data["files"][hottest["file"]]["name"], hottest["line"]
    browser = show(written, {place: [["instructions of warps", "1,024", "1,000", "+2.4 %"], ["lines", "0", "0", ""]]})
    browser.run("document.getElementById('next').click()")
    assert "1,024, measured 1,000 (+2.4 %)" in text(browser, ".below")
    assert "0, measured 0\n" in text(browser, ".below") + "\n"


@pytest.mark.parametrize("width", [1200, 375])
@pytest.mark.parametrize("name", ["written", "compiled"])
def test_no_text_over_text_and_nothing_wider_than_the_window(show, request, name, width):
    browser = show(request.getfixturevalue(name))
    browser.size(width, 900)
    browser.press("n")
    to_the_top(browser)
    done = browser.run(OVERLAPPING)
    assert done["number"] > 150
    assert done["found"] == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(BEYOND) == []


def test_what_would_overlap_is_found(show, bare):
    browser = show(bare)
    browser.run("document.querySelector('#plots text').setAttribute('x', 300)")
    browser.run("document.querySelectorAll('#plots text')[1].setAttribute('x', 305)")
    assert len(browser.run(OVERLAPPING)["found"]) == 1
    browser.run("document.querySelector('#facts').style.width = '3000px'")
    assert browser.run(BEYOND) != []


@pytest.mark.parametrize("name", ODD)
def test_odd_runs_are_shown_too(show, name):
    done = ODD[name]()
    browser = show(done)
    browser.size(375, 900)
    browser.press("n")
    to_the_top(browser)
    assert browser.run(BEYOND) == []
    assert browser.run(OVERLAPPING)["found"] == []
    assert text(browser, "#verdict-words") == done.verdict.words
    hidden = browser.run("[...document.querySelectorAll('section')].filter(s => s.hidden).map(s => s.id)")
    expected = {
        "nothing to run": ["warps", "source", "memory", "timeline", "roofline", "models"],
        "no memory": ["memory", "roofline", "models"],
        "no clock, no limits": ["models"],
        "no timeline": ["timeline", "models"],
        "no stalls": ["warps", "source", "timeline"],
        "many parameters": ["timeline"],
    }
    assert hidden == expected[name]
    if name == "no timeline":
        assert "timeline=True" in text(browser, "#over-time-note")
    if name == "no clock, no limits":
        assert "nothing limits it" in text(browser, "#unit-rows")
        assert "B/cycle" in text(browser, "#unit-rows")


def test_keys_jump_from_hottest_to_coolest_and_back(show, written):
    browser = show(written)
    focused = "document.activeElement.querySelector('.number')?.textContent"
    hot = content(written)["heat"]["hot"]
    for key, index in (("n", 0), ("n", 1), ("n", 2), ("p", 1), ("p", 0), ("p", 0)):
        browser.press(key)
        assert browser.run(focused) == str(hot[index]["line"])
        assert number(browser, ".below") == 1
        assert text(browser, "#said").startswith(
            f"Line {index + 1} of {len(hot)} by heat: kernel.cu:{hot[index]['line']}"
        )
    box = browser.run("(r => [r.top, r.bottom])(document.activeElement.getBoundingClientRect())")
    assert 0 < box[0] < box[1] < 1000  # it is in sight
    browser.press("Escape")
    assert number(browser, ".below") == 0
    browser.press("Enter")
    assert number(browser, ".below") == 1


def test_a_jump_within_a_long_file_ends_at_its_line(show, compiled):
    """Of a long listing a browser lays out what is in sight, and lines far away move while it gets there."""
    stalls = compiled.result.stalls
    sites = tuple(replace(site, line=1 + 160 * number) for number, site in enumerate(stalls.places.sites))
    places = replace(stalls.places, sites=sites)
    words = "float value = table[index] * other_table[index + offset];  // " * 5
    done = replace(
        compiled,
        result=replace(compiled.result, stalls=replace(stalls, places=places)),
        sources={"k.cu": (words,) * 1500},
    )
    browser = show(done)
    browser.size(375, 900)
    for line in content(done)["heat"]["hot"]:
        browser.press("n")
        at_rest(browser)
        assert browser.run("document.activeElement.querySelector('.number').textContent") == str(line["line"])
        top, bottom = browser.run("(r => [r.top, r.bottom])(document.activeElement.getBoundingClientRect())")
        assert 60 < top < bottom < 900


def test_a_press_opens_the_instructions_of_a_line(show, compiled):
    browser = show(compiled)
    browser.run("[...document.querySelectorAll('button.line')].find(b => b.innerText.includes('1\\n')).click()")
    assert "COMPUTE R1" in text(browser, ".below")
    assert "instructions of warps" in text(browser, ".below")
    browser.run("document.querySelector('#hottest button').click()")  # another line, which closes the first
    assert number(browser, ".below") == 1
    assert browser.run("document.querySelectorAll('[aria-expanded=true]').length") == 1


def test_code_opens_below_its_line(show, compiled):
    """SASS and PTX fold open, and what a site takes stands at its last instruction."""
    sass = Listing("k", "sass", ("S2R R0", "LDG R1", "EXIT"), (("k.cu", 1),) * 3, (0, 0, NO_SITE))
    ptx = Listing("k", "ptx", ("ld.global <b>&",), (("k.cu", 1),), (NO_SITE,))
    info = TraceInfo("k", {}, (), (), (), 0, "", listings=(sass, ptx))
    given = replace(compiled, info=info)
    (line,) = [line for line in content(given)["heat"]["hot"] if line["line"] == 1]
    assert [(code["name"], len(code["rows"]), code["left"]) for code in line["code"]] == [("SASS", 3, 0), ("PTX", 1, 0)]
    assert [len(row) for row in line["code"][0]["rows"]] == [2, 5, 2]
    browser = show(given)
    browser.run("[...document.querySelectorAll('button.line')].find(b => b.innerText.includes('1\\n')).click()")
    assert "3 instructions of SASS" in text(browser, ".below")
    assert "LDG R1" not in text(browser, ".below")  # folded
    browser.run("document.querySelectorAll('.below details').forEach(d => { d.open = true; })")
    shown = text(browser, ".below")
    assert "LDG R1" in shown
    assert "ld.global <b>&" in shown


def test_bars_and_drawings_are_as_long_as_what_they_stand_for(show, bare):
    browser = show(bare)
    data = content(bare)
    widths = browser.run("[...document.querySelectorAll('#unit-rows .fill')].map(f => f.style.width)")
    assert [float(width[:-1]) for width in widths] == pytest.approx(
        [100 * unit["busy"] for unit in data["units"]], rel=1e-5
    )  # a browser keeps six digits
    parts = browser.run("[...document.querySelectorAll('#stack > div')].map(d => d.getBoundingClientRect().width)")
    shares = [reason["share"] for reason in data["reasons"]]
    assert max(parts) / sum(parts) == pytest.approx(max(shares), abs=0.03)  # the least are two dots wide
    named = "[...document.querySelectorAll('#stack > div')].filter(d => d.textContent)"
    assert browser.run(f"{named}.length") > 0
    for width in (1200, 700, 375):
        browser.size(width, 900)
        assert browser.run(f"{named}.filter(d => d.scrollWidth > d.clientWidth).length") == 0
    browser.size(1200, 900)
    passing = data["overTime"]["passing"]
    assert len(passing["bandwidth"]) == 3
    assert len(passing["hits"]) == 2
    assert number(browser, "#plots .series") == 4 + 3 + 2
    assert number(browser, "#roofline-plot .point") == 3
    assert number(browser, "#roofline-plot .roof") == 4
    assert number(browser, "#chart .level") == 4
    # Up is less: the points stand at or below the line of their own roof
    for level in data["roofline"]["levels"]:
        assert data["roofline"]["rate"] <= level["bandwidth"] * level["intensity"] * (1 + 1e-9)


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_by_system_with_words_that_stand_out(show, bare, dark):
    """WCAG 2.1: a contrast of 4.5 for text (1.4.3), which stands on the colours of groups of reasons, too."""
    browser = show(bare)
    browser.dark(dark)
    assert browser.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(22, 24, 28)" if dark else "rgb(255, 255, 255)"
    )
    names = ["paper", "ink", "dim", "hot", "field", *(f"g{number}" for number in range(len(GROUPS)))]
    colours = browser.run(
        f"Object.fromEntries({names}.map(n => [n, getComputedStyle(document.documentElement)"
        ".getPropertyValue('--' + n).trim()]))"
    )
    for name in names[5:]:
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    for words in ("ink", "dim"):
        for ground in ("paper", "field", "hot"):
            assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
    assert len({colours[name] for name in names[5:]}) == len(GROUPS)


def test_a_screen_reader_is_reported_what_there_is(show, bare):
    reported = show(bare).accessible()
    for expected in (
        ("heading", "Speed of light"),
        ("heading", "Hottest lines"),
        ("button", "Next hottest line (n)"),
        ("columnheader", "chunks a request"),
        ("link", "Roofline"),
    ):
        assert expected in reported
    unnamed = [role for role, name in reported if role in ("button", "link", "image") and not name]
    assert unnamed == []


LEFT, RIGHT = 40, 10  # of the canvas: where lanes begin and end


def at_lanes(browser):
    browser.run("document.querySelector('#timeline').scrollIntoView(); document.querySelector('#lanes').focus()")
    drawn(browser)


def drawn(browser):
    """Once the lanes are drawn anew."""
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def seen_cycles(browser):
    """The cycles that are in view."""
    drawn(browser)
    found = re.match(r"Cycles ([\d.,]+) to ([\d.,]+) of", text(browser, "#lanes-view"))
    return [float(each.replace(",", "")) for each in found.groups()]


def place_of(browser, told, slice_, view):
    """The middle of a slice, within the window, and within the canvas."""
    box = browser.run(
        "(r => [r.left, r.top, r.width, r.height])(document.querySelector('#lanes').getBoundingClientRect())"
    )
    (group,) = (group for group in told["groups"] if slice_ in decoded(told, group))
    middle = (slice_["begin"] + slice_["end"]) / 2 / told["cycle"]
    across = LEFT + (middle - view[0]) / (view[1] - view[0]) * (box[2] - LEFT - RIGHT)
    down = (group["slots"].index(slice_["slot"]) + 0.5) * box[3] / len(group["slots"])
    return (box[0] + across, box[1] + down), (across, down)


def longest(told, which=lambda each: True):
    return max(filter(which, decoded(told, told["groups"][0])), key=lambda each: each["end"] - each["begin"])


def test_keys_buttons_and_the_wheel_zoom_and_pan(show, bare):
    browser = show(bare)
    at_lanes(browser)
    whole = seen_cycles(browser)
    assert whole == pytest.approx([0, bare.result.cycles])

    def width():
        low, high = seen_cycles(browser)
        assert 0 <= low < high <= whole[1]
        return high - low

    for press in (
        lambda: browser.press("+"),
        lambda: browser.run("document.querySelector('#lanes-in').click()"),
        lambda: browser.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=-100),
    ):
        before = width()
        press()
        assert width() < before
    view = seen_cycles(browser)
    browser.press("ArrowRight")
    assert seen_cycles(browser)[0] - view[0] == pytest.approx(0.2 * (view[1] - view[0]), rel=0.05)  # two digits
    browser.run("document.querySelector('#lanes-earlier').click()")
    assert seen_cycles(browser) == pytest.approx(view, rel=0.01)
    for _ in range(10):
        browser.press("ArrowLeft")
    assert seen_cycles(browser)[0] == 0
    before = width()
    browser.press("-")
    assert width() > before
    browser.press("+")
    browser.press("0")
    assert seen_cycles(browser) == whole
    for _ in range(20):
        browser.press("+")
    assert width() == pytest.approx(8 / MACHINE.ticks_per_cycle, rel=0.05)
    browser.run("document.querySelector('#lanes-whole').click()")
    at = browser.run("scrollY")
    browser.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=100)  # there is no more to see
    assert seen_cycles(browser) == whole
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert browser.run("scrollY") > at


def test_pointing_tells_and_a_click_goes_to_the_line(show, written):
    browser = show(written)
    at_lanes(browser)
    data = content(written)
    reported = data["lanes"]
    slice_ = longest(reported, lambda each: each["array"] != -1 and each["hit"] != -1)
    line = data["heat"]["hot"][slice_["line"]]
    (x, y), _ = place_of(browser, reported, slice_, seen_cycles(browser))
    browser.mouse("mouseMoved", x, y)
    message = " ".join(text(browser, "#slice").split())
    name, _, nsight = reported["reasons"][slice_["reason"]]
    cycles = [f"{slice_[end] / reported['cycle']:,.10g}" for end in ("begin", "end")]
    for words in (
        f"reason {name} ({nsight})",
        f"cache {named(reported['hits'], slice_['hit'])}",
        f"line kernel.cu:{line['line']}",
        f"array {named(reported['arrays'], slice_['array'])}",
        f"block {slice_['block']} warp {slice_['warp']}",
        f"cycles {cycles[0]} to {cycles[1]} (",
        line["text"],
    ):
        assert words in message
    assert re.search(r"time [\d.,]+ to [\d.,]+ \S?s", message)
    for kind in ("mousePressed", "mouseReleased"):
        browser.mouse(kind, x, y, button="left", clickCount=1)
    at_rest(browser)
    assert browser.run("document.activeElement.querySelector('.number').textContent") == str(line["line"])


def test_dragging_moves_and_goes_to_no_line(show, written):
    browser = show(written)
    at_lanes(browser)
    browser.press("+")
    browser.press("ArrowRight")
    view = seen_cycles(browser)
    reported = content(written)["lanes"]
    (x, y), _ = place_of(
        browser, reported, longest(reported, lambda each: view[0] < each["begin"] / reported["cycle"]), view
    )
    browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    browser.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    browser.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
    wide = browser.run("document.querySelector('#lanes').clientWidth") - LEFT - RIGHT
    moved = 100 / wide * (view[1] - view[0])
    assert seen_cycles(browser)[0] - view[0] == pytest.approx(moved, rel=0.05)
    assert number(browser, ".below") == 0


def test_keys_go_from_slice_to_slice(show, written):
    browser = show(written)
    at_lanes(browser)
    data = content(written)
    reported = data["lanes"]
    found = decoded(reported, reported["groups"][0])

    def is_told(slice_):
        message = " ".join(text(browser, "#slice").split())
        first, last = (f"{slice_[end] / reported['cycle']:,.10g}" for end in ("begin", "end"))
        return f"slot {slice_['slot']} cycles {first} to {last} (" in message

    lane = [each for each in found if each["slot"] == reported["groups"][0]["slots"][0]]
    browser.press("0")
    browser.press(",")
    assert is_told(lane[0])
    for number_ in (1, 2, 3):
        browser.press(".")
        assert is_told(lane[number_])
    browser.press(",")
    assert is_told(lane[2])
    browser.press("ArrowDown")
    assert f"slot {reported['groups'][0]['slots'][1]}" in " ".join(text(browser, "#slice").split())
    browser.press("ArrowUp")
    browser.press("Enter")
    at_rest(browser)
    line = browser.run("document.activeElement.querySelector('.number').textContent")
    assert int(line) in {data["heat"]["hot"][each["line"]]["line"] for each in lane}


def mixed(one, other, part):
    pairs = [(int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{int(a + part * (b - a) + 0.5):02x}" for a, b in pairs)


# Reading what is drawn is said to be slow, of the page's canvas
COPIED = """(lanes => {
  const copy = Object.assign(document.createElement('canvas'), { width: lanes.width, height: lanes.height });
  window.copied = copy.getContext('2d', { willReadFrequently: true });
  copied.drawImage(lanes, 0, 0);
})(document.querySelector('#lanes'))"""


@pytest.mark.parametrize("dark", [False, True])
def test_slices_have_the_colours_of_their_reasons(show, bare, dark):
    browser = show(bare)
    browser.dark(dark)
    browser.run("document.querySelector('#timeline').scrollIntoView()")
    reported = content(bare)["lanes"]
    view = seen_cycles(browser)
    lane = browser.run("document.querySelector('#lanes').height") / len(reported["groups"][0]["slots"])
    browser.run(COPIED)
    colour = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
    named_colours = [
        browser.run(colour.format(name)) for name in ("paper", "ink", *(f"g{number}" for number in range(len(GROUPS))))
    ]
    paper, ink, *of_groups = named_colours
    seen = {}
    for reason, (name, group, _) in enumerate(reported["reasons"]):
        slices = [each for each in decoded(reported, reported["groups"][0]) if each["reason"] == reason]
        if not slices:
            continue
        slice_ = max(slices, key=lambda each: each["end"] - each["begin"])
        _, (x, y) = place_of(browser, reported, slice_, view)
        width = (slice_["end"] - slice_["begin"]) / reported["ticks"] * 1000
        if width < 4:
            continue
        # Above the words, which stand in the middle of its lane
        pixel = f"[...copied.getImageData({x}, {y - lane / 2 + 1.5}, 1, 1).data]"
        members = [index for index, (_, other, _) in enumerate(reported["reasons"]) if other == group]
        part = 0.5 * members.index(reason) / max(1, len(members) - 1)
        expected = mixed(of_groups[list(GROUPS).index(group)], ink, part)
        assert contrast(expected, paper) >= 4.5  # words stand on it
        assert "#" + "".join(f"{value:02x}" for value in browser.run(pixel)[:3]) == expected, name
        seen[name] = expected
    assert len(seen) >= 5
    assert len(set(seen.values())) == len(seen)


def test_a_reason_is_shown_alone_and_groups_take_turns(show, bare):
    browser = show(bare)
    at_lanes(browser)
    reported = content(bare)["lanes"]
    assert browser.run("[...document.querySelector('#lanes-group').options].map(o => o.text)") == [
        f"Core group {group['group']} ({', '.join(group['why'])})" for group in reported["groups"]
    ]
    image = "document.querySelector('#lanes').toDataURL()"
    pictures = [browser.run(image)]
    for selector in ("#lanes-reasons button", "#lanes-reasons button:nth-child(2)"):
        browser.run(f"document.querySelector({selector!r}).click()")
        drawn(browser)
        assert number(browser, "#lanes-reasons [aria-pressed=true]") == 1
        pictures.append(browser.run(image))
    _, (x, y) = place_of(browser, reported, longest(reported), seen_cycles(browser))
    place = f"[...copied.getImageData({x}, {y - 7}, 1, 1).data]"
    browser.run(COPIED)
    faint = browser.run(place)
    browser.run("document.querySelector('#lanes-reasons button:nth-child(2)').click()")
    drawn(browser)
    assert browser.run(image) == pictures[0]
    browser.run(COPIED)
    assert browser.run(place) != faint
    assert len(set(pictures)) == 3
    browser.run("(s => { s.value = 1; s.dispatchEvent(new Event('change')); })(document.querySelector('#lanes-group'))")
    assert browser.run("document.querySelector('#lanes').ariaLabel").startswith(
        f"Core group {reported['groups'][1]['group']}, "
    )


def test_what_is_left_out_is_reported(show, bare, monkeypatch):
    monkeypatch.setattr(lanes_of_groups, "MOST_SLICES", 100)
    browser = show(bare)
    group = content(bare)["lanes"]["groups"][0]
    until = group["until"] / MACHINE.ticks_per_cycle
    assert f"the first {len(group['look'])} of {group['of']:,} slices are shown, up to cycle {until:g} of" in text(
        browser, "#timeline-note"
    )
    at_lanes(browser)
    assert seen_cycles(browser) == pytest.approx([0, until], rel=0.01)


@pytest.mark.parametrize(
    ("lines", "text", "around", "fits"),
    [
        (MOST_SHOWN, "x", 10**6, True),
        (MOST_SHOWN + 1, "x", 10**6, False),
        (MOST_SHOWN + 1, "x", 0, True),  # of which one line is hot
        (MOST_TEXT // 250, "y" * 250, 10**6, True),
        (MOST_TEXT // 250 + 1, "y" * 250, 10**6, False),  # few lines, and too many bytes
        (MOST_TEXT // 250, "y" * 249 + "\u00fc", 10**6, False),  # bytes, not characters
    ],
)
def test_a_source_fits_a_page_by_its_lines_and_by_its_bytes(lines, text, around, fits):
    assert _is_little({"a.cu": [("a.cu", 1, "")]}, {"a.cu": [text] * lines}, around) == fits


def slices(rows):
    """A timeline's slices as (group, slot, begin), which is all that decides which of them are shown."""
    group, slot, begin = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return SimpleNamespace(group=group, slot=slot, begin=begin)


def test_of_too_many_slices_those_are_shown_that_begin_before_one_tick():
    timeline = slices([(0, place % 3, 10 * (place // 2)) for place in range(20)] + [(1, 0, 5)] * 4)
    kept = shown_slices(timeline, [0, 1], 4 + 9)
    assert [(rows.tolist(), until) for rows, until in kept.values()] == [([20, 21, 22, 23], None), (list(range(8)), 40)]
    whole = shown_slices(timeline, [0, 1], 24)
    assert [(rows.tolist(), until) for rows, until in whole.values()] == [
        ([20, 21, 22, 23], None),
        (list(range(20)), None),
    ]
    # Fewer slices than its share leave more for the other; all that begin at once are cut within the tick
    together = shown_slices(slices([(0, 0, 7)] * 6 + [(1, 0, 0)]), [0, 1], 5)
    assert [(rows.tolist(), until) for rows, until in together.values()] == [([6], None), ([0, 1, 2, 3], 8)]


def test_of_very_many_slots_the_first_are_shown():
    timeline = slices([(0, 2 * slot, 0) for slot in range(MOST_SLOTS + 3)])
    ((rows, until),) = shown_slices(timeline, [0], 10**6).values()
    assert (rows.tolist(), until) == (list(range(MOST_SLOTS)), None)


def test_lines_about_those_with_heat_are_shown_with_their_tabs_as_blanks():
    lines = ["a", "\tb", "  \tc", "d", "e", "f\tg", "h"]
    keys = [("k.cu", 2, ""), ("k.cu", 6, ""), ("k.cu", 9, "")]
    at = {key: number for number, key in enumerate(keys)}
    assert heat_module._whole(keys, lines, at, 0) == [
        (0, "1 lines without time", None),
        (2, "    b", 0),
        (0, "3 lines without time", None),
        (6, "f   g", 1),
        (0, "1 lines without time", None),
        (9, "", 2),  # of another file than the one recorded
    ]
    assert [line[:2] for line in heat_module._whole(keys[:1], lines, at, 1)] == [
        (1, "a"), (2, "    b"), (3, "    c"), (0, "4 lines without time"),
    ]  # fmt: skip

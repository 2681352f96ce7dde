"""The roofline's numbers from a run made by hand: each another one, and rates counted apart."""

from types import SimpleNamespace

import pytest

from simtmm import load_machine
from simtmm.analysis.units import ISSUE_PORTS, L2_SLICES, MEMORY_PORTS, PARTITIONS, Unit
from simtmm.report.explain_page.roofline import MOST_LINES, roofline

MACHINE = load_machine("rtx-3090")  # 82 groups
HERTZ = MACHINE.clock_hz


def row(line, computed, memory=0, l2=0, l1=0):
    return {
        "file": "k.cu", "line": line, "floating_point_instructions": computed,
        "memory_bytes": memory, "l2_bytes": l2, "l1_bytes": l1,
    }  # fmt: skip


def run_of(seconds=2.0, work_by_class=None, lines=(), machine=MACHINE, counts=True, issued=77):
    result = SimpleNamespace(ticks=9, cycles=500, seconds=seconds, issued=issued, stalls=lines or None, lines=lines)
    counted = SimpleNamespace(work=1300, work_by_class=work_by_class or {}) if counts else None
    return SimpleNamespace(result=result, machine=machine, counts=counted)


def units_of(per="s", issue=70.0, **others):
    """Units with a rate of 5 where they have no other, and no limit. others: achieved, peak and whether it is least."""
    given = {"ports": (5.0, None), "l2": (5.0, None), "memory": (5.0, None), **others}
    names = {"ports": MEMORY_PORTS, "l2": L2_SLICES, "memory": PARTITIONS}
    found = [Unit(names[name], 1, 0.5, *numbers[:2], f"bytes/{per}", *numbers[2:]) for name, numbers in given.items()]
    return [Unit(ISSUE_PORTS, 1, 0.5, 3.0, issue, f"instructions/{per}"), *found]


FLOATS = {"fp32": 600, "fp64": 30, "fp16": 0, "integer": 5000}


@pytest.mark.parametrize(
    ("counts", "classes", "number", "counted", "word", "lanes"),
    [
        (False, None, 77, "instructions of warps", "instructions", 1),
        (True, {"integer": 5000}, 1300, "operations of threads", "operations", 32),
        (
            True, FLOATS, 630, "floating-point instructions of threads (fp32, fp64; a multiply-add is one)",
            "instructions", 32,
        ),
        (
            True, {"fp16": 1, "fp32": 2, "fp64": 4, "tensor": 8}, 15,
            "floating-point instructions of threads (fp16, fp32, fp64, tensor; a multiply-add is one)",
            "instructions", 32,
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("time", [(2.0, "s", 2.0), (None, "cycle", 500)])
def test_what_is_counted_is_told_and_divided_by_the_time(counts, classes, number, counted, word, lanes, time):
    seconds, per, length = time
    told = roofline(run_of(seconds, classes, counts=counts), units_of(per, memory=(11.0, 90.0)))
    assert (told["counted"], told["word"], told["per"]) == (counted, word, per)
    assert told["rate"] == number / length
    assert told["flat"] == 70.0 * lanes
    assert told["lines"] == []


def test_levels_with_a_limit_have_a_roof_and_the_last_without_one_where_none_has():
    done = run_of(work_by_class={"integer": 1})  # 650 a second
    memory = (10.0, 90.0, True)
    told = roofline(done, units_of(ports=(13.0, 80.0, True), l2=(26.0, 85.0), memory=memory))["levels"]
    assert told == [
        {"name": "memory ports", "bandwidth": 80.0, "intensity": 50.0, "least": False},
        {"name": "L2", "bandwidth": 85.0, "intensity": 25.0, "least": False},
        {"name": "memory", "bandwidth": 90.0, "intensity": 65.0, "least": True},
    ]
    assert roofline(done, units_of(l2=(26.0, 85.0)))["levels"] == [told[1]]
    (last,) = roofline(done, units_of(memory=(10.0, None)))["levels"]
    assert last == {"name": "memory", "bandwidth": None, "intensity": 65.0, "least": False}
    assert [level["name"] for level in roofline(done, units_of(l2=(0.0, 85.0), memory=memory))["levels"]] == ["memory"]


@pytest.mark.parametrize("per", ["s", "cycle"])
def test_a_class_has_a_roof_of_its_own_where_its_pipes_allow_less_than_the_ports(per):
    pipe = MACHINE.pipes.fp64
    a_cycle = 82 * 32 * pipe.count / pipe.interval
    rate = a_cycle * (HERTZ if per == "s" else 1)
    for lanes_of_ports, roofs in ((rate, []), (rate * (1 + 1e-9), [{"name": "fp64", "rate": pytest.approx(rate)}])):
        done = run_of(work_by_class={"fp64": 8, "fp32": 0})
        assert roofline(done, units_of(per, issue=lanes_of_ports / 32))["roofs"] == roofs
    assert roofline(run_of(work_by_class={"fp32": 1}), units_of(per, issue=1.0))["roofs"] == []
    assert roofline(run_of(counts=False), units_of(per, issue=1e30))["roofs"] == []


def test_hot_lines_have_the_intensity_of_the_furthest_level_that_their_bytes_reach():
    lines = [
        row(9, 100, memory=50, l2=20, l1=10), row(0, 100), row(4, 0, memory=10), row(7, 300, memory=0, l2=60, l1=10),
        row(6, 70, l1=7), row(5, 30),
    ]  # fmt: skip
    limits = {"ports": (5.0, 80.0), "l2": (5.0, 85.0), "memory": (5.0, 90.0)}
    found = roofline(run_of(lines=lines, work_by_class={"fp32": 500}), units_of(**limits))["lines"]
    assert [(each["where"], each["line"], each["level"], each["rate"], each["intensity"]) for each in found] == [
        ("k.cu:9", 9, "memory", 50.0, 2.0), ("k.cu:7", 7, "L2", 150.0, 5.0),
        ("k.cu:6", 6, "memory ports", 35.0, 10.0), ("k.cu:5", 5, None, 15.0, None),
    ]  # fmt: skip
    del limits["memory"]  # without a limit it has no point
    found = roofline(run_of(lines=lines, work_by_class={"fp32": 500}), units_of(**limits))["lines"]
    assert [each["level"] for each in found] == ["L2", "L2", "memory ports", None]
    many = [row(line + 1, 10, memory=1) for line in range(MOST_LINES + 1)]
    found = roofline(run_of(lines=many, work_by_class={"fp32": 500}), units_of(**limits))["lines"]
    assert [each["line"] for each in found] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_run_without_time_limits_or_operations_has_none():
    idle = run_of()
    idle.result.ticks = 0
    assert roofline(idle, units_of()) is None
    assert roofline(run_of(), units_of(issue=None)) is None
    assert roofline(run_of(), units_of()[1:]) is None
    assert roofline(run_of(counts=False, issued=0), units_of()) is None
    assert roofline(run_of(counts=False, issued=1), units_of()) is not None

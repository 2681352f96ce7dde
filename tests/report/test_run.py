"""A run in words: occupancy that was achieved, and models beside the simulated time."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.analysis.units import Unit
from simtmm.report.run import MOST_TIMED, _busy, _kernels, describe
from tests.study.programs import trace, write


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Two groups, each of which may hold 16 warps of 8 threads."""
    return load_machine(write(tmp_path_factory.mktemp("run")) / "small.toml")


def rows_of(done):
    """The rows of the report's tables, by their first words; blanks are one."""
    stream = io.StringIO()
    console = Console(file=stream, width=200)
    for part in describe(done):
        console.print(part)
    rows = [" ".join(row.split()) for row in stream.getvalue().splitlines()]
    return {next((name for name in NAMES if row.startswith(name)), ""): row for row in rows}


NAMES = ("achieved", "occupancy", "TMM", "simulated", "empty")


def test_achieved_are_the_warps_on_average_while_a_core_group_has_any(machine):
    """A launch of one block of two warps leaves the other group empty, which takes nothing from it."""
    done = run(trace(blocks=1), machine, engine="reference", what_if=False)
    time, stalls = done.result.time, done.result.stalls
    warps = stalls.ticks.sum() / (sum(time.values()) - time["empty"])
    assert time["empty"] >= 0.5 * sum(time.values())
    assert 1.5 < warps <= 2
    told = rows_of(done)["achieved"]
    assert told == f"achieved {100 * warps / 16:.0f} % {warps:.3g} warps on average, while a core group has any"


def test_a_model_stands_beside_the_simulated_time_as_a_part_of_it(machine):
    done = run(trace(), machine, engine="reference", models=("tmm",), what_if=False)
    prediction = done.predictions["tmm"]
    ratio = prediction.cycles / done.result.cycles
    assert abs(ratio - 1) > 0.05
    assert f" {ratio:.3g} " in rows_of(done)["TMM"]


@pytest.mark.parametrize(("busy", "told"), [(0.0, "0 %"), (0.5, "at least 50 %")])
def test_a_unit_of_which_nothing_was_counted_has_no_lower_bound(busy, told):
    unit = Unit("memory partitions", 4, busy, 1.0, 2.0, "bytes/s", is_least=True)
    ((_, shown, *_),) = _busy(SimpleNamespace(units=(unit,)))
    assert shown.split() == told.split()


def told_of(ticks, clock_hz=1e9):
    """The rows of launches of so many ticks, of two to a cycle, by kernel."""
    launches = [(name, each) for name, own in ticks.items() for each in own]
    result = SimpleNamespace(
        launch_ticks=tuple(each for _, each in launches), ticks=sum(each for _, each in launches), ticks_per_cycle=2,
        clock_hz=clock_hz,
    )  # fmt: skip
    info = SimpleNamespace(launches=[SimpleNamespace(kernel=name) for name, _ in launches])
    return [tuple(cell.strip() for cell in row) for row in _kernels(SimpleNamespace(result=result, info=info))]


def test_of_several_kernels_the_one_whose_launches_take_longest_stands_first():
    rows = told_of({"short": [2000], "often": [8000] * 3, "long": [14000]})
    assert [(row[0], row[1], row[2], *row[4:]) for row in rows] == [
        ("often", "3", "60 %", "12 us", "4 us"), ("long", "1", "35 %", "7 us", "7 us"),
        ("short", "1", "5 %", "1 us", "1 us"),
    ]  # fmt: skip
    assert [len(row[3]) for row in rows] == sorted((len(row[3]) for row in rows), reverse=True)
    assert [row[4:] for row in told_of({"a": [30], "b": [10] * 2}, None)] == [("15", "15"), ("10", "5")]  # cycles


def test_of_many_kernels_the_longest_are_listed_and_the_others_put_together():
    names = {f"k{number}": [1000 * (number + 1)] for number in range(MOST_TIMED)}
    assert len(told_of(names)) == MOST_TIMED
    rows = told_of(names | {"x": [400] * 2, "y": [200]})
    assert [row[0] for row in rows] == [*reversed(names), "2 more"]
    assert (rows[-1][1], *rows[-1][4:]) == ("3", "500 ns", "167 ns")


def test_a_program_of_one_kernel_or_of_which_not_all_launches_are_known_has_no_such_table(machine):
    assert told_of({"a": [10, 20]}) == []
    some = SimpleNamespace(launch_ticks=(4, 5, 6), ticks=15, ticks_per_cycle=1, clock_hz=None)
    two = SimpleNamespace(launches=[SimpleNamespace(kernel="a"), SimpleNamespace(kernel="b")])
    assert list(_kernels(SimpleNamespace(result=some, info=two))) == []
    assert list(_kernels(SimpleNamespace(result=some, info=None))) == []

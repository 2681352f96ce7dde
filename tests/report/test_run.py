"""A run in words: occupancy that was achieved, and models beside the simulated time."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.analysis.units import Unit
from simtmm.report.run import _busy, describe
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

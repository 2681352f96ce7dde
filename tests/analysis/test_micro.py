"""Micro-kernels on shipped machines: never faster than their limits, and near them where these are to be reached."""

import json
import math
from functools import cache
from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.analysis import micro as module
from simtmm.analysis.micro import micro
from simtmm.errors import StudyError
from simtmm.measurement.micro.measured import load_measured
from simtmm.measurement.micro.programs import by_file
from simtmm.measurement.micro.table import rows
from tests.cuda.compilers.conftest import needs_machine_code

MACHINES = ("v100", "a100-80", "a40", "h100-sxm")  # one of each family that has a page of limits of its own
# Of the time that a longer launch takes more than a shorter one: warps of both begin and end alike, but for what the
# first accesses wait for, which takes the shorter launch the more of its time.
OF_DIFFERENCES = 0.95
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "micro-kernels.md"
MEASURED = {"h100-sxm": ROOT / "traces" / "measured" / "h100-sxm" / "micro.csv"}  # on a GPU, by machine
# Rows that no value of the machine was fitted to on this GPU: loads that the L1 and shared memory have
PREDICTED = ("l1-stride", "l1-block", "l1-buffer", "shared-load", "shared-conflict", "ldmatrix")
HEADER = f"| | {' | '.join(load_machine(name).name for name in MACHINES)} |"


@cache
def found_on(name):
    """All micro-kernels on a shipped machine."""
    return micro(load_machine(name))


@pytest.fixture
def one_file(monkeypatch):
    """Few micro-kernels: those of a file."""

    def only(source):
        monkeypatch.setattr(module, "by_file", lambda capability: {source: by_file(capability)[source]})

    return only


@needs_machine_code
@pytest.mark.parametrize("name", MACHINES)
def test_micro_kernels_are_not_faster_than_their_limits_and_reach_those_that_are_to_be_reached(name):
    """How near, each row says, with its reason (simtmm/measurement/micro/limits.py)."""
    found = found_on(name)
    assert len(found.results) > 40
    assert [each.kernel.name for each in found.results if each.is_below] == []
    assert [each.kernel.name for each in found.results if each.is_far] == []
    assert [each.kernel.name for each in found.results if each.times < OF_DIFFERENCES] == []


@needs_machine_code
def test_loads_take_what_an_h100_took():
    """Rows that decided nothing: 5 % in the mean, and a third where lanes are three words apart."""
    measured = load_measured(MEASURED["h100-sxm"])
    simulated = {each.kernel.name: each.simulated for each in found_on("h100-sxm").results}
    off = {name: abs(math.log(simulated[name] / measured[name])) for name in measured if name.startswith(PREDICTED)}
    assert len(off) == 32
    assert sum(off.values()) / len(off) <= 0.05
    assert [name for name, each in off.items() if each > 0.15] == ["l1-stride-3"]


@needs_machine_code
def test_chains_take_what_an_h100_took():
    """Values come back when the machine's `instructions` and the compiler's stalls say, and not when a pipe is free."""
    measured = load_measured(MEASURED["h100-sxm"])
    chains = {each.kernel.name: each for each in found_on("h100-sxm").results if each.kernel.name.startswith("chain-")}
    assert len(chains) == 7
    assert [name for name, each in chains.items() if abs(math.log(each.simulated / measured[name])) > 0.08] == []
    assert chains["chain-mufu"].times > 2
    assert chains["chain-shuffle"].times > 20


@needs_machine_code
@pytest.mark.parametrize(
    ("source", "changes", "below"),
    [
        ("shared.cu", {"banks.count": 64}, {"shared-conflict-8", "shared-conflict-16", "shared-conflict-32"}),
        ("loads.cu", {"memory.pipe.interval": 0.25}, {"l1-stride-16", "l1-stride-32", "l1-block-8x64"}),
        ("barriers.cu", {"scheduling.barrier_latency": 0, "scheduling.barrier_interval": 1}, {"barrier-32-warps"}),
    ],
)
def test_a_machine_that_is_faster_than_a_limit_is_found_out(source, changes, below, one_file):
    one_file(source)
    found = micro(load_machine("a100-80").replace(changes))
    assert below <= {each.kernel.name for each in found.results if each.is_below}


@needs_machine_code
def test_a_machine_that_is_slower_than_a_limit_that_is_to_be_reached_is_found_out(one_file):
    one_file("barriers.cu")
    found = micro(load_machine("a100-80").replace({"scheduling.barrier_interval": 3}))
    assert [each.kernel.name for each in found.results if each.is_far] == ["barrier-32-warps"]


@needs_machine_code
def test_what_a_launch_costs_is_no_part_of_a_repetition(one_file):
    one_file("barriers.cu")
    free = load_machine("a100-80").replace({"scheduling.launch_overhead": 0, "scheduling.first_launch": 0})
    costly = free.replace({"scheduling.launch_overhead": 5000, "scheduling.first_launch": 70000})
    assert [(each.simulated, each.whole) for each in micro(costly).results] == [
        (each.simulated, each.whole) for each in micro(free).results
    ]


@needs_machine_code
def test_a_gpu_older_than_turing_has_no_ldmatrix_and_says_so(one_file):
    one_file("barriers.cu")
    left_out = micro(load_machine("v100")).left_out
    assert "ldmatrix-x4: needs compute capability 7.5" in left_out
    assert len(left_out) == len(by_file()["ldmatrix.cu"])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mi210", "machine MI210: has no compute_capability: micro-kernels and their limits are for NVIDIA's GPUs"),
        ("p100", "machine P100: compute_capability = '6.0': must be at least 7.0 for micro-kernels"),
    ],
)
def test_other_machines_are_refused(name, line):
    with pytest.raises(StudyError, match=line):
        micro(load_machine(name))


@needs_machine_code
def test_measured_cycles_stand_beside_simulated_ones(one_file):
    one_file("barriers.cu")
    found = micro(load_machine("a100-80"), {"barrier-2-warps": 21.5})
    document = json.loads(json.dumps(found.to_dict()))
    assert [(each["name"], each["measured"]) for each in document["results"]][:2] == [
        ("barrier-1-warp", None), ("barrier-2-warps", 21.5),
    ]  # fmt: skip


# --- docs/micro-kernels.md --------------------------------------------------------------------------------------------


@needs_machine_code
@pytest.mark.parametrize("name", MACHINES)
def test_the_page_shows_what_is_simulated(name):
    number = MACHINES.index(name)
    shown = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").partition(HEADER)[2].splitlines()[2:]]
    column = {cells[0].strip("| "): cells[1 + number].strip("| ") for cells in shown if len(cells) == 1 + len(MACHINES)}
    assert column == cells_of(name), "python -m tests.analysis.test_micro writes it anew"


def cells_of(name):
    """What the page's table has of a machine, by the micro-kernel's name."""
    measured = load_measured(MEASURED[name]) if name in MEASURED else {}
    results = {
        each.kernel.name: f"{each.simulated:.2f} / {each.limit:.3g}"
        + (f" / {measured[each.kernel.name]:.3g}" if each.kernel.name in measured else "")
        for each in found_on(name).results
    }
    return {row.name: results.get(row.name, "-") for row in rows()}


def main():
    """Write the page's table anew."""
    columns = [cells_of(name) for name in MACHINES]
    lines = [f"| {row.name} | {' | '.join(column[row.name] for column in columns)} |" for row in rows()]
    before, _, after = PAGE.read_text(encoding="utf-8").partition(HEADER)
    table = "\n".join([HEADER, f"|{'---|' * (1 + len(MACHINES))}", *lines])
    PAGE.write_text(f"{before}{table}\n\n{after.partition(chr(10) * 2)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()

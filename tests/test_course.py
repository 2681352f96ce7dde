"""docs/course.md: each exercise's answers, computed."""

import re
from pathlib import Path

import pytest

import simtmm
from tests.recorder.conftest import needs_compiler

PAGE = (Path(__file__).parents[1] / "docs" / "course.md").read_text(encoding="utf-8")
EXERCISES = {
    int(number): re.findall(r"\*\*(.+?)\*\*", text)
    for number, text in re.findall(r"^## (\d+)\. (.*?)(?=^## |\Z)", PAGE, re.M | re.S)
}
ROUNDS = 10


def answers(exercise):
    """What the page has in bold, numbers without their unit."""
    return [re.sub(r"^([\d,]+).*", r"\1", bold).replace(",", "") for bold in EXERCISES[exercise]]


def one_group(**changes):
    return simtmm.load_machine("ideal").replace({"cores.groups": 1, **changes})


def program(warps, operations):
    """A block of warps; operations: of a warp, from its number."""
    return simtmm.Workload.from_dict({"blocks": [{"warps": [operations(warp) for warp in range(warps)]}]})


def loads(compute):
    return lambda warp: [step for r in range(ROUNDS) for step in (["load", [warp * ROUNDS + r]], ["compute", compute])]


def pairs_of_loads(warp):
    first = [warp * ROUNDS + 2 * r for r in range(ROUNDS // 2)]
    return [step for at in first for step in (["async", [at]], ["async", [at + 1]], ["join", 0], ["compute", 8])]


def cycles(machine, workload):
    return f"{simtmm.simulate(machine, workload).cycles:.0f}"


def hiding(machine, operations):
    """The least number of warps that do as much work as the span of one of them lasts."""
    span = simtmm.simulate(machine, program(1, operations)).cycles
    work = simtmm.simulate(machine, program(1, operations)).issued
    return f"{-(-span // work):.0f}"


def transposed(**given):
    return simtmm.record("transpose", {"n": 64, "columns": 128, "side": 32, **given})


def test_one_warp():
    assert answers(1) == [cycles(one_group(**{"memory.latency": 300}), program(1, loads(4)))]


def test_how_many_warps():
    machine = one_group()
    warps = hiding(machine, loads(9))
    assert answers(2) == [warps, cycles(machine, program(int(warps), loads(9)))]


def test_two_loads_in_flight():
    machine = one_group()
    many, few = hiding(machine, loads(4)), hiding(machine, pairs_of_loads)
    times = [cycles(machine, program(int(few), operations)) for operations in (pairs_of_loads, loads(4))]
    assert answers(3) == [few, many, *times]


def test_the_tmm_by_hand():
    study = simtmm.sweep({"program": "list-ranking", "machines": ["gtx280"], "axes": {"n": [1e6]}})
    found = study.rows[0].results["tmm"]
    needed = found["symbols"]["M"] * found["symbols"]["L"] / found["symbols"]["T1"]
    assert answers(4) == [f"{found['cycles']:.0f}", found["bound"], f"{needed:.0f}"]


def test_parallelism():
    counts = simtmm.count("list-ranking-wyllie", "gtx280")
    parallelism = counts.work / counts.span
    assert answers(5) == [f"{counts.work}", f"{counts.span}", f"{parallelism:.0f}"]
    cores = [simtmm.load_machine(name).processors for name in ("gtx280", "a100-80")]
    assert cores[0] < parallelism < cores[1]
    assert f"`gtx280` (P = {cores[0]}) and `a100-80` (P = {cores[1]:,})" in PAGE


def test_a_newer_machine():
    runs = [simtmm.run("list-ranking-wyllie", name, what_if=False) for name in ("gtx280", "a100-80")]
    time = runs[1].result.time
    empty = f"{time['empty'] / sum(time.values()):.0%}".replace("%", " %").split()[0]
    assert answers(6) == [*(f"{run.result.cycles:.0f}" for run in runs), runs[1].verdict.cause, empty]
    blocks = runs[1].info.launches[0]
    assert (blocks.grid[0], blocks.block[0], runs[1].machine.cores.groups) == (32, 128, 108)


@needs_compiler
def test_coalescing():
    straight, tiles = transposed(way="naive"), transposed()
    (stores,) = [row for row in simtmm.simulate("gtx480", straight, stalls=True).arrays if row["array"] == "transpose"]
    times = [cycles(machine, trace) for machine in ("gtx480", "ideal") for trace in (straight, tiles)]
    assert answers(7) == [f"{stores['chunks_per_request']:.0f}", *times]


@needs_compiler
def test_bank_conflicts():
    found = []
    for side in (32, 16):
        sites = simtmm.simulate("gtx480", transposed(side=side, padding=0), stalls=True).sites
        found.append(f"{sum(row['conflicts'] or 0 for row in sites)}")
    assert answers(8) == found


def test_one_block_too_many():
    def blocks(number):
        warps = [[["load", [at]], ["compute", 1]] for at in range(number)]
        return simtmm.Workload.from_dict({"blocks": [{"warps": [warp]} for warp in warps]})

    assert answers(9) == [cycles("ideal", blocks(number)) for number in (320, 321)]


def test_less_latency_a_longer_run():
    block = [[["load", [0]], ["compute", 2]], [["load", [1]]], [["load", [2]]]]
    machines = [one_group(**{"memory.latency": latency, "scheduling.scheduler": "oldest"}) for latency in (2, 1)]
    assert answers(10) == [cycles(machine, program(3, lambda warp: block[warp])) for machine in machines]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_exercise_has_an_answer(exercise):
    assert answers(exercise)


def test_there_are_ten():
    assert list(EXERCISES) == list(range(1, 11))

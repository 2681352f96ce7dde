"""What the papers print, and parts of workloads."""

import tomllib
from pathlib import Path

import pytest

from simtmm import Workload, load_machine
from simtmm.trace.counts import Counts, LaunchCounts
from simtmm.validation.cases.papers import first_blocks, of_launch, printed

GOLDEN = Path(__file__).parents[2] / "golden"


def golden(name):
    with (GOLDEN / name).open("rb") as file:
        tables = tomllib.load(file)
    return {item["id"]: item for item in tables["item"]} if "item" in tables else tables


def test_table_6_2_is_rehman_table6_2_as_transcribed():
    ours, table = printed("gtx280-local-ranking"), golden("rehman.toml")["rehman.table6.2"]
    assert {key: ours[key] for key in ("n", "actual_ms", "expected_ms")} == {
        key: table[key] for key in ("n", "actual_ms", "expected_ms")
    }


def test_knees_and_line_are_those_of_chapter_6():
    ours, chapter = printed("gtx480-apsp"), golden("ma_chapter6.toml")
    assert (ours["a1"], ours["a0"]) == (chapter["ma.fit6.10"]["a1"], chapter["ma.fit6.10"]["a0"])
    figure = chapter["ma.fig6.4"]
    assert (ours["n"], ours["sub_block"], ours["knee"]) == (figure["n"], figure["S_D"], figure["knees_T"])


def test_measured_runs_are_those_of_the_anomaly():
    ours, item = printed("gtx480-apsp"), golden("ma_chapter6.toml")["ma.anomaly"]
    assert (ours["n"], ours["run_sub_block"], ours["run_threads_per_core"]) == (item["n"], item["S_D"], item["T"])
    assert ours["run_active_blocks"] == [item["B_a"], item["forced_B_a"]]
    assert ours["run_s"] == [item["measured_s"], item["measured_s_forced"]]


def test_the_zigzags_are_those_of_chapter_5():
    chapter = golden("ma_chapter5.toml")
    assert printed("gtx480-zigzag")["blocks"] == chapter["ma.zigzag480"]["B_opt"]
    assert printed("c1060-zigzag")["period"] == chapter["ma.zigzagC1060"]["period"]


def test_a_barrel_has_the_streams_of_the_paper():
    assert printed("barrel")["streams"] == load_machine("cray-xmt").cores.max_threads_per_core


BLOCKS = [
    {"warps": [[["load", [0, 1]], ["compute", 2]], [["store", [2]]]]},
    {"warps": []},
    {"warps": [[["compute", 3], ["barrier"], ["atomic", [4, 4]]]]},
    {"warps": [[], [["async", [7]], ["join"]]]},
]


@pytest.mark.parametrize("blocks", range(1, len(BLOCKS) + 1))
def test_the_first_blocks_are_the_workload_of_a_grid_of_so_many(blocks):
    assert first_blocks(Workload.from_dict({"blocks": BLOCKS}), blocks) == Workload.from_dict(
        {"blocks": BLOCKS[:blocks]}
    )


def test_the_counts_of_a_launch_are_those_of_a_program_of_that_launch_alone():
    launch = {"kernel": "k", "threads": 64, "blocks": 2, "active_blocks": 1, "blocks_in_use": 1}
    launches = tuple(
        LaunchCounts(**launch, work=work, span=3, memory_operations=9, memory_instructions=4, warps_in_use=2,
                     threads_per_core=1.5)
        for work in (10, 20)
    )  # fmt: skip
    alone = of_launch(Counts(30, 6, 18, 8, 1.5, 2.0, launches), 1)
    assert alone == Counts(20, 3, 9, 4, 1.5, 2, launches[1:])

"""What holds a group's resident blocks down: the limit that is least, those that are least together, or the grid."""

import dataclasses

import pytest

from simtmm import load_machine
from simtmm.study.evaluation.residence import GRID, KEYS, LIMITS, X, held_by
from simtmm.trace.schema import TraceLaunch
from tests.trace.build import store, trace

# 1,536 threads, which are 48 warps or 24 blocks of 64 threads, and room for more than those of anything else
ROOMY = load_machine("gtx480").replace(
    {"cores.groups": 2, "limits.blocks_per_group": 100, "resources.registers": 10**6, "resources.shared_memory": 10**6}
)
WARPS = "limits.warps_per_group"


def info(*launches):
    """Of launches: (blocks, threads of a block, registers of a thread, bytes of shared memory)."""
    table = [
        TraceLaunch("f", (blocks, 1, 1), (threads, 1, 1), registers, shared, 0)
        for blocks, threads, registers, shared in launches
    ]
    return dataclasses.replace(trace([[[store(1, 0)]]]).info, launches=tuple(table))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, X),  # 24 blocks of 64 threads
        ({WARPS: 48}, f"{X} and {WARPS}"),  # as many as threads allow: both hold
        ({WARPS: 49}, X),
        ({WARPS: 46}, WARPS),
        ({"limits.blocks_per_group": 23}, KEYS["blocks"]),
        ({"limits.blocks_per_group": 24}, f"{KEYS['blocks']} and {X}"),
        ({"resources.registers": 10 * 64 * 23}, KEYS["registers"]),
        ({"resources.shared_memory": 1000 * 23}, KEYS["shared memory"]),
        ({"resources.shared_memory": 1000 * 24 - 1}, KEYS["shared memory"]),
        (
            {"resources.shared_memory": 1000 * 5, "resources.registers": 10 * 64 * 5},
            f"{KEYS['shared memory']} and {KEYS['registers']}",
        ),
    ],
)
def test_the_least_limit_holds_blocks_down(changes, said):
    assert {*said.split(" and ")} == {*held_by(info((1000, 64, 10, 1000)), ROOMY.replace(changes)).split(" and ")}
    assert {*said.split(" and ")} <= {*LIMITS}


@pytest.mark.parametrize(("blocks", "said"), [(1, GRID), (47, GRID), (48, GRID), (49, X)])
def test_a_grid_that_fits_is_held_by_itself(blocks, said):
    assert held_by(info((blocks, 64, 10, 1000)), ROOMY) == said


def test_the_launch_with_most_threads_counts():
    few, many = (2, 64, 10, 1000), (100, 128, 10, 100_000)
    assert held_by(info(few, many), ROOMY) == held_by(info(many, few), ROOMY) == KEYS["shared memory"]
    assert held_by(info((100, 32, 10, 1000), (50, 96, 10, 1000)), ROOMY) == X
    assert held_by(info(), ROOMY) == GRID

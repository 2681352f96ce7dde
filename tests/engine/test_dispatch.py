"""What placing blocks takes: closed forms of section 6's intervals, where they bind and where places do."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

INTERVAL, WARP, LAUNCH, WARPS = 130, 7, 400, 4
LIFE = WARPS * WARP + LAUNCH + 1  # of a block from its start to its end, with one instruction a warp


def ticks(engine, groups, blocks, places, warps=WARPS, **scheduling):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": 128, "warp_width": 32, "max_threads_per_core": 512},
            "scheduling": {
                "block_interval": INTERVAL, "warp_launch": WARP, "block_launch": LAUNCH, **scheduling,
            },
            "memory": {"latency": 100, "chunk_words": 32},
            "limits": {"blocks_per_group": places},
        }
    )  # fmt: skip
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]] * warps}] * blocks})
    return simulate(machine, workload, engine).ticks


@pytest.mark.parametrize("blocks", [1, 3, 4, 10, 64])
def test_empty_blocks_start_one_after_another_in_each_group(engine, blocks):
    assert ticks(engine, 3, blocks, 32) == (-(-blocks // 3) - 1) * INTERVAL + LIFE


@pytest.mark.parametrize("warps", [1, 18, 19, 40])
def test_blocks_with_many_warps_are_as_far_apart_as_these_take_to_start(engine, warps):
    apart = max(INTERVAL, warps * WARP)
    assert ticks(engine, 1, 6, 6, warps=warps) == 5 * apart + warps * WARP + LAUNCH + 1


@pytest.mark.parametrize("places", [1, 2, 3])
def test_where_a_group_has_few_places_a_round_takes_a_blocks_life(engine, places):
    assert places * INTERVAL < LIFE
    assert ticks(engine, 2, 2 * 5 * places, places) == 5 * LIFE + (places - 1) * INTERVAL


def test_a_block_without_warps_takes_no_interval(engine):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 512},
            "scheduling": {"block_interval": INTERVAL},
            "memory": {"latency": 100, "chunk_words": 32},
        }
    )
    working = {"warps": [[["compute", 3]]]}
    blocks = [{"warps": []}, working, {"warps": []}, working]
    assert simulate(machine, Workload.from_dict({"blocks": blocks}), engine).ticks == INTERVAL + 3


def test_without_an_interval_only_warps_keep_others_waiting(engine):
    assert ticks(engine, 1, 6, 32, block_interval=0) == 6 * WARPS * WARP + LAUNCH + 1


@pytest.mark.parametrize("burst", [1, 2, 5])
@pytest.mark.parametrize("blocks", [1, 2, 5, 6, 20])
def test_some_blocks_start_at_once_and_the_others_one_each_interval(engine, burst, blocks):
    by_interval = max(0, blocks - burst) * INTERVAL
    by_warps = (blocks - 1) * WARPS * WARP
    late = max(by_interval, by_warps) if blocks > burst else by_warps
    assert ticks(engine, 1, blocks, 32, block_burst=burst) == late + LIFE


def test_what_was_not_started_in_time_may_start_at_once_later(engine):
    """Places for two: while their blocks live, an interval each is earned, two at most."""
    assert LIFE > 2 * INTERVAL
    rounds, behind = 5, WARPS * WARP  # the second block of a round stands behind the warps of the first
    assert ticks(engine, 1, 2 * rounds, 2, block_burst=2) == rounds * LIFE + behind

"""What the simulator is there to show: closed forms of latency hiding, and where they stop."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def machine(**memory):
    return Machine.from_dict(
        {
            "name": "ideal",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
            "memory": {"latency": 90, "chunk_words": 32, **memory},
        }
    )


def warps(number, operations):
    return Workload.from_dict({"blocks": [{"warps": [operations]} for _ in range(number)]})


@pytest.mark.parametrize("number", range(1, 25))
def test_warps_hide_the_latency_from_c_plus_l_over_c_on(number, engine):
    work, latency, rounds = 10, 90, 5  # nine computes and the load's own issue, then 90 cycles
    result = simulate(machine(), warps(number, [["compute", 9], ["load", [0]]] * rounds), engine)
    if number < (work + latency) / work:
        assert result.ticks == rounds * (work + latency) + (number - 1) * work
    else:
        assert result.ticks == rounds * number * work + latency


@pytest.mark.parametrize("chunks", [1, 4, 32])
def test_without_limits_on_bandwidth_coalescing_does_not_shorten_the_latency(chunks, engine):
    result = simulate(machine(), warps(4, [["load", list(range(chunks))]] * 10), engine)
    assert result.ticks == 10 * (1 + 90) + 3


@pytest.mark.parametrize("chunks", [1, 4, 32])
def test_serial_transfers_take_the_latency_for_each_chunk_as_the_tmm_has_it(chunks, engine):
    result = simulate(machine(transfers="serial"), warps(4, [["load", list(range(chunks))]] * 10), engine)
    assert result.ticks == 10 * (1 + 90 * chunks) + 3


@pytest.mark.parametrize("partitions", [1, 2, 8])
def test_bandwidth_binds_once_the_partitions_are_busy_all_the_time(partitions, engine):
    chunks = [[["load", [chunk]]] for chunk in range(64)]
    workload = Workload.from_dict({"blocks": [{"warps": [warp]} for warp in chunks]})
    result = simulate(machine(partitions=partitions, service=24), workload, engine)
    # The first chunk of the last partition starts when its warp has issued; then the partition never rests.
    assert result.ticks == partitions + (64 // partitions - 1) * 24 + 90


@pytest.mark.parametrize("blocks", range(1, 10))
def test_blocks_come_in_waves_of_what_the_groups_hold(blocks, engine):
    wide = machine().replace({"cores.groups": 3, "limits.blocks_per_group": 1})
    result = simulate(wide, warps(blocks, [["compute", 7]]), engine)
    assert result.ticks == -(-blocks // 3) * 7


@pytest.mark.parametrize(("limit", "ticks"), [(1, 4 * 91), (2, 2 * 91 + 1), (4, 91 + 3), (9, 91 + 3)])
def test_a_launch_of_low_occupancy_hides_less(limit, ticks, engine):
    blocks = [{"warps": [[["load", [0]]]]} for _ in range(4)]
    workload = Workload.from_dict({"launches": [{"blocks": blocks, "blocks_per_group": limit}]})
    # With a limit of two, the second of a pair issues a tick later; when it ends the next pair is half begun.
    assert simulate(machine(), workload, engine).ticks == ticks


def test_the_lower_of_the_machines_and_the_launchs_limit_holds(engine):
    blocks = [{"warps": [[["load", [0]]]]} for _ in range(4)]
    workload = Workload.from_dict({"launches": [{"blocks": blocks, "blocks_per_group": 4}]})
    narrow = machine().replace({"limits.blocks_per_group": 1})
    assert simulate(narrow, workload, engine).ticks == 4 * 91


def test_seconds_follow_the_clock_and_are_none_without_one(engine):
    workload = warps(1, [["compute", 100]])
    assert simulate(machine(), workload, engine).seconds is None
    clocked = machine().replace({"clock_hz": 1e9, "ticks_per_cycle": 100})
    result = simulate(clocked, workload, engine)
    assert (result.ticks, result.cycles, result.seconds) == (10_000, 100, 100 / 1e9)

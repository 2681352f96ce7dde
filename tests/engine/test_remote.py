"""Accesses to other blocks' shared memory wait for their group's way there (docs/machine.md, section 3)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import WorkloadError
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

SHARED, ONE = ["shared", 1], ["compute", 1]
TAKES = 10  # cycles that a pass takes the way


def found(engine, *blocks, groups=1, **banks):
    """What blocks come to, each a list of warps."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {
                "groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8, "issue_ports": 4,
            },
            "memory": {"latency": 20, "chunk_words": 32, "pipe": {}},
            "banks": {"remote_interval": TAKES, **banks},
        }
    )  # fmt: skip
    tables = {"blocks": [{"warps": [list(warp) for warp in block]} for block in blocks]}
    return simulate(machine, Workload.from_dict(tables), engine, stalls=True)


def test_an_access_takes_the_way_and_its_warp_goes_on(engine):
    result = found(engine, [[SHARED, ["remote", 3], ["compute", 100]]])
    assert result.ticks == 1 + 100
    assert result.stalls.ticks.sum(axis=0)[Reason.PORT_QUEUE] == 0


def test_the_next_access_waits_until_the_way_is_free(engine):
    result = found(engine, [[SHARED, ["remote", 3], SHARED, ["remote", 1], ["compute", 100]]])
    assert result.ticks == 1 + 3 * TAKES + 100  # what issues meanwhile is beside it
    ticks = result.stalls.ticks.sum(axis=0)
    assert ticks[Reason.PORT_QUEUE] == 3 * TAKES - 1


def test_warps_of_a_group_share_its_way_and_other_groups_have_their_own(engine):
    warp = [SHARED, ["remote", 2], ["compute", 100]]
    assert found(engine, [warp, warp, warp]).ticks == 1 + 2 * 2 * TAKES + 100
    assert found(engine, [warp], [warp], [warp], groups=3).ticks == 1 + 100


def test_a_launch_is_not_over_before_the_way_is_free(engine):
    assert found(engine, [[SHARED, ["remote", 4]]]).ticks == 1 + 4 * TAKES


def test_without_an_interval_it_takes_no_time(engine):
    assert found(engine, [[SHARED, ["remote", 3], SHARED, ["remote", 3], ONE]], remote_interval=0).ticks == 3


@pytest.mark.parametrize("passes", [0, 65537, "2"])
def test_passes_are_whole_numbers(engine, passes):
    with pytest.raises(
        WorkloadError, match=rf"remote {passes!r}: must be (a whole number of at least 1|at most 65536)"
    ):
        found(engine, [[["remote", passes]]])


@pytest.mark.parametrize("last", [["remote", 3], ["product", 3]])
def test_warps_that_come_to_it_at_one_tick_take_it_in_the_order_of_their_age(engine, last):
    """The older one waits for memory, the younger ones out the pipeline: what they wake from does not matter."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {
                "groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8, "issue_ports": 4,
            },
            "scheduling": {"switch": "every-instruction"},
            "memory": {"latency": 4, "chunk_words": 32, "pipe": {}},
            "banks": {"remote_interval": TAKES},
            "products": {"interval": TAKES, "latency": 1},
        }
    )  # fmt: skip
    end = [last, ["finish"], ["compute", 1]] if last[0] == "product" else [["shared", 1], ["remote", 1]]
    orders = []
    for older, younger in ((["load", [0]], ["compute", 5]), (["compute", 5], ["load", [0]])):
        warps = [[older, last, *end], [younger, last, *end]]
        result = simulate(machine, Workload.from_dict({"blocks": [{"warps": warps}]}), engine, timeline=True)
        timeline = result.timeline
        orders.append([int(timeline.end[timeline.warp == warp].max()) for warp in range(2)])
    assert all(first < second for first, second in orders)


@pytest.mark.parametrize("first", ["sync", "barrier"])
@pytest.mark.parametrize("last", [["remote", 3], ["product", 3]])
def test_a_block_takes_what_its_warps_come_to_as_they_are_placed_before_the_next_one(engine, first, last):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8},
            "memory": {"latency": 4, "chunk_words": 32},
            "banks": {"remote_interval": TAKES},
            "products": {"interval": TAKES, "latency": 1},
        }
    )
    end = [["finish"]] if last[0] == "product" else [["remote", 1]]
    blocks = [{"warps": [[[first], last, *end, ["compute", 1]]]}, {"warps": [[last, *end, ["compute", 1]]]}]
    timeline = simulate(machine, Workload.from_dict({"blocks": blocks}), engine, timeline=True).timeline
    ends = [int(timeline.end[timeline.warp == warp].max()) for warp in range(2)]
    assert ends[0] < ends[1]


BYTES = 128  # of a pass


def sent(engine, count, latency=0, remote=1, before=()):
    """What a warp comes to that has a block's mbarrier told of bytes that it sends, and one that waits for them."""
    sender = [["mbarrier", "init", 0, 1], ["mbarrier", "expect", 0, count], *before, ["mbarrier", "arrive", 0, 1]]
    sender.append(["mbarrier", "complete-sent", 0, count, *([1] if remote else [])])
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {
                "groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8, "issue_ports": 4,
            },
            "scheduling": {"cluster_latency": latency},
            "memory": {"latency": 20, "chunk_words": 32},
            "banks": {"remote_interval": TAKES},
        }
    )  # fmt: skip
    warps = [[*sender, ["pause", 7]], [["mbarrier", "wait", 0, 0], ["pause", 100]]]
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": warps}]}), engine, stalls=True, timeline=True)


@pytest.mark.parametrize(("count", "passes"), [(16, 1), (BYTES, 1), (BYTES + 1, 2), (100 * BYTES, 100)])
def test_bytes_that_are_sent_are_there_when_the_way_is_free_behind_them_and_their_warp_goes_on(engine, count, passes):
    result = sent(engine, count, latency=5)
    assert result.ticks == passes * TAKES + 5 + 1 + 100
    sender = result.timeline.end[result.timeline.warp == 0].max()
    assert sender == 7
    assert result.stalls.ticks.sum(axis=0)[Reason.COPIES] == passes * TAKES + 5 + 1


def test_they_wait_for_the_way_as_accesses_do(engine):
    result = sent(engine, 2 * BYTES, before=[["shared", 1], ["remote", 3]])
    assert result.ticks == 1 + 3 * TAKES - 1 + 1 + 2 * TAKES + 1 + 99 + 1
    ticks = result.stalls.ticks.sum(axis=0)
    assert ticks[Reason.PORT_QUEUE] == 3 * TAKES
    assert ticks[Reason.COPIES] == 2 * TAKES + 1


def test_what_a_block_sends_to_itself_takes_no_way(engine):
    assert sent(engine, 100 * BYTES, latency=5, remote=0).ticks == 1 + 100


def test_no_more_than_so_many_passes_are_counted(engine):
    assert sent(engine, (1 << 32) - 1).ticks == (1 << 16) * TAKES + 1 + 100

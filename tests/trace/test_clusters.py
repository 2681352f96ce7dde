"""Clusters of blocks: what their barriers take, and when values of others' shared memory are there (section 9)."""

import dataclasses

import pytest

from simtmm.trace.schema import PEER_BIT
from tests.trace.build import barrier, shared, store, work
from tests.trace.test_access_pipe import PIPE
from tests.trace.test_compiled import lowered, site

BARRIERS = {
    "scheduling.barrier_latency": 20, "scheduling.barrier_interval": 2, "scheduling.cluster_barrier": 60.4,
    "scheduling.cluster_fence": 600, "scheduling.cluster_fence_interval": 10.5,
}  # fmt: skip
READS, USES = site(0, "shared_load", gives=(0,)), site(9, "store", needs=(0,))
REMOTE, OWN = 2 << PEER_BIT, 0  # of the block of rank 1


@pytest.mark.parametrize(
    ("cluster", "warps", "cycles"), [(0, 2, 24), (1, 2, 84), (2, 1, 693), (2, 2, 705), (2, 4, 730)]
)
def test_a_barrier_of_a_cluster_takes_longer_and_most_where_it_orders_memory(cluster, warps, cycles):
    met = dataclasses.replace(site(1, "barrier"), sync=True, cluster=cluster)
    found = lowered([[barrier(1), store(2, 0)]] * warps, [met, site(2, "store")], width=1, **BARRIERS)
    assert found == [[["sync"], ["pause", cycles], ["store", [0]]]] * warps


def test_of_several_barriers_that_lanes_wait_at_the_longest_counts():
    sites = [dataclasses.replace(site(number, "barrier"), sync=True, cluster=number) for number in (1, 2)]
    keys = {"scheduling.cluster_barrier": 5, "scheduling.cluster_fence": 100}
    assert lowered([[barrier(1)], [barrier(2)]], sites, **keys) == [[["sync"], ["pause", 105]]]


@pytest.mark.parametrize("what", [3, -1, 1])
def test_only_barriers_are_of_clusters_and_in_two_ways(what):
    kind = "barrier" if what != 1 else "store"
    with pytest.raises(ValueError, match=rf"site 1: cluster = {what}: must be 0, or of barriers 1 or 2"):
        dataclasses.replace(site(1, kind), cluster=what)


@pytest.mark.parametrize(("offset", "cycles"), [(OWN, 20), (REMOTE, 250)])
def test_a_value_of_another_block_takes_longer(offset, cycles):
    keys = {"banks.latency": 20, "banks.remote_latency": 249.5}
    (warp,) = lowered([[shared(0, offset), store(9, 0)]], [READS, USES], **keys)
    assert warp == [["shared", 1], ["pause", cycles], ["store", [0]]]


def test_the_warps_own_cycles_hide_it():
    keys = {"banks.latency": 20, "banks.remote_latency": 250}
    (warp,) = lowered([[shared(0, REMOTE), work(1, 30), store(9, 0)]], [READS, USES], **keys)
    assert warp == [["shared", 1], ["compute", 30], ["pause", 220], ["store", [0]]]


def test_in_a_pipe_it_is_not_settled_but_waited_for():
    keys = {**PIPE, "banks.latency": 20, "banks.remote_latency": 250}
    own, other = (lowered([[shared(0, offset), store(9, 0)]], [READS, USES], **keys) for offset in (OWN, REMOTE))
    assert own == [[["shared", 1], ["settle", 0], ["store", [0]]]]
    assert other == [[["shared", 1], ["pause", 250], ["store", [0]]]]


def test_one_lane_that_reads_another_block_is_enough():
    keys = {"banks.latency": 20, "banks.remote_latency": 250, "cores.warp_width": 2}
    (warp,) = lowered([[shared(0, 0), store(9, 0)], [shared(0, REMOTE + 4), store(9, 4)]], [READS, USES], **keys)
    assert ["pause", 250] in warp


def test_without_a_latency_of_its_own_it_is_as_from_the_own_block():
    found = [
        lowered([[shared(0, offset), store(9, 0)]], [READS, USES], **{"banks.latency": 20}) for offset in (OWN, REMOTE)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("keys", [{}, PIPE])
@pytest.mark.parametrize(("kind", "ways"), [("shared_load", 1), ("shared_store", 1), ("shared_atomic", 1)])
def test_what_goes_to_another_block_waits_for_the_way_there_where_that_takes_time(keys, kind, ways):
    sites = [site(0, kind), USES]
    other, own = (
        lowered([[shared(0, offset, kind=kind), store(9, 0)]], sites, **keys, **{"banks.remote_interval": 4})[0]
        for offset in (REMOTE, OWN)
    )
    assert other[:2] == [["shared", 1], ["remote", 1]]
    assert own == [each for each in other if each[0] != "remote"]
    assert lowered([[shared(0, REMOTE, kind=kind), store(9, 0)]], sites, **keys)[0] == own


@pytest.mark.parametrize("keys", [{}, PIPE])
def test_it_takes_the_way_for_each_of_its_passes(keys):
    threads = [[shared(0, REMOTE + 128 * lane), store(9, 4 * lane)] for lane in range(3)]
    (warp,) = lowered(threads, [READS, USES], **keys, **{"banks.remote_interval": 4})
    assert warp[:2] == [["shared", 3], ["remote", 3]]

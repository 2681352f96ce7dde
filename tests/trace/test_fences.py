"""Fences: how long they hold their warp (docs/machine.md, section 9)."""

import dataclasses

import pytest

from simtmm.trace.schema import TraceSite
from tests.trace.build import barrier, store, work
from tests.trace.test_compiled import lowered, site

KEYS = {"scheduling.fence_device": 550, "scheduling.fence_sequential": 663.5, "scheduling.fence_system": 1231}
WRITES = site(9, "store")


def fenced(number, kind, *fences, **said):
    return dataclasses.replace(site(number, kind, [("control", 2)], **said), fences=fences)


@pytest.mark.parametrize(
    ("fences", "cycles"),
    [
        ([("device", 1)], 550), ([("sequential", 1)], 664), ([("system", 1)], 1231), ([("device", 2)], 1100),
        ([("device", 1), ("system", 1)], 1781),
    ],
)  # fmt: skip
def test_a_fence_holds_its_warp_behind_the_work_of_its_site(fences, cycles):
    (warp,) = lowered([[work(1, 1), store(9, 0)]], [fenced(1, "work", *fences), WRITES], **KEYS)
    assert warp == [["compute", 2], ["pause", cycles], ["store", [0]]]


def test_without_keys_it_is_an_instruction():
    (warp,) = lowered([[work(1, 1), store(9, 0)]], [fenced(1, "work", ("device", 1)), WRITES])
    assert warp == [["compute", 2], ["store", [0]]]


def test_it_holds_before_the_access_of_its_site_and_beside_its_stall():
    said = dataclasses.replace(fenced(9, "store", ("device", 1)), stall=7)
    assert lowered([[store(9, 0)]], [said], **KEYS) == [[["compute", 2], ["pause", 557], ["store", [0]]]]


def test_where_stalls_are_ignored_it_is_not():
    said = dataclasses.replace(fenced(9, "store", ("device", 1)), stall=7)
    found = lowered([[store(9, 0)]], [said], **KEYS, **{"scheduling.stalls": "none"})
    assert found == [[["compute", 2], ["pause", 550], ["store", [0]]]]


def test_work_that_is_done_again_waits_each_time():
    (warp,) = lowered([[work(1, 3), store(9, 0)]], [fenced(1, "work", ("device", 1)), WRITES], **KEYS)
    assert sum(cycles for name, cycles in warp[:-1] if name == "pause") == 3 * 550


def test_a_barrier_of_a_cluster_that_orders_memory_has_a_time_of_its_own_for_that():
    times = {**KEYS, "scheduling.cluster_fence": 600}
    for cluster, cycles in ((2, 600), (1, 550)):
        said = dataclasses.replace(fenced(1, "barrier", ("device", 1)), sync=True, cluster=cluster)
        (warp,) = lowered([[barrier(1), store(9, 0)]], [said, WRITES], **times)
        assert sum(each[1] for each in warp if each[0] == "pause") == cycles


def test_a_site_comes_back_from_json():
    said = fenced(1, "work", ("device", 2), ("system", 1))
    assert TraceSite.from_dict(said.to_dict()) == said
    assert "fences" not in site(1, "work").to_dict()


@pytest.mark.parametrize("fences", [(("block", 1),), (("device", 0),), (("device", 1), ("device", 1))])
def test_what_no_site_can_say_is_refused(fences):
    with pytest.raises(
        ValueError, match=r"site 1: fences = .*: must be numbers from 1 to 2\^31 - 1, by kind: device, "
    ):
        fenced(1, "work", *fences)

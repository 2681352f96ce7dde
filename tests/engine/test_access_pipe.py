"""Closed forms of the pipe that accesses of a group's L1 and shared memory pass (docs/machine.md, section 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import MachineError, WorkloadError
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

LATENCY, HIT = 100, 5
L1 = {"sets": 64, "ways": 1, "latency": HIT}


def machine(pipe, service=1, latency=0, ports=16, groups=1, **memory):
    """Groups of sixteen ports, or so many, an instruction a cycle from each."""
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {
                "groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64,
                "issue_ports": ports,
            },
            "memory": {"latency": LATENCY, "chunk_words": 32, "pipe": pipe, **memory},
            "banks": {"service": service, "latency": latency},
        }
    )  # fmt: skip


def ticks(engine, warps, pipe, **changes):
    """Of warps of one block each, which issue at once."""
    blocks = [{"warps": [list(warp)]} for warp in warps]
    return simulate(machine(pipe, **changes), Workload.from_dict({"blocks": blocks}), engine).ticks


@pytest.mark.parametrize("ports", [16, 1])
def test_all_issue_ports_share_one_entry(engine, ports):
    warps = [(["load", [warp]],) for warp in range(6)]
    assert ticks(engine, warps, {"access_interval": 7}, ports=ports) == 1 + 5 * 7 + LATENCY
    assert ticks(engine, warps, {"access_interval": 7}, ports=ports, groups=2) == 1 + 2 * 7 + LATENCY


def test_lines_are_looked_up_one_by_one_and_sectors_of_a_line_together(engine):
    load = [(["load", list(range(8))],)]
    assert ticks(engine, load, {"tag_interval": 3}) == 1 + 7 * 3 + LATENCY
    assert ticks(engine, load, {"tag_interval": 3}, port_chunks=4) == 1 + 3 + LATENCY
    assert ticks(engine, load * 3, {"tag_interval": 3}) == 1 + 23 * 3 + LATENCY


def test_passes_hold_up_hits_and_those_behind_but_not_what_is_missed(engine):
    one = [(["load", [0], 4],)]
    assert ticks(engine, one, {"interval": 9}, l1=L1) == 1 + LATENCY
    again = [(["load", [0], 4], ["load", [0], 4])]
    assert (
        ticks(engine, again, {"interval": 9}, l1=L1) == 1 + LATENCY + 1 + 4 * 9
    )  # over when its passes are, 4 ticks behind it
    # Two warps hit at once: the second one's passes come behind the first one's.
    both = [(["load", [0], 4], ["load", [0], 4]), (["load", [1], 4], ["load", [1], 4])]
    assert ticks(engine, both, {"interval": 9}, l1=L1) == 1 + LATENCY + 1 + 8 * 9


def test_the_slowest_of_the_stages_is_what_binds(engine):
    # A hit is waited for before the next one begins, but what it takes of a stage is over later.
    hits = [(["load", [0, 1]], *[["load", [0, 1], 3]] * 2)]
    assert ticks(engine, hits, {"tag_interval": 20, "interval": 1}, l1=L1) == 1 + 20 + LATENCY + 1 + 3 * 20 + HIT
    assert ticks(engine, hits, {"tag_interval": 1, "interval": 20}, l1=L1) == 1 + 1 + LATENCY + 1 + 6 * 20


def test_a_shared_access_lets_its_port_go_and_settles_behind_its_passes(engine):
    for degree in (1, 3):
        alone = [(["shared", degree], ["settle"])]
        assert ticks(engine, alone, {}, latency=22) == 1 + (degree - 1) + 22
        assert ticks(engine, alone, {}, service=2, latency=22) == 1 + 2 * (degree - 1) + 22
    hidden = [(["shared", 3], ["compute", 30], ["settle"])]
    assert ticks(engine, hidden, {}, latency=22) == 31
    assert ticks(engine, [(["shared", 3], ["compute", 30])], {}) == 31


def test_all_warps_of_a_group_take_the_same_banks(engine):
    warps = [(["shared", 32], ["settle"])] * 8
    assert ticks(engine, warps, {}) == 1 + 8 * 32
    assert ticks(engine, warps, {}, ports=4) == 1 + 8 * 32
    assert ticks(engine, warps, {}, groups=2) == 1 + 4 * 32


def test_global_and_shared_accesses_pass_together_or_apart(engine):
    warps = [(["load", [0]], ["load", [0], 30]), (["compute", LATENCY + 2], ["shared", 1], ["settle"])]
    assert ticks(engine, warps, {}, l1=L1) == 1 + LATENCY + 1 + 29 + HIT
    behind = [warps[0], (["compute", LATENCY + 2], ["shared", 40], ["settle"])]
    assert ticks(engine, behind, {}, l1=L1) == 1 + LATENCY + 1 + 30 + 40
    assert ticks(engine, behind, {"shared": "apart"}, l1=L1) == LATENCY + 2 + 1 + 40
    apart = ticks(engine, warps, {"shared": "apart"}, l1=L1)
    assert apart == 1 + LATENCY + 1 + 29 + HIT
    only_shared = [(["load", [0]],), (["shared", 200], ["settle"])]
    assert ticks(engine, only_shared, {"shared": "apart"}) == 201


@pytest.mark.parametrize(("left_out", "waited"), [(0, 11), (1, 7), (2, 3), (3, 2)])
def test_settle_leaves_out_the_latest(engine, left_out, waited):
    warp = [(["shared", 4], ["shared", 4], ["shared", 4], ["settle", left_out])]
    assert ticks(engine, warp, {}) == 1 + 12  # what is still in the pipe ends with the launch
    behind = [(["shared", 4], ["shared", 4], ["shared", 4], ["settle", left_out], ["compute", 50])]
    assert ticks(engine, behind, {}) == max(1 + waited, 3) + 50


def test_a_barrier_does_not_wait_for_shared_accesses(engine):
    warps = [["shared", 40], ["barrier"], ["compute", 1]]
    blocks = Workload.from_dict({"blocks": [{"warps": [warps, warps]}]})
    assert simulate(machine({}), blocks, engine, timeline=True).ticks == 1 + 80
    assert simulate(machine({}), blocks, engine, stalls=True).stalls.ticks[:, Reason.BARRIER].sum() == 0


def test_what_the_l1_lacks_comes_in_one_by_one_and_its_hits_pass_by(engine):
    warps = [(["load", [0, 1, 2, 3]], ["load", [0, 1, 2, 3]])]
    assert ticks(engine, warps, {"fill_interval": 7}, l1=L1) == 1 + 3 * 7 + LATENCY + 1 + HIT
    l2 = {"sets": 64, "ways": 1, "latency": 40}
    assert ticks(engine, warps, {"fill_interval": 7}, l2=l2) == 1 + 3 * 7 + LATENCY + 1 + 3 * 7 + 40


def test_no_more_misses_are_on_their_way_than_may_be(engine):
    loads = [(["load", list(range(6))],)]
    assert ticks(engine, loads, {"misses": 2}) == 1 + 3 * LATENCY
    assert ticks(engine, loads, {"misses": 3, "fill_interval": 4}) == 1 + 2 * 4 + 2 * LATENCY
    assert ticks(engine, loads, {"misses": 6}) == 1 + LATENCY
    assert ticks(engine, [(["load", [warp]],) for warp in range(6)], {"misses": 1}) == 1 + 6 * LATENCY
    stores = [(["store", list(range(6))],)]
    assert ticks(engine, stores, {"misses": 1}) == 1 + LATENCY


def test_stores_pass_the_pipe_and_then_their_own_path(engine):
    store = [(["store", [0, 1, 2]],)]
    assert ticks(engine, store, {"tag_interval": 3}) == 1 + 2 * 3 + LATENCY
    assert ticks(engine, store, {"tag_interval": 3}, store_interval=8) == 1 + 2 * 8 + LATENCY
    assert ticks(engine, store, {"tag_interval": 9}, store_interval=8) == 1 + 2 * 9 + LATENCY
    waits = [(["load", [5]], ["store", [0]])]
    assert ticks(engine, waits, {}, return_delay=13) == 1 + LATENCY + 1 + 13 + LATENCY


@pytest.mark.parametrize("own", [{}, {"store_interval": 2}])
def test_what_was_loaded_delays_a_chunk_for_each_pass_of_a_store(engine, own):
    waits = [(["load", [5, 6, 7]], ["store", [0, 1, 2, 3], 4])]
    found = ticks(engine, waits, {}, return_delay=13, return_interval=5, **own)
    queued = 3 * 5 + 4 * 13 + 3 * 2 if own else 3 * 5 + 13  # without a path of their own stores don't queue
    assert found == 1 + LATENCY + 1 + queued + LATENCY
    scattered = [(["load", [5]], ["store", list(range(8))])]
    assert ticks(engine, scattered, {}, return_delay=13) == 1 + LATENCY + 1 + 13 + LATENCY
    once = [(["load", [5]], ["store", [0]], ["store", [1]])]
    assert ticks(engine, once, {}, return_delay=13, **own) == 1 + LATENCY + 1 + 13 + LATENCY + 1 + LATENCY


def test_with_every_instruction_a_shared_access_holds_its_port_for_one_only(engine):
    other = machine({}, latency=22, ports=1).replace(
        {"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4}
    )
    workload = Workload.from_dict({"blocks": [{"warps": [[["shared", 9], ["compute", 2], ["settle"]]]}]})
    assert simulate(other, workload, engine).ticks == 1 + 8 + 22
    workload = Workload.from_dict({"blocks": [{"warps": [[["shared", 9], ["compute", 2]]]}]})
    assert simulate(other, workload, engine).ticks == 1 + 8 + 22  # until the access is over


def test_a_wait_is_booked_to_latency_conflicts_and_the_queue_of_its_access(engine):
    workload = Workload.from_dict({"blocks": [{"warps": [[["shared", 3], ["settle"]]]}] * 2})
    booked = simulate(machine({}, latency=6), workload, engine, stalls=True).stalls.ticks.sum(axis=0)
    found = {reason.name: int(booked[reason]) for reason in Reason if booked[reason]}
    assert found == {"ISSUING": 2, "INSTRUCTION_LATENCY": 12, "BANK_CONFLICTS": 4, "PORT_QUEUE": 3}


def test_without_a_pipe_nothing_of_it_counts(engine):
    plain = machine({}).to_dict()
    del plain["memory"]["pipe"]
    workload = Workload.from_dict({"blocks": [{"warps": [[["shared", 5], ["settle", 2], ["load", [0, 1], 9]]]}]})
    assert simulate(Machine.from_dict(plain), workload, engine).ticks == 5 + 1 + LATENCY


def test_what_does_not_go_together_is_refused(engine):
    with pytest.raises(MachineError, match=r"memory.port_interval = 2: must be 0 with memory.pipe"):
        machine({}, port_interval=2)
    with pytest.raises(MachineError, match=r"memory.ports = 4: must be 1 with memory.pipe"):
        machine({}).replace({"memory.ports": 4})
    with pytest.raises(MachineError, match=r"memory.pipe: must be left out with memory.transfers = 'serial'"):
        machine({}, transfers="serial")
    with pytest.raises(MachineError, match=r"memory.pipe.run = 24: must be a multiple of memory.pipe.lanes, 16"):
        machine({"lanes": 16, "run": 24})
    with pytest.raises(MachineError, match=r"memory.pipe.tag_banks: memory.pipe.banks must be there, too"):
        machine({"tag_banks": 4})
    for operation, complaint in (
        (["settle", 32], "settle 32: must be at most 31"),
        (["load", [0], 0], "load: passes 0: must be a whole number from 1 to 65536"),
        (["load", [0], 1, 2], "load: sectors 2: must be a list, an entry for each chunk"),
        (["load", [0], 1, [[1], []]], "must be a list, an entry for each chunk"),
        (["load", [0], 1, [[1] * 5]], "must be a list of at most 4 for a chunk"),
        (["store", [0], 1, [[256]]], "store: bytes of a sector 256: must be a whole number from 0 to 255"),
        (["load", [0], 1, [[]], 2], "load takes one to three arguments, not 4"),
    ):
        with pytest.raises(WorkloadError, match=complaint):
            Workload.from_dict({"blocks": [{"warps": [[operation]]}]})


def test_a_workload_with_passes_goes_to_json_and_back(engine):
    warp = [["load", [0, 1], 7], ["store", [2]], ["shared", 2], ["settle", 1], ["settle", 0]]
    workload = Workload.from_dict({"blocks": [{"warps": [warp]}]})
    assert [list(each) for each in workload.warp(0)] == warp
    assert Workload.from_dict(workload.to_dict()) == workload
    assert workload.tallies[0].chunks == 3
    plain = Workload.from_dict({"blocks": [{"warps": [[["load", [0, 1], 1]]]}]})
    assert plain.digest() == Workload.from_dict({"blocks": [{"warps": [[["load", [0, 1]]]]}]}).digest()


def test_stores_go_out_one_by_one_whatever_comes_in(engine):
    stores = [(["store", [0, 1, 2, 3]],)]
    assert ticks(engine, stores, {"drain_interval": 7}) == 1 + 3 * 7 + LATENCY
    assert ticks(engine, stores * 2, {"drain_interval": 7}) == 1 + 7 * 7 + LATENCY
    beside = [(["load", [4, 5, 6, 7]],), *stores]
    assert ticks(engine, beside, {"drain_interval": 7, "fill_interval": 9}) == 1 + 3 * 9 + LATENCY
    atomics = [(["atomic", [0, 1, 2, 3]],)]
    assert ticks(engine, atomics, {"drain_interval": 7}) == 1 + LATENCY


def test_sectors_of_a_line_go_out_in_their_share_of_its_time(engine):
    pipe = {"drain_interval": 8}
    for accessed, taken in (([32, 0, 0, 0], 2), ([16, 4, 0, 0], 4), ([32] * 4, 8)):
        stores = [(["store", [0, 1, 2], 1, [accessed] * 3],)]
        assert ticks(engine, stores, pipe, sectors=4) == 1 + 2 * taken + LATENCY


def test_what_ends_in_the_l1_does_not_go_out(engine):
    local = [(["store", [2**55, 2**55 + 1, 2**55 + 2]],)]  # of 128 bytes, from 2^61 on
    memory = {"l1": {**L1, "local_writes": "back"}, "l2": {"sets": 64, "ways": 1, "latency": 40, "writes": "back"}}
    there = simulate(machine({"drain_interval": 50}, **memory), _blocks(local), engine)
    assert there.ticks < 50 + LATENCY


def test_the_wait_to_go_out_is_a_queue_at_the_port(engine):
    found = simulate(
        machine({"drain_interval": 7}, stores="at-end"), _blocks([(["store", [0, 1]],)]), engine, stalls=True
    )
    assert found.stalls.ticks[:, Reason.PORT_QUEUE].sum() == 7


def _blocks(warps):
    return Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]})

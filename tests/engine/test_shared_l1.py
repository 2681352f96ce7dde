"""The cache that some groups share between their L1s and the L2, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, load_machine, simulate
from simtmm.analysis.floors import below, floors
from simtmm.analysis.units import SHARED_L1S, units
from simtmm.calibration.latency_levels import load_latency
from simtmm.engine import ENGINES
from simtmm.errors import MachineError
from simtmm.files import data_file
from simtmm.machine.part import part_of
from simtmm.stalls import REASONS

MEMORY, HIT, L2, L1, STORED = 100, 20, 50, 7, 30  # latencies: of memory, of the shared L1, L2 and L1, and of a store
SERVICE = 4  # that a chunk takes the shared L1
LATER = ["pause", 500]  # by when all of the other warp's is done

each_engine = pytest.mark.parametrize("engine", ENGINES)


def machine(groups=1, shared=None, **memory):
    """Each operation issues in a cycle; pairs of groups share a cache of two lines."""
    cache = {"groups": 2, "sets": 1, "ways": 2, "latency": HIT, "service": SERVICE, **(shared or {})}
    return Machine.from_dict({
        "name": "m",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
        "memory": {"latency": MEMORY, "chunk_words": 32, "store_latency": STORED, **memory, "shared_l1": cache},
    })  # fmt: skip


def run(engine, on, *warps):
    """Blocks of a warp, one on each group in turn."""
    workload = Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]})
    return simulate(on, workload, engine, stalls=True, timeline=True)


def reasons(result):
    return {name: int(ticks) for name, ticks in zip(REASONS, result.stalls.ticks.sum(axis=0), strict=True) if ticks}


@each_engine
def test_chunks_take_it_one_after_another_and_are_found_again(engine):
    result = run(engine, machine(), [["async", [0, 1]], ["join"], ["load", [0, 1]]])
    assert result.ticks == 1 + SERVICE + MEMORY + 1 + SERVICE + HIT
    assert (result.shared_l1_hits, result.shared_l1_sectors, result.memory_sectors) == (2, 4, 2)
    assert reasons(result) == {
        "issuing": 2, "shared_l1_queue": 2 * SERVICE, "memory_latency": MEMORY, "shared_l1_latency": HIT,
    }  # fmt: skip


@each_engine
def test_groups_that_share_one_find_what_another_read(engine):
    """Of four groups with two to a cache, 0 and 2 have one, and 1 and 3 the other."""
    reads = ["load", [0]]
    together = run(engine, machine(4), [reads], [], [LATER, reads])
    apart = run(engine, machine(4), [reads], [LATER, reads])
    assert (together.ticks, together.shared_l1_hits, together.memory_sectors) == (500 + 1 + HIT, 1, 1)
    assert (apart.ticks, apart.shared_l1_hits, apart.memory_sectors) == (500 + 1 + MEMORY, 0, 2)


@each_engine
def test_three_groups_have_two_where_two_share_one(engine):
    result = run(engine, machine(3), [["load", [0]]], [], [LATER, ["load", [0]]])
    assert result.shared_l1_hits == 1


@each_engine
def test_groups_queue_for_one_and_not_for_another(engine):
    loads = [[["load", [number]]] for number in range(4)]
    assert run(engine, machine(4), *loads).ticks == 1 + SERVICE + MEMORY
    assert run(engine, machine(4, {"groups": 4}), *loads).ticks == 1 + 3 * SERVICE + MEMORY
    assert run(engine, machine(4, {"groups": 1}), *loads).ticks == 1 + MEMORY


@each_engine
def test_a_hit_on_a_line_in_flight_waits_for_it(engine):
    result = run(engine, machine(2), [["load", [0]]], [["pause", 9], ["load", [0]]])
    assert result.ticks == 1 + MEMORY
    assert result.shared_l1_hits == 1
    assert reasons(result)["line_in_flight"] == MEMORY - 9 - HIT


@each_engine
def test_the_l1_keeps_what_comes_from_there_and_the_l2_is_not_asked(engine):
    caches = {name: {"sets": 4, "ways": 2, "latency": latency} for name, latency in (("l1", L1), ("l2", L2))}
    result = run(engine, machine(2, **caches), [["load", [0]]], [LATER, ["load", [0]], ["load", [0]]])
    assert result.ticks == 500 + 1 + HIT + 1 + L1
    assert (result.l1_hits, result.shared_l1_hits, result.l2_hits, result.l2_sectors) == (1, 1, 0, 1)
    behind = run(engine, machine(4, **caches), [["load", [0]]], [LATER, ["load", [0]]])
    assert (behind.ticks, behind.shared_l1_hits, behind.l2_hits) == (500 + 1 + L2, 0, 1)


@each_engine
@pytest.mark.parametrize("write", ["store", "atomic"])
def test_what_is_written_past_it_drops_its_groups_line_alone(engine, write):
    reads = ["load", [0]]
    own = run(engine, machine(2), [reads, [write, [0]], reads])
    assert (own.shared_l1_hits, own.memory_sectors) == (0, 3)
    others = run(engine, machine(4), [reads, LATER, LATER, reads], [LATER, [write, [0]]])
    assert others.shared_l1_hits == 1


@each_engine
def test_what_an_l1_keeps_of_local_memory_drops_it_only_when_it_falls_out(engine):
    first, l1 = 1 << 54, {"sets": 1, "ways": 1, "latency": L1, "local_writes": "back"}  # chunks of 128 bytes
    on = machine(l1=l1)
    kept = run(engine, on, [["load", [first]], ["store", [first]], ["load", [first]]])
    assert (kept.l1_hits, kept.shared_l1_hits) == (1, 0)
    still = run(engine, on, [["load", [first]], ["load", [0]], ["load", [first]]])
    assert still.shared_l1_hits == 1
    gone = run(engine, on, [["load", [first]], ["store", [first]], ["load", [0]], ["load", [first]]])
    assert gone.shared_l1_hits == 0


@each_engine
def test_the_line_used_longest_ago_falls_out(engine):
    result = run(engine, machine(), [["load", [chunk]] for chunk in (0, 1, 0, 2, 0, 1)])
    assert result.shared_l1_hits == 2


@each_engine
def test_a_launch_finds_it_empty(engine):
    workload = Workload.from_dict({"launches": [{"blocks": [{"warps": [[["load", [0]]]]}]}] * 2})
    assert simulate(machine(), workload, engine).shared_l1_hits == 0


@each_engine
def test_copies_pass_it_as_loads_do(engine):
    result = run(engine, machine(), [["load", [0]], ["copy", [0]]])
    assert (result.shared_l1_hits, result.memory_sectors) == (1, 1)


@each_engine
def test_sectors_take_their_part_and_only_what_is_missing_is_read(engine):
    on = machine(sectors=4, l2={"sets": 4, "ways": 2, "latency": L2})
    warp = [["load", [0], 1, [[32]]], ["load", [0], 1, [[32, 32]]], ["load", [0], 1, [[0, 32]]]]
    result = run(engine, on, warp)
    assert (result.shared_l1_hits, result.shared_l1_sectors, result.l2_sectors) == (1, 4, 2)
    two = run(engine, on, [["load", [0, 1], 1, [[32], [32]]]])
    assert two.ticks == 1 + SERVICE // 4 + MEMORY


@each_engine
def test_a_store_waits_for_nothing_that_came_from_there(engine):
    on = machine(2, return_interval=50)
    near = run(engine, on, [["load", [0]]], [LATER, ["load", [0]], ["store", [5]]])
    assert near.ticks == 500 + 1 + HIT + 1 + STORED


@each_engine
def test_hits_take_no_fetch_port_and_no_slice_and_the_translation_comes_first(engine):
    l2 = {"sets": 4, "ways": 2, "latency": L2, "service": 40}
    on = machine(2, l2=l2, fetch_interval=60, tlb={"entries": 1, "page": 128, "miss": 13})
    result = run(engine, on, [["load", [0]]], [LATER, ["load", [0]], ["load", [1]]])
    assert reasons(result)["first_access"] == 13 * 3
    assert result.ticks == 500 + 1 + 13 + HIT + 1 + 13 + MEMORY
    assert "l2_queue" not in reasons(result)


@each_engine
def test_how_busy_they_are_and_what_no_run_is_quicker_than(engine):
    on, warps = machine(2), [[["load", [0, 1]]] * 9] * 2
    result = run(engine, on, *warps)
    found = {unit.name: unit for unit in units(on, result)}
    assert found[SHARED_L1S].number == 1
    assert found[SHARED_L1S].busy == pytest.approx(36 * SERVICE / result.ticks)
    workload = Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]})
    assert floors(on, workload, result)[SHARED_L1S] == 35 * SERVICE
    assert not below(on, workload, result)


@pytest.mark.parametrize(("kib", "least", "most"), [(8, 2, 16), (32, 17, 125), (120, 17, 125), (1024, 140, 1100)])
def test_a_chase_on_an_rx_6900_xt_finds_the_levels_that_were_measured(kib, least, most):
    """Lines one after another, again and again; measured by gpu-benches, buffers of the same level."""
    on = load_machine("rx6900xt")
    lines = [["load", [line]] for line in range(kib * 1024 // on.chunk_bytes)]
    once, twice = (simulate(on, Workload.from_dict({"blocks": [{"warps": [lines * n]}]})).cycles for n in (1, 2))
    curve = load_latency(data_file("traces", "measured/latency_curves.csv"), "rx6900xt")
    measured = [
        cycles
        for size, cycles in zip(curve.sizes.tolist(), curve.latencies.tolist(), strict=True)
        if least * 1024 <= size <= most * 1024
    ]
    # Less the cycle that a load issues for. The L2's points lie between 220.0 and 222 cycles, and its value is 221.5
    assert (twice - once) / len(lines) - 1 == pytest.approx(sum(measured) / len(measured), rel=0.01)


def test_a_part_of_a_machine_has_its_share():
    whole = machine(80, {"groups": 10, "sets": 64, "ways": 16})
    part = part_of(whole, 20)
    assert (part.shared_l1s, part.memory.shared_l1) == (2, whole.memory.shared_l1)
    small = part_of(whole, 5)
    assert (small.shared_l1s, small.memory.shared_l1.sets, small.memory.shared_l1.service) == (1, 32, 2 * SERVICE)


def test_serial_transfers_have_none():
    with pytest.raises(MachineError, match="shared_l1: must be left out"):
        machine(transfers="serial")


@pytest.mark.parametrize("groups", [0, -1, 1.5, "two"])
def test_how_many_groups_share_one_is_a_count(groups):
    with pytest.raises(MachineError, match=r"memory.shared_l1.groups = "):
        machine(shared={"groups": groups})


def test_a_machine_without_one_keeps_its_digest():
    with_one = machine()
    without = with_one.replace({"memory.shared_l1": None})
    assert without.digest() != with_one.digest()
    assert "shared_l1" not in str(without.values())
    assert with_one.replace({"memory.shared_l1": "1KiB"}).memory.shared_l1.sets == 4

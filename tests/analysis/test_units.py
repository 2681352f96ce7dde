"""Units: how busy they are follows from what is counted, and is never more than all of the time."""

import pytest
from hypothesis import given

from simtmm import Machine, Workload
from simtmm.analysis.run import run
from simtmm.analysis.units import ISSUE_PORTS, L2_SLICES, MEMORY_PORTS, PARTITIONS, chunks_of_kinds, traffic, units
from simtmm.engine import simulate
from simtmm.testing.strategies import machines, workloads
from simtmm.workload import ASYNC, ATOMIC, LOAD, OPERATIONS, REDUCE, STORE
from tests.examples import SHARING, examples, several

MACHINE = Machine.from_dict(
    {
        "name": "two groups",
        "clock_hz": 1e9,
        "ticks_per_cycle": 10,
        "cores": {"groups": 2, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 32},
        "scheduling": {"switch": "every-instruction", "scheduler": "oldest"},
        "memory": {
            "latency": 100, "chunk_words": 32, "partitions": 4, "service": 5, "atomic_service": 10, "port_interval": 2,
        },
    }
)  # fmt: skip
L2 = {"sets": 64, "ways": 4, "latency": 50, "service": 3}


def of(machine, operations, warps=4):
    """The units of a run of two blocks of such warps, by name, and the cycles that it takes."""
    workload = Workload.from_dict({"blocks": [{"warps": [operations] * warps}] * 2})
    result = simulate(machine, workload, stalls=True)
    return {unit.name: unit for unit in units(machine, result)}, result.cycles


def test_each_chunk_takes_its_port_and_its_partition():
    found, cycles = of(MACHINE, [["load", [0, 1, 2]], ["store", [7]]])
    chunks = 8 * 4
    assert found[MEMORY_PORTS].busy == pytest.approx(chunks * 2 / (2 * cycles))
    assert found[PARTITIONS].busy == pytest.approx(chunks * 5 / (4 * cycles))
    assert found[PARTITIONS].achieved == pytest.approx(chunks * 128 / (cycles / 1e9))
    assert found[PARTITIONS].peak == pytest.approx(4 * 128 / 5e-9)
    assert found[MEMORY_PORTS].peak == pytest.approx(2 * 128 / 2e-9)
    assert L2_SLICES not in found


@pytest.mark.parametrize(("share", "cycles_of_a_store", "of_a_chunk"), [(0.6, 3, 3), (3, 5, 5)])
def test_what_is_written_takes_partitions_for_its_share_at_the_least(share, cycles_of_a_store, of_a_chunk):
    machine = MACHINE.replace({"memory.write_share": share})
    found, cycles = of(machine, [["load", [0, 1, 2]], ["store", [7]]])
    assert found[PARTITIONS].busy == pytest.approx(8 * (3 * 5 + cycles_of_a_store) / (4 * cycles))
    assert (found[PARTITIONS].is_least, found[PARTITIONS].peak) == (True, pytest.approx(4 * 128 / of_a_chunk * 1e9))
    found, cycles = of(machine, [["load", [0, 1, 2]]])
    assert found[PARTITIONS].busy == pytest.approx(8 * 15 / (4 * cycles))
    assert (found[PARTITIONS].is_least, found[PARTITIONS].peak) == (False, pytest.approx(4 * 128 / 5e-9))


def test_instructions_take_issue_ports():
    found, cycles = of(MACHINE, [["compute", 10]])
    assert found[ISSUE_PORTS].busy == pytest.approx(80 / (2 * cycles))
    assert found[ISSUE_PORTS].achieved == pytest.approx(80 / (cycles / 1e9))
    assert found[ISSUE_PORTS].peak == pytest.approx(2e9)
    assert found[ISSUE_PORTS].unit == "instructions/s"


def test_conflicts_keep_issue_ports_busy_without_instructions():
    found, cycles = of(MACHINE, [["shared", 8]])
    assert found[ISSUE_PORTS].busy == pytest.approx(8 * 8 / (2 * cycles))
    assert found[ISSUE_PORTS].achieved == pytest.approx(8 / (cycles / 1e9))


def test_atomics_take_partitions_for_their_own_service():
    found, cycles = of(MACHINE, [["atomic", [0, 0, 1]]])
    assert found[PARTITIONS].busy == pytest.approx(8 * 3 * 10 / (4 * cycles))


def test_atomics_that_are_done_in_the_l2_take_its_slices_and_read_what_it_lacks():
    found, cycles = of(MACHINE.replace({"memory.l2": {**L2, "atomics": "here"}}), [["atomic", [0, 0, 1]]])
    assert found[L2_SLICES].busy == pytest.approx(8 * 3 * 10 / (4 * cycles))
    assert found[PARTITIONS].busy == pytest.approx(2 * 5 / (4 * cycles))
    assert found[PARTITIONS].is_least  # what is written back comes on top
    # Of an atomic's entries those of one chunk pass a port together: at least one of each of 8 does
    assert found[MEMORY_PORTS].busy == pytest.approx(8 * 2 / (2 * cycles))
    assert found[MEMORY_PORTS].is_least


def test_what_the_l2_has_does_not_reach_memory():
    found, cycles = of(MACHINE.replace({"memory.l2": L2}), [["load", [0]], ["load", [0]]], warps=1)
    assert found[L2_SLICES].busy == pytest.approx(4 * 3 / (4 * cycles))
    assert found[PARTITIONS].busy == pytest.approx(1 * 5 / (4 * cycles))


def test_stores_that_stay_in_the_l2_are_counted_there_and_memory_gets_at_least_the_rest():
    found, cycles = of(MACHINE.replace({"memory.l2": {**L2, "writes": "back"}}), [["store", [0]], ["load", [9]]])
    assert found[L2_SLICES].busy == pytest.approx(16 * 3 / (4 * cycles))
    assert found[PARTITIONS].busy == pytest.approx(1 * 5 / (4 * cycles))
    assert found[PARTITIONS].is_least
    assert not found[L2_SLICES].is_least


def test_sectors_of_a_line_pass_a_port_together():
    found, cycles = of(MACHINE.replace({"memory.port_chunks": 4}), [["load", [0, 1, 2, 3]]])
    assert found[MEMORY_PORTS].busy == pytest.approx(8 * 2 / (2 * cycles))
    assert found[MEMORY_PORTS].is_least
    assert found[MEMORY_PORTS].peak == pytest.approx(4 * 2 * 128 / 2e-9)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("warp", [[["load", [0, 1, 2, 3]]], [["load", [0, 1, 2, 3]], ["store", [8, 9, 10, 11]]]])
def test_each_instruction_takes_a_port_once_at_the_least_but_stores_with_a_path_of_their_own(warp, apart):
    """Which of the requests are those of stores is not counted: with a path of their own the chunks alone tell."""
    own = {"memory.store_interval": 3} if apart else {}
    found, cycles = of(MACHINE.replace({"memory.port_chunks": 32, **own}), warp)
    stores = any(name == "store" for name, _ in warp)
    passes = 8 * len(warp) if not (apart and stores) else 1  # 32 chunks of loads
    assert found[MEMORY_PORTS].busy == pytest.approx(passes * 2 / (2 * cycles))
    chunks = 32 * (2 if stores and not apart else 1)
    assert found[MEMORY_PORTS].achieved == pytest.approx(chunks * 128 / (cycles / 1e9))
    assert found[MEMORY_PORTS].is_least


@pytest.mark.parametrize(
    ("l2", "warp", "is_least"),
    [
        ({}, [["store", [0]], ["atomic", [1]]], False),
        ({"writes": "back"}, [["load", [0]]], False),
        ({"writes": "back"}, [["store", [0]]], True),
        ({"atomics": "here"}, [["store", [0]]], False),
        ({"atomics": "here"}, [["atomic", [0]]], True),
    ],
)
def test_memory_may_get_more_than_is_counted_where_the_l2_writes_back_later(l2, warp, is_least):
    found, _ = of(MACHINE.replace({"memory.l2": {**L2, **l2}}), warp)
    assert found[PARTITIONS].is_least == is_least


@pytest.mark.parametrize(("issue", "peak"), [(32, 2e9), (16, 1e9), (64, 4e9)])
def test_a_port_issues_an_instruction_as_often_as_its_lanes_are_free(issue, peak):
    """A warp of 32 on so many cores of a group: on 16 it holds its port for two cycles, and 64 have two ports."""
    found, _ = of(MACHINE.replace({"cores.cores_per_group": issue}), [["compute", 10]])
    assert found[ISSUE_PORTS].peak == pytest.approx(peak)


def test_what_nothing_limits_has_no_peak_and_is_never_busy():
    found, _ = of(MACHINE.replace({"memory.service": 0, "memory.port_interval": 0}), [["load", [0]]])
    assert [(found[name].busy, found[name].peak) for name in (MEMORY_PORTS, PARTITIONS)] == [(0.0, None)] * 2
    assert found[PARTITIONS].achieved > 0


def test_without_a_clock_rates_are_per_cycle():
    found, cycles = of(MACHINE.replace({"clock_hz": None}), [["load", [0, 1]]])
    assert found[PARTITIONS].unit == "bytes/cycle"
    assert found[PARTITIONS].achieved == pytest.approx(16 * 128 / cycles)
    assert found[PARTITIONS].peak == pytest.approx(4 * 128 / 5)


def test_a_run_of_no_time_has_none():
    assert units(MACHINE, simulate(MACHINE, Workload.from_dict({"blocks": []}), stalls=True)) == ()


def test_without_stalls_a_traces_counts_tell_the_same():
    done = run(None, "gtx480", what_if=False)
    alone = simulate(done.machine, Workload.from_dict({"blocks": [{"warps": [[["load", [0]]]]}]}))
    assert [unit.name for unit in units(done.machine, alone)] == [ISSUE_PORTS]
    bare = type(done.result).from_dict(done.result.to_dict(), done.machine.ticks_per_cycle, done.machine.clock_hz)
    assert bare.stalls is None
    assert units(done.machine, bare, done.counts) == units(done.machine, done.result)


@examples(200 // SHARING)
@given(several(machines()), workloads())
def test_no_unit_is_ever_more_than_busy(drawn, workload):
    for machine in drawn:
        result = simulate(machine, workload, stalls=True)
        of_kinds = chunks_of_kinds(result.stalls)
        assert sum(of_kinds.values()) == result.transactions
        assert set(of_kinds) <= {OPERATIONS[kind] for kind in (LOAD, ASYNC, STORE, ATOMIC, REDUCE)}
        found = traffic(machine, result)
        assert min(found.read, found.written, found.updated, found.into_l2) >= 0
        for unit in units(machine, result):
            assert 0 <= unit.busy <= 1
            assert unit.achieved >= 0
            assert unit.peak is None or unit.achieved <= unit.peak


@pytest.mark.parametrize(("memory", "is_least"), [
    ({}, False), ({"memory.return_interval": 3}, True),
    ({"memory.return_interval": 3, "memory.store_interval": 2}, False),
])  # fmt: skip
def test_ports_at_which_stores_wait_for_loads_are_busy_for_what_is_told_at_the_least(memory, is_least):
    warp = [["load", [0, 1]], ["store", [2]]]
    machine = MACHINE.replace({"memory.port_interval": 2, **memory})
    result = simulate(machine, Workload.from_dict({"blocks": [{"warps": [warp]}]}), stalls=True)
    (ports,) = (unit for unit in units(machine, result) if unit.name == MEMORY_PORTS)
    assert ports.is_least == is_least

"""What each what-if changes: which keys of a machine, by how much, and what becomes of operations."""

import numpy as np
import pytest

from simtmm import Machine, Workload, load_machine, simulate
from simtmm.analysis.what_if import CHANGES, MORE_WARPS, trials
from simtmm.analysis.what_if.changes import NARROWER, SHARED_SERVICE, Change, faster_banks, joined, listed
from simtmm.analysis.what_if.speedups import Speedups
from simtmm.analysis.what_if.stalls import restalled
from simtmm.engine import causes
from simtmm.machine import units
from simtmm.stalls import CLASSES
from tests.analysis.source_changes.test_changes import warps

BY_CAUSE = {change.cause: change for change in CHANGES}
# Times that no what-if changes: of what has no cause of its own, and of the models.
LEFT = {
    "memory.copy_interval", "memory.drain_latency", "scheduling.grid_barrier", "scheduling.grid_barrier_block",
    "scheduling.mbarrier_latency",
}  # fmt: skip
COUNTED = [  # what is doubled: more of it is faster
    "cores.cores_per_group", "cores.issue_ports", "memory.last_level.bandwidth", "memory.pipe.misses",
]  # fmt: skip
LEFT_TABLES = (
    "banks.", "hong_kim.", "instructions.", "products.", "results.", "scheduling.barrier_", "scheduling.cluster_",
    "scheduling.fence_",
)  # fmt: skip


def test_each_time_of_a_machine_is_changed_by_one_what_if_or_has_no_cause():
    keys = [key for change in CHANGES for key in change.keys]
    assert len(keys) == len(set(keys))
    assert set(keys) <= set(units())
    times = {key for key, (unit, _) in units().items() if "cycle" in unit}
    left = times - set(keys)
    assert {key for key in left if not key.startswith(LEFT_TABLES)} == LEFT
    assert sorted(set(keys) - times) == COUNTED
    assert {key for key in keys if key.startswith(LEFT_TABLES)} == {SHARED_SERVICE}


def test_what_is_halved_is_halved_and_what_is_taken_away_is_nothing():
    for change in CHANGES:
        expected = 0 if change.cause == causes.LAUNCHES else "x0.5"
        assert {key: "x2" if key in COUNTED else expected for key in change.keys} == change.keys
    taken_away = {causes.SHARED_MEMORY, causes.BARRIERS, causes.LAUNCHES}
    assert {change.cause for change in CHANGES if not change.halves} == taken_away


@pytest.mark.parametrize(
    ("cause", "begin"),
    [
        (causes.LATENCY, ("memory.latency", "memory.store_latency", "memory.l1.latency", "memory.shared_l1.latency",
                          "memory.l2.",
                          "memory.last_level.latency", "memory.first",
                          "memory.tlb.")),
        (causes.MEMORY_BANDWIDTH, ("memory.service", "memory.turnaround", "memory.rows.", "memory.fetch_interval")),
        (causes.L2_BANDWIDTH, ("memory.l2.",)),
        (causes.LAST_LEVEL_BANDWIDTH, ("memory.last_level.",)),
        (causes.SHARED_L1_BANDWIDTH, ("memory.shared_l1.",)),
        (causes.PORT_BANDWIDTH, ("memory.port_interval", "memory.store_interval", "memory.pipe.", "memory.return_",
                                 "banks.service")),
        (causes.ATOMICS, ("memory.atomic_service",)),
        (causes.ISSUE, ("cores.",)),
        (causes.PIPES, ("pipes.",)),
        (causes.DEPENDENCE, ("scheduling.pipeline_depth",)),
        (causes.LAUNCHES, ("scheduling.launch_", "scheduling.graph_", "scheduling.first_", "scheduling.block_",
                           "scheduling.warp_launch")),
    ],
)  # fmt: skip
def test_a_cause_is_relieved_by_keys_of_its_own_unit(cause, begin):
    keys = BY_CAUSE[cause].keys
    assert all(key.startswith(begin) for key in keys)
    assert all(any(key.startswith(each) for key in keys) for each in begin)


def test_each_key_of_a_bandwidth_is_of_one_parameter_and_is_changed_alone_with_it():
    with_parameters = {causes.MEMORY_BANDWIDTH: 4, causes.L2_BANDWIDTH: 5, causes.PORT_BANDWIDTH: 10,
                       causes.PIPES: len(CLASSES)}  # fmt: skip
    assert {change.cause: len(change.parameters) for change in CHANGES if change.parameters} == with_parameters
    for change in CHANGES:
        of_parameters = [key for keys in change.parameters.values() for key in keys]
        assert sorted(of_parameters) == (sorted(change.keys) if change.parameters else [])
        for name, keys in change.parameters.items():
            alone = change.of_parameter(name)
            assert (alone.cause, alone.words, alone.halves, alone.parameters) == (
                change.cause, change.words, change.halves, {},
            )  # fmt: skip
            assert alone.keys == {key: change.keys[key] for key in keys}
    assert BY_CAUSE[causes.PIPES].parameters == {name: (f"pipes.{name}.interval",) for name in CLASSES}
    for cause, narrower in NARROWER.items():
        wide = BY_CAUSE[cause]
        assert narrower.keys.items() < wide.keys.items()
        assert narrower.halves == wide.halves


OPERATIONS = [["compute", 9], ["pause", 7], ["pause", 8], ["shared", 6, 2], ["shared", 3], ["barrier"], ["pause", 5],
              ["load", [1]]]  # fmt: skip


def changed(cause, operations=OPERATIONS):
    return warps(BY_CAUSE[cause].of_workload(Workload.from_dict({"blocks": [{"warps": [operations]}]})))[0]


def test_operations_are_changed_of_their_kind_alone():
    without = [["shared", 2, 2], ["shared", 1]]
    assert changed(causes.SHARED_MEMORY) == [*OPERATIONS[:3], *without, *OPERATIONS[5:]]
    kept = [operation for operation in changed(causes.BARRIERS) if operation[0] not in ("join", "pause")]
    assert kept == [operation for operation in OPERATIONS if operation[0] not in ("barrier", "pause")]
    pauses = [operation[1] for operation in changed(causes.BARRIERS) if operation[0] == "pause"]
    assert pauses == [7, 8, 1]  # that behind a barrier is gone with it
    for cause in (causes.SHARED_MEMORY, causes.BARRIERS):
        assert changed(cause, [["compute", 2]]) == [["compute", 2]]
    assert {change.cause for change in CHANGES if change.of_workload} == {causes.SHARED_MEMORY, causes.BARRIERS}
    assert {change.cause: change.stalls for change in CHANGES if change.stalls != 1} == {causes.DEPENDENCE: 0.5}


def restalled_warp(operations, machine, other, times=1.0):
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 3, "fp32"]], operations]}]})
    return warps(restalled(workload, machine, other, times))[1]


def test_stalls_become_half_as_long():
    machine = load_machine("gtx480")
    halved = [["compute", 9], ["pause", 4], ["pause", 4], *OPERATIONS[3:6], ["pause", 3], ["load", [1]]]
    assert restalled_warp(OPERATIONS, machine, machine, 0.5) == halved
    assert restalled_warp([["compute", 2]], machine, machine, 0.5) == [["compute", 2]]


def test_faster_pipes_hide_less_of_a_stall():
    slow = load_machine("gtx480").replace({"scheduling.stalls": "overlap"})
    issue = slow.issue_cycles
    slow, fast = (slow.replace({"pipes.fp32.interval": issue + beyond}) for beyond in (3, 1))
    own = [["pause", 5], ["compute", 9, "fp32"], ["compute", 4], ["pause", 6], ["compute", 5, "fp32"], ["pause", 2]]
    # 4 instructions behind the first hide 3 cycles each; others than these stand between the 9 and their pause
    assert restalled_warp(own, slow, fast) == [*own[:5], ["pause", 2 + 4 * (3 - 1)]]
    # Half of the last one's stall, of 14 cycles, is hidden whole
    assert restalled_warp(own, slow, slow, 0.5) == [["pause", 3], *own[1:3], ["pause", 3], own[4], ["pause", 1]]
    assert restalled_warp(own[1:2], slow, fast) == own[1:2]
    assert restalled_warp([["pause", 5]], slow, fast) == [["pause", 5]]  # what another warp computes hides nothing
    added = slow.replace({"scheduling.stalls": "add"})
    assert restalled_warp(own, added, added.replace({"pipes.fp32.interval": issue + 1})) == own


def test_what_faster_pipes_gain_is_as_lowered_for_them():
    """A chain whose stalls last longer than its pipe takes gains nothing by a faster pipe."""
    machine = load_machine("a100-80").replace({"ticks_per_cycle": 1})
    chain = Workload.from_dict({"blocks": [{"warps": [[["compute", 1], ["compute", 24, "fp32"], ["pause", 28]] * 20]}]})
    before = simulate(machine, chain, stalls=True)
    speedups = Speedups(machine, chain, before)
    assert 1 <= speedups.of(BY_CAUSE[causes.PIPES]) < 1.02
    saved = before.cycles * (1 - 1 / speedups.of(BY_CAUSE[causes.DEPENDENCE]))
    assert saved == pytest.approx(20 * (28 - 3))  # half of 28 + 23 cycles, of which the pipe hides 23


def test_faster_banks_halve_each_pass_but_those_of_conflicts():
    machine = load_machine("rtx-3080").replace({"ticks_per_cycle": 2 * load_machine("rtx-3080").ticks_per_cycle})
    workload = Workload.from_dict({"blocks": [{"warps": [OPERATIONS]}]})
    faster, of_it = faster_banks(machine, workload)
    assert 2 * faster.durations.shared_pass == machine.durations.shared_pass > 0
    assert (
        machine.durations.shared_pass
        == load_machine("rtx-3080").replace({"ticks_per_cycle": machine.ticks_per_cycle}).durations.shared_pass
    )  # its own is as it was
    assert warps(of_it)[0][3:5] == [["shared", 2 + 2 * 4, 2], ["shared", 1 + 2 * 2]]
    assert [*warps(of_it)[0][:3], *warps(of_it)[0][5:]] == [*OPERATIONS[:3], *OPERATIONS[5:]]
    plain = Machine.from_dict(
        {
            "name": "plain",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 20, "chunk_words": 8},
        }
    )
    assert plain.durations.shared_pass == 0
    assert faster_banks(plain, workload) == (plain, workload)


def test_several_changes_are_one_that_does_all():
    one, two = BY_CAUSE[causes.SHARED_MEMORY], BY_CAUSE[causes.BARRIERS]
    both = joined([one, two, BY_CAUSE[causes.ATOMICS]])
    assert both.keys == {"memory.atomic_service": "x0.5"}
    assert both.stalls == 1
    chained = joined([BY_CAUSE[causes.DEPENDENCE], BY_CAUSE[causes.ISSUE]])
    assert (chained.stalls, chained.keys["scheduling.pipeline_depth"]) == (0.5, "x0.5")
    assert both.words == f"{one.words}, {two.words} and {BY_CAUSE[causes.ATOMICS].words}"
    assert both.cause == f"{one.cause}, {two.cause} and {causes.ATOMICS}"
    workload = Workload.from_dict({"blocks": [{"warps": [OPERATIONS]}]})
    assert both.of_workload(workload) == two.of_workload(one.of_workload(workload))
    assert joined([BY_CAUSE[causes.ATOMICS], BY_CAUSE[causes.ISSUE]]).of_workload is None
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


IDLE = load_machine("gtx480")  # 15 groups


def shared_out(*of_blocks, before=()):
    """How blocks of so many instructions in each of two warps are cut; None where they are not."""
    launches = [{"blocks": [{"warps": [[["compute", each]]] * 2} for each in of]} for of in (*before, of_blocks)]
    workload = Workload.from_dict({"launches": launches})
    change = trials._shared_out(IDLE, simulate(IDLE, workload, stalls=True), workload)
    if change is None:
        return None
    assert not change.halves
    assert change.keys == {}
    return change.cause, change.words, np.diff(change.of_workload(workload).launch_blocks).tolist()


def test_idle_core_groups_are_given_pieces_of_the_longest_launch():
    assert shared_out(*[9000] * 4) == (causes.FEW_BLOCKS, "its work in 16 blocks", [16])  # four each, for 15
    assert shared_out(*[9000] * 4, before=[[1]]) == (causes.FEW_BLOCKS, "its work in 16 blocks", [1, 16])
    assert shared_out(*[100] * 29, 100_000) == (causes.UNEVEN, "long blocks cut to the median's work", [29 + 1000])
    assert shared_out(*[9000] * 300) is None  # none is idle


def test_more_warps_are_tried_where_a_launch_has_more_blocks_than_fit_at_once():
    held = Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]]}] * (15 * 8)})
    assert trials._more_warps(IDLE, held) is None
    more = Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]]}] * (15 * 8 + 1)})
    change = trials._more_warps(IDLE, more)
    assert (change.cause, change.words) == (MORE_WARPS, "twice the warps")
    limits = {f"limits.{key}" for key in ("warps_per_group", "blocks_per_group") if getattr(IDLE.limits, key)}
    assert change.keys == dict.fromkeys(("cores.max_threads_per_core", *limits), "x2")
    assert isinstance(change, Change)

"""Launches joined, and launched as a graph: what launching takes, by hand."""

import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.analysis.source_changes.launches import of_launches, of_long_blocks

BLOCK = {"warps": [[["compute", 10], ["load", [0, 1]]]]}
OVERHEADS = {"scheduling.launch_overhead": 1000, "scheduling.graph_launch_overhead": 300}


def advised(machine, launches, can_simulate=True, in_graph=0):
    nodes = [{"blocks": [BLOCK] * 4, "in_graph": True}] * in_graph
    workload = Workload.from_dict({"launches": [{"blocks": [BLOCK] * 4}] * (launches - in_graph) + nodes})
    result = simulate(machine, workload, stalls=True)
    return (
        result,
        workload,
        {each.change: each for each in of_launches(machine, workload, result, can_simulate)},
    )


@pytest.fixture
def machine():
    return load_machine("gtx280").replace(OVERHEADS)


def test_a_graph_spares_the_difference_of_the_overheads_for_all_launches_but_the_first(machine):
    result, _, found = advised(machine, 10)
    per_cycle = machine.ticks_per_cycle
    assert found["graph"].gain == result.ticks / (result.ticks - 9 * 700 * per_cycle)
    assert found["graph"].how == "simulated"
    assert found["graph"].words.startswith(
        "capture the 10 launches in a CUDA graph and launch that: starting kernels takes "
    )


def test_joined_launches_take_what_all_blocks_do_as_one(machine):
    result, _, found = advised(machine, 10)
    one = Workload.from_dict({"launches": [{"blocks": [BLOCK] * 40}]})
    assert found["fuse"].gain == result.ticks / simulate(machine, one, breakdown=False).ticks
    assert found["fuse"].how == "bound"


def test_without_time_to_simulate_the_overheads_are_left_out(machine):
    result, _, found = advised(machine, 10, can_simulate=False)
    assert found["fuse"].gain == result.ticks / (result.ticks - 9 * 1000 * machine.ticks_per_cycle)
    assert found["fuse"].how == "estimate"


def test_one_launch_and_launches_that_cost_little_suggest_nothing(machine):
    assert advised(machine, 1)[2] == {}
    assert (
        advised(machine.replace({"scheduling.launch_overhead": 1, "scheduling.graph_launch_overhead": 1}), 10)[2] == {}
    )


def test_a_graph_that_spares_nothing_is_not_advised(machine):
    found = advised(machine.replace({"scheduling.graph_launch_overhead": 1000}), 10)[2]
    assert list(found) == ["fuse"]


def test_who_launches_a_graph_is_not_told_to_and_what_it_spares_is_no_gain_of_fewer_launches(machine):
    result, _, found = advised(machine, 10, in_graph=6)
    assert list(found) == ["fuse"]
    one = simulate(machine, Workload.from_dict({"launches": [{"blocks": [BLOCK] * 40}]}), breakdown=False).ticks
    assert result.ticks == advised(machine, 10)[0].ticks - 6 * 700 * machine.ticks_per_cycle
    assert found["fuse"].gain == result.ticks / one


def test_a_node_of_a_graph_takes_the_graphs_overhead_in_both_engines():
    """Section 1: three launches of a few ticks, of which the last two follow in a graph."""
    on = load_machine("classroom").replace({**OVERHEADS, "scheduling.first_launch": 40})
    alone = [{"blocks": [BLOCK]}, {"blocks": [BLOCK], "in_graph": True}, {"blocks": [BLOCK], "in_graph": True}]
    workload = Workload.from_dict({"launches": alone})
    found = [simulate(on, workload, engine).launch_ticks for engine in ("fast", "reference")]
    own = simulate(on.replace(dict.fromkeys([*OVERHEADS, "scheduling.first_launch"], 0)), workload).launch_ticks
    per_cycle = on.ticks_per_cycle
    overheads = [1040 * per_cycle, 300 * per_cycle, 300 * per_cycle]
    assert found[0] == found[1] == tuple(each + more for each, more in zip(own, overheads, strict=True))
    assert Workload.from_dict(workload.to_dict()) == workload


def test_long_blocks_of_all_of_a_run_are_evened_out(machine):
    """Four groups, a block each, one of which has four times the work: in pieces of the median's there are seven."""
    on = machine.replace({"cores.groups": 7, "limits.blocks_per_group": 1})
    blocks = [{"warps": [[["compute", 10_000 * each]]]} for each in (1, 1, 1, 4)]
    workload = Workload.from_dict({"blocks": blocks})
    (found,) = of_long_blocks(on, workload, simulate(on, workload, stalls=True))
    assert (found.change, found.how) == ("even out", "simulated")
    assert found.words == "share out the work of block 3: it does 4 times the work of the median block"
    assert 3.5 < found.gain <= 4  # all else is the launch
    assert not [*of_long_blocks(on, Workload.from_dict({"blocks": blocks[:3]}), simulate(on, workload, stalls=True))]

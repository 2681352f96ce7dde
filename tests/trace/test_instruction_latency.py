"""Latencies of instructions by class: what holds a warp where a trace says no stalls (docs/machine.md, section 9)."""

import pytest

from simtmm import lower, simulate
from simtmm.engine import ENGINES
from simtmm.errors import MachineError
from tests.trace.build import store, trace, work
from tests.trace.test_compiled import lowered, site
from tests.trace.test_lower import machine
from tests.trace.test_stalls import stalled

MIXED = [("fp32", 3), ("fp64", 2), ("control", 5)]


def held(latencies, mixed=MIXED, **keys):
    """The operations of a warp that does such work, then stores."""
    tables = {f"instructions.{name}": cycles for name, cycles in latencies.items()}
    (warp,) = lowered([[store(0, 0)]], [site(0, "store", work=mixed)], **tables, **keys)
    return warp


def test_each_instruction_holds_its_warp_for_its_latency_less_its_issue():
    # 3 of 4 cycles and 2 of 8, each less the one of its issue; classes that are left out take none.
    assert held({"fp32": 4, "fp64": 8}) == [["compute", 10], ["pause", 3 * 3 + 2 * 7], ["store", [0]]]


def test_without_the_table_or_with_no_more_than_the_issue_nothing_is_held():
    assert held({}) == held({"fp32": 1, "fp64": 0.5}) == [["compute", 10], ["store", [0]]]


def test_the_sum_is_taken_to_the_nearest_whole_cycle():
    assert held({"fp32": 1.5}, [("fp32", 3)])[1] == ["pause", 2]
    assert held({"fp32": 1.4}, [("fp32", 1)]) == [["compute", 1], ["store", [0]]]


def test_the_pipeline_of_a_barrel_processor_is_part_of_the_latency():
    barrel = {"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 3}
    assert held({"fp32": 4}, **barrel)[1] == ["pause", 3]
    assert held({"fp32": 3}, **barrel) == held({}, **barrel)


def test_a_trace_that_says_its_stalls_keeps_them():
    sites = [stalled(0, 7, "store", work=MIXED), site(1, "store", work=MIXED)]
    event = [[store(0, 0), store(1, 0)]]
    assert lowered(event, sites, **{"instructions.fp32": 40}) == lowered(event, sites)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("switch", ["on-stall", "every-instruction"])
def test_a_warp_of_dependent_instructions_takes_their_latencies(engine, switch):
    """One warp, work done 20 times: 20 * 6 instructions of 4 cycles, whichever rule grants them."""
    on = machine(**{"instructions.fp32": 4, "scheduling.switch": switch, "cores.cores_per_group": 32})
    recorded = trace([[[work(0, 20)]]], sites=[site(0, "work", work=[("fp32", 6)])])
    assert simulate(on, lower(recorded, on), engine).cycles == 20 * 6 * 4


def test_a_latency_is_a_number_of_cycles():
    with pytest.raises(MachineError, match=r"instructions\.fp32 = -1.*must be a number of at least 0"):
        machine(**{"instructions.fp32": -1})
    with pytest.raises(MachineError, match=r"instructions\.fp31: unknown key; did you mean 'instructions\.fp32'"):
        machine(**{"instructions.fp31": 4})

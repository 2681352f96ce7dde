"""Changes that a run has shown not to matter to it are not simulated, and no answer differs by that."""

from dataclasses import replace

import pytest
from hypothesis import given

from simtmm import Machine, Workload, load_machine, lower, record, simulate
from simtmm.analysis.source_changes import try_changes
from simtmm.analysis.what_if import CHANGES, try_out
from simtmm.analysis.what_if.changes import OF_MEMORY, Change, joined
from simtmm.analysis.what_if.speedups import Speedups
from simtmm.engine import causes, known_cycles
from simtmm.testing import machines, workloads
from tests.examples import examples, several

KEYS = [key for keys in OF_MEMORY.values() for key in keys]
OF_CAUSE = {change.cause: change for change in CHANGES}


def machine(lines=64, **memory):
    l2 = {"sets": lines // 4, "ways": 4, "latency": 20, "service": 12, "writes": "back", "start": "warm"}
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 100, "chunk_words": 8, "partitions": 2, "service": 50, "l2": l2, **memory},
        }
    )


def accesses(kind, count):
    """Two blocks that access so many chunks, eight at a time."""
    warps = [[[kind, [*range(begin, begin + 8)]] for begin in range(first, count, 16)] for first in (0, 8)]
    return Workload.from_dict({"blocks": [{"warps": [warp]} for warp in warps]})


def counted(monkeypatch):
    """The machines that changes are simulated on, from now on."""
    simulated = []
    monkeypatch.setattr(
        known_cycles, "simulate", lambda on, *rest, **more: (simulated.append(on), simulate(on, *rest, **more))[1]
    )
    return simulated


@pytest.mark.parametrize(
    ("kind", "count", "reached"),
    [("load", 40, False), ("store", 40, False), ("load", 400, True), ("store", 400, True)],
)
def test_a_run_tells_whether_global_memory_was_reached(kind, count, reached):
    """Stores of more than the L2 holds move no sector of their own: what falls out of it is written back."""
    result = simulate(machine(), accesses(kind, count), "fast")
    assert result.reached_memory is reached
    assert (result.memory_sectors > 0) is (reached and kind == "load")


@examples(60)
@given(drawn=several(machines()), workload=workloads())
def test_no_tick_depends_on_memory_that_is_not_reached(drawn, workload):
    for on in drawn:
        result = simulate(on, workload, "fast")
        if result.reached_memory:
            continue
        own = on.values()
        slower = {key: 3 * own[key] + 1 for key in KEYS if own.get(key)}
        assert simulate(on.replace(slower), workload, "fast").ticks == result.ticks


def test_what_is_not_felt_is_not_simulated(monkeypatch):
    on, workload = machine(), accesses("load", 40)
    result = simulate(on, workload, "fast")
    simulated = counted(monkeypatch)
    of = Speedups(on, workload, result).of
    assert of(OF_CAUSE[causes.MEMORY_BANDWIDTH]) == 1.0
    assert not simulated
    both = joined([OF_CAUSE[causes.MEMORY_BANDWIDTH], OF_CAUSE[causes.L2_BANDWIDTH]])
    alone = of(OF_CAUSE[causes.L2_BANDWIDTH])
    assert alone is not None
    assert alone > 1.1
    assert (of(both), len(simulated)) == (alone, 1)
    seen = replace(result, reached_memory=True)
    assert Speedups(on, workload, seen).of(OF_CAUSE[causes.MEMORY_BANDWIDTH]) == 1.0
    assert len(simulated) == 2
    assert Speedups(on, workload, seen).of(both) == alone


def test_of_a_run_that_was_left_nothing_is_known():
    """What goes to memory may come behind the part that there is a result of."""
    on, workload = machine(), accesses("load", 400)
    part = simulate(on, accesses("load", 40), "fast")
    whole = simulate(on, workload, "fast").cycles
    of = Speedups(on, workload, part, whole).of
    assert of(OF_CAUSE[causes.MEMORY_BANDWIDTH]) > 1.5
    with_stalls = simulate(on, accesses("load", 40), "fast", stalls=True)
    tried = {each.cause: each.speedup for each in try_out(on, workload, with_stalls, is_left=True)}
    assert tried[causes.MEMORY_BANDWIDTH] == of(OF_CAUSE[causes.MEMORY_BANDWIDTH])


def test_changes_that_a_machine_does_not_have_have_no_speedup():
    on, workload = machine(), accesses("load", 40)
    result = simulate(on, workload, "fast")
    of = Speedups(on, workload, result).of
    assert of(Change("none", "rows that open at once", {"memory.rows.opening": 0})) is None
    assert of(OF_CAUSE[causes.BARRIERS]) is None  # there are none


def test_a_program_that_does_not_fit_once_changed_has_no_speedup_whatever_is_not_felt():
    on, workload = machine(), accesses("load", 40)
    too_large = Workload.from_dict({"blocks": [{"warps": [[["load", [0]]]] * 100}]})
    change = Change("both", "both", {"memory.service": "x0.5"}, lambda of: too_large)
    assert Speedups(on, workload, simulate(on, workload, "fast")).of(change) is None


def test_a_whole_run_is_not_simulated_anew_beside_changes_to_its_source(monkeypatch):
    on = load_machine("gtx480")
    workload = lower(record("transpose", {"n": 64, "columns": 64, "way": "naive"}), on, places=True)
    result = simulate(on, workload, "fast", stalls=True)
    simulated = counted(monkeypatch)
    whole = try_changes(on, workload, result)
    first = len(simulated)
    assert first > 0
    assert try_changes(on, workload, result, is_left=True) == whole
    assert len(simulated) - first == first + 1

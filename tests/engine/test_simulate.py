"""The way into the engines: names, blocks that fit nowhere, progress."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import EngineError, WorkloadError

MACHINE = Machine.from_dict(
    {
        "name": "small",
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
        "memory": {"latency": 10, "chunk_words": 8},
    }
)


def test_an_unknown_engine_is_refused_with_the_nearest():
    with pytest.raises(EngineError, match="engine 'referense': unknown; did you mean 'reference'"):
        simulate(MACHINE, Workload.from_dict({"blocks": []}), "referense")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_block_that_fits_no_empty_group_is_named_before_the_run(engine):
    fits = {"warps": [[["compute", 1]]] * 4}
    too_large = {"warps": [[["compute", 1]]] * 5}
    workload = Workload.from_dict({"launches": [{"blocks": [fits]}, {"blocks": [fits, too_large]}]})
    with pytest.raises(WorkloadError, match=r"launch 1, block 1: 5 warps of 8 threads .* small, .* at most 4 warps"):
        simulate(MACHINE, workload, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("workload", [{"blocks": []}, {"launches": []}, {"blocks": [{"warps": []}, {"warps": [[]]}]}])
def test_nothing_to_do_takes_no_time(workload, engine):
    result = simulate(MACHINE, Workload.from_dict(workload), engine)
    assert (result.ticks, result.issued, result.port_busy) == (0, 0, 0)
    assert set(result.time.values()) == {0}


@pytest.mark.parametrize("engine", ENGINES)
def test_progress_ends_with_all_warps_done(engine):
    seen = []
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [1]]]] * 3}] * 4})
    simulate(MACHINE, workload, engine, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (12, 12)
    assert seen == sorted(seen)


def test_the_fast_engine_refuses_what_it_can_not_count_and_the_reference_counts_it():
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 2**62]]]}]})
    with pytest.raises(EngineError, match=r"^workload on small: .* use engine 'reference'"):
        simulate(MACHINE, workload, "fast")
    assert simulate(MACHINE, workload, "reference").ticks == 2**62


@pytest.mark.parametrize("warp", [[["pause", 2**62]], [["pause", 2**60], ["pause", 2**60]]], ids=["one", "two"])
def test_pauses_that_the_fast_engine_can_not_count_are_refused_and_counted_by_the_reference(warp):
    workload = Workload.from_dict({"blocks": [{"warps": [warp]}]})
    with pytest.raises(EngineError, match=r"could take 2\^61 ticks and more"):
        simulate(MACHINE, workload, "fast")
    assert simulate(MACHINE, workload, "reference").ticks == sum(cycles for _, cycles in warp)


def test_a_pause_is_counted_in_ticks_where_their_bound_is_looked_at():
    """2^40 cycles of 2^20 ticks fit and are told; twice as many do not."""
    fine = MACHINE.replace({"ticks_per_cycle": 2**20})
    short, long = (Workload.from_dict({"blocks": [{"warps": [[["pause", cycles]]]}]}) for cycles in (2**40, 2**41))
    assert simulate(fine, short, "fast").ticks == simulate(fine, short, "reference").ticks == 2**60
    with pytest.raises(EngineError, match=r"could take 2\^61 ticks and more"):
        simulate(fine, long, "fast")


@pytest.mark.parametrize("warp", [[["compute", 2**62]] * 2, [["compute", 2**62], ["load", [0]], ["compute", 2**62]]])
def test_neither_engine_tells_wrong_ticks_where_amounts_together_do_not_fit_64_bits(warp):
    slow = MACHINE.replace({"ticks_per_cycle": 1000})
    workload = Workload.from_dict({"blocks": [{"warps": [warp]}]})
    with pytest.raises(EngineError, match=r"could take 2\^61 ticks and more"):
        simulate(slow, workload, "fast")
    waited = sum(1 + 10 for name, _ in warp if name == "load")  # its issue, and L
    assert simulate(slow, workload, "reference").ticks == 1000 * (2**63 + waited)  # Python's integers have no end

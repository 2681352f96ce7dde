"""Threads per core that hide the latency: closed forms, and what the search promises."""

import pytest

from simtmm import count, load_machine, lower, simulate
from simtmm.analysis.threads_needed import threads_needed, with_room, without_latency
from simtmm.errors import KernelError, StudyError, TraceError
from simtmm.machine import Machine
from simtmm.model.latency_hiding import hiding
from simtmm.trace import lower as lowering
from tests.study.programs import trace


def machine(latency=90, **memory):
    """One group with one port: a warp's round is 10 cycles of issuing and the latency."""
    return Machine.from_dict(
        {
            "name": "one",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": latency, "chunk_words": 8, **memory},
            "resources": {"shared_memory": 512},
        }
    )


@pytest.fixture(scope="module")
def long():
    """Twice 24 blocks of one warp, of 30 rounds of 2 operations, a load and 1 operation: 4 cycles of issue a round."""
    return trace(blocks=24, threads=8, rounds=30, shared_memory=128)


@pytest.mark.parametrize(("latency", "hidden_by"), [(20, 6), (40, 12), (76, 24)])
def test_a_compute_bound_program_needs_c_plus_l_over_c_warps(long, latency, hidden_by):
    """n warps of a port hide L where n >= (c + L) / c, here 6, 11 and 20 (tests/engine/test_latency_hiding.py).

    Blocks come in waves, so the answer is the next number at which 24 blocks need a wave less. A wave ends with a
    latency that nothing hides, over all at most 2 * 4 * 20 of 2 * 24 * 120 cycles, which is within the tolerance.
    """
    assert threads_needed(long, machine(latency), tolerance=0.05).by_simulation == hidden_by


def test_just_below_the_answer_the_latency_is_not_hidden(long):
    needed = threads_needed(long, machine(60), tolerance=0.02)
    limit = needed.without_latency * 1.02
    probes = dict(needed.probes)
    fewer = [threads for threads in probes if threads < needed.by_simulation]
    assert probes[needed.by_simulation] <= limit < probes[max(fewer)]
    assert -(-24 // max(fewer)) == -(-24 // needed.by_simulation) + 1  # a block, a warp, a thread a core; a wave more
    assert needed.probes == tuple(sorted(needed.probes))


@pytest.mark.parametrize("cores", [1, 7, 8, 11, 48, 128])
@pytest.mark.parametrize("width", [8, 16, 32])
def test_a_machine_with_room_for_some_warps_holds_these(cores, width):
    """Threads a core are a fraction of which as many cores are not always the whole again, as 61 * 16 / 7 * 7 / 16."""
    one = machine().replace({"cores.cores_per_group": cores, "cores.warp_width": width})
    for warps in range(1, 130):
        assert with_room(one, warps).warps_per_group == warps


def test_nothing_needs_to_be_held(long, monkeypatch):
    held = threads_needed(long, machine(60), tolerance=0.02)
    monkeypatch.setattr(lowering, "MOST_HELD", 0)
    monkeypatch.setattr(lowering, "lower_with", None)
    assert threads_needed(long, machine(60), tolerance=0.02) == held


def test_the_times_are_those_of_simulations(long):
    one = machine(60)
    needed = threads_needed(long, one)
    assert needed.as_it_is == simulate(one, lower(long, one)).cycles
    roomy = with_room(one, 24)
    assert needed.with_all == simulate(roomy, lower(long, roomy)).cycles
    free = without_latency(roomy)
    assert needed.without_latency == simulate(free, lower(long, free)).cycles
    assert needed.all_threads == 24


def test_the_models_answer_stands_beside_it(long):
    one = machine(60)
    assert threads_needed(long, one).model == hiding(one, count(long, one), 16)  # 128 bytes for 8 threads


def test_a_program_with_too_few_threads_is_not_hidden():
    few = trace(blocks=2, threads=8, rounds=10)
    needed = threads_needed(few, machine(500))
    assert needed.by_simulation is None
    assert needed.all_threads == 2
    assert needed.with_all > needed.without_latency * 1.05
    assert needed.to_dict()["by_simulation"] is None


def test_a_latency_of_one_cycle_is_hidden_by_a_second_warp(long):
    assert threads_needed(long, machine(1)).by_simulation == 2


def test_caches_are_without_latency_too():
    changed = without_latency(load_machine("gtx480"))
    assert (changed.memory.latency, changed.memory.l1.latency, changed.memory.l2.latency) == (1, 1, 1)
    stores = without_latency(machine(store_latency=50))
    assert stores.memory.store_latency == 1


@pytest.mark.parametrize("tolerance", [0, -1, 10])
def test_a_tolerance_that_is_none_is_refused(long, tolerance):
    with pytest.raises(StudyError, match="tolerance"):
        threads_needed(long, machine(), tolerance=tolerance)


def test_a_trace_file_takes_no_parameters(long, tmp_path):
    long.save(tmp_path / "t.parquet")
    assert threads_needed(tmp_path / "t.parquet", machine(1)).by_simulation == 2
    with pytest.raises(KernelError, match="can only be given to a kernel"):
        threads_needed(tmp_path / "t.parquet", machine(), {"n": 1})
    with pytest.raises(TraceError):
        threads_needed(tmp_path / "none.parquet", machine())

"""Programs whose blocks or launches differ, by a sample of them beside the whole (tests/sampling/differing)."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine, simulate
from simtmm.kernel import load_kernel
from simtmm.program import open_program
from simtmm.sampling import program as of_program
from simtmm.sampling.long.steady import steady
from simtmm.sampling.recording import KernelSource
from simtmm.sampling.sample import sample_of
from simtmm.sampling.sampled import sampled_kernel, sampled_program
from simtmm.sampling.simulation import _merged
from simtmm.trace.counts import lower_and_count

KERNEL = load_kernel(Path(__file__).parent / "differing")
FOUR = load_machine("gtx480").replace({"cores.groups": 4, "memory.partitions": 2})
TWO = load_machine("gtx480").replace({"cores.groups": 2, "memory.partitions": 2})

# With what each tests. Of the trace all blocks are looked at, and of the kernel probes.
CASES = [
    ("even", FOUR, {"blocks": 8192, "turns": 16}),  # nothing differs
    ("triangle", FOUR, {"blocks": 8192, "turns": 16}),  # work goes up with the block
    ("every", FOUR, {"blocks": 16384, "turns": 20}),  # a block in 64 does more, everywhere
    ("half", FOUR, {"blocks": 8192, "turns": 256}),  # the second half does other things
    ("strided", FOUR, {"blocks": 8192}),  # the second half does the same by other strides
    ("halo", FOUR, {"n": 1536}),  # blocks at the border do less
    ("alternate", TWO, {"blocks": 64, "launches": 96, "turns": 256}),  # every other launch does more
    ("wavefront", TWO, {"launches": 64}),  # launches grow and shrink
    ("eliminate", TWO, {"n": 256, "launches": 256}),  # of equal grids, in which less and less is done
    ("shrink", TWO, {"n": 384, "launches": 384}),  # of smaller and smaller grids
]


@pytest.fixture(scope="module", params=CASES, ids=[name for name, _, _ in CASES])
def case(request):
    name, machine, parameters = request.param
    parameters = {"case": name, **parameters}
    trace = open_program(KERNEL, parameters, machine=machine).trace
    workload, counts = lower_and_count(trace, machine)
    return machine, parameters, trace, simulate(machine, workload), counts


@pytest.mark.parametrize("of", ["kernel", "trace"])
def test_what_differs_is_within_its_interval(case, of):
    machine, parameters, trace, whole, counts = case
    if of == "kernel":
        found = sampled_kernel(KERNEL, parameters, machine).sampled
    else:
        found = sampled_program(open_program(trace), machine).sampled
    assert found is not None
    assert found.simulated_blocks <= found.blocks / 2
    assert abs(found.result.ticks / whole.ticks - 1) <= found.error <= 0.03
    assert abs(found.counts.work / counts.work - 1) <= found.counts_error
    assert len(found.result.launch_ticks) == len(whole.launch_ticks)


def test_launches_that_differ_in_their_arguments_alone_do_not_stand_for_one_another():
    parameters = {"case": "alternate", "blocks": 64, "launches": 96, "turns": 256}
    found = sampled_kernel(KERNEL, parameters, TWO).sampled
    assert found.simulated_launches == 6  # three of each kind
    even, odd = np.array(found.result.launch_ticks).reshape(-1, 2).T
    assert (odd > 4 * even).all()


def test_kinds_of_blocks_are_named(case):
    machine, parameters, trace, _, _ = case
    found = sampled_program(open_program(trace), machine).sampled
    assert any("2 kinds" in note for note in found.notes) == (parameters["case"] == "strided")


@pytest.mark.parametrize("name", ["half", "strided", "triangle"])
def test_a_rough_time_is_not_that_of_the_middle_where_blocks_differ(name, monkeypatch):
    monkeypatch.setattr("simtmm.sampling.part_of_machine.SMALL", 0)
    machine = load_machine("gtx480")
    parameters = {"case": name, "blocks": 16384, "turns": 24}
    found = sampled_kernel(KERNEL, parameters, machine, error=0.12).sampled
    trace = open_program(KERNEL, parameters, machine=machine).trace
    whole = simulate(machine, lower_and_count(trace, machine)[0])
    assert abs(found.result.ticks / whole.ticks - 1) <= found.error
    assert not any("part of the machine" in note for note in found.notes)


def test_a_program_that_is_soon_simulated_is_simulated_and_that_is_said(monkeypatch):
    monkeypatch.setattr(of_program, "QUICK", 1_000_000)
    found = sampled_kernel(KERNEL, {"case": "even", "turns": 16}, FOUR)
    assert found.sampled is None
    assert "or take as long" in found.why


def test_results_of_several_launches_are_put_together_by_place():
    trace = open_program(KERNEL, {"case": "alternate", "blocks": 8, "launches": 2}, machine=TWO).trace
    parts = [sample_of(trace, {launch: np.arange(8)}) for launch in (0, 1)]
    both, *each = (simulate(TWO, lower_and_count(one, TWO, places=True)[0], stalls=True) for one in (trace, *parts))
    merged = _merged(each, each[1])
    assert merged.launch_ticks == both.launch_ticks
    assert (merged.stalls.launches == both.stalls.launches).all()
    assert (merged.stalls.places.launches == both.stalls.places.launches).all()


@pytest.mark.parametrize("blocks", [300, 640])
def test_long_blocks_with_phases_are_within_a_wide_interval(blocks):
    """By the first loop alone it would be six times as long."""
    parameters = {"case": "phases", "blocks": blocks, "turns": 100}
    source = KernelSource(KERNEL, parameters, "compiled", 75)
    trace = open_program(KERNEL, parameters, machine=FOUR).trace
    workload, _ = lower_and_count(trace, FOUR)
    launch = source.launches[0]
    wave = FOUR.cores.groups * FOUR.active_blocks(launch.threads_per_block, launch.registers_per_thread, 0)
    made = steady(source, FOUR, 0, wave, workload.tallies[0].operations // 16)
    assert abs(made.ticks / simulate(FOUR, workload).launch_ticks[0] - 1) <= made.half / made.ticks
    assert made.half > 0.1 * made.ticks

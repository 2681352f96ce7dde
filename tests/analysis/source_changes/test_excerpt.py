"""A part of a run: the same blocks of a workload whether it is held or lowered as it is simulated, with its limits."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine, lower, simulate
from simtmm.analysis.cost import cost
from simtmm.analysis.source_changes.excerpt import _beginnings, _distinct, _footprint, _of_blocks, excerpt_of
from simtmm.machine import load
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.streamed import StreamedWorkload
from tests.study import programs


@pytest.fixture(scope="module")
def trace():
    return programs.trace(blocks=90)  # two launches


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    path = tmp_path_factory.mktemp("machine") / "small.toml"
    path.write_text(programs.MACHINE)
    return load.load_machine(path).replace({"cores.groups": 6, "scheduling.launch_overhead": 10})


@pytest.fixture(scope="module")
def both(trace, machine):
    streamed, _ = lower_or_stream(trace, machine, most_held=0, places=True)
    assert isinstance(streamed, StreamedWorkload)
    return {"held": lower(trace, machine, places=True), "streamed": streamed}


@pytest.mark.parametrize("kind", ["held", "streamed"])
def test_blocks_of_a_launch_are_taken_with_its_limit_alone(both, machine, kind):
    workload = replace(both[kind], launch_limits=np.array([3, 5]))
    numbers = np.array([2, 3, 89])
    for launch, limit in ((0, 3), (1, 5)):
        taken = _of_blocks(machine, workload, launch, numbers)
        whole = both["held"]
        warps = [2 * 90 * launch + 2 * block + warp for block in numbers for warp in (0, 1)]
        assert [list(taken.warp(each)) for each in range(taken.warps)] == [list(whole.warp(each)) for each in warps]
        assert taken.launch_limits.tolist() == [limit]
        assert (taken.launch_blocks.tolist(), taken.block_warps.tolist()) == ([0, 3], [0, 2, 4, 6])
        assert len(taken.place) == taken.operations


@pytest.mark.parametrize("share", [0.9, 0.2, 0.02, 1e-4])
def test_a_part_is_the_same_of_a_workload_that_is_held_and_of_one_that_is_not(both, machine, share):
    result = simulate(machine, both["held"], stalls=True)
    seconds = share * cost(machine, both["held"], result)
    held, streamed = (excerpt_of(machine, both[kind], result, seconds) for kind in ("held", "streamed"))
    assert (held.words, held.machine) == (streamed.words, streamed.machine)
    assert held.workload == streamed.workload
    blocks, of, groups = (int(word) for word in (held.words.split()[0], held.words.split()[2], held.words.split()[5]))
    assert (of, groups) == (90, held.machine.cores.groups)
    assert held.workload.blocks == blocks
    assert held.machine.scheduling.launch_overhead == pytest.approx(10 * blocks / groups / (90 / 6))  # its waves' share


def test_all_of_a_run_is_its_own_part_where_there_is_time(both, machine):
    result = simulate(machine, both["held"], stalls=True)
    seconds = cost(machine, both["held"], result)
    whole = excerpt_of(machine, both["held"], result, seconds)
    assert (whole.machine, whole.workload, whole.words) == (machine, both["held"], "")


def test_what_a_launch_touches_is_its_own_chunks_or_all_arrays(both):
    machine = load_machine("gtx480")
    loads = [[{"warps": [[["load", chunks]]]} for chunks in launch] for launch in ([[1, 2]], [[2, 3], [3, 4], [9]])]
    workload = Workload.from_dict({"launches": [{"blocks": blocks} for blocks in loads]})
    assert [_footprint(machine, workload, launch) for launch in (0, 1)] == [2, 4]
    arrays = [SimpleNamespace(space=space, bytes=size) for space, size in
              (("global", 1000), ("shared", 5000), ("global", 300))]  # fmt: skip
    info = SimpleNamespace(arrays=arrays)
    streamed = replace(both["streamed"], trace=SimpleNamespace(info=info))
    assert (machine.chunk_bytes, _footprint(machine, streamed, 0)) == (128, 10)  # 1300 / 128, whole ones


@pytest.mark.parametrize(("share", "left"), [(1.0, 4), (0.75, 3), (0.7, 2), (0.5, 2), (0.1, 1)])
def test_of_each_warp_the_first_operations_are_left_and_one_at_least(share, left):
    warp = [["load", [1]], ["compute", 2], ["load", [3, 4]], ["store", [5]]]
    short = _beginnings(Workload.from_dict({"blocks": [{"warps": [warp, warp[:1]]}]}), share)
    assert [list(map(list, short.warp(number))) for number in (0, 1)] == [warp[:left], warp[:1]]


@pytest.mark.parametrize("step", [1, 3, 1 << 40])
def test_chunks_are_counted_once_each(step):
    chance = np.random.default_rng(5)
    chunks = step * chance.integers(1000, 1300, 700)
    assert _distinct(chunks) == len(set(chunks.tolist()))
    assert _distinct(chunks[:0]) == 0


@pytest.mark.parametrize(("others", "is_taken"), [(["compute", 8], True), (["take_registers", 8], False)])
def test_no_part_of_warps_that_wait_for_others_registers_is_taken(machine, others, is_taken):
    warps = [[["give_registers", 8] if not is_taken else ["compute", 8], ["compute", 900]], [["compute", 900], others]]
    workload = Workload.from_dict({"blocks": [{"warps": warps}]})
    result = simulate(machine, workload, stalls=True)
    seconds = cost(machine, workload, result)
    assert excerpt_of(machine, workload, result, seconds) is not None
    assert (excerpt_of(machine, workload, result, seconds / 100) is not None) == is_taken

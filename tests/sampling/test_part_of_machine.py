"""Rough times: a launch on a part of the machine."""

import numpy as np
import pytest

import simtmm
from simtmm import load_machine, simulate
from simtmm.kernel import load_kernel
from simtmm.sampling import sampled_kernel
from simtmm.sampling.part_of_machine import part_of, strip
from simtmm.trace.lower import lower

ROUGHLY = 0.12  # as the first step of a search asks for


@pytest.mark.parametrize("name", ["gtx480", "rtx-a4000", "h100-sxm", "mi210"])
def test_each_group_of_a_part_has_the_share_of_memory_that_it_has_of_the_machine(name):
    machine = load_machine(name)
    part = part_of(machine)

    def share(of):
        return of.memory.partitions / of.memory.service / of.cores.groups

    assert part.cores.groups < machine.cores.groups
    assert share(part) == pytest.approx(share(machine), rel=1e-9)
    if machine.memory.l2:
        lines = [of.memory.l2.sets / of.cores.groups for of in (part, machine)]
        assert lines[0] == pytest.approx(lines[1], rel=0.05)  # sets are whole


def test_a_machine_of_few_groups_is_taken_whole():
    machine = load_machine("gtx480").replace({"cores.groups": 4})
    assert part_of(machine) is machine


def test_a_strip_has_the_same_share_of_each_row():
    blocks = strip((48, 40, 1), 1 / 12, 20)
    assert len(set(blocks.tolist())) == 20
    assert (np.diff(blocks) > 0).all()
    rows, columns = np.divmod(blocks, 48)
    assert (sorted(set(columns.tolist())), sorted(set(rows.tolist()))) == ([22, 23, 24, 25], [17, 18, 19, 20, 21])


@pytest.mark.parametrize(("grid", "wanted"), [((100, 1, 1), 10), ((10, 4, 1), 8)])
def test_where_a_row_has_no_share_they_follow_one_another(grid, wanted):
    blocks = strip(grid, 0.1, wanted)
    assert np.diff(blocks).tolist() == [1] * (wanted - 1)


ROUGH = [("stream", {"n": 1 << 19}), ("transpose", {"n": 768, "columns": 768})]


@pytest.mark.parametrize(("kernel", "parameters"), ROUGH)
def test_a_rough_time_is_within_its_interval_of_the_whole(kernel, parameters):
    machine = load_machine("gtx480")
    found = sampled_kernel(load_kernel(kernel), parameters, machine, error=ROUGHLY).sampled
    trace = simtmm.record(kernel, parameters)
    whole = simulate(machine, lower(trace, machine))
    assert abs(found.result.ticks / whole.ticks - 1) <= found.error
    assert found.simulated_blocks < found.blocks / 4
    assert any("part of the machine" in note for note in found.notes)
    assert sum(found.result.time.values()) == pytest.approx(15 * found.result.ticks, rel=0.02)  # its overhead apart

"""Bandwidth of L2s and small kernels, as few of their points say."""

import pytest

from simtmm.analysis.run import run
from simtmm.machine import load_machine
from simtmm.measurement.timings import load_timings
from simtmm.model.series import SIMULATED
from simtmm.validation.cases import l2_and_launches
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.compiled.programs import READ_PARTS_BYTES, program
from tests.cuda.compilers.conftest import needs_machine_code


def test_every_measured_size_is_there():
    sizes = [time for file in ("l2_bandwidth.csv", "small_kernels.csv") for time in load_timings(measured_file(file))]
    machines = [time.machine for time in sizes]
    assert {name: machines.count(name) for name in machines} == {"a100-80": 9, "h200": 19, "mi210": 8, "a40": 11}


@needs_machine_code
@pytest.mark.parametrize("name", l2_and_launches.TITLES)
def test_few_sizes_are_within_what_is_promised(sampled, name):
    table = {table.name: table for table in sampled("l2-and-launches")}[name]
    assert table.points
    assert table.errors(SIMULATED).mean <= 1.5 * table.promised[SIMULATED]  # of a few points


@needs_machine_code
def test_blocks_under_way_read_the_rest_of_their_parts():
    """Of four blocks with a part each, all of which an empty L2 has to fetch."""
    machine = load_machine("a100-80").replace({"memory.l2.start": "cold"})
    moved = []
    for underway in (0, 4):
        parameters = {"kilobytes": 2048, "blocks": 4, "underway": underway}
        found = run(program("read_parts", parameters), machine, form="compiled", what_if=False)
        moved.append(found.result.memory_sectors * machine.sector_bytes)
    assert moved[0] == 4 * READ_PARTS_BYTES
    assert moved[1] == (4 - (6 + 4 + 2) / 8) * READ_PARTS_BYTES


@needs_machine_code
def test_a_rate_that_is_wrong_would_be_noticed(monkeypatch):
    """With slices twice as slow, reads of what the L2 holds are."""
    time = next(time for time in load_timings(measured_file("l2_bandwidth.csv")) if time.machine == "mi210")
    machine = load_machine("mi210")
    monkeypatch.setattr(l2_and_launches, "WAVES", (1, 2))
    told = l2_and_launches.bandwidth(time, machine).said[SIMULATED]
    slow = l2_and_launches.bandwidth(time, machine.replace({"memory.l2.service": "x2"})).said[SIMULATED]
    assert 0.45 < slow / told < 0.6

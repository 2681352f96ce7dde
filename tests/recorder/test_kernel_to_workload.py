"""What is lowered and counted as it is recorded is what the trace would have given."""

import pytest

from simtmm import count, load_machine, lower, record
from simtmm.errors import KernelError, WorkloadError
from simtmm.recorder.cpu import launches as cpu_launches
from simtmm.recorder.kernel_to_workload import workload_and_counts
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler

PROGRAMS = {
    "gemm": {"n": 20, "side": 8},
    "mvt": {"n": 40, "side": 16},  # two launches
    "scan": {"n": 1000},  # barriers and shared memory
    "histogram": {"n": 1000},  # atomics
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Several batches to a launch, though programs are small."""
    monkeypatch.setattr(cpu_launches, "BATCH_EVENTS", 500)


@pytest.mark.parametrize("machine", ["h100-pcie", "gtx280"])
@pytest.mark.parametrize(("kernel", "parameters"), PROGRAMS.items())
def test_a_passing_trace_gives_what_a_kept_one_gives(kernel, parameters, machine):
    result = load_machine(machine)
    trace = record(kernel, parameters)
    workload, counts = workload_and_counts(kernel, parameters, result)
    assert workload == lower(trace, result)
    assert counts == count(trace, result)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(KernelError, match="size"):
        workload_and_counts("gemm", {"size": 1}, load_machine("h100-pcie"))


def test_a_block_that_fits_no_group_is_refused():
    with pytest.raises(WorkloadError):
        workload_and_counts("mvt", {"n": 40, "side": 1024}, load_machine("gtx280"))

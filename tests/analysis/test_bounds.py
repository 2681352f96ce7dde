"""The least time of kernels is below what is simulated of them, whatever binds them, and says what it can."""

import pytest

from simtmm import load_machine, lower, record, simulate
from simtmm.analysis.tuning.bounds import BoundedSource
from simtmm.analysis.tuning.trial import Subject, Trial, screened
from simtmm.kernel import load_kernel
from simtmm.sampling.sources import DependsError

MACHINES = ("gtx480", "rtx-a4000", "mi250x", "h100-pcie")
ARCHITECTURE = 86

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")


@pytest.mark.parametrize(
    ("kernel", "parameters", "form"),
    [
        ("gemm", {"n": 64}, "compiled"),  # loops of a size that is passed
        ("reduce", {}, "compiled"),  # several launches, guards, warps that end early
        ("transpose", {}, "ptx"),
        ("histogram", {}, "ptx"),  # atomics
        ("list-ranking-wyllie", {}, "ptx"),  # blocks that depend on one another
    ],
)
def test_no_kernel_takes_less(kernel, parameters, form):
    source = BoundedSource(load_kernel(kernel), parameters, form, ARCHITECTURE)
    trace = record(kernel, parameters, form=form, architecture=ARCHITECTURE)
    for name in MACHINES:
        machine = load_machine(name)
        least = source.least_time(machine)
        launches = len(trace.info.launches)
        assert len(least.terms) == launches
        assert (
            launches * machine.durations.launch_overhead < least.ticks <= simulate(machine, lower(trace, machine)).ticks
        )


def test_loops_of_a_size_that_is_passed_are_followed():
    def least(n):
        source = BoundedSource(load_kernel("gemm"), {"n": n}, "compiled", ARCHITECTURE)
        return source.least_time(load_machine("rtx-a4000")).terms[0]["instruction issue"]

    assert 6 < least(128) / least(64) < 9  # n ** 3


def test_of_a_kernel_as_written_launches_alone_are_counted():
    machine = load_machine("rtx-a4000")
    subject = Subject("vector-add", {"n": 1000}, machine, None, ())
    written = screened(subject, {"side": 16}, True)
    compiled = screened(Subject("vector-add", {"n": 1000}, machine, "compiled", ()), {"side": 16}, True)
    assert 0 < written < compiled
    assert screened(subject, {"side": 16}) == 0.0  # nobody asked


def test_what_the_host_decides_by_data_has_no_bound():
    with pytest.raises(DependsError):
        BoundedSource(load_kernel("bfs"), {}, "compiled", ARCHITECTURE)
    subject = Subject("bfs", {}, load_machine("gtx480"), "compiled", ())
    assert screened(subject, {}, True) == 0.0


def test_what_does_not_fit_is_told_and_not_bounded():
    machine = load_machine("gtx480").replace({"resources.threads_per_block": 512})
    found = screened(Subject("vector-add", {"n": 1000}, machine, None, ()), {"side": 32}, True)
    assert isinstance(found, Trial)
    assert found.status == "does not fit"

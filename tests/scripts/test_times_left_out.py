"""A time that a script reads knows nothing of what ran on the CPU: where there was any, the report says so."""

import pytest

import simtmm
from simtmm.scripts import cupy, notes
from simtmm.scripts.cupyx.profiler import benchmark
from tests.cuda.compilers.conftest import needs_nvrtc

pytestmark = needs_nvrtc

SCALE = cupy.ElementwiseKernel("T x", "T y", "y = 2 * x", "scale")


@pytest.fixture(autouse=True)
def no_notes():
    notes.taken()


def sentences(function):
    return [each for each in notes.taken()[1] if each == f"{function}: its times leave out what is not recorded, "
            "which on a GPU are kernels and take theirs."]  # fmt: skip


def test_a_benchmark_of_what_is_not_recorded_says_so_once():
    x = cupy.ones(8)
    with simtmm.recording("a100-80"):
        benchmark(lambda: SCALE(x), n_repeat=2)
        assert not sentences("cupyx.profiler.benchmark")
        benchmark(lambda: x @ x, n_repeat=2)
        assert len(sentences("cupyx.profiler.benchmark")) == 1


def test_events_say_so_only_of_what_is_between_them():
    x = cupy.ones(8)
    with simtmm.recording("a100-80"):
        for before, between in ((True, False), (False, True)):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            if before:
                x.sum()
            begin.record()
            SCALE(x)
            if between:
                x.sum()
            end.record()
            assert cupy.cuda.get_elapsed_time(begin, end) > 0
            assert bool(sentences("cupy.cuda.get_elapsed_time")) == between


def test_do_bench_says_so():
    tuning = pytest.importorskip("simtmm.scripts.triton.tuning")
    x = cupy.ones(8)
    with simtmm.recording("a100-80"):
        tuning.do_bench(lambda: SCALE(x))
        assert not sentences("triton.testing.do_bench")
        tuning.do_bench(lambda: SCALE(x).sum())
        assert len(sentences("triton.testing.do_bench")) == 1

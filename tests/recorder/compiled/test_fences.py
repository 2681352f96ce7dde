"""Fences of compiled kernels beside what an H100 took: cycles of one, by two numbers of trips of a loop with four."""

import pytest

from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.programs.program import cuda_program
from simtmm.trace.lower import lower
from tests.recorder.compiled.test_clusters import measured

KERNELS = ("sequential", "of_proxy", "system_wide", "of_block")
FEWER, MORE = 16, 48


@pytest.fixture(scope="module")
def cycles(tmp_path_factory):
    program = str(__file__).replace("test_fences.py", "fences.cu")
    outcome = cuda_program([program], words=[]).run(output=tmp_path_factory.mktemp("fences") / "trace.parquet")
    assert outcome.status == 0
    h100 = load_machine("h100-sxm")
    ticks = simulate(h100, lower(outcome.trace, h100), "fast").launch_ticks
    pairs = zip(KERNELS, ticks[:4], ticks[4:], strict=True)
    return {name: (more - less) / (4 * (MORE - FEWER)) / h100.ticks_per_cycle for name, less, more in pairs}


# The values were fitted to these loops; a loop of four has its own instructions, too: a cycle or two of each fence.
@pytest.mark.parametrize(
    ("kernel", "name", "threads", "store"),
    [
        ("sequential", "membar_gl_alone", "t32", 0), ("of_proxy", "fence_proxy_async", "t1", 0),
        ("system_wide", "st_global_membar_sys", "t32", 9),
    ],
)  # fmt: skip
def test_a_fence_takes_what_it_took(cycles, kernel, name, threads, store):
    assert cycles[kernel] == pytest.approx(measured(name, threads) - store, abs=5)


def test_one_of_a_block_holds_its_warp_for_no_more_than_it_issues(cycles):
    assert cycles["of_block"] < measured("st_shared_membar_cta", "t32")

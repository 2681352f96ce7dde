"""Variants that are compiled, run, compared and simulated: what is told gains that, and computes the same."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.compiled_variants import trial
from simtmm.analysis.compiled_variants.trial import how_equal
from simtmm.analysis.compiled_variants.variants import variants_of
from simtmm.analysis.run import run
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.trace.schema import TraceLaunch
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code
MACHINE = "h100-sxm"
# The compiler must load x[k] in each round, as y may be where x is
SUMS = """__global__ void sums(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) y[i] += x[k] * x[n - 1 - k];
}
"""
SINES = """__global__ void sines(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 6; ++k) v = sinf(v) + 1.0f / (2.0f + v);
    y[i] = v;
}
"""
TILES = """__global__ void tiles(const int* x, int* y)
{
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[127 - threadIdx.x];
}
"""


@pytest.fixture
def ran(tmp_path):
    def run_source(source, grid, block, arguments, **more):
        path = tmp_path / "k.cu"
        path.write_text(source)
        kernel = cuda_program(path, grid, block, arguments)
        return run(kernel, load_machine(MACHINE).replace({"scheduling.launch_overhead": 0}), what_if=False, **more)

    return run_source


def told(done, change):
    found = [each for each in done.advice if each.change == change]
    return found[0] if found else None


def test_restrict_gains_what_the_source_with_restrict_takes_less(ran):
    arguments = ["random:float32:64", "zeros:float32:4096", "64"]
    done = ran(SUMS, 32, 128, arguments, variants=True)
    other = ran(
        SUMS.replace("float* x", "float* __restrict__ x").replace("float* y", "float* __restrict__ y"),
        32,
        128,
        arguments,
    )
    found = told(done, "restrict")
    assert found.gain == pytest.approx(done.result.ticks / other.result.ticks, rel=1e-9)
    assert found.gain > 1.1
    assert (found.how, found.where) == ("compiled", "")
    assert found.words.endswith("(the same result)")


def test_fast_math_is_told_with_how_far_results_are_apart(ran):
    done = ran(SINES, 32, 128, ["random:float32:4096", "zeros:float32:4096"], variants=True)
    found = told(done, "fast math")
    assert found.gain > 1.2
    assert found.words.endswith("(results differ by 0.001 at most)")


def test_blocks_of_another_size_are_tried_where_the_result_stays_the_same(ran, monkeypatch):
    tried = []
    whole = trial._tried

    def tell(base, variant):
        found = list(whole(base, variant))
        tried.append((variant.words, bool(found)))
        return found

    monkeypatch.setattr(trial, "_tried", tell)
    ran(TILES, 32, 128, ["arange:int32:4096", "zeros:int32:4096"], variants=True)
    blocks = [did for words, did in tried if "threads" in words]
    assert blocks == [False, False]  # 127 is in the source
    tried.clear()
    ran(SINES, 32, 128, ["random:float32:4096", "zeros:float32:4096"], variants=True)
    assert [did for words, did in tried if "threads" in words] == [True, True]


AWAY = "take __launch_bounds__ away: registers are spilled for it"
GIVE = "give the kernel __launch_bounds__(256, 3): registers allow 2 blocks at a time now"


@pytest.mark.parametrize(
    ("registers", "spilled", "bounds", "expected"),
    [
        (32, 8, True, AWAY), (128, 8, True, AWAY), (32, 8, False, None), (128, 8, False, GIVE), (128, 0, False, GIVE),
        (32, 0, False, None), (32, 0, True, None),  # registers allow 8 blocks, and so do threads
    ],
)  # fmt: skip
def test_registers_are_more_where_they_spill_for_bounds_and_fewer_where_they_keep_blocks_out(
    tmp_path, registers, spilled, bounds, expected
):
    path = tmp_path / "k.cu"
    path.write_text(SUMS.replace("void sums", "void __launch_bounds__(256, 8) sums") if bounds else SUMS)
    kernel = cuda_program(path, 4, 256, ["x=zeros:float32:1024", "y=zeros:float32:1024", "n=4"])
    launch = TraceLaunch("sums", (4, 1, 1), (256, 1, 1), registers, 0, spilled, spilled)
    found = [each for each in variants_of(kernel, load_machine(MACHINE), (launch,)) if each.change == "launch bounds"]
    assert [each.words for each in found] == ([] if expected is None else [expected])
    assert all(each.at == ("k.cu", 0) for each in found)
    assert all(("__launch_bounds__(256, 3)" in each.text) == (expected == GIVE) for each in found)
    assert all(("__launch_bounds__" in each.text) == (expected == GIVE) for each in found)


def test_nothing_is_compiled_unless_it_is_asked_for(ran, monkeypatch):
    monkeypatch.setattr("simtmm.analysis.run.try_variants", lambda *given: pytest.fail("tried"))
    assert ran(SINES, 32, 128, ["random:float32:4096", "zeros:float32:4096"]).advice == ()


def test_a_long_run_is_sampled_or_simulated_as_a_whole_and_gains_as_much(ran, monkeypatch):
    arguments = ["random:float32:65536", "zeros:float32:65536"]
    monkeypatch.setattr(trial, "variants_of", lambda *given: (each for each in variants_of(*given) if each.options))
    gains = []
    for seconds in (60.0, 0.0):
        monkeypatch.setattr(trial, "SECONDS", seconds)
        gains.append(told(ran(SINES, 512, 128, arguments, variants=True), "fast math").gain)
    assert gains[1] == pytest.approx(gains[0], rel=0.05)


def test_results_are_the_same_or_close_or_not():
    whole, real = np.arange(4), np.array([1.0, 2.0, np.nan])
    assert how_equal({"a": whole}, {"a": whole.copy()}) == "the same result"
    assert how_equal({"a": whole}, {"a": whole + (whole == 3)}) is None
    assert how_equal({"a": real}, {"a": real * 1.0001}) == "results differ by 0.001 at most"
    assert how_equal({"a": real}, {"a": real * 1.01}) is None


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([("k.cu", 3, 10), ("k.cu", 8, 30), ("math.hpp", 5, 90), ("k.cu", None, 99)], 8),  # of its own file alone
        ([("folder/k.cu", 4, 1)], 4),
        ([("math.hpp", 5, 90), ("k.cu", 0, 1)], 0),
        ([], 0),
    ],
)
def test_the_hottest_line_is_one_of_the_kernels_file(rows, line):
    kernel = SimpleNamespace(source_paths=[Path("there/k.cu")])
    rows = [{"file": file, "line": number, "ticks": ticks} for file, number, ticks in rows]
    assert trial._hottest(kernel, SimpleNamespace(stalls=SimpleNamespace(rows=lambda: rows))) == line
    assert trial._hottest(kernel, SimpleNamespace(stalls=None)) == 0

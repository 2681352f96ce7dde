"""An element of memory that a loop updates, kept in a register instead: the advice beside the source that does so."""

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.analysis.source_changes.lines import ESTIMATE
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.cuda.compilers.conftest import needs_machine_code
from tests.examples import daily

pytestmark = needs_machine_code

PRODUCT = """__global__ void product(float* a, float* b, float* c, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    %s
    for (int k = 0; k < n; ++k) %s += a[i * n + k] * b[k * n + j];
    %s
}
"""
SUMS = """__global__ void sums(float* a, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    %s
    for (int k = 0; k < n; ++k) %s += a[k * gridDim.x * blockDim.x + i];
    %s
}
"""
CHASE = """__global__ void chase(int* next, int* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    %s
    for (int k = 0; k < n; ++k) {
        at = next[at];
        %s += at;
    }
    %s
}
"""
OF_PRODUCT = ("", "c[i * n + j]", ""), ("float s = c[i * n + j];", "s", "c[i * n + j] = s;")
OF_SUMS = ("", "c[i]", ""), ("float s = c[i];", "s", "c[i] = s;")


def both(folder, machine, source, forms, grid, block, arguments):
    """The run of the loop that updates memory, and how much faster the one is that has a register."""
    path, done = folder / "k.cu", []
    for form in forms:
        path.write_text(source % form)
        done.append(run(cuda_program(path, grid, block, arguments), load_machine(machine), what_if=not done))
    return done[0], done[0].result.ticks / done[1].result.ticks


@pytest.mark.parametrize("machine", daily(["h100-sxm", "rtx-3080", "v100"]))
@pytest.mark.parametrize(
    ("source", "forms", "grid", "block", "arguments", "factor"),
    [  # compilers unroll the loop of the product by more than four rounds
        (PRODUCT, OF_PRODUCT, (8, 8), (16, 16), ["random:float32:16384"] * 3 + ["128"], 2),
        (SUMS, OF_SUMS, 64, 256, ["random:float32:1048576", "zeros:float32:16384", "64"], 1.3),
    ],
    ids=["product", "sums"],
)
def test_a_register_gains_what_is_said_with_the_loads_that_stores_kept_back(
    tmp_path, machine, source, forms, grid, block, arguments, factor
):
    done, gain = both(tmp_path, machine, source, forms, grid, block, arguments)
    (found,) = [each for each in done.advice if each.change == "accumulate"]
    assert (found.array, found.line, found.how) == ("c", 5, ESTIMATE)
    assert found == next(each for each in done.advice if each.how == ESTIMATE)
    assert "keep the element of c in a register while the loop goes on" in found.words
    assert gain / factor < found.gain < 1.3 * gain


def test_loads_of_which_each_waits_for_the_one_before_are_not_issued_together(tmp_path):
    n = 1 << 14
    np.save(tmp_path / "next.npy", np.random.default_rng(5).permutation(n).astype(np.int32))
    forms = ("", "c[i]", ""), ("int s = c[i];", "s", "c[i] = s;")
    arguments = [str(tmp_path / "next.npy"), f"zeros:int32:{n}", "32"]
    done, gain = both(tmp_path, "h100-sxm", CHASE, forms, n // 256, 256, arguments)
    told = [each.gain for each in done.advice if each.change == "accumulate"]
    assert max(told, default=1.0) == pytest.approx(gain, rel=0.15)


ROUNDS = """__global__ void rounds(volatile float* a, volatile float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) {
        a[i] = k;
        %s
        b[i] = k;
    }
}
"""


@pytest.mark.parametrize(("between", "is_told"), [("", True), ("__syncthreads();", False)])
def test_what_is_stored_before_each_barrier_is_for_others_and_no_register_has_it(tmp_path, between, is_told):
    (tmp_path / "k.cu").write_text(ROUNDS % between)
    program = cuda_program(tmp_path / "k.cu", 256, 256, ["zeros:float32:65536"] * 2 + ["32"])
    changes = [each for each in run(program, load_machine("rtx-3080")).advice if each.change == "accumulate"]
    assert bool(changes) == is_told
    assert not is_told or any("likewise at 1 more line" in each.words for each in changes)

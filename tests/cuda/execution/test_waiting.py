"""Which kernels' blocks may wait for one another, so that none of them can be run alone."""

import pytest

from simtmm.cuda.compilers.compile import compile_source
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import machine_function
from simtmm.cuda.ptx import parse_module
from tests.cuda.compilers.conftest import needs_nvrtc

HEAD = """\
.version 8.7
.target sm_90
.address_size 64
.visible .func look() { .reg .b32 %r; .reg .b64 %p; LOOK ret; }
.visible .entry k(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %a, %b;
  .reg .pred %q;
  ld.param.u64 %p, [p];
again:
  BODY
  setp.ne.u32 %q, %a, 0;
  @%q bra again;
  ret;
}
"""


def waits(body, look=""):
    module = parse_module(HEAD.replace("BODY", body).replace("LOOK", look))
    return Program(module, "k").communicates


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.global.u32 %a, [%p];", False),
        ("ld.volatile.global.u32 %a, [%p];", True),
        ("ld.acquire.gpu.u32 %a, [%p];", True),
        ("ld.volatile.shared.u32 %a, [8];", False),  # of its own block
        ("atom.global.add.u32 %a, [%p], 1;", True),
        ("atom.shared.add.u32 %a, [8], 1;", False),
        ("red.global.add.u32 [%p], 1;", False),  # gives nothing back
        ("st.volatile.global.u32 [%p], 1;", False),
        ("membar.gl; ld.global.u32 %a, [%p];", True),
    ],
)
def test_a_loop_waits_for_other_blocks_by_what_shows_what_they_did(body, expected):
    assert waits(body) is expected
    assert waits("mov.u32 %a, 0;") is False


@pytest.mark.parametrize(
    ("look", "expected"),
    [("ld.volatile.global.u32 %r, [%p];", True), ("ld.volatile.shared.u32 %r, [8];", False), ("", False)],
)
def test_a_loop_waits_by_what_it_calls(look, expected):
    assert waits("call look;", look) is expected


TILED = """
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n)
{
    __shared__ float s[16][16], t[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int m = 0; m < n; m += 16) {
        s[threadIdx.y][threadIdx.x] = a[y * n + m + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(m + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += s[threadIdx.y][k] * t[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
"""


@needs_nvrtc
@pytest.mark.parametrize("architecture", [75, 86, 90])
def test_blocks_of_a_tiled_product_wait_for_no_others(architecture):
    """Though its loads of shared memory read the same place in each round: a barrier lies between."""
    linked = LinkedModule([compile_source(TILED, architecture=architecture)])
    function, why = machine_function(KernelFunction(linked, "tiled"))
    assert function is not None, why
    assert not function.program.communicates
    assert not any(code.flow.waiting for code in function.program.codes)

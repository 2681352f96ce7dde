"""Tensor maps as arguments of kernels that are launched from Python."""

from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm.cuda.tensor_map import TensorMap
from simtmm.errors import KernelError
from tests.cuda.execution.tensor_maps import box_of

SOURCE = r"""
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void boxes(const __grid_constant__ Map from, const __grid_constant__ Map to, int x, int y) {
  __shared__ alignas(1024) char tile[4096];
  __shared__ alignas(8) unsigned long long bar;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar), t = (unsigned)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], BYTES;" ::"r"(b));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(t), "l"(&from), "r"(x), "r"(y), "r"(b));
    asm volatile("{.reg .pred p;\nL: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra L;}" ::"r"(b));
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {0, 0}], [%1];" ::"l"(&to), "r"(t));
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;");
  }
}"""


@pytest.mark.parametrize("swizzle", [0, 64])
def test_a_box_is_copied_as_the_map_says(swizzle):
    given = np.arange(40 * 64, dtype=np.float32).reshape(40, 64)
    found = np.full((8, 16), -1, np.float32)
    kernel = simtmm.RawKernel(SOURCE.replace("BYTES", "512"), "boxes", options=("-arch=sm_90a",))
    maps = [simtmm.TensorMap(each, [8, 16], swizzle=swizzle) for each in (given, found)]
    kernel((1,), (32,), (*maps, np.int32(52), np.int32(36)))
    assert np.array_equal(found, box_of(given, [52, 36], [16, 8], [1, 1]))


def test_a_part_of_an_array_in_steps_and_with_nans_outside():
    given = np.arange(40 * 64, dtype=np.float32).reshape(40, 64)
    found = np.zeros((4, 16), np.float32)
    kernel = simtmm.RawKernel(SOURCE.replace("BYTES", "256"), "boxes", options=("-arch=sm_90a",))
    view = given[4:, 8:]
    of_view = simtmm.TensorMap(view, [8, 16], shape=[30, 40], strides=[64, 1], steps=[2, 1], nan=True)
    kernel((1,), (32,), (of_view, simtmm.TensorMap(found, [4, 16]), np.int32(28), np.int32(26)))
    expected = np.full((4, 16), np.nan, np.float32)
    expected[:2, :12] = view[26:30:2, 28:40]
    assert np.array_equal(found, expected, equal_nan=True)


ARRAY = np.zeros((8, 64), np.float32)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"array": [1, 2], "box": [2]}, r"array = \[1, 2\]: must be a NumPy array"),
        ({"array": np.zeros(4, complex), "box": [2]}, "type = 'complex128': must be one of uint8"),
        ({"box": [8, 300]}, r"box = \(8, 300\): 300: must be from 1 to 256"),
        ({"box": [8, 3]}, "a row of 12 bytes: must be a multiple of 16"),
        ({"box": [8, 32], "swizzle": 64}, "a row of 128 bytes: must be a multiple of 16, and at most 64"),
        ({"box": [8, 4], "swizzle": 16}, "swizzle = 16: must be 0, 32, 64 or 128"),
        ({"box": [8, 4], "strides": [63, 1]}, "252 bytes: must be a multiple of 16"),
        ({"box": [8, 4], "strides": [1, 64]}, r"strides = \(1, 64\): must end with 1"),
        ({"box": [4], "shape": [8, 64]}, "must have as many axes as the box, 1"),
        ({"box": "x"}, "box = 'x': must be whole numbers"),
        ({"box": [8, 4], "type": "int32", "nan": True}, "nan = True: must be False with type int32"),
        ({"box": [8, 4], "steps": [9, 1]}, r"steps = \(9, 1\): 9: must be from 1 to 8"),
    ],
)
def test_what_the_driver_refuses_is_refused(arguments, why):
    with pytest.raises(KernelError, match=why):
        TensorMap(**{"array": ARRAY, **arguments})


def test_a_kernel_that_takes_no_map_says_so():
    kernel = simtmm.RawKernel('extern "C" __global__ void k(float* x) { x[0] = 1; }', "k")
    with pytest.raises(KernelError, match="128 bytes: must be 8"):
        kernel((1,), (1,), (simtmm.TensorMap(ARRAY, [8, 4]),))


def test_a_kernel_of_cute_dsl_runs_as_its_ptx_and_as_machine_code():
    """Its dynamic shared memory begins with an mbarrier; each tile of 64 by 128 is two boxes."""
    kernel = simtmm.RawModule(path=str(Path(__file__).parent / "cute_dsl_gemm.ptx")).get_function("gemm")
    a, b = np.random.default_rng(4).integers(-4, 5, (2, 64, 128)).astype(np.float16)
    expected = a.astype(np.float32) @ b.astype(np.float32).T
    maps = [simtmm.TensorMap(each, [64, 64], swizzle=128) for each in (a, b)]
    plain, recorded = np.zeros((2, 64, 64), np.float32)
    sizes, shared = ((1,), (128,)), 1024 + 2 * a.nbytes
    kernel(*sizes, (*maps, plain, bytes(1)), shared_mem=shared)
    with simtmm.recording("h100-sxm") as recording:
        kernel(*sizes, (*maps, recorded, bytes(1)), shared_mem=shared)
    assert np.array_equal(plain, expected)
    assert np.array_equal(recorded, expected)
    assert not recording.trace.info.warnings
    assert {"copy", "product", "mbarrier"} <= {site.kind for site in recording.trace.info.sites}

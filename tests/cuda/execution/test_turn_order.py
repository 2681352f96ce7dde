"""The order in which warps and blocks take turns: each has its turn once, in the order that was asked for."""

import numpy as np
import pytest

from simtmm.cuda.build import build
from simtmm.cuda.device import Device
from simtmm.cuda.disagreement.variants import Variant
from simtmm.cuda.execution.runtime.turn_order import ASCENDING, DESCENDING, ORDERS, SHUFFLED, blocks_in
from simtmm.kernel import Launch
from simtmm.recorder.compiled.launches import CompiledLaunches

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

# Each warp takes the next places of its block's list, before the barrier and behind it, and a block the next place.
KERNEL = """__global__ void turns(int* warps, int* blocks, int* next)
{
    __shared__ int place;
    int count = blockDim.x / 32, block = blockIdx.x;
    if (threadIdx.x == 0) blocks[atomicAdd(next, 1)] = block;
    place = 0;
    __syncthreads();
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x % 32 == 0) warps[block * 2 * count + atomicAdd(&place, 1)] = threadIdx.x / 32;
        __syncthreads();
    }
}
"""


class _Ordered(Device):
    """Runs kernels in an order."""

    order = ASCENDING

    def run(self, function, launch, *more):
        return super().run(Variant(function, order=self.order), launch, *more)


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    path = tmp_path_factory.mktemp("turns") / "k.cu"
    path.write_text(KERNEL)
    return build([path], 90)


def turns(linked, order, warps, blocks=5):
    """int[blocks, 2, warps]: the warps of each block in the order of their turns, in two rounds; and the blocks."""
    arrays = {
        "warps": np.full(blocks * 2 * warps, -1, np.int32),
        "blocks": np.full(blocks, -1, np.int32),
        "next": np.zeros(1, np.int32),
    }
    device = _Ordered()
    device.order = order
    execution = CompiledLaunches(linked, arrays, 0, "turns", device=device)
    execution.just_run(Launch("", tuple(arrays), blocks, 32 * warps), 0)
    return arrays["warps"].reshape(blocks, 2, warps), arrays["blocks"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("warps", [1, 2, 7, 32])
def test_each_warp_and_each_block_has_its_turn_once(linked, order, warps):
    found, blocks = turns(linked, order, warps)
    assert np.sort(found, axis=-1).tolist() == np.broadcast_to(np.arange(warps), found.shape).tolist()
    assert sorted(blocks.tolist()) == list(range(5))


def test_ascending_and_descending_are_what_they_say(linked):
    behind = [6, 0, 1, 2, 3, 4, 5]  # a barrier who has come last goes on first
    assert all(each.tolist() == behind for each in turns(linked, ASCENDING, 7)[0][:, 0])
    warps, blocks = turns(linked, DESCENDING, 7)
    assert all(each.tolist() == [6 - warp for warp in behind] for each in warps[:, 0])
    assert blocks.tolist() == [4, 3, 2, 1, 0]


def test_a_random_order_is_another_one_in_each_block_and_round_and_the_same_in_each_run(linked):
    (found, blocks), (again, _) = (turns(linked, SHUFFLED, 32) for _ in range(2))
    assert len(np.unique(found.reshape(-1, 32), axis=0)) == found.shape[0] * found.shape[1]
    assert found.tolist() == again.tolist()
    assert blocks.tolist() != sorted(blocks.tolist())


@pytest.mark.parametrize("order", ORDERS)
def test_no_block_is_left_out(order):
    assert sorted(blocks_in(order, 1000)) == list(range(1000))

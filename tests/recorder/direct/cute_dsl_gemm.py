"""A product of 64 by 64 in CuTe DSL, by TMA and wgmma: `python cute_dsl_gemm.py > cute_dsl_gemm.ptx` writes its PTX.

It needs nvidia-cutlass-dsl 4.8, and no GPU: CUTE_DSL_ARCH=sm_90a CUTE_DSL_KEEP_PTX=1.
"""

import cutlass
from cutlass import cute
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warpgroup
from cutlass.cute.runtime import make_ptr
from cutlass.memory import SmemAllocator
from cutlass.tensor_utils import LayoutEnum
from cutlass.utils import hopper_helpers

M, N, K = 64, 64, 128
HALF = cutlass.Float16


@cute.kernel
def gemm(
    copy_a: cute.CopyAtom, a: cute.Tensor, copy_b: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
) -> None:  # fmt: skip
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    shared = SmemAllocator()
    barrier = shared.allocate_array(cutlass.Int64, 1)
    tile_a = shared.allocate_tensor(HALF, layout_a.outer, 1024, swizzle=layout_a.inner)
    tile_b = shared.allocate_tensor(HALF, layout_b.outer, 1024, swizzle=layout_b.inner)
    if thread == 0:
        cute.arch.mbarrier_init(barrier, 1)
        cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    whole_a, whole_b = cute.local_tile(a, (M, K), (0, 0)), cute.local_tile(b, (N, K), (0, 0))
    one = cute.make_layout(1)
    to_a, from_a = cpasync.tma_partition(
        copy_a, 0, one, cute.group_modes(tile_a, 0, 2), cute.group_modes(whole_a, 0, 2)
    )
    to_b, from_b = cpasync.tma_partition(
        copy_b, 0, one, cute.group_modes(tile_b, 0, 2), cute.group_modes(whole_b, 0, 2)
    )
    if warp == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(barrier, (M + N) * K * 2)
        cute.copy(copy_a, from_a[None], to_a[None, 0], tma_bar_ptr=barrier)
        cute.copy(copy_b, from_b[None], to_b[None, 0], tma_bar_ptr=barrier)
    cute.arch.mbarrier_wait(barrier, 0)
    part = mma.get_slice(thread)
    factor_a, factor_b = mma.make_fragment_A(part.partition_A(tile_a)), mma.make_fragment_B(part.partition_B(tile_b))
    to_c = part.partition_C(cute.local_tile(c, (M, N), (0, 0)))
    sums = cute.make_rmem_tensor(to_c.shape, cutlass.Float32)
    mma.set(warpgroup.Field.ACCUMULATE, False)
    warpgroup.fence()
    for k in cutlass.range_constexpr(K // 16):
        cute.gemm(mma, sums, factor_a[None, None, k, 0], factor_b[None, None, k, 0], sums)
        mma.set(warpgroup.Field.ACCUMULATE, True)
    warpgroup.commit_group()
    warpgroup.wait_group(0)
    for n in cutlass.range_constexpr(cute.size(to_c)):
        to_c[n] = sums[n]


@cute.jit
def launch(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer) -> None:
    matrix_a = cute.make_tensor(a, cute.make_layout((M, K), stride=(K, 1)))
    matrix_b = cute.make_tensor(b, cute.make_layout((N, K), stride=(K, 1)))
    matrix_c = cute.make_tensor(c, cute.make_layout((M, N), stride=(N, 1)))
    along_k = OperandMajorMode.K
    mma = hopper_helpers.make_trivial_tiled_mma(
        HALF, HALF, along_k, along_k, cutlass.Float32, (1, 1, 1), tiler_mn=(64, 64)
    )
    layout_a = hopper_helpers.make_smem_layout_a(LayoutEnum.ROW_MAJOR, (M, N, K), HALF, 1)
    layout_b = hopper_helpers.make_smem_layout_b(LayoutEnum.ROW_MAJOR, (M, N, K), HALF, 1)
    load = cpasync.CopyBulkTensorTileG2SOp()
    stage_a, stage_b = cute.slice_(layout_a, (None, None, 0)), cute.slice_(layout_b, (None, None, 0))
    copy_a, boxes_a = cpasync.make_tiled_tma_atom(load, matrix_a, stage_a, (M, K))
    copy_b, boxes_b = cpasync.make_tiled_tma_atom(load, matrix_b, stage_b, (N, K))
    kernel = gemm(copy_a, boxes_a, copy_b, boxes_b, matrix_c, mma, layout_a, layout_b)
    kernel.launch(grid=(1, 1, 1), block=(128, 1, 1))


if __name__ == "__main__":
    types = (HALF, HALF, cutlass.Float32)
    pointers = [make_ptr(kind, 1024 * (n + 1), cute.AddressSpace.gmem) for n, kind in enumerate(types)]
    print(cute.compile(launch, *pointers).__ptx__, end="")

// 2: TMA (128-byte swizzle) + wgmma m64n128k16, tile 128x128x64, one stage, two warpgroups (64 rows each).
// grid (N/128, M/128), block 256, dynamic shared memory k2_smem.
// mapA: box 64 (k) x 128 rows; mapB: box 64 (k) x 128 rows.
#include "hopper.cuh"

[[maybe_unused]] constexpr int k2_smem = 1024 + 32768 + 16;

extern "C" __global__ void __launch_bounds__(256) k2_tma_wgmma(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB,
                                                               __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ uint8_t smem_raw[];
  const uint32_t base = (smem_u32(smem_raw) + 1023) & ~1023u;
  const uint32_t sA = base, sB = base + 16384, full = base + 32768;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wg = tid >> 7;
  const int m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;

  if (tid == 0) {
    mbar_init(full, 1);
    mbar_fence_init();
    fence_proxy_async();
  }
  __syncthreads();

  float acc[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) acc[i] = 0.f;

  const uint64_t dA = desc_sw128(sA + wg * 8192), dB = desc_sw128(sB);
  const int kt_count = K / 64;
  for (int kt = 0; kt < kt_count; ++kt) {
    if (tid == 0) {
      mbar_expect_tx(full, 32768);
      tma_load_2d(sA, &mapA, full, kt * 64, m0);
      tma_load_2d(sB, &mapB, full, kt * 64, n0);
    }
    mbar_wait(full, kt & 1);
    fence_regs(acc);
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) wgmma_m64n128k16(acc, dA + kk * 2, dB + kk * 2, 1);
    wgmma_commit();
    wgmma_wait<0>();
    fence_regs(acc);
    __syncthreads();  // all warps have read the stage: it may be overwritten
  }
  const int row = m0 + wg * 64 + (warp & 3) * 16 + (lane >> 2);
  __nv_bfloat16* c0 = C + (size_t)row * N + n0 + (lane & 3) * 2;
  __nv_bfloat16* c1 = c0 + (size_t)8 * N;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    *reinterpret_cast<uint32_t*>(c0 + j * 8) = pack_bf16(acc[j * 4], acc[j * 4 + 1]);
    *reinterpret_cast<uint32_t*>(c1 + j * 8) = pack_bf16(acc[j * 4 + 2], acc[j * 4 + 3]);
  }
}

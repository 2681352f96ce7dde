// 3: warp specialisation: warps 0-3 consume (one warpgroup, two m64 halves), warp 4 produces (TMA);
// full/empty mbarrier ring of 5 stages, tile 128x128x64.
// grid (N/128, M/128), block 160, dynamic shared memory k3_smem.
// mapA: box 64 (k) x 128 rows; mapB: box 64 (k) x 128 rows.
#include "hopper.cuh"

[[maybe_unused]] constexpr int k3_stages = 5;
[[maybe_unused]] constexpr int k3_stage_bytes = 32768;
[[maybe_unused]] constexpr int k3_smem = 1024 + k3_stages * k3_stage_bytes + k3_stages * 16;

extern "C" __global__ void __launch_bounds__(160) k3_pipeline(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB,
                                                              __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ uint8_t smem_raw[];
  const uint32_t base = (smem_u32(smem_raw) + 1023) & ~1023u;
  const uint32_t full = base + k3_stages * k3_stage_bytes, empty = full + k3_stages * 8;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;
  const int kt_count = K / 64;

  if (tid == 0) {
    for (int s = 0; s < k3_stages; ++s) {
      mbar_init(full + s * 8, 1);   // the producer's arrive.expect_tx
      mbar_init(empty + s * 8, 4);  // one arrival per consumer warp
    }
    mbar_fence_init();
    fence_proxy_async();
  }
  __syncthreads();

  if (warp == 4) {
    if (elect_one()) {
      int s = 0;
      uint32_t ph = 1;  // a fresh barrier passes a wait for parity 1
      for (int kt = 0; kt < kt_count; ++kt) {
        mbar_wait(empty + s * 8, ph);
        const uint32_t sA = base + s * k3_stage_bytes, bar = full + s * 8;
        mbar_expect_tx(bar, k3_stage_bytes);
        tma_load_2d(sA, &mapA, bar, kt * 64, m0);
        tma_load_2d(sA + 16384, &mapB, bar, kt * 64, n0);
        if (++s == k3_stages) { s = 0; ph ^= 1; }
      }
    }
  } else {
    float acc0[64], acc1[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) acc0[i] = acc1[i] = 0.f;
    int s = 0, prev = -1;
    uint32_t ph = 0;
    for (int kt = 0; kt < kt_count; ++kt) {
      mbar_wait(full + s * 8, ph);
      const uint32_t sA = base + s * k3_stage_bytes;
      const uint64_t dA0 = desc_sw128(sA), dA1 = desc_sw128(sA + 8192), dB = desc_sw128(sA + 16384);
      fence_regs(acc0);
      fence_regs(acc1);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
        wgmma_m64n128k16(acc0, dA0 + kk * 2, dB + kk * 2, 1);
        wgmma_m64n128k16(acc1, dA1 + kk * 2, dB + kk * 2, 1);
      }
      wgmma_commit();
      wgmma_wait<1>();  // the products of the stage before are done
      fence_regs(acc0);
      fence_regs(acc1);
      if (prev >= 0 && lane == 0) mbar_arrive(empty + prev * 8);
      prev = s;
      if (++s == k3_stages) { s = 0; ph ^= 1; }
    }
    wgmma_wait<0>();
    fence_regs(acc0);
    fence_regs(acc1);
    const int row = m0 + warp * 16 + (lane >> 2);
    __nv_bfloat16* c = C + (size_t)row * N + n0 + (lane & 3) * 2;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      *reinterpret_cast<uint32_t*>(c + j * 8) = pack_bf16(acc0[j * 4], acc0[j * 4 + 1]);
      *reinterpret_cast<uint32_t*>(c + (size_t)8 * N + j * 8) = pack_bf16(acc0[j * 4 + 2], acc0[j * 4 + 3]);
      *reinterpret_cast<uint32_t*>(c + (size_t)64 * N + j * 8) = pack_bf16(acc1[j * 4], acc1[j * 4 + 1]);
      *reinterpret_cast<uint32_t*>(c + (size_t)72 * N + j * 8) = pack_bf16(acc1[j * 4 + 2], acc1[j * 4 + 3]);
    }
  }
}

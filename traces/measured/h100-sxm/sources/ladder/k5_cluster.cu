// 5: as 4 with clusters of 2 blocks along M (ranks 0 and 1 = two m tiles of one n tile): each block loads
// its own A tile and one half (128 rows) of the shared B tile, which it multicasts to both blocks.
// grid (M/128, N/256), block 384, dynamic shared memory k5_smem.
// mapA: box 64 (k) x 128 rows; mapB: box 64 (k) x 128 rows.
#include "hopper.cuh"

[[maybe_unused]] constexpr int k5_stages = 4;
[[maybe_unused]] constexpr int k5_stage_bytes = 49152;
[[maybe_unused]] constexpr int k5_smem = 1024 + k5_stages * k5_stage_bytes + k5_stages * 16;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    k5_cluster(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ uint8_t smem_raw[];
  const uint32_t base = (smem_u32(smem_raw) + 1023) & ~1023u;  // the same in both blocks
  const uint32_t full = base + k5_stages * k5_stage_bytes, empty = full + k5_stages * 8;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wg = tid >> 7;
  const int m0 = blockIdx.x * 128, n0 = blockIdx.y * 256;
  const uint32_t rank = cluster_ctarank();
  const int kt_count = K / 64;

  if (tid == 0) {
    for (int s = 0; s < k5_stages; ++s) {
      mbar_init(full + s * 8, 1);    // own producer; the bytes of both producers count
      mbar_init(empty + s * 8, 16);  // 8 consumer warps in each of the two blocks
    }
    mbar_fence_init();
    fence_proxy_async();
  }
  cluster_sync();

  if (wg == 0) {
    reg_dec<40>();
    if (warp == 0 && elect_one()) {
      int s = 0;
      uint32_t ph = 1;
      for (int kt = 0; kt < kt_count; ++kt) {
        mbar_wait(empty + s * 8, ph);  // the stage is free in both blocks
        const uint32_t sA = base + s * k5_stage_bytes, bar = full + s * 8;
        mbar_expect_tx(bar, k5_stage_bytes);
        tma_load_2d(sA, &mapA, bar, kt * 64, m0);
        tma_load_2d_multicast(sA + 16384 + rank * 16384, &mapB, bar, kt * 64, n0 + (int)rank * 128, (uint16_t)3);
        if (++s == k5_stages) { s = 0; ph ^= 1; }
      }
    }
  } else {
    reg_inc<232>();
    float acc[128];
#pragma unroll
    for (int i = 0; i < 128; ++i) acc[i] = 0.f;
    int s = 0, prev = -1;
    uint32_t ph = 0;
    for (int kt = 0; kt < kt_count; ++kt) {
      mbar_wait(full + s * 8, ph);
      const uint32_t sA = base + s * k5_stage_bytes;
      const uint64_t dA = desc_sw128(sA + (wg - 1) * 8192), dB = desc_sw128(sA + 16384);
      fence_regs(acc);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) wgmma_m64n256k16(acc, dA + kk * 2, dB + kk * 2, 1);
      wgmma_commit();
      wgmma_wait<1>();
      fence_regs(acc);
      if (prev >= 0 && lane < 2) mbar_arrive_cluster(empty + prev * 8, lane);  // lane r tells block r
      prev = s;
      if (++s == k5_stages) { s = 0; ph ^= 1; }
    }
    wgmma_wait<0>();
    fence_regs(acc);
    const int row = m0 + (wg - 1) * 64 + (warp & 3) * 16 + (lane >> 2);
    __nv_bfloat16* c0 = C + (size_t)row * N + n0 + (lane & 3) * 2;
    __nv_bfloat16* c1 = c0 + (size_t)8 * N;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      *reinterpret_cast<uint32_t*>(c0 + j * 8) = pack_bf16(acc[j * 4], acc[j * 4 + 1]);
      *reinterpret_cast<uint32_t*>(c1 + j * 8) = pack_bf16(acc[j * 4 + 2], acc[j * 4 + 3]);
    }
  }
  cluster_sync();  // no block leaves while the other may still write or arrive in its shared memory
}

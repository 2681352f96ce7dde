// 6: as 5, persistent: 132 blocks (66 clusters of 2) loop over tiles of 256x256 (128x256 per block) in
// groups of 8 tiles along M; the ring of stages runs on across tiles, so that the producer loads the next
// tile during the epilogue; the epilogue goes through shared memory (stmatrix, two buffers of 64x64 per
// consumer warpgroup, 128-byte swizzle) and TMA stores.
// grid 132 (any even number), block 384, dynamic shared memory k6_smem.
// mapA, mapB: box 64 (k) x 128 rows; mapC: box 64 columns x 64 rows; all with 128-byte swizzle.
#include "hopper.cuh"

[[maybe_unused]] constexpr int k6_stages = 4;
[[maybe_unused]] constexpr int k6_stage_bytes = 49152;
[[maybe_unused]] constexpr int k6_out_bytes = 2 * 2 * 8192;
[[maybe_unused]] constexpr int k6_smem = 1024 + k6_stages * k6_stage_bytes + k6_out_bytes + k6_stages * 16;
[[maybe_unused]] constexpr int k6_group = 8;

// tile number t -> cluster tile (m, n), each 256 wide: groups of 8 along M, inside a group m runs fastest
__device__ __forceinline__ void k6_tile(int t, int mt, int nt, int& m, int& n) {
  const int per = k6_group * nt, g = t / per, r = t - g * per;
  const int size = min(k6_group, mt - g * k6_group);
  n = r / size;
  m = g * k6_group + (r - n * size);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    k6_persistent(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, const __grid_constant__ CUtensorMap mapC,
                  int M, int N, int K) {
  extern __shared__ uint8_t smem_raw[];
  const uint32_t base = (smem_u32(smem_raw) + 1023) & ~1023u;
  const uint32_t out = base + k6_stages * k6_stage_bytes;
  const uint32_t full = out + k6_out_bytes, empty = full + k6_stages * 8;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wg = tid >> 7;
  const uint32_t rank = cluster_ctarank();
  const int kt_count = K / 64, mt = M / 256, nt = N / 256, tiles = mt * nt;
  const int first = blockIdx.x >> 1, step = gridDim.x >> 1;

  if (tid == 0) {
    tma_prefetch(&mapA);
    tma_prefetch(&mapB);
    tma_prefetch(&mapC);
    for (int s = 0; s < k6_stages; ++s) {
      mbar_init(full + s * 8, 1);
      mbar_init(empty + s * 8, 16);
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
      for (int t = first; t < tiles; t += step) {
        int tm, tn;
        k6_tile(t, mt, nt, tm, tn);
        const int m0 = tm * 256 + (int)rank * 128, n0 = tn * 256 + (int)rank * 128;
        for (int kt = 0; kt < kt_count; ++kt) {
          mbar_wait(empty + s * 8, ph);
          const uint32_t sA = base + s * k6_stage_bytes, bar = full + s * 8;
          mbar_expect_tx(bar, k6_stage_bytes);
          tma_load_2d(sA, &mapA, bar, kt * 64, m0);
          tma_load_2d_multicast(sA + 16384 + rank * 16384, &mapB, bar, kt * 64, n0, (uint16_t)3);
          if (++s == k6_stages) { s = 0; ph ^= 1; }
        }
      }
    }
  } else {
    reg_inc<232>();
    const int half = wg - 1;
    const bool leader = (tid & 127) == 0;
    const uint32_t buf = out + half * 16384;
    int s = 0;
    uint32_t ph = 0;
    for (int t = first; t < tiles; t += step) {
      int tm, tn;
      k6_tile(t, mt, nt, tm, tn);
      float acc[128];
#pragma unroll
      for (int i = 0; i < 128; ++i) acc[i] = 0.f;
      int prev = -1;
      for (int kt = 0; kt < kt_count; ++kt) {
        mbar_wait(full + s * 8, ph);
        const uint32_t sA = base + s * k6_stage_bytes;
        const uint64_t dA = desc_sw128(sA + half * 8192), dB = desc_sw128(sA + 16384);
        fence_regs(acc);
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < 4; ++kk) wgmma_m64n256k16(acc, dA + kk * 2, dB + kk * 2, 1);
        wgmma_commit();
        wgmma_wait<1>();
        fence_regs(acc);
        if (prev >= 0 && lane < 2) mbar_arrive_cluster(empty + prev * 8, lane);
        prev = s;
        if (++s == k6_stages) { s = 0; ph ^= 1; }
      }
      wgmma_wait<0>();
      fence_regs(acc);
      if (prev >= 0 && lane < 2) mbar_arrive_cluster(empty + prev * 8, lane);

      // 4 pieces of 64 columns; buffer q & 1 is free once at most the latest store still reads
      const int row0 = tm * 256 + (int)rank * 128 + half * 64, r = (warp & 3) * 16 + (lane & 15);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        if (leader) tma_store_wait_read<1>();
        named_barrier(1 + half, 128);
        const uint32_t dst = buf + (q & 1) * 8192 + r * 128;
#pragma unroll
        for (int j = 0; j < 8; j += 2) {  // 8 columns = one 16-byte piece; piece c of row r lies at c ^ (r & 7)
          const float* a = acc + (q * 8 + j) * 4;
          stmatrix_x4(dst + (((j + (lane >> 4)) ^ (r & 7)) << 4), pack_bf16(a[0], a[1]), pack_bf16(a[2], a[3]), pack_bf16(a[4], a[5]),
                      pack_bf16(a[6], a[7]));
        }
        fence_proxy_async();
        named_barrier(1 + half, 128);
        if (leader) {
          tma_store_2d(buf + (q & 1) * 8192, &mapC, tn * 256 + q * 64, row0);
          tma_store_commit();
        }
      }
    }
    if (leader) tma_store_wait<0>();
  }
  cluster_sync();
}

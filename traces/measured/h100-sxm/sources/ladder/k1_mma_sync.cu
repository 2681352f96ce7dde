// 1: mma.sync.m16n8k16 + ldmatrix + cp.async, two stages, tile 128x128x32, 256 threads.
// grid (N/128, M/128), block 256, static shared memory 32 KiB.
#include "hopper.cuh"

extern "C" __global__ void __launch_bounds__(256) k1_mma_sync(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                                                              __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  __shared__ __align__(1024) uint8_t sm[2 * 16384];  // per stage: A 128 rows x 64 bytes, then B likewise
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int wm = warp & 1, wn = warp >> 1;  // 2 x 4 warps, each 64 x 32
  const int m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;
  const uint32_t base = smem_u32(sm);

  // 16-byte piece c (0..3) of row r lies at r*64 + ((c ^ (r>>1 & 3)) * 16): no bank conflicts for ldmatrix
  auto load = [&](int stage, int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int idx = tid + i * 256, r = idx >> 2, c = idx & 3;
      const uint32_t off = base + stage * 16384 + r * 64 + ((c ^ ((r >> 1) & 3)) << 4);
      cp_async16(off, A + (size_t)(m0 + r) * K + k0 + c * 8);
      cp_async16(off + 8192, B + (size_t)(n0 + r) * K + k0 + c * 8);
    }
  };

  float acc[4][4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) acc[i][j][e] = 0.f;

  const int kt_count = K / 32;
  load(0, 0);
  cp_async_commit();
  for (int kt = 0; kt < kt_count; ++kt) {
    if (kt + 1 < kt_count) load((kt + 1) & 1, (kt + 1) * 32);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    const uint32_t sA = base + (kt & 1) * 16384, sB = sA + 8192;
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      uint32_t a[4][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int r = wm * 64 + i * 16 + (lane & 15), c = kk * 2 + (lane >> 4);
        ldmatrix_x4(a[i], sA + r * 64 + ((c ^ ((r >> 1) & 3)) << 4));
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int r = wn * 32 + j * 16 + (lane & 7) + ((lane >> 4) << 3), c = kk * 2 + ((lane >> 3) & 1);
        ldmatrix_x4(b[j], sB + r * 64 + ((c ^ ((r >> 1) & 3)) << 4));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) mma_m16n8k16(acc[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = m0 + wm * 64 + i * 16 + (lane >> 2), col = n0 + wn * 32 + j * 8 + (lane & 3) * 2;
      *reinterpret_cast<uint32_t*>(C + (size_t)row * N + col) = pack_bf16(acc[i][j][0], acc[i][j][1]);
      *reinterpret_cast<uint32_t*>(C + (size_t)(row + 8) * N + col) = pack_bf16(acc[i][j][2], acc[i][j][3]);
    }
}

// A call by address was refused where another function takes as many arguments of other sizes
// Kernel 1: 2 blocks of 40 threads
namespace of_k1 {
__device__ i32 n_0(i32 a, i32 b) { return a ^ b; }
__device__ i32 n_1(i32 a, i32 b) { return a | b; }
__device__ i32 (*narrow[2])(i32, i32) = {n_0, n_1};
__device__ i64 w_0(i64 a, i64 b) { return a & b; }
__device__ i64 w_1(i64 a, i64 b) { return a ^ ~b; }
__device__ i64 (*wide[2])(i64, i64) = {w_0, w_1};
__device__ i32 to_narrow(i64 a, i64 b) { return (i32)(a ^ b >> 32); }
__device__ i32 to_narrower(i64 a, i64 b) { return (i32)(a >> 32 & b); }
__device__ i32 (*mixed[2])(i64, i64) = {to_narrow, to_narrower};
}
extern "C" __global__ void k1(const u64* in, u64* out, u32* totals, u64* wide_totals) {
  using namespace of_k1;
  const u32 slot = blockIdx.x * blockDim.x + threadIdx.x;
  u64* mine = out + slot * 12;
  const i64 a = (i64)in[slot % 64], b = (i64)in[(slot + 7) % 64];
  mine[0] = (u64)(i64)narrow[slot & 1]((i32)a, (i32)b);
  mine[1] = (u64)wide[slot >> 1 & 1](a, b);
  mine[2] = (u64)(i64)mixed[slot >> 2 & 1](a, b);
}

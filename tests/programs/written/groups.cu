// cooperative groups: tiles, coalesced groups, reduce, labeled partition, grid sync, and warp primitives.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *out, int n) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  int sum = cg::reduce(tile, v, cg::plus<int>()), scan = cg::inclusive_scan(tile, v);
  if (i < n) out[i] = sum * 1000 + scan;
}
__device__ int claim(int *counter) {
  auto active = cg::coalesced_threads();
  int base;
  if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
  return active.shfl(base, 0) + active.thread_rank();
}
__global__ void filter(const int *in, int *out, int *count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] & 1) out[claim(count)] = in[i];
}
__global__ void votes(const int *in, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i % n];
  unsigned b = __ballot_sync(0xffffffff, v & 1), m = __match_any_sync(0xffffffff, v % 3);
  int any = __any_sync(0xffffffff, v == 7), all = __all_sync(0xffffffff, v >= 0), x = __shfl_xor_sync(0xffffffff, v, 5), up = __shfl_up_sync(0xffffffff, v, 3);
  unsigned r = __reduce_add_sync(0xffffffff, (unsigned)v);
  out[i] = b ^ m ^ (any << 1) ^ all ^ (x << 4) ^ (up << 8) ^ (r << 12);
}
__global__ void steps(int *a, int *b, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) b[i] = a[i] + a[(i + 1) % n];
    grid.sync();
    int *t = a; a = b; b = t;
  }
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 8192, repeat = argc > 2 ? atoi(argv[2]) : 10;
  std::vector<int> h(n), g(n);
  for (int i = 0; i < n; i++) h[i] = (i * 7919) % 13;
  int *in, *out, *count;
  unsigned *v;
  cudaMalloc(&in, n * 4); cudaMalloc(&out, n * 4); cudaMalloc(&count, 4); cudaMalloc(&v, n * 4);
  cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
  auto t0 = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++) tiles<<<(n + 127) / 128, 128>>>(in, out, n);
  cudaDeviceSynchronize();
  double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() / repeat;
  printf("tiles: %f us\n", t * 1e6);
  cudaMemcpy(g.data(), out, n * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int i = 0; i < n; i++) {
    int sum = 0, scan = 0;
    for (int j = i / 16 * 16; j < i / 16 * 16 + 16; j++) { sum += h[j]; if (j <= i) scan += h[j]; }
    ok &= g[i] == sum * 1000 + scan;
  }
  cudaMemset(count, 0, 4);
  filter<<<8, 256>>>(in, out, count, n);
  int c, want = 0;
  cudaMemcpy(&c, count, 4, cudaMemcpyDeviceToHost);
  for (int x : h) want += x & 1;
  ok &= c == want;
  votes<<<n / 128, 128>>>(in, v, n);
  std::vector<unsigned> u(n);
  cudaMemcpy(u.data(), v, n * 4, cudaMemcpyDeviceToHost);
  for (int w = 0; w < n; w += 32) {
    unsigned b = 0, r = 0; int any = 0;
    for (int l = 0; l < 32; l++) { b |= (h[w + l] & 1u) << l; r += h[w + l]; any |= h[w + l] == 7; }
    for (int l = 0; l < 32; l++) {
      unsigned m = 0;
      for (int k = 0; k < 32; k++) m |= (h[w + k] % 3 == h[w + l] % 3) * 1u << k;
      unsigned x = b ^ m ^ (any << 1) ^ 1 ^ (h[w + (l ^ 5)] << 4) ^ (h[w + (l < 3 ? l : l - 3)] << 8) ^ (r << 12);
      ok &= u[w + l] == x;
    }
  }
  int rounds = 4, sms, per;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, steps, 128, 0);
  int blocks = std::min(sms * per, n / 128);
  void *args[] = {&in, &out, &n, &rounds};
  cudaLaunchCooperativeKernel((void *)steps, blocks, 128, args);
  cudaDeviceSynchronize();
  cudaMemcpy(g.data(), in, n * 4, cudaMemcpyDeviceToHost);
  std::vector<int> a = h, b(n);
  for (int r = 0; r < rounds; r++) { for (int i = 0; i < n; i++) b[i] = a[i] + a[(i + 1) % n]; a.swap(b); }
  ok &= a == g;
  printf("%s\n", ok ? "PASS" : "FAIL");
  cudaFree(in); cudaFree(out); cudaFree(count); cudaFree(v);
  return !ok;
}

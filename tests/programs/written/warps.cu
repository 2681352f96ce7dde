// Warp-level code and libcu++: matches, reductions, aggregated atomics, asynchronous copies, barriers, atomics by reference.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cstdio>
#include <cmath>
#include <numeric>
#include <algorithm>
#include <vector>
#include <chrono>
#include "helper.h"
namespace cg = cooperative_groups;
__device__ unsigned aggregated(unsigned *counter) { auto g = cg::coalesced_threads(); unsigned first = 0; if (!g.thread_rank()) first = atomicAdd(counter, g.size()); return g.shfl(first, 0) + g.thread_rank(); }
__global__ void compact(const int *in, int *out, unsigned *count, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && in[i] % 3 == 0) out[aggregated(count)] = in[i]; }
template <int TILE> __global__ void matmul(const float *a, const float *b, float *c, int n) {
    extern __shared__ float tiles[]; float *as = tiles, *bs = tiles + 2 * TILE * TILE; auto block = cg::this_thread_block(); auto pipe = cuda::make_pipeline(); int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y; float sum = 0;
    auto fetch = [&](int t) { pipe.producer_acquire(); int s = (t & 1) * TILE * TILE + threadIdx.y * TILE + threadIdx.x; cuda::memcpy_async(as + s, a + y * n + t * TILE + threadIdx.x, sizeof(float), pipe); cuda::memcpy_async(bs + s, b + (t * TILE + threadIdx.y) * n + x, sizeof(float), pipe); pipe.producer_commit(); };
    fetch(0);
    for (int t = 0; t < n / TILE; t++) { if (t + 1 < n / TILE) fetch(t + 1), cuda::pipeline_consumer_wait_prior<1>(pipe); else cuda::pipeline_consumer_wait_prior<0>(pipe); block.sync(); const float *p = as + (t & 1) * TILE * TILE, *q = bs + (t & 1) * TILE * TILE;
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += p[threadIdx.y * TILE + k] * q[k * TILE + threadIdx.x]; pipe.consumer_release(); block.sync(); }
    c[y * n + x] = sum;
}
__global__ void staged(const int *in, long long *out, int n) {
    __shared__ int buffer[256]; __shared__ cuda::barrier<cuda::thread_scope_block> ready; auto block = cg::this_thread_block(); if (!block.thread_rank()) init(&ready, block.size()); block.sync(); long long sum = 0;
    for (int begin = blockIdx.x * 256; begin < n; begin += gridDim.x * 256) { cuda::memcpy_async(block, buffer, in + begin, cuda::aligned_size_t<16>(sizeof buffer), ready); ready.arrive_and_wait(); sum += buffer[(threadIdx.x * 7) & 255]; block.sync(); }
    auto warp = cg::tiled_partition<32>(block); sum = cg::reduce(warp, sum, cg::plus<long long>()); if (!warp.thread_rank()) { cuda::atomic_ref<long long, cuda::thread_scope_device> total(*out); total.fetch_add(sum, cuda::memory_order_relaxed); }
}
__global__ void keys(const int *in, int *groups, int *scans, int *bits, cuda::std::complex<float> *z) { int v = in[threadIdx.x]; unsigned same = __match_any_sync(~0u, v & 3); int all; __match_all_sync(~0u, v >= 0, &all); groups[threadIdx.x] = __popc(same) + 100 * all; auto tile = cg::tiled_partition<16>(cg::this_thread_block()); scans[threadIdx.x] = cg::exclusive_scan(tile, v);
#if __CUDA_ARCH__ >= 800
    bits[threadIdx.x] = __reduce_or_sync(~0u, 1u << (threadIdx.x & 7)) + __reduce_max_sync(~0u, v);
#else
    bits[threadIdx.x] = 255 + cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v, cg::greater<int>());
#endif
    cuda::std::array<float, 2> p{float(v), 1}; z[threadIdx.x] = cuda::std::complex<float>(p[0], p[1]) * cuda::std::complex<float>(0, 1); }
int main() {
    int n = 1 << 16; std::vector<int> h(n), got(n); for (int i = 0; i < n; i++) h[i] = (i * 7919) % 10007; int *in, *out; unsigned *count; long long *sum; checkCudaErrors(cudaMalloc(&in, n * 4)); checkCudaErrors(cudaMalloc(&out, n * 4)); checkCudaErrors(cudaMallocManaged(&count, 4)); checkCudaErrors(cudaMallocManaged(&sum, 8)); *count = 0; *sum = 0; checkCudaErrors(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice)); bool ok = true;
    compact<<<n / 256, 256>>>(in, out, count, n); checkCudaErrors(cudaDeviceSynchronize()); std::vector<int> want; for (int v : h) if (v % 3 == 0) want.push_back(v); checkCudaErrors(cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost)); got.resize(*count); std::sort(got.begin(), got.end()); std::sort(want.begin(), want.end()); ok = ok && got == want; printf("compact %d\n", ok);
    staged<<<16, 256>>>(in, sum, n); checkCudaErrors(cudaDeviceSynchronize()); ok = ok && *sum == std::accumulate(h.begin(), h.end(), 0ll); printf("staged %d\n", ok);
    int m = 128; std::vector<float> a(m * m), b(m * m), c(m * m); for (int i = 0; i < m * m; i++) a[i] = i % 13 - 6, b[i] = i % 7 - 3; float *da, *db, *dc; for (float **p : {&da, &db, &dc}) checkCudaErrors(cudaMalloc(p, m * m * 4)); checkCudaErrors(cudaMemcpy(da, a.data(), m * m * 4, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(db, b.data(), m * m * 4, cudaMemcpyHostToDevice)); auto t = std::chrono::steady_clock::now(); for (int i = 0; i < 5; i++) matmul<16><<<dim3(m / 16, m / 16), dim3(16, 16), 4 * 16 * 16 * 4>>>(da, db, dc, m); matmul<32><<<dim3(m / 32, m / 32), dim3(32, 32), 4 * 32 * 32 * 4>>>(da, db, dc, m); checkCudaErrors(cudaDeviceSynchronize()); printf("%.1f us\n", 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count() / 6); checkCudaErrors(cudaMemcpy(c.data(), dc, m * m * 4, cudaMemcpyDeviceToHost)); for (int y = 0; y < m; y++) for (int x = 0; x < m; x++) { float s = 0; for (int k = 0; k < m; k++) s += a[y * m + k] * b[k * m + x]; ok = ok && s == c[y * m + x]; } printf("matmul %d\n", ok);
    int *g; cuda::std::complex<float> *z; checkCudaErrors(cudaMallocManaged(&g, 96 * 4)); checkCudaErrors(cudaMallocManaged(&z, 32 * sizeof *z)); keys<<<1, 32>>>(in, g, g + 32, g + 64, z); checkCudaErrors(cudaDeviceSynchronize()); int most = *std::max_element(h.begin(), h.begin() + 32); for (int i = 0; i < 32; i++) { int same = 0, before = 0; for (int k = 0; k < 32; k++) { same += (h[k] & 3) == (h[i] & 3); before += k / 16 == i / 16 && k < i ? h[k] : 0; } ok = ok && g[i] == same + 100 && g[32 + i] == before && g[64 + i] == 255 + most && z[i].real() == -1 && z[i].imag() == h[i]; }
    cudaFree(in); cudaFree(out); cudaFree(count); cudaFree(sum); cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(g); cudaFree(z); puts(ok ? "PASSED" : "FAILED"); return !ok;
}

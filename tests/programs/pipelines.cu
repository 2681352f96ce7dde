// Pipelines of libcu++, whose barriers count copies of threads; cuda::ptx; barriers that count bytes.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
#define CK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1);} } while (0)
// producer/consumer pipeline, partitioned by warp
template <int STAGES> __global__ void pipe(const int *in, int *out, int batches) {
    constexpr int N = 96;  // consumers
    __shared__ alignas(16) int buf[STAGES][N];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    const bool producer = block.thread_rank() < 32;
    auto p = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const int *src = in + blockIdx.x * batches * N; int *dst = out + blockIdx.x * batches * N;
    if (producer) {
        for (int b = 0; b < batches; b++) {
            p.producer_acquire();
            for (int i = block.thread_rank(); i < N; i += 32) cuda::memcpy_async(&buf[b % STAGES][i], &src[b * N + i], sizeof(int), p);
            p.producer_commit();
        }
    } else {
        for (int b = 0; b < batches; b++) {
            p.consumer_wait();
            int i = block.thread_rank() - 32;
            dst[b * N + i] = buf[b % STAGES][N - 1 - i] * 3;
            p.consumer_release();
        }
    }
}
// unified pipeline
__global__ void unified(const int4 *in, int4 *out, int batches) {
    extern __shared__ int4 sm[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto p = cuda::make_pipeline(block, &state);
    int T = block.size();
    p.producer_acquire(); cuda::memcpy_async(block, sm, in + blockIdx.x * batches * T, cuda::aligned_size_t<16>(sizeof(int4) * T), p); p.producer_commit();
    for (int b = 1; b <= batches; b++) {
        if (b < batches) { p.producer_acquire(); cuda::memcpy_async(block, sm + (b % 2) * T, in + (blockIdx.x * batches + b) * T, cuda::aligned_size_t<16>(sizeof(int4) * T), p); p.producer_commit(); }
        p.consumer_wait();
        int4 v = sm[((b - 1) % 2) * T + (threadIdx.x + 1) % T]; v.x++; v.w--;
        out[(blockIdx.x * batches + b - 1) * T + threadIdx.x] = v;
        p.consumer_release();
    }
}
// cuda::ptx: copies and sums in bulk; stores and sums that tell the mbarrier of another block
__global__ void __cluster_dims__(2, 1, 1) raw(const int *in, int *out) {
    __shared__ alignas(128) int buf[256];
    __shared__ alignas(8) uint64_t bar, bar2;
    __shared__ alignas(16) unsigned mail[32];
    unsigned rank = ptx::get_sreg_cluster_ctarank(), peer = rank ^ 1;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1); ptx::mbarrier_init(&bar2, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    if (threadIdx.x < 32) mail[threadIdx.x] = 5;
    ptx::barrier_cluster_arrive(); ptx::barrier_cluster_wait();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf, in + blockIdx.x * 256, sizeof(buf), &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, sizeof(buf));
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar2, 16 + 4 * 8);
    }
    ptx::barrier_cluster_arrive(ptx::sem_release); ptx::barrier_cluster_wait(ptx::sem_acquire);
    auto block = cg::this_cluster();
    unsigned *there = block.map_shared_rank(mail, peer); uint64_t *bar_there = block.map_shared_rank(&bar2, peer);
    if (threadIdx.x == 0) { int32_t v[4] = {10 + int(rank), 20, 30, 40}; ptx::st_async((int32_t *)there, v, bar_there); }
    if (threadIdx.x >= 8 && threadIdx.x < 16) ptx::red_async(ptx::op_add, there + 8 + threadIdx.x % 8, threadIdx.x, bar_there);
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) ;
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar2, 0)) ;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) buf[i] = buf[i] * 2 + 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 320, buf, sizeof(buf));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out + blockIdx.x * 320, buf, 64);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    if (threadIdx.x < 32) out[blockIdx.x * 320 + 256 + threadIdx.x] = mail[threadIdx.x];
    if (threadIdx.x == 0) { out[blockIdx.x * 320 + 288] = ptx::getctarank(ptx::space_cluster, there); out[blockIdx.x * 320 + 289] = ptx::get_sreg_cluster_nctarank(); }
    ptx::barrier_cluster_arrive(); ptx::barrier_cluster_wait();
}
// A barrier of libcu++ that counts bytes; threads that drop out
using Bar = cuda::barrier<cuda::thread_scope_block>;
__global__ void __cluster_dims__(2, 1, 1) tx(const int *in, int *out) {
    __shared__ alignas(16) int buf[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Bar bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    cg::this_cluster().sync();
    Bar::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(buf, in + blockIdx.x * 128, cuda::aligned_size_t<16>(sizeof(buf)), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(buf));
    } else token = bar.arrive(1);
    bar.wait(cuda::std::move(token));
    cg::this_cluster().sync();
    out[blockIdx.x * 128 + threadIdx.x] = buf[127 - threadIdx.x] + cg::this_cluster().map_shared_rank(buf, 0)[threadIdx.x];
    cg::this_cluster().sync();
    // parity and expect
    if (threadIdx.x == 0) { cuda::device::barrier_expect_tx(bar, 64); cuda::device::memcpy_async_tx(buf, in, cuda::aligned_size_t<16>(64), bar); }
    bar.arrive_and_wait();
    bar.arrive_and_drop();
    if (threadIdx.x < 16) out[blockIdx.x * 128 + threadIdx.x] += buf[threadIdx.x] * 1000;
}
// Warp after warp drops out of a barrier
__global__ void drops(int *out) {
    __shared__ int sum;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Bar bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); sum = 0; }
    __syncthreads();
    int warp = threadIdx.x / 32;
    for (int i = 0; i < 4; i++) {
        if (i == warp) { bar.arrive_and_drop(); break; }
        if (threadIdx.x % 32 == 0) atomicAdd(&sum, 1);
        bar.arrive_and_wait();
    }
    if (threadIdx.x == 96) out[blockIdx.x] = sum;
}
int main() {
    int bad = 0;
    { const int B = 3, N = 96, K = 7; int n = B * N * K; std::vector<int> h(n), g(n); for (int i = 0; i < n; i++) h[i] = i * 13 % 997;
      int *a, *b; CK(cudaMalloc(&a, n * 4)); CK(cudaMalloc(&b, n * 4)); CK(cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice));
      pipe<4><<<B, 128>>>(a, b, K); CK(cudaMemcpy(g.data(), b, n * 4, cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; i++) if (g[i] != 3 * h[i / N * N + N - 1 - i % N]) bad++; printf("pipe %d\n", bad); }
    { const int B = 2, T = 64, K = 5; int n = B * T * K * 4; std::vector<int> h(n), g(n); for (int i = 0; i < n; i++) h[i] = i * 31 % 1009;
      int *a, *b; CK(cudaMalloc(&a, n * 4)); CK(cudaMalloc(&b, n * 4)); CK(cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice));
      unified<<<B, T, 2 * T * 16>>>((int4 *)a, (int4 *)b, K); CK(cudaMemcpy(g.data(), b, n * 4, cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; i++) { int q = i / 4, t = q % T, from = (q - t + (t + 1) % T) * 4 + i % 4; int w = h[from] + (i % 4 == 0) - (i % 4 == 3); if (g[i] != w) bad++; } printf("unified %d\n", bad); }
    { const int B = 4; std::vector<int> h(B * 256), g(B * 320); for (int i = 0; i < B * 256; i++) h[i] = i * 17 % 1013;
      int *a, *b; CK(cudaMalloc(&a, h.size() * 4)); CK(cudaMalloc(&b, g.size() * 4)); CK(cudaMemcpy(a, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
      raw<<<B, 64>>>(a, b); CK(cudaMemcpy(g.data(), b, g.size() * 4, cudaMemcpyDeviceToHost));
      for (int k = 0; k < B; k++) { int *r = &g[k * 320]; for (int i = 0; i < 256; i++) if (r[i] != (2 * h[k * 256 + i] + 1) * (i < 16 ? 2 : 1)) bad++;
        for (int i = 0; i < 32; i++) { int w = 5; if (i == 0) w = 10 + (k % 2 ^ 1); else if (i < 4) w = 10 * (i + 1); else if (i >= 8 && i < 16) w = 5 + i; if (r[256 + i] != w && bad++ < 5) printf("mail %d %d: %d want %d\n", k, i, r[256 + i], w); }
        if (r[288] != (k % 2 ^ 1) || r[289] != 2) bad++; } printf("raw %d\n", bad); }
    { const int B = 4; std::vector<int> h(B * 128), g(B * 128); for (int i = 0; i < B * 128; i++) h[i] = i * 19 % 1013;
      int *a, *b; CK(cudaMalloc(&a, h.size() * 4)); CK(cudaMalloc(&b, g.size() * 4)); CK(cudaMemcpy(a, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
      tx<<<B, 128>>>(a, b); CK(cudaMemcpy(g.data(), b, g.size() * 4, cudaMemcpyDeviceToHost));
      for (int i = 0; i < B * 128; i++) { int k = i / 128, t = i % 128; int w = h[k * 128 + 127 - t] + h[k / 2 * 256 + t] + (t < 16 ? h[t] * 1000 : 0); if (g[i] != w && bad++ < 9) printf("tx %d: %d want %d\n", i, g[i], w); } printf("tx %d\n", bad); }
    { int *a, g[2]; CK(cudaMalloc(&a, 8)); drops<<<2, 128>>>(a); CK(cudaMemcpy(g, a, 8, cudaMemcpyDeviceToHost)); bad += g[0] != 6 || g[1] != 6; printf("drops %d\n", bad); }
    printf(bad ? "FAILED\n" : "PASSED\n"); return bad != 0;
}

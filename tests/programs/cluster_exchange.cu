// Blocks of a cluster tell each other by st.async, red.async and copies in bulk, as cuda::ptx wraps them; and one
// block is told by all others what it tells nobody.
#include <cuda/ptx>
#include <cuda/barrier>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;
#define CK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1);} } while (0)

// each block sends its sum to all others by st.async, and adds its count to rank 0 by red.async
__global__ void __cluster_dims__(4, 1, 1) exchange(const int *in, int *out, unsigned *counts, int n) {
    __shared__ alignas(16) int sums[4];
    __shared__ unsigned total;
    __shared__ unsigned long long total64;
    __shared__ alignas(8) uint64_t bar, bar2;
    __shared__ int block_sum;
    auto cluster = cg::this_cluster();
    unsigned rank = ptx::get_sreg_cluster_ctarank();
    if (threadIdx.x == 0) {
        block_sum = 0; total = 0; total64 = 0;
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_init(&bar2, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += in[i];
    atomicAdd(&block_sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 4 * sizeof(int));
        if (rank == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar2, 4 * (4 + 8));
    }
    cluster.sync();
    if (threadIdx.x < 4) {
        int *there = cluster.map_shared_rank(&sums[rank], threadIdx.x);
        uint64_t *bar_there = cluster.map_shared_rank(&bar, threadIdx.x);
        ptx::st_async(there, block_sum, bar_there);
    }
    if (threadIdx.x == 32) {
        unsigned *there = cluster.map_shared_rank(&total, 0);
        uint64_t *bar_there = cluster.map_shared_rank(&bar2, 0);
        ptx::red_async(ptx::op_add, there, 100u + rank, bar_there);
        unsigned long long *t64 = cluster.map_shared_rank(&total64, 0);
        ptx::red_async(ptx::op_add, (uint64_t*)t64, (uint64_t)1 << (8 * rank), bar_there);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
        if (rank == 0) {
            while (!ptx::mbarrier_try_wait_parity(&bar2, 0)) {}
            counts[blockIdx.x / 4] = total;
            counts[8 + blockIdx.x / 4] = (unsigned)(total64 % 0xffffffffu);
        }
    }
    cluster.sync();
}

// DSMEM copy: bulk copies between blocks of a cluster; vector st.async; then bulk reductions to global memory
__global__ void __cluster_dims__(2, 1, 1) rotate(const int4 *in, int4 *out, int *sum) {
    __shared__ alignas(128) int4 a[256], b[256];
    __shared__ alignas(8) uint64_t bar[2];
    unsigned rank = ptx::get_sreg_cluster_ctarank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar[0], 1);
        ptx::mbarrier_init(&bar[1], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    uint64_t state;
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar[1], sizeof(b));
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar[0], sizeof(a));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, a, in + 256 * blockIdx.x, sizeof(a), &bar[0]);
    }
    while (!ptx::mbarrier_test_wait_parity(&bar[0], 0)) {}
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (threadIdx.x == 0) {
        int4 *there = static_cast<int4 *>(__cluster_map_shared_rank(b, rank ^ 1));
        uint64_t *bar_there = static_cast<uint64_t *>(__cluster_map_shared_rank(&bar[1], rank ^ 1));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, there, a, sizeof(a), bar_there);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar[1], 0)) {}
    for (int i = threadIdx.x; i < 256; i += blockDim.x) b[i].x ^= 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 256 * blockIdx.x, b, sizeof(b));
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sum, (const int *)b, 1024);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, sum + 256, (const int *)b, 1024);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_xor_op, (unsigned *)sum + 512, (const unsigned *)b, 1024);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    (void)state;
}

int main() {
    const int n = 5000;
    std::vector<int> h(8192);
    for (int i = 0; i < 8192; i++) h[i] = (i * 37) % 1009 - 300;
    int *in, *out, *sum;
    unsigned *counts;
    CK(cudaMalloc(&in, 8192 * 4)); CK(cudaMalloc(&out, 8192 * 4)); CK(cudaMalloc(&counts, 64)); CK(cudaMalloc(&sum, 768 * 4));
    CK(cudaMemcpy(in, h.data(), 8192 * 4, cudaMemcpyHostToDevice));
    exchange<<<8, 128>>>(in, out, counts, n);
    CK(cudaDeviceSynchronize());
    std::vector<int> o(8192); std::vector<unsigned> c(16);
    CK(cudaMemcpy(o.data(), out, 32, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(c.data(), counts, 64, cudaMemcpyDeviceToHost));
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        int want = 0;
        for (int i = 0; i < n; i++) if (i / 128 % 8 / 4 == k) want += h[i];
        for (int b = 0; b < 4; b++) if (o[4 * k + b] != want) ok = false, printf("sum %d: %d, not %d\n", 4 * k + b, o[4 * k + b], want);
        if (c[k] != 406 || c[8 + k] != 0x01010101u) ok = false, printf("counts %u %x\n", c[k], c[8 + k]);
    }
    CK(cudaMemset(sum, 0, 768 * 4));
    rotate<<<8, 64>>>((int4 *)in, (int4 *)out, sum);
    CK(cudaDeviceSynchronize());
    std::vector<int> s(768);
    CK(cudaMemcpy(o.data(), out, 8192 * 4, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(s.data(), sum, 768 * 4, cudaMemcpyDeviceToHost));
    std::vector<int> w(768);
    for (int b = 0; b < 8; b++)
        for (int i = 0; i < 1024; i++) {
            int v = h[(b ^ 1) * 1024 + i] ^ (i % 4 == 0);
            if (o[b * 1024 + i] != v) ok = false;
            if (i < 256) w[i] += v, w[256 + i] = std::max(w[256 + i], v), w[512 + i] ^= v;
        }
    if (s != w) ok = false, printf("reductions differ\n");
    printf("%s\n", ok ? "PASSED" : "FAILED");
    cudaFree(in); cudaFree(out); cudaFree(counts); cudaFree(sum);
    return !ok;
}

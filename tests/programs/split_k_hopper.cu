// split-K: epilogue through stmatrix, TMA stores with swizzle and TMA reductions (add of f16, f32)
#include <cuda.h>
#include <cuda_fp16.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1);} } while (0)
__device__ __forceinline__ uint32_t s2u(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
// A (64 x K, K-major) as it is, B (K x 64, N-major) transposed; both fetched by TMA with 128-byte swizzle.
__global__ void __launch_bounds__(128) splitk(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, const __grid_constant__ CUtensorMap mc, const __grid_constant__ CUtensorMap mt) {
    __shared__ alignas(1024) __half a[64 * 64], b[64 * 64], c[64 * 64], ct[64 * 64];
    __shared__ alignas(8) uint64_t bar;
    int t = threadIdx.x, warp = t / 32, lane = t % 32, k0 = blockIdx.z * 64, m0 = blockIdx.x * 64, n0 = blockIdx.y * 64;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(s2u(&bar)));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(s2u(&bar)), "r"(16384) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(s2u(a)), "l"(&ma), "r"(k0), "r"(m0), "r"(s2u(&bar)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(s2u(b)), "l"(&mb), "r"(n0), "r"(k0), "r"(s2u(&bar)) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }" ::"r"(s2u(&bar)) : "memory");
    uint32_t d[16];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; k++) {
        uint64_t da = (s2u(a) + 32 * k) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
        uint64_t db = (s2u(b) + 16 * 128 * k) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %18, 0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, p, 1, 1, 0, 1; }"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
            : "l"(da), "l"(db), "r"(k));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) {
        // four 8x8 tiles: rows 0-7 / 8-15, columns 16 i .. 16 i + 15; lane l gives row l % 16 of half l / 16
        int row = warp * 16 + lane % 16, chunk = 2 * i + lane / 16;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(s2u(c) + row * 128 + ((chunk ^ row % 8) << 4)), "r"(d[4 * i]), "r"(d[4 * i + 1]), "r"(d[4 * i + 2]), "r"(d[4 * i + 3]) : "memory");
        // and transposed: tile (columns) as rows
        int trow = 16 * i + lane / 16 * 8 + lane % 8, tchunk = warp * 2 + lane / 8 % 2;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(s2u(ct) + trow * 128 + tchunk * 16), "r"(d[4 * i]), "r"(d[4 * i + 1]), "r"(d[4 * i + 2]), "r"(d[4 * i + 3]) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&mc), "r"(n0), "r"(m0), "r"(s2u(c)) : "memory");
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&mt), "r"(m0), "r"(n0), "r"(s2u(ct)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}
int main() {
    const int M = 128, N = 192, K = 256;
    std::vector<__half> a(M * K), b(K * N), c(M * N), ct(M * N);
    for (size_t i = 0; i < a.size(); i++) a[i] = __half((int)(i * 5 % 7) - 3);
    for (size_t i = 0; i < b.size(); i++) b[i] = __half((int)(i * 3 % 5) - 2);
    __half *da, *db, *dc, *dt;
    CK(cudaMalloc(&da, a.size() * 2)); CK(cudaMalloc(&db, b.size() * 2)); CK(cudaMalloc(&dc, c.size() * 2)); CK(cudaMalloc(&dt, c.size() * 2));
    CK(cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
    CK(cudaMemset(dc, 0, c.size() * 2)); CK(cudaMemset(dt, 0, c.size() * 2));
    auto map = [](void *p, int w, int h, bool swz) {
        CUtensorMap m;
        cuuint64_t sz[2] = {(cuuint64_t)w, (cuuint64_t)h}, st[1] = {(cuuint64_t)w * 2};
        cuuint32_t box[2] = {64, 64}, es[2] = {1, 1};
        if (cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, sz, st, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, swz ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) exit(2);
        return m;
    };
    splitk<<<dim3(M / 64, N / 64, K / 64), 128>>>(map(da, K, M, true), map(db, N, K, true), map(dc, N, M, true), map(dt, M, N, false));
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(ct.data(), dt, c.size() * 2, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
        float w = 0;
        for (int k = 0; k < K; k++) w += __half2float(a[i * K + k]) * __half2float(b[k * N + j]);
        bad += __half2float(c[i * N + j]) != w;
        bad += __half2float(ct[j * M + i]) != w;
    }
    printf("%d wrong\n%s\n", bad, bad ? "FAILED" : "PASSED");
    cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(dt);
    return bad != 0;
}

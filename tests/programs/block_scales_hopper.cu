// In the manner of DeepGEMM: C = A B^T in e4m3, with scales of A for each row and 128 of K, and of B for 128 by 128; clusters of
// two rows of blocks share B by multicast; launched by cuLaunchKernelEx.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#define DG_ASSERT(c) do { if (!(c)) { printf("assert %s:%d %s\n", __FILE__, __LINE__, #c); exit(1); } } while (0)
constexpr int BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 128, kStages = 3;
struct Barrier { uint64_t v; };
__device__ __forceinline__ uint32_t sm(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sm(b)), "r"(n)); }
__device__ __forceinline__ void expect(Barrier *b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sm(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive_at(Barrier *b, uint32_t cta) {
    asm volatile("{.reg .b32 a;\nmapa.shared::cluster.u32 a, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];}" ::"r"(sm(b)), "r"(cta) : "memory");
}
__device__ __forceinline__ void wait(Barrier *b, uint32_t ph) {
    asm volatile("{\n.reg .pred P;\nW:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%0], %1;\n@P bra D;\nbra W;\nD:\n}" ::"r"(sm(b)), "r"(ph) : "memory");
}
__device__ __forceinline__ void tma(void *dst, const CUtensorMap *m, Barrier *b, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(sm(dst)), "l"(m), "r"(sm(b)), "r"(x), "r"(y), "l"(0x1000000000000000ull) : "memory");
}
__device__ __forceinline__ void tma_mc(void *dst, const CUtensorMap *m, Barrier *b, int x, int y, uint16_t mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(sm(dst)), "l"(m), "r"(sm(b)), "r"(x), "r"(y), "h"(mask), "l"(0x1000000000000000ull) : "memory");
}
__device__ __forceinline__ uint64_t desc(void *p) {
    uint64_t d = 0;
    d |= (uint64_t)((sm(p) & 0x3FFFF) >> 4);
    d |= (uint64_t)1 << 16;
    d |= (uint64_t)(1024 >> 4) << 32;
    d |= (uint64_t)1 << 62;
    return d;
}
template <int... I> struct Seq {};
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int scale) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
        "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1;\n}\n"
        : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),
          "+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),
          "+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),
          "+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63])
        : "l"(a), "l"(b), "r"(scale));
}
struct Scheduler {
    int current = -1, mblocks, nblocks;
    __device__ Scheduler(int m, int n) : mblocks(m), nblocks(n) {}
    // The two blocks of a cluster (along y) take neighbouring tiles of M, and the same of N.
    __device__ bool next(int &m, int &n) {
        int t = (++current) * (gridDim.x) + blockIdx.x;
        int pairs = mblocks / 2;
        if (t >= pairs * nblocks) return false;
        n = t / pairs, m = t % pairs * 2 + (int)blockIdx.y % 2;
        return true;
    }
};
__global__ void __launch_bounds__(384, 1) fp8_gemm(__nv_bfloat16 *C, const float *sb, int M, int N, int K,
        const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, const __grid_constant__ CUtensorMap msa) {
    extern __shared__ __align__(1024) uint8_t smem[];
    uint8_t *a[kStages], *b[kStages]; float *sa[kStages];
    for (int s = 0; s < kStages; s++) {
        a[s] = smem + s * 16384; b[s] = smem + (kStages + s) * 16384; sa[s] = (float *)(smem + 2 * kStages * 16384 + s * 512);
    }
    Barrier *full = (Barrier *)(smem + 2 * kStages * 16384 + kStages * 512), *empty = full + kStages;
    int wg = threadIdx.x / 128;
    uint32_t rank; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 256) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&ma));
        for (int s = 0; s < kStages; s++) init(full + s, 1), init(empty + s, 2 * 8);
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
    }
    cooperative_groups::this_cluster().sync();
    Scheduler sched(M / BLOCK_M, N / BLOCK_N);
    int m, n, kblocks = K / BLOCK_K;
    if (wg == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 256) {
            int it = 0;
            while (sched.next(m, n))
                for (int k = 0; k < kblocks; k++, it++) {
                    int s = it % kStages;
                    wait(empty + s, ((it / kStages) & 1) ^ 1);
                    tma(a[s], &ma, full + s, k * BLOCK_K, m * BLOCK_M);
                    tma(sa[s], &msa, full + s, m * BLOCK_M, k);
                    tma_mc(b[s] + rank * 8192, &mb, full + s, k * BLOCK_K, n * BLOCK_N + rank * 64, 3);
                    expect(full + s, 16384 * 2 + 512);
                }
            // nobody may leave while the other block still sends
            for (int s = 0; s < kStages; s++, it++) wait(empty + it % kStages, ((it / kStages) & 1) ^ 1);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        int it = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, r0 = warp * 16 + lane / 4 + wg * 64;
        while (sched.next(m, n)) {
            float final[64] = {0}, acc[64];
            for (int k = 0; k < kblocks; k++, it++) {
                int s = it % kStages;
                float sbk = __ldg(sb + n * kblocks + k);
                wait(full + s, (it / kStages) & 1);
                float s0 = sa[s][r0], s1 = sa[s][r0 + 8];
                for (int i = 0; i < 64; i++) asm volatile("" : "+f"(acc[i])::"memory");
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int kk = 0; kk < 4; kk++) wgmma(acc, desc(a[s] + wg * 8192) + kk * 2, desc(b[s]) + kk * 2, kk);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                for (int i = 0; i < 64; i++) asm volatile("" : "+f"(acc[i])::"memory");
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
                if (lane < 2) arrive_at(empty + s, lane);
                for (int i = 0; i < 16; i++) {
                    final[4 * i] += s0 * sbk * acc[4 * i]; final[4 * i + 1] += s0 * sbk * acc[4 * i + 1];
                    final[4 * i + 2] += s1 * sbk * acc[4 * i + 2]; final[4 * i + 3] += s1 * sbk * acc[4 * i + 3];
                }
            }
            for (int i = 0; i < 16; i++) {
                int col = n * BLOCK_N + i * 8 + lane % 4 * 2;
                *(__nv_bfloat162 *)&C[(size_t)(m * BLOCK_M + r0) * N + col] = __floats2bfloat162_rn(final[4 * i], final[4 * i + 1]);
                *(__nv_bfloat162 *)&C[(size_t)(m * BLOCK_M + r0 + 8) * N + col] = __floats2bfloat162_rn(final[4 * i + 2], final[4 * i + 3]);
            }
        }
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;");
}
static CUtensorMap map(CUtensorMapDataType t, void *p, uint64_t cols, uint64_t rows, uint64_t pitch, uint32_t bc, uint32_t br, CUtensorMapSwizzle sw) {
    static PFN_cuTensorMapEncodeTiled_v12000 enc = nullptr;
    if (!enc) { cudaDriverEntryPointQueryResult q; DG_ASSERT(!cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&enc, 12000, cudaEnableDefault, &q) && enc); }
    CUtensorMap m; cuuint64_t d[2] = {cols, rows}, s[1] = {pitch}; cuuint32_t b[2] = {bc, br}, e[2] = {1, 1};
    DG_ASSERT(enc(&m, t, 2, p, d, s, b, e, CU_TENSOR_MAP_INTERLEAVE_NONE, sw, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return m;
}
int main() {
    const int M = 512, N = 384, K = 512;
    std::vector<__nv_fp8_e4m3> A(M * K), B(N * K); std::vector<float> SA(K / 128 * M), SB(N / 128 * (K / 128));
    srand(5);
    auto rnd = [] { return (rand() % 2001 - 1000) / 500.f; };
    for (auto &x : A) x = __nv_fp8_e4m3(rnd()); for (auto &x : B) x = __nv_fp8_e4m3(rnd());
    for (auto &x : SA) x = 0.5f + (rand() % 100) / 100.f; for (auto &x : SB) x = 0.5f + (rand() % 100) / 100.f;
    void *dA, *dB; float *dSA, *dSB; __nv_bfloat16 *dC;
    cudaMalloc(&dA, M * K); cudaMalloc(&dB, N * K); cudaMalloc(&dSA, SA.size() * 4); cudaMalloc(&dSB, SB.size() * 4); cudaMalloc(&dC, M * N * 2);
    cudaMemcpy(dA, A.data(), M * K, cudaMemcpyHostToDevice); cudaMemcpy(dB, B.data(), N * K, cudaMemcpyHostToDevice);
    cudaMemcpy(dSA, SA.data(), SA.size() * 4, cudaMemcpyHostToDevice); cudaMemcpy(dSB, SB.data(), SB.size() * 4, cudaMemcpyHostToDevice);
    auto ma = map(CU_TENSOR_MAP_DATA_TYPE_UINT8, dA, K, M, K, 128, 128, CU_TENSOR_MAP_SWIZZLE_128B);
    auto mb = map(CU_TENSOR_MAP_DATA_TYPE_UINT8, dB, K, N, K, 128, 64, CU_TENSOR_MAP_SWIZZLE_128B);
    auto ms = map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, dSA, M, K / 128, M * 4, 128, 1, CU_TENSOR_MAP_SWIZZLE_NONE);
    int smem = 2 * kStages * 16384 + kStages * 512 + 2 * kStages * 8;
    CUfunction f; DG_ASSERT(!cudaGetFuncBySymbol((cudaFunction_t *)&f, (void *)fp8_gemm));
    DG_ASSERT(!cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, smem));
    CUlaunchAttribute at[1]; at[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION; at[0].value.clusterDim = {1, 2, 1};
    CUlaunchConfig c = {}; c.gridDimX = 3; c.gridDimY = 2; c.gridDimZ = 1; c.blockDimX = 384; c.blockDimY = c.blockDimZ = 1; c.sharedMemBytes = smem; c.attrs = at; c.numAttrs = 1;
    int m = M, n = N, k = K; void *args[] = {&dC, &dSB, &m, &n, &k, &ma, &mb, &ms};
    DG_ASSERT(!cuLaunchKernelEx(&c, f, args, nullptr));
    DG_ASSERT(!cudaDeviceSynchronize());
    std::vector<__nv_bfloat16> C(M * N); cudaMemcpy(C.data(), dC, M * N * 2, cudaMemcpyDeviceToHost);
    double worst = 0; int bad = 0;
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
        double s = 0, mag = 0;
        for (int b = 0; b < K / 128; b++) { double t = 0, ta = 0; for (int q = b * 128; q < b * 128 + 128; q++) { double v = double(float(A[i * K + q])) * float(B[j * K + q]); t += v; ta += fabs(v); }
            s += t * SA[b * M + i] * SB[j / 128 * (K / 128) + b]; mag += ta * SA[b * M + i] * SB[j / 128 * (K / 128) + b]; }
        double e = fabs(s - __bfloat162float(C[i * N + j]));
        if (e > fabs(s) / 200 + mag * 1e-3) bad++; if (e > worst) worst = e;
    }
    printf("worst %g bad %d\n%s\n", worst, bad, bad ? "FAILED" : "PASSED");
    cudaFree(dA); cudaFree(dB); cudaFree(dSA); cudaFree(dSB); cudaFree(dC);
    return bad != 0;
}

// Stream-K by hand on Hopper: persistent blocks share all k-iterations evenly; partial tiles go through a workspace, by
// flags with release and acquire. Ping-pong: two consumer groups take turns tile by tile, ordered by named barriers.
// Its second kernel adds a bias, launched early (programmatic dependent launch), waits by griddepcontrol.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda/ptx>
#include <cuda/barrier>
#include <cuda/atomic>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)
namespace ptx = cuda::ptx;
constexpr int TM = 64, TN = 128, TK = 64, STAGES = 4;
using half4 = __half;
struct __align__(1024) Shared {
    __half a[STAGES][TM * TK];
    __half b[STAGES][TN * TK];
    __half c[2][TM * TN];
    uint64_t full[STAGES], empty[STAGES];
};
struct Work { int tile, k0, k1; };
__device__ Work work_of(int &at, int end, int kt) {
    Work w{at / kt, at % kt, 0};
    w.k1 = min(kt, w.k0 + end - at);
    at += w.k1 - w.k0;
    return w;
}
__device__ __forceinline__ uint32_t s2u(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mma(float (&d)[64], uint64_t da, uint64_t db) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
        "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;\n"
        : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),
          "+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),
          "+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),
          "+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63])
        : "l"(da), "l"(db));
}
__device__ __forceinline__ uint64_t desc(const void *p) { return (uint64_t)((s2u(p) & 0x3FFFF) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__global__ void __launch_bounds__(384, 1) stream_k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb,
        const __grid_constant__ CUtensorMap mc, float *workspace, unsigned *flags, int tiles_n, int tiles, int kt) {
    extern __shared__ uint8_t raw[];
    Shared &s = *(Shared *)(((uintptr_t)raw + 1023) / 1024 * 1024);
    int wg = threadIdx.x / 128, total = tiles * kt;
    int begin = (int)((long long)total * blockIdx.x / gridDim.x), end = (int)((long long)total * (blockIdx.x + 1) / gridDim.x);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) { ptx::mbarrier_init(&s.full[i], 1); ptx::mbarrier_init(&s.empty[i], 1); }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    asm volatile("griddepcontrol.launch_dependents;");
    if (wg == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            int it = 0;
            for (int at = begin; at < end;) {
                Work w = work_of(at, end, kt);
                for (int k = w.k0; k < w.k1; k++, it++) {
                    int st = it % STAGES;
                    while (!ptx::mbarrier_try_wait_parity(&s.empty[st], ((it / STAGES) & 1) ^ 1)) {}
                    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.full[st], (TM + TN) * TK * 2);
                    const int32_t ca[2] = {k * TK, w.tile / tiles_n * TM}, cb[2] = {k * TK, w.tile % tiles_n * TN};
                    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.a[st], &ma, ca, &s.full[st]);
                    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.b[st], &mb, cb, &s.full[st]);
                }
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    int me = wg - 1, t = threadIdx.x % 128, warp = t / 32, lane = t % 32, turn = 0, it = 0;
    if (me == 0) asm volatile("bar.arrive 2, 256;");   // the first may begin: as if the other had passed the turn on
    for (int at = begin; at < end; turn++) {
        Work w = work_of(at, end, kt);
        if (turn % 2 != me) { it += w.k1 - w.k0; continue; }
        // my turn at the tensor cores, in order: barrier 2 + me is mine
        asm volatile("bar.sync %0, 256;" ::"r"(3 - me == 3 ? 2 : 3) : "memory");
        float acc[64];
        for (int i = 0; i < 64; i++) acc[i] = 0;
        for (int k = w.k0; k < w.k1; k++, it++) {
            int st = it % STAGES;
            while (!ptx::mbarrier_try_wait_parity(&s.full[st], (it / STAGES) & 1)) {}
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int kk = 0; kk < 4; kk++) mma(acc, desc(s.a[st]) + kk * 2, desc(s.b[st]) + kk * 2);
            asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (t == 0) ptx::mbarrier_arrive(&s.empty[st]);
        }
        asm volatile("bar.arrive %0, 256;" ::"r"(3 - me == 3 ? 3 : 2) : "memory");  // the other's turn
        bool is_first = w.k0 == 0, is_last = w.k1 == kt;
        float *mine = workspace + (size_t)blockIdx.x * TM * TN;
        if (!is_first) {  // the tile's first block puts the sums together
            for (int i = 0; i < 64; i++) mine[i * 128 + t] = acc[i];
            asm volatile("bar.sync %0, 128;" ::"r"(4 + me) : "memory");
            if (t == 0) { cuda::atomic_ref<unsigned, cuda::thread_scope_device> f(flags[blockIdx.x]); f.store(1, cuda::memory_order_release); }
            continue;
        }
        if (!is_last) {
            int covered = w.k1, other = blockIdx.x + 1;
            while (covered < kt) {
                if (t == 0) { cuda::atomic_ref<unsigned, cuda::thread_scope_device> f(flags[other]); while (!f.load(cuda::memory_order_acquire)) __nanosleep(20); }
                asm volatile("bar.sync %0, 128;" ::"r"(4 + me) : "memory");
                float *theirs = workspace + (size_t)other * TM * TN;
                for (int i = 0; i < 64; i++) acc[i] += __ldcg(theirs + i * 128 + t);
                int b = (int)((long long)total * other / gridDim.x), e = (int)((long long)total * (other + 1) / gridDim.x);
                covered += min(e - b, kt - covered), other++;
            }
        }
        // epilogue: stmatrix into the swizzled tile, TMA store of two boxes of 64 columns
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
        asm volatile("bar.sync %0, 128;" ::"r"(4 + me) : "memory");
        for (int j = 0; j < 16; j += 2) {
            uint32_t r[4];
            for (int q = 0; q < 4; q++) { __half2 h = __floats2half2_rn(acc[(j + q / 2) * 4 + q % 2 * 2], acc[(j + q / 2) * 4 + q % 2 * 2 + 1]); r[q] = *(uint32_t *)&h; }
            int row = warp * 16 + lane % 16, col = j + lane / 16, half = col / 8;
            uint32_t to = s2u(s.c[me]) + half * 8192 + row * 128 + ((col % 8) ^ (row % 8)) * 16;
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
        }
        ptx::fence_proxy_async(ptx::space_shared);
        asm volatile("bar.sync %0, 128;" ::"r"(4 + me) : "memory");
        if (t == 0) {
            for (int h = 0; h < 2; h++) {
                const int32_t c[2] = {w.tile % tiles_n * TN + h * 64, w.tile / tiles_n * TM};
                ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &mc, c, s.c[me] + h * 4096);
            }
            ptx::cp_async_bulk_commit_group();
        }
    }
    if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}
__global__ void bias(__half *c, const __half *b, int n, int count) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) c[i] = __hadd(c[i], b[i % n]);
}
static CUtensorMap map(void *p, uint64_t cols, uint64_t rows, uint32_t bc, uint32_t br) {
    CUtensorMap m; cuuint64_t d[2] = {cols, rows}, st[1] = {cols * 2}; cuuint32_t b[2] = {bc, br}, e[2] = {1, 1};
    if (cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, d, st, b, e, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) exit(4);
    return m;
}
int main() {
    const int M = 192, N = 384, K = 448, blocks = 7;
    std::vector<__half> A(M * K), B(N * K), C(M * N), bs(N);
    srand(3);
    for (auto &x : A) x = __float2half((rand() % 17 - 8) / 8.f);
    for (auto &x : B) x = __float2half((rand() % 17 - 8) / 8.f);
    for (auto &x : bs) x = __float2half((rand() % 17 - 8) / 2.f);
    __half *a, *b, *c, *bb; float *w; unsigned *f;
    CK(cudaMalloc(&a, M * K * 2)); CK(cudaMalloc(&b, N * K * 2)); CK(cudaMalloc(&c, M * N * 2)); CK(cudaMalloc(&bb, N * 2));
    CK(cudaMalloc(&w, blocks * TM * TN * 4)); CK(cudaMalloc(&f, blocks * 4)); CK(cudaMemset(f, 0, blocks * 4));
    CK(cudaMemcpy(a, A.data(), M * K * 2, cudaMemcpyHostToDevice)); CK(cudaMemcpy(b, B.data(), N * K * 2, cudaMemcpyHostToDevice)); CK(cudaMemcpy(bb, bs.data(), N * 2, cudaMemcpyHostToDevice));
    CUtensorMap ma = map(a, K, M, 64, TM), mb = map(b, K, N, 64, TN), mc = map(c, N, M, 64, TM);
    int smem = sizeof(Shared) + 1024;
    CK(cudaFuncSetAttribute(stream_k, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    stream_k<<<blocks, 384, smem>>>(ma, mb, mc, w, f, N / TN, M / TM * (N / TN), K / TK);
    cudaLaunchConfig_t cfg = {}; cfg.gridDim = 12; cfg.blockDim = 256;
    cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; at[0].val.programmaticStreamSerializationAllowed = 1;
    cfg.attrs = at; cfg.numAttrs = 1;
    CK(cudaLaunchKernelEx(&cfg, bias, c, (const __half *)bb, N, M * N));
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(C.data(), c, M * N * 2, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
        double s = 0; for (int k = 0; k < K; k++) s += double(__half2float(A[i * K + k])) * __half2float(B[j * K + k]);
        s = __half2float(__float2half((float)s)) + __half2float(bs[j]);
        if (fabs(s - __half2float(C[i * N + j])) > 0.02 + fabs(s) / 500 && bad++ < 5) printf("%d %d: %g, not %g\n", i, j, __half2float(C[i * N + j]), s);
    }
    printf("bad %d\n%s\n", bad, bad ? "FAILED" : "PASSED");
    return bad != 0;
}

// FlashAttention-3-like forward: one producer warp group, two consumer groups that take turns, softmax in registers,
// P in registers as A of the second wgmma, V transposed in shared memory.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#define CK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1);} } while (0)
constexpr int D = 64, BM = 128, BN = 64, STAGES = 2;
struct alignas(1024) Smem {
    __half q[BM * D];
    __half k[STAGES][BN * D];
    __half v[STAGES][BN * D];
    uint64_t q_full, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
};
__device__ __forceinline__ uint32_t s2u(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void bar_init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(s2u(b)), "r"(n)); }
__device__ __forceinline__ void bar_tx(uint64_t *b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(s2u(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_arrive(uint64_t *b) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(s2u(b)) : "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t *b, uint32_t ph) {
    asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT: \n\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2;\n\t@P1 bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}" ::"r"(s2u(b)), "r"(ph), "r"(0x989680) : "memory");
}
__device__ __forceinline__ bool elect_one() {
    uint32_t pred = 0, laneid = 0;
    asm volatile("{\n .reg .b32 %%rx;\n .reg .pred %%px;\n elect.sync %%rx|%%px, %2;\n @%%px mov.s32 %1, 1;\n mov.s32 %0, %%rx;\n}\n" : "+r"(laneid), "+r"(pred) : "r"(0xffffffff));
    return pred;
}
__device__ __forceinline__ void tma3(void *dst, const CUtensorMap *m, uint64_t *bar, int x, int y, int z) {
    uint64_t hint = 0x14F0000000000000ull;
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;"
                 ::"r"(s2u(dst)), "l"((uint64_t)m), "r"(s2u(bar)), "r"(x), "r"(y), "r"(z), "l"(hint) : "memory");
}
__device__ __forceinline__ uint64_t desc(const void *p, int lbo, int sbo) {
    uint64_t d = 0;
    d |= (uint64_t)((s2u(p) & 0x3FFFF) >> 4);
    d |= (uint64_t)((lbo & 0x3FFFF) >> 4) << 16;
    d |= (uint64_t)((sbo & 0x3FFFF) >> 4) << 32;
    d |= 1llu << 62;
    return d;
}
#define R8(b) "+f"(c[b]), "+f"(c[b + 1]), "+f"(c[b + 2]), "+f"(c[b + 3]), "+f"(c[b + 4]), "+f"(c[b + 5]), "+f"(c[b + 6]), "+f"(c[b + 7])
#define DREGS "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
__device__ __forceinline__ void wg_ss(float (&c)[32], uint64_t a, uint64_t b, int scale_d) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " DREGS ", %32, %33, p, 1, 1, 0, 0;\n}\n"
                 : R8(0), R8(8), R8(16), R8(24) : "l"(a), "l"(b), "r"(scale_d));
}
__device__ __forceinline__ void wg_rs(float (&c)[32], const uint32_t (&a)[4], uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " DREGS ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;\n"
                 : R8(0), R8(8), R8(16), R8(24) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
template <int N> __device__ __forceinline__ void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void wg_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void named_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void named_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

__global__ void __launch_bounds__(384, 1)
fwd(const __grid_constant__ CUtensorMap mq, const __grid_constant__ CUtensorMap mk, const __grid_constant__ CUtensorMap mv, __half *out, float *lse, int n, float scale_log2) {
    extern __shared__ __align__(1024) uint8_t raw[];
    Smem &s = *reinterpret_cast<Smem *>(raw);
    int wg = threadIdx.x / 128, head = blockIdx.y, m0 = blockIdx.x * BM;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&mq) : "memory");
        bar_init(&s.q_full, 1);
        for (int i = 0; i < STAGES; i++) {
            bar_init(&s.k_full[i], 1); bar_init(&s.v_full[i], 1);
            bar_init(&s.k_empty[i], 2); bar_init(&s.v_empty[i], 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    int blocks = (n + BN - 1) / BN;
    if (wg == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
        if (warp == 0 && elect_one()) {
            bar_tx(&s.q_full, sizeof(s.q));
            tma3(s.q, &mq, &s.q_full, 0, m0, head);
            for (int j = 0; j < blocks; j++) {
                int st = j % STAGES, ph = j / STAGES & 1;
                bar_wait(&s.k_empty[st], ph ^ 1);
                bar_tx(&s.k_full[st], BN * D * 2);
                tma3(s.k[st], &mk, &s.k_full[st], 0, j * BN, head);
                bar_wait(&s.v_empty[st], ph ^ 1);
                bar_tx(&s.v_full[st], BN * D * 2);
                tma3(s.v[st], &mv, &s.v_full[st], 0, j * BN, head);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        int c = wg - 1, t = threadIdx.x % 128, lane = t % 32;
        float o[32], m[2] = {-INFINITY, -INFINITY}, l[2] = {0, 0};
        for (int i = 0; i < 32; i++) o[i] = 0;
        if (c == 1) named_arrive(2, 256);   // group 0 goes first
        bar_wait(&s.q_full, 0);
        for (int j = 0; j < blocks; j++) {
            int st = j % STAGES, ph = j / STAGES & 1;
            float x[32];
            bar_wait(&s.k_full[st], ph);
            named_sync(2 + c, 256);
            wg_arrive();
            for (int k = 0; k < D / 16; k++)
                wg_ss(x, desc(s.q + c * 64 * D, 0, 1024) + 2 * k, desc(s.k[st], 0, 1024) + 2 * k, k > 0);
            wg_commit();
            named_arrive(2 + (1 - c), 256);
            wg_wait<0>();
            if (t == 0) bar_arrive(&s.k_empty[st]);
            for (int i = 0; i < 32; i++) {
                int col = j * BN + i / 4 * 8 + lane % 4 * 2 + i % 2;
                if (col >= n) x[i] = -INFINITY;
            }
            for (int h = 0; h < 2; h++) {
                float mx = m[h];
                for (int i = 0; i < 32; i++) if (i / 2 % 2 == h) mx = fmaxf(mx, x[i]);
                mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 1));
                mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 2));
                float f = exp2f((m[h] - mx) * scale_log2), sum = 0;
                for (int i = 0; i < 32; i++) if (i / 2 % 2 == h) { x[i] = exp2f((x[i] - mx) * scale_log2); sum += x[i]; o[i] *= f; }
                l[h] = l[h] * f + sum;
                m[h] = mx;
            }
            bar_wait(&s.v_full[st], ph);
            wg_arrive();
            for (int k = 0; k < BN / 16; k++) {
                uint32_t a[4];
                for (int r = 0; r < 4; r++) {
                    __half2 p = __floats2half2_rn(x[8 * k + 2 * r], x[8 * k + 2 * r + 1]);
                    a[r] = *reinterpret_cast<uint32_t *>(&p);
                }
                wg_rs(o, a, desc(s.v[st] + 16 * k * D, 0, 1024));
            }
            wg_commit();
            wg_wait<0>();
            if (t == 0) bar_arrive(&s.v_empty[st]);
        }
        if (c == 0) named_sync(2, 256);
        for (int h = 0; h < 2; h++) {
            l[h] += __shfl_xor_sync(~0u, l[h], 1);
            l[h] += __shfl_xor_sync(~0u, l[h], 2);
            int row = m0 + c * 64 + t / 32 * 16 + lane / 4 + 8 * h;
            if (row < n) {
                if (lane % 4 == 0) lse[head * n + row] = m[h] * scale_log2 * 0.69314718f + logf(l[h]);
                for (int i = 0; i < 32; i += 2)
                    if (i / 2 % 2 == h)
                        *reinterpret_cast<__half2 *>(&out[((size_t)head * n + row) * D + i / 4 * 8 + lane % 4 * 2]) = __floats2half2_rn(o[i] / l[h], o[i + 1] / l[h]);
            }
        }
    }
}
static CUtensorMap make(void *p, int n, int heads, int rows) {
    CUtensorMap m;
    cuuint64_t sz[3] = {D, (cuuint64_t)n, (cuuint64_t)heads}, st[2] = {D * 2, (cuuint64_t)n * D * 2};
    cuuint32_t box[3] = {D, (cuuint32_t)rows, 1}, es[3] = {1, 1, 1};
    if (cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, p, sz, st, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) exit(3);
    return m;
}
int main() {
    const int n = 200, heads = 2;
    size_t count = (size_t)n * heads * D;
    std::vector<__half> h[3];
    __half *d[3], *out; float *lse;
    for (int w = 0; w < 3; w++) {
        h[w].resize(count);
        for (size_t i = 0; i < count; i++) h[w][i] = __float2half(((i * (2654435761u + 40503u * w) >> 7) % 2001) / 1000.f - 1.f);
        CK(cudaMalloc(&d[w], count * 2));
        CK(cudaMemcpy(d[w], h[w].data(), count * 2, cudaMemcpyHostToDevice));
    }
    CK(cudaMalloc(&out, count * 2)); CK(cudaMalloc(&lse, n * heads * 4));
    CUtensorMap q = make(d[0], n, heads, BM), k = make(d[1], n, heads, BN), v = make(d[2], n, heads, BN);
    CK(cudaFuncSetAttribute(fwd, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Smem)));
    float scale = 1.f / sqrtf(D);
    fwd<<<dim3((n + BM - 1) / BM, heads), 384, sizeof(Smem)>>>(q, k, v, out, lse, n, scale * 1.44269504f);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    std::vector<__half> o(count); std::vector<float> L(n * heads);
    CK(cudaMemcpy(o.data(), out, count * 2, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(L.data(), lse, L.size() * 4, cudaMemcpyDeviceToHost));
    double worst = 0, worst_l = 0;
    for (int hd = 0; hd < heads; hd++)
        for (int i = 0; i < n; i++) {
            std::vector<double> p(n);
            double mx = -1e30, sum = 0;
            for (int j = 0; j < n; j++) {
                double x = 0;
                for (int e = 0; e < D; e++) x += (double)__half2float(h[0][((size_t)hd * n + i) * D + e]) * __half2float(h[1][((size_t)hd * n + j) * D + e]);
                p[j] = x * scale; mx = fmax(mx, p[j]);
            }
            for (int j = 0; j < n; j++) sum += p[j] = exp(p[j] - mx);
            worst_l = fmax(worst_l, fabs(L[hd * n + i] - (mx + log(sum))));
            for (int e = 0; e < D; e++) {
                double x = 0;
                for (int j = 0; j < n; j++) x += p[j] / sum * __half2float(h[2][((size_t)hd * n + j) * D + e]);
                worst = fmax(worst, fabs(x - __half2float(o[((size_t)hd * n + i) * D + e])));
            }
        }
    printf("worst %g, of lse %g\n", worst, worst_l);
    bool ok = worst < 2e-3 && worst_l < 2e-3;
    printf("%s\n", ok ? "PASSED" : "FAILED");
    for (int w = 0; w < 3; w++) cudaFree(d[w]);
    cudaFree(out); cudaFree(lse);
    return !ok;
}

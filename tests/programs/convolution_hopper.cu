// Implicit GEMM convolution: im2col TMA of NHWC images, wgmma tf32 / bf16, filter by tiled TMA of 3 dimensions
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1);} } while (0)
constexpr int N = 2, H = 9, W = 7, C = 64, K = 32, R = 3, S = 3, P = H, Q = W;   // padding 1, stride 1
__device__ __forceinline__ uint32_t s2u(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__global__ void __launch_bounds__(128) conv(const __grid_constant__ CUtensorMap mx, const __grid_constant__ CUtensorMap mf, float *y) {
    __shared__ alignas(1024) __nv_bfloat16 a[2][64 * 64], b[2][K * 64];
    __shared__ alignas(8) uint64_t bar[2];
    int t = threadIdx.x, first = blockIdx.x * 64;   // output pixel
    int n0 = first / (P * Q), h0 = first / Q % P, w0 = first % Q;
    if (t == 0) { for (auto &x : bar) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(s2u(&x))); asm volatile("fence.mbarrier_init.release.cluster;"); }
    __syncthreads();
    auto issue = [&](int i) {
        int r = i / S, s = i % S, st = i & 1;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(s2u(&bar[st])), "r"((64 + K) * 128) : "memory");
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                     ::"r"(s2u(a[st])), "l"(&mx), "r"(0), "r"(w0 - 1), "r"(h0 - 1), "r"(n0), "r"(s2u(&bar[st])), "h"((uint16_t)s), "h"((uint16_t)r) : "memory");
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                     ::"r"(s2u(b[st])), "l"(&mf), "r"(0), "r"(0), "r"(i), "r"(s2u(&bar[st])) : "memory");
    };
    if (t == 0) issue(0);
    float d[16];
    for (auto &x : d) x = 0;
    for (int i = 0; i < R * S; i++) {
        if (t == 0 && i + 1 < R * S) issue(i + 1);
        asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra E;\nbra L;\nE:\n}" ::"r"(s2u(&bar[i & 1])), "r"(i >> 1 & 1) : "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint64_t da = ((uint64_t)s2u(a[i & 1]) + 32 * k) >> 4 & 0x3fff | 1ull << 16 | 64ull << 32 | 1ull << 62;
            uint64_t db = ((uint64_t)s2u(b[i & 1]) + 32 * k) >> 4 & 0x3fff | 1ull << 16 | 64ull << 32 | 1ull << 62;
            asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, 1, 1, 1, 0, 0;"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                : "l"(da), "l"(db));
        }
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int i = 0; i < 16; i++) {
        int p = first + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, k = i / 4 * 8 + t % 4 * 2 + i % 2;
        if (p < N * P * Q) y[p * K + k] = d[i];
    }
}
int main() {
    std::vector<__nv_bfloat16> x(N * H * W * C), f(R * S * K * C);
    std::vector<float> y(N * P * Q * K);
    for (size_t i = 0; i < x.size(); i++) x[i] = __float2bfloat16((int)(i * 7 % 11) - 5);
    for (size_t i = 0; i < f.size(); i++) f[i] = __float2bfloat16((int)(i * 5 % 7) - 3);
    __nv_bfloat16 *dx, *df; float *dy;
    CK(cudaMalloc(&dx, x.size() * 2)); CK(cudaMalloc(&df, f.size() * 2)); CK(cudaMalloc(&dy, y.size() * 4));
    CK(cudaMemcpy(dx, x.data(), x.size() * 2, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(df, f.data(), f.size() * 2, cudaMemcpyHostToDevice));
    CUtensorMap mx, mf;
    cuuint64_t sx[4] = {C, W, H, N}, tx[3] = {C * 2, W * C * 2, H * W * C * 2};
    cuuint32_t ex[4] = {1, 1, 1, 1};
    int lower[2] = {-1, -1}, upper[2] = {-1, -1};
    if (cuTensorMapEncodeIm2col(&mx, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, dx, sx, tx, lower, upper, C, 64, ex, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) return 2;
    cuuint64_t sf[3] = {C, K, R * S}, tf[2] = {C * 2, K * C * 2};
    cuuint32_t bf[3] = {C, K, 1};
    if (cuTensorMapEncodeTiled(&mf, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, df, sf, tf, bf, ex, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) return 2;
    conv<<<(N * P * Q + 63) / 64, 128>>>(mx, mf, dy);
    CK(cudaGetLastError()); CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int n = 0; n < N; n++) for (int p = 0; p < P; p++) for (int q = 0; q < Q; q++) for (int k = 0; k < K; k++) {
        float v = 0;
        for (int r = 0; r < R; r++) for (int s = 0; s < S; s++) {
            int h = p + r - 1, w = q + s - 1;
            if (h < 0 || h >= H || w < 0 || w >= W) continue;
            for (int c = 0; c < C; c++) v += __bfloat162float(x[((n * H + h) * W + w) * C + c]) * __bfloat162float(f[((r * S + s) * K + k) * C + c]);
        }
        bad += y[((n * P + p) * Q + q) * K + k] != v;
    }
    printf("%d wrong\n%s\n", bad, bad ? "FAILED" : "PASSED");
    cudaFree(dx); cudaFree(df); cudaFree(dy);
    return bad != 0;
}

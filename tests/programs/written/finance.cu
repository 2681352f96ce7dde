// Black-Scholes, a quasirandom generator, Monte Carlo with its own generator; unified memory with advice and prefetch.
#include <cstdio>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <chrono>
#include <vector>
#include <numeric>
#include "helper.h"
#define QRNG_DIMENSIONS 3
#define QRNG_RESOLUTION 31
#define INT_SCALE (1.0f / (float)0x80000001U)
static __constant__ unsigned int c_Table[QRNG_DIMENSIONS][QRNG_RESOLUTION];
__device__ __constant__ double d_rate = 0.02;
__device__ inline float cndGPU(float d) { const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f, R = 0.39894228040143267793994605993438f; float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d))); float cnd = R * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5))))); if (d > 0) cnd = 1.0f - cnd; return cnd; }
__launch_bounds__(128) __global__ void BlackScholesGPU(float2 *__restrict d_Call, float2 *__restrict d_Put, const float2 *__restrict S, const float2 *__restrict X, const float2 *__restrict T, float R, float V, int optN) {
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    auto body = [&](float &call, float &put, float s, float x, float t) { float sq = __fsqrt_rn(t), d1 = __fdividef(__logf(s / x) + (R + 0.5f * V * V) * t, V * sq), d2 = d1 - V * sq, n1 = cndGPU(d1), n2 = cndGPU(d2), e = __expf(-R * t); call = s * n1 - x * e * n2; put = x * e * (1.0f - n2) - s * (1.0f - n1); };
    if (opt < optN / 2) { float c1, c2, p1, p2; body(c1, p1, S[opt].x, X[opt].x, T[opt].x); body(c2, p2, S[opt].y, X[opt].y, T[opt].y); d_Call[opt] = make_float2(c1, c2); d_Put[opt] = make_float2(p1, p2); }
}
__global__ void quasirandom(float *out, unsigned seed, unsigned N) { unsigned *table = &c_Table[threadIdx.y][0]; for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < N; pos += blockDim.x * gridDim.x) { unsigned result = 0, data = seed + pos; for (int bit = 0; bit < QRNG_RESOLUTION; bit++, data >>= 1) if (data & 1) result ^= table[bit]; out[__umul24(threadIdx.y, N) + pos] = (float)(result + 1) * INT_SCALE; } }
struct Philox { uint4 ctr; uint2 key; __device__ uint4 next() { uint4 c = ctr; uint2 k = key; for (int i = 0; i < 10; i++) { unsigned h0 = __umulhi(0xD2511F53, c.x), l0 = 0xD2511F53 * c.x, h1 = __umulhi(0xCD9E8D57, c.z), l1 = 0xCD9E8D57 * c.z; c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0); k.x += 0x9E3779B9; k.y += 0xBB67AE85; } if (!++ctr.x) ++ctr.y; return c; } };
__global__ void monte_carlo(double *sum, unsigned long long *inside, int paths, float S, float X, float T, float V) {
    Philox g{make_uint4(0, 0, blockIdx.x * blockDim.x + threadIdx.x, 0), make_uint2(1234, 5678)};
    double mine = 0; unsigned count = 0; float mu = ((float)d_rate - 0.5f * V * V) * T, vs = V * sqrtf(T);
    for (int i = 0; i < paths; i += 2) { uint4 r = g.next(); float u1 = (r.x + 1.0f) * 2.3283064e-10f, u2 = r.y * 2.3283064e-10f, n0, n1, m = sqrtf(-2 * logf(u1)); sincospif(2 * u2, &n1, &n0); float p0 = S * expf(mu + vs * m * n0) - X, p1 = S * expf(mu + vs * m * n1) - X; mine += fmaxf(p0, 0) + fmaxf(p1, 0); float x = r.z * 2.3283064e-10f, y = r.w * 2.3283064e-10f; count += x * x + y * y <= 1; }
    __shared__ double s[256]; __shared__ unsigned n; if (!threadIdx.x) n = 0; s[threadIdx.x] = mine; __syncthreads();
    atomicAdd_block(&n, count);
    for (int w = blockDim.x / 2; w; w >>= 1) { __syncthreads(); if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w]; }
    __syncthreads(); if (!threadIdx.x) { atomicAdd(sum, s[0]); atomicAdd(inside, (unsigned long long)n); }
}
static double cnd(double d) { return 0.5 * erfc(-d / sqrt(2.0)); }
int main(int argc, const char **argv) {
    int device = 0, n = 200000, iterations = 64; cudaDeviceProp prop; checkCudaErrors(cudaGetDevice(&device)); checkCudaErrors(cudaGetDeviceProperties(&prop, device));
    printf("%s, managed %d, concurrent %d, %d multiprocessors\n", prop.name, prop.managedMemory, prop.concurrentManagedAccess, prop.multiProcessorCount);
    float *S, *X, *T, *C, *P; for (float **p : {&S, &X, &T, &C, &P}) checkCudaErrors(cudaMallocManaged((void **)p, n * sizeof(float)));
    unsigned state = 5347; auto rnd = [&](float lo, float hi) { state = state * 1664525u + 1013904223u; return lo + (hi - lo) * (state >> 8) / 16777216.f; };
    for (int i = 0; i < n; i++) { S[i] = rnd(5, 30); X[i] = rnd(1, 100); T[i] = rnd(.25f, 10); }
    cudaMemLocation on = {cudaMemLocationTypeDevice, device}, host = {cudaMemLocationTypeHost, 0};
    checkCudaErrors(cudaMemAdvise(S, n * 4, cudaMemAdviseSetReadMostly, on)); checkCudaErrors(cudaMemAdvise(C, n * 4, cudaMemAdviseSetPreferredLocation, on)); checkCudaErrors(cudaMemAdvise(P, n * 4, cudaMemAdviseSetAccessedBy, host));
    for (float *p : {S, X, T}) checkCudaErrors(cudaMemPrefetchAsync(p, n * 4, on, 0, 0));
    checkCudaErrors(cudaDeviceSynchronize());
    auto begin = std::chrono::high_resolution_clock::now();
    for (int i = 0; i < iterations; i++) BlackScholesGPU<<<(n / 2 + 127) / 128, 128>>>((float2 *)C, (float2 *)P, (float2 *)S, (float2 *)X, (float2 *)T, 0.02f, 0.30f, n);
    checkCudaErrors(cudaDeviceSynchronize());
    double t = std::chrono::duration<double>(std::chrono::high_resolution_clock::now() - begin).count() / iterations;
    printf("BlackScholesGPU() time    : %f msec\nEffective memory bandwidth: %f GB/s\n", 1e3 * t, n * 5 * 4e-9 / t);
    checkCudaErrors(cudaMemPrefetchAsync(C, n * 4, host, 0, 0)); checkCudaErrors(cudaDeviceSynchronize());
    double worst = 0; for (int i = 0; i < n; i++) { double sq = sqrt(T[i]), d1 = (log((double)S[i] / X[i]) + (.02 + .045) * T[i]) / (.3 * sq), d2 = d1 - .3 * sq, e = exp(-.02 * T[i]); double c = S[i] * cnd(d1) - X[i] * e * cnd(d2), p = X[i] * e * cnd(-d2) - S[i] * cnd(-d1); worst = fmax(worst, fmax(fabs(c - C[i]), fabs(p - P[i]))); }
    unsigned table[QRNG_DIMENSIONS][QRNG_RESOLUTION]; for (int d = 0; d < QRNG_DIMENSIONS; d++) for (int b = 0; b < QRNG_RESOLUTION; b++) table[d][b] = d ? (0x40000000u >> b) ^ (b >= d ? table[d][b - d] >> (2 * d) : 0) : 0x40000000u >> b;
    checkCudaErrors(cudaMemcpyToSymbol(c_Table, table, sizeof table)); int N = 1 << 14; float *q; checkCudaErrors(cudaMalloc(&q, QRNG_DIMENSIONS * N * 4)); checkCudaErrors(cudaMemset(q, 0, QRNG_DIMENSIONS * N * 4));
    quasirandom<<<32, dim3(128, QRNG_DIMENSIONS)>>>(q, 0, N); std::vector<float> h(QRNG_DIMENSIONS * N); checkCudaErrors(cudaMemcpy(h.data(), q, h.size() * 4, cudaMemcpyDeviceToHost));
    bool ok = worst < 1e-3; for (int d = 0; d < QRNG_DIMENSIONS; d++) for (int i = 0; i < N; i++) { unsigned r = 0; for (int b = 0; b < 31; b++) if (i >> b & 1) r ^= table[d][b]; ok = ok && h[d * N + i] == (float)(r + 1) * INT_SCALE; }
    double *sum; unsigned long long *inside; checkCudaErrors(cudaMallocManaged(&sum, 8)); checkCudaErrors(cudaMallocManaged(&inside, 8)); *sum = 0; *inside = 0; int paths = 256;
    monte_carlo<<<64, 256>>>(sum, inside, paths, 20, 22, 2, .3f); checkCudaErrors(cudaDeviceSynchronize());
    double many = 64. * 256 * paths, price = exp(-.02 * 2) * *sum / many, sq = sqrt(2.), d1 = (log(20. / 22) + .065 * 2) / (.3 * sq), want = 20 * cnd(d1) - 22 * exp(-.04) * cnd(d1 - .3 * sq), pi = 4. * *inside / (many / 2);
    printf("Monte Carlo %.4f for %.4f, pi %.5f, worst %.2e\n", price, want, pi, worst); ok = ok && fabs(price - want) < .02 && fabs(pi - M_PI) < 5e-3;
    for (float *p : {S, X, T, C, P}) cudaFree(p); cudaFree(q); cudaFree(sum); cudaFree(inside);
    printf(ok ? "Test passed\n" : "Test failed!\n"); return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

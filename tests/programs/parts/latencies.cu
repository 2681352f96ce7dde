// Chains of dependent loads, by the clock of the device and by events: cycles a load of each, level by level.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <numeric>
#include <algorithm>
#include <random>
__global__ void chase(const unsigned *next, unsigned *out, long long *took, int loads, int warm) {
    unsigned at = 0; for (int i = 0; i < warm; i++) at = next[at];
    long long t = clock64();
#pragma unroll 1
    for (int i = 0; i < loads; i += 16) {
#pragma unroll
        for (int k = 0; k < 16; k++) at = next[at];
    }
    long long e = clock64(); *took = e - t + (at == 0xffffffff); *out = at;
}
__global__ void shared_chase(unsigned *out, long long *took, int loads) {
    __shared__ unsigned next[1024]; for (int i = 0; i < 1024; i++) next[i] = (i + 33) & 1023; unsigned at = 0; long long t = clock64();
#pragma unroll 1
    for (int i = 0; i < loads; i += 16) {
#pragma unroll
        for (int k = 0; k < 16; k++) at = next[at];
    }
    *took = clock64() - t; *out = at;
}
int main() {
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int khz; cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    unsigned *out; long long *took, h; cudaMalloc(&out, 4); cudaMalloc(&took, 8); cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    struct { const char *name; size_t words, stride; } levels[] = {{"L1", 2048, 32}, {"L2", 1 << 19, 64}, {"DRAM", 1u << 26, 1 << 14}};
    for (auto &l : levels) {
        size_t n = l.words / l.stride; std::vector<unsigned> order(n), next(l.words); std::iota(order.begin(), order.end(), 0); std::shuffle(order.begin() + 1, order.end(), std::mt19937(1)); for (size_t i = 0; i < n; i++) next[order[i] * l.stride] = order[(i + 1) % n] * l.stride;
        unsigned *d; cudaMalloc(&d, l.words * 4); cudaMemcpy(d, next.data(), l.words * 4, cudaMemcpyHostToDevice);
        int warm = l.name[0] == 'D' ? 0 : (int)n; float ms[2];
        for (int r = 0; r < 2; r++) { int loads = r ? 2112 : 64; if (l.name[0] == 'D') loads = r ? 2112 : 64; chase<<<1, 1>>>(d, out, took, 64, warm); cudaDeviceSynchronize(); cudaMemcpy(&h, took, 8, cudaMemcpyDeviceToHost); cudaEventRecord(a); chase<<<1, 1>>>(d, out, took, loads, warm); cudaEventRecord(b); cudaEventSynchronize(b); cudaEventElapsedTime(&ms[r], a, b); long long g; cudaMemcpy(&g, took, 8, cudaMemcpyDeviceToHost); if (r) printf("%-6s clock64 %.1f of 64, %.1f of 2112; events %.1f cycles a load\n", l.name, h / 64.0, g / 2112.0, (ms[1] - ms[0]) * khz / 2048); }
        cudaFree(d);
    }
    float ms[2]; for (int r = 0; r < 2; r++) { int loads = r ? 40960 + 64 : 64; cudaEventRecord(a); shared_chase<<<1, 1>>>(out, took, loads); cudaEventRecord(b); cudaEventSynchronize(b); cudaEventElapsedTime(&ms[r], a, b); cudaMemcpy(&h, took, 8, cudaMemcpyDeviceToHost); if (r) printf("%-6s clock64 %.1f; events %.1f cycles a load\n", "shared", h / (double)loads, (ms[1] - ms[0]) * khz / 40960); }
}

// What device code reads from its clocks: chains of loads at each level, a spin, and the time of a barrier.
#include "check.h"
#include <vector>
__global__ void chase(const unsigned *next, int before, int steps, long long *cycles, unsigned *last) {
    unsigned at = 0;
    for (int i = 0; i < before; i++) at = next[at];  // brings lines into the L1
    unsigned begin_at = at;
    at = 0;
    long long begin = clock64();
    for (int i = 0; i < steps; i++) at = next[at];
    *last = at;  // the last value is there
    __threadfence();
    *cycles = (clock64() - begin) / steps;
    *last += begin_at;
}
__global__ void shared_chase(int steps, long long *cycles, unsigned *last) {
    __shared__ unsigned next[64];
    for (int i = 0; i < 64; i++) next[i] = (i + 1) % 64;
    unsigned at = 0;
    long long begin = clock64();
    for (int i = 0; i < steps; i++) at = next[at];
    *last = at;
    __threadfence();
    *cycles = (clock64() - begin) / steps;
}
__global__ void spin(long long cycles, long long *took) {
    long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
    *took = clock64() - begin;
}
__global__ void timer(long long cycles, long long *took) {
    unsigned long long begin, end;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    long long from = clock64();
    while (clock64() - from < cycles) {
    }
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
    *took = end - begin;
}
__global__ void wait_for_the_slowest(long long *took) {  // warp 0 spins before the barrier, and the others wait
    long long begin = clock64();
    if (threadIdx.x < 32)
        while (clock64() - begin < 20000) {
        }
    __syncthreads();
    if (threadIdx.x == 96) *took = clock64() - begin;
}
static long long *found;
static long long read() {
    long long host = -1;
    if (cudaMemcpy(&host, found, sizeof host, cudaMemcpyDeviceToHost)) host = -2;
    return host;
}
static long long chased(size_t bytes, size_t stride, int before, int steps) {
    unsigned *next, *last;
    size_t count = bytes / sizeof(unsigned), by = stride / sizeof(unsigned);
    std::vector<unsigned> host(count);
    for (size_t i = 0; i < count; i++) host[i] = (unsigned)((i + by) % count);
    CHECK(cudaMalloc(&next, bytes));
    CHECK(cudaMalloc(&last, sizeof(unsigned)));
    CHECK(cudaMemcpy(next, host.data(), bytes, cudaMemcpyHostToDevice));
    chase<<<1, 1>>>(next, before, steps, found, last);
    long long took = read();
    CHECK(cudaFree(next));
    CHECK(cudaFree(last));
    return took;
}
int main() {
    CHECK(cudaMalloc(&found, sizeof *found));
    unsigned *last;
    CHECK(cudaMalloc(&last, sizeof(unsigned)));
    printf("l1 %lld\n", chased(8 << 10, 128, 64, 500));
    printf("l2 %lld\n", chased(4 << 20, 4096 + 128, 0, 500));
    printf("memory %lld\n", chased(256 << 20, (512 << 10) + 128, 0, 500));
    shared_chase<<<1, 1>>>(500, found, last);
    printf("shared %lld\n", read());
    cudaEvent_t a, b;
    float milliseconds;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    CHECK(cudaEventRecord(a));
    spin<<<1, 1>>>(1000000, found);
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    CHECK(cudaEventElapsedTime(&milliseconds, a, b));
    printf("spin %lld\nevent %.0f\n", read(), milliseconds * 1e6);
    timer<<<1, 1>>>(1000000, found);
    printf("timer %lld\n", read());
    wait_for_the_slowest<<<1, 128>>>(found);
    printf("barrier %lld\n", read());
    CHECK(cudaFree(found));
    CHECK(cudaFree(last));
    return answer(true);
}

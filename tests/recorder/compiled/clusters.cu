// Blocks of a cluster that read each other's shared memory and meet, as often as asked: chase RANK STEPS, meet THREADS
// TIMES.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

// One thread follows a chain of indices through the shared memory of the block of a rank.
__global__ void __cluster_dims__(4, 1, 1) chase(int* out, int rank, int steps) {
    __shared__ int chain[32];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 32) chain[threadIdx.x] = (threadIdx.x * 5 + 3) % 32;
    cluster.sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        int* there = cluster.map_shared_rank(chain, rank);
        int at = 0;
        for (int i = 0; i < steps; i++) at = there[at];
        out[0] = at;
    }
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) meet(int* out, int times, bool relaxed) {
    for (int i = 0; i < times; i++) {
        if (relaxed)
            asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
        else
            asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
    out[blockIdx.x] = times;
}

int main(int argc, char** argv) {
    int* out;
    cudaMalloc(&out, 64);
    for (int i = 1; i + 2 < argc; i += 3) {
        int first = atoi(argv[i + 1]), times = atoi(argv[i + 2]);
        if (!strcmp(argv[i], "chase")) chase<<<4, 32>>>(out, first, times);
        if (!strcmp(argv[i], "meet")) meet<<<2, first>>>(out, times, false);
        if (!strcmp(argv[i], "relaxed")) meet<<<2, first>>>(out, times, true);
    }
    cudaDeviceSynchronize();
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

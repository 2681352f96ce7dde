// Tiles of several warps, which keep what they share in the system's part of shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;
__global__ void k(int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<128>(block);
    int v = threadIdx.x * 3 + 1;
    int s = cg::reduce(tile, v, cg::plus<int>());
    int b = tile.shfl(v, 77);
    tile.sync();
    int any = tile.any(v == 1), all = tile.all(v > 0);
    int sc = cg::inclusive_scan(tile, v);
    int *o = out + threadIdx.x * 5; o[0] = s; o[1] = b; o[2] = any; o[3] = all; o[4] = sc;
}
int main() {
    int *d; cudaMalloc(&d, 512 * 5 * 4); k<<<1, 512>>>(d); std::vector<int> h(512 * 5); cudaError_t e = cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost);
    int bad = e != cudaSuccess;
    for (int i = 0; i < 512; i++) { int t = i / 128, s = 0, sc = 0; for (int j = t * 128; j < t * 128 + 128; j++) { s += 3 * j + 1; if (j <= i) sc += 3 * j + 1; }
        int w[5] = {s, (t * 128 + 77) * 3 + 1, t == 0, 1, sc}; for (int q = 0; q < 5; q++) if (h[i * 5 + q] != w[q] && bad++ < 5) printf("%d %d: %d want %d\n", i, q, h[i * 5 + q], w[q]); }
    if (e) printf("%s\n", cudaGetErrorString(e));
    printf(bad ? "FAILED\n" : "PASSED\n");
    return bad != 0;
}

// An exclusive scan of any length: blocks by Blelloch's tree, their sums by recursion of the host.
#include "check.h"
#include <vector>
const int BLOCK = 128;
__global__ void scan_blocks(const int *in, int *out, int *sums, int n) {
    __shared__ int tree[2 * BLOCK];
    int t = threadIdx.x, base = 2 * BLOCK * blockIdx.x;
    tree[t] = base + t < n ? in[base + t] : 0;
    tree[t + BLOCK] = base + t + BLOCK < n ? in[base + t + BLOCK] : 0;
    int offset = 1;
    for (int d = BLOCK; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    }
    if (t == 0) { sums[blockIdx.x] = tree[2 * BLOCK - 1]; tree[2 * BLOCK - 1] = 0; }
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) { int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, k = tree[a]; tree[a] = tree[b]; tree[b] += k; }
    }
    __syncthreads();
    if (base + t < n) out[base + t] = tree[t];
    if (base + t + BLOCK < n) out[base + t + BLOCK] = tree[t + BLOCK];
}
__global__ void add_sums(int *out, const int *sums, int n) {
    int i = 2 * BLOCK * blockIdx.x + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
    if (i + BLOCK < n) out[i + BLOCK] += sums[blockIdx.x];
}
static void scan(const int *in, int *out, int n) {
    int blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK), *sums, *scanned;
    CHECK(cudaMallocAsync(&sums, blocks * sizeof(int), 0));
    scan_blocks<<<blocks, BLOCK>>>(in, out, sums, n);
    if (blocks > 1) {
        CHECK(cudaMallocAsync(&scanned, blocks * sizeof(int), 0));
        scan(sums, scanned, blocks);
        add_sums<<<blocks, BLOCK>>>(out, scanned, n);
        CHECK(cudaFreeAsync(scanned, 0));
    }
    CHECK(cudaFreeAsync(sums, 0));
}
int main() {
    const int n = 3001;
    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = i % 13 - 4;
    int *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    scan(d_in, d_out, n);
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0, sum = 0; i < n; sum += in[i++]) right = right && out[i] == sum;
    CHECK(cudaFree(d_in)); CHECK(cudaFree(d_out));
    return answer(right);
}

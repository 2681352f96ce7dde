// Bitonic sort: of blocks in shared memory first, then across blocks.
#include "check.h"
#include <algorithm>
#include <vector>
__global__ void in_shared(unsigned *keys) {
    __shared__ unsigned own[256];
    unsigned t = threadIdx.x, base = blockIdx.x * 256;
    own[t] = keys[base + t];
    for (unsigned size = 2; size <= 256; size *= 2)
        for (unsigned stride = size / 2; stride; stride /= 2) {
            __syncthreads();
            unsigned other = t ^ stride;
            bool up = ((base + t) & size) == 0;
            if (other > t && (own[t] > own[other]) == up) { unsigned k = own[t]; own[t] = own[other]; own[other] = k; }
        }
    __syncthreads();
    keys[base + t] = own[t];
}
__global__ void across(unsigned *keys, unsigned size, unsigned stride) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ stride;
    if (other > i && (keys[i] > keys[other]) == ((i & size) == 0)) { unsigned k = keys[i]; keys[i] = keys[other]; keys[other] = k; }
}
int main() {
    const unsigned n = 1024;
    std::vector<unsigned> keys(n), wanted;
    for (unsigned i = 0; i < n; i++) keys[i] = (i * 2654435761u) >> 7;
    wanted = keys;
    std::sort(wanted.begin(), wanted.end());
    unsigned *device;
    CHECK(cudaMalloc(&device, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(device, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    in_shared<<<n / 256, 256>>>(device);
    for (unsigned size = 512; size <= n; size *= 2)
        for (unsigned stride = size / 2; stride; stride /= 2) across<<<n / 256, 256>>>(device, size, stride);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(keys.data(), device, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    return answer(keys == wanted);
}

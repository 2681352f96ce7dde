// A histogram: of each block in shared memory, of all by atomics; dynamic shared memory, pinned memory of the host.
#include "check.h"
extern __shared__ unsigned bins[];
__global__ void histogram(const unsigned char *values, int count, unsigned *result, int size) {
    for (int i = threadIdx.x; i < size; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[values[i] % size], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x) atomicAdd(&result[i], bins[i]);
}
int main() {
    const int count = 5000, size = 64;
    unsigned char *values, *d_values;
    unsigned *d_result, result[size], wanted[size] = {0};
    CHECK(cudaMallocHost((void **)&values, count));
    for (int i = 0; i < count; i++) { values[i] = (i * i + 3 * i) % 251; wanted[values[i] % size]++; }
    CHECK(cudaMalloc(&d_values, count));
    CHECK(cudaMalloc(&d_result, sizeof result));
    CHECK(cudaMemset(d_result, 0, sizeof result));
    CHECK(cudaMemcpyAsync(d_values, values, count, cudaMemcpyHostToDevice, 0));
    histogram<<<4, 128, size * sizeof(unsigned)>>>(d_values, count, d_result, size);
    CHECK(cudaMemcpy(result, d_result, sizeof result, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < size; i++) right = right && result[i] == wanted[i];
    CHECK(cudaFreeHost(values)); CHECK(cudaFree(d_values)); CHECK(cudaFree(d_result));
    return answer(right);
}

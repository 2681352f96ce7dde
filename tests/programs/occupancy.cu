// How many blocks of a kernel fit on a multiprocessor, over threads and bytes of dynamic shared memory.
#include "check.h"

__global__ void reversed(float *values, float factor) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = factor * tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
    CHECK(cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reversed));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("registers %d, reserved %zu\n", attributes.numRegs, properties.reservedSharedMemPerBlock);
    bool right = true;
    for (int threads : {32, 48, 96, 256, 1000}) {
        for (int bytes : {0, 4096, 12289, 24576, 24577, 33664, 61440}) {
            int blocks = 0;
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reversed, threads, bytes));
            printf("%d %d %d\n", threads, bytes, blocks);
            size_t room = 0;
            if (blocks) CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, reversed, blocks, threads));
            right = right && room >= (blocks ? bytes : 0);
        }
    }

    const int n = 32;
    float *values;
    CHECK(cudaMallocManaged(&values, n * sizeof(float)));
    for (int i = 0; i < n; ++i) values[i] = i;
    reversed<<<1, n, n * sizeof(float)>>>(values, 2.0f);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) right = right && values[i] == 2.0f * (n - 1 - i);
    return answer(right);
}

// Memory filled by the driver's interface beside the runtime's, as CUTLASS's headers do: by bytes, halves and words.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <vector>
#include "check.h"

// What a kernel finds there.
__global__ void copy(const char *from, char *to) { to[blockIdx.x * 256 + threadIdx.x] = from[blockIdx.x * 256 + threadIdx.x]; }

int main() {
    const int BYTES = 4096, PITCH = 256;
    char *device;
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMemset(device, 0xEE, BYTES));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CUdeviceptr at = (CUdeviceptr)device;
    int wrong = 0;
    wrong += cuMemsetD8(at + 1, 0x5A, 100) != CUDA_SUCCESS;
    wrong += cuMemsetD16(at + 200, 0x1234, 50) != CUDA_SUCCESS;
    wrong += cuMemsetD32(at + 400, 0xDEADBEEF, 25) != CUDA_SUCCESS;
    wrong += cuMemsetD8Async(at + 600, 7, 3, stream) != CUDA_SUCCESS;
    wrong += cuMemsetD16Async(at + 610, 0xABCD, 3, stream) != CUDA_SUCCESS;
    wrong += cuMemsetD32Async(at + 620, 42, 3, stream) != CUDA_SUCCESS;
    wrong += cuMemsetD2D8(at + 1024, PITCH, 9, 5, 3) != CUDA_SUCCESS;
    wrong += cuMemsetD2D16(at + 1024 + 16, PITCH, 0x0A0B, 5, 3) != CUDA_SUCCESS;
    wrong += cuMemsetD2D32(at + 1024 + 64, PITCH, 77, 5, 3) != CUDA_SUCCESS;
    wrong += cuMemsetD2D32Async(at + 2048, PITCH, 78, 2, 2, stream) != CUDA_SUCCESS;
    wrong += cuMemsetD32(at + 3000, 1, 0) != CUDA_SUCCESS;                     // nothing to fill
    wrong += cuMemsetD32(at + 3001, 1, 4) != CUDA_ERROR_INVALID_VALUE;         // no word begins there
    wrong += cuMemsetD2D16(at + 3000, 129, 1, 2, 2) != CUDA_ERROR_INVALID_VALUE;
    CHECK(cudaStreamSynchronize(stream));
    std::vector<unsigned char> found(BYTES), expected(BYTES, 0xEE);
    char *copied;
    CHECK(cudaMalloc(&copied, BYTES));
    copy<<<BYTES / 256, 256>>>(device, copied);
    CHECK(cudaMemcpy(found.data(), copied, BYTES, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(copied));
    auto fill = [&](int from, uint32_t value, int size, int count) {
        for (int i = 0; i < size * count; i++) expected[from + i] = value >> 8 * (i % size);
    };
    fill(1, 0x5A, 1, 100), fill(200, 0x1234, 2, 50), fill(400, 0xDEADBEEF, 4, 25);
    fill(600, 7, 1, 3), fill(610, 0xABCD, 2, 3), fill(620, 42, 4, 3);
    for (int row = 0; row < 3; row++) {
        fill(1024 + row * PITCH, 9, 1, 5), fill(1024 + 16 + row * PITCH, 0x0A0B, 2, 5), fill(1024 + 64 + row * PITCH, 77, 4, 5);
        if (row < 2) fill(2048 + row * PITCH, 78, 4, 2);
    }
    for (int i = 0; i < BYTES; i++)
        if (found[i] != expected[i] && wrong++ < 5) printf("byte %d: %d, not %d\n", i, found[i], expected[i]);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}

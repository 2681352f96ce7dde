// The product of two n x n matrices, by sub-blocks of SUB_BLOCK x SUB_BLOCK in shared memory; a thread computes an
// element.

#include "device.cuh"

extern "C" __global__ void multiply(const float* a, const float* b, float* product, int n)
{
    SHARED(float, left, SUB_BLOCK * SUB_BLOCK);
    SHARED(float, right, SUB_BLOCK * SUB_BLOCK);
    int row = blockIdx.y * SUB_BLOCK + threadIdx.y, column = blockIdx.x * SUB_BLOCK + threadIdx.x;
    int here = threadIdx.y * SUB_BLOCK + threadIdx.x;
    float sum = 0.0f;

    for (int k0 = 0; k0 < n; k0 += SUB_BLOCK) {
        int along = k0 + threadIdx.x, down = k0 + threadIdx.y;
        float from_a = 0.0f, from_b = 0.0f;  // beyond the edges
        if (row < n && along < n) from_a = LD_ASYNC(a, row * n + along);
        if (down < n && column < n) from_b = LD_ASYNC(b, down * n + column);
        JOIN();
        STS(left, here, from_a);
        STS(right, here, from_b);
        SYNC();
        for (int k = 0; k < SUB_BLOCK; ++k) {
            float x = LDS(left, threadIdx.y * SUB_BLOCK + k), y = LDS(right, k * SUB_BLOCK + threadIdx.x);
            OP(2);
            sum += x * y;
        }
        SYNC();
    }
    if (row < n && column < n) ST(product, row * n + column, sum);
}

// The sum of two vectors, an element a thread.

#include "device.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = LD_ASYNC(a, i), y = LD_ASYNC(b, i);
    JOIN();
    OP(1);
    ST(c, i, x + y);
}

// x1 = x1 + A y1 and x2 = x2 + A^T y2, an element of x1 or x2 a thread. The vectors and A may overlap, for all a
// compiler knows, so the sum is stored in each step: x1[i] += a[i * n + j] * y1[j].

#include "device.cuh"

extern "C" __global__ void rows(float* a, float* x1, float* y1, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float sum = SUM_IN_MEMORY ? 0.0f : LD(x1, i);
    for (int j = 0; j < n; ++j) {
        float x = LD_ASYNC(a, i * n + j), y = LD_ASYNC(y1, j);
        JOIN();
        if (SUM_IN_MEMORY) sum = LD(x1, i);
        OP(2);
        sum += x * y;  // of a row
        ST(x1, i, sum);
    }
}

extern "C" __global__ void columns(float* a, float* x2, float* y2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float sum = SUM_IN_MEMORY ? 0.0f : LD(x2, i);
    for (int j = 0; j < n; ++j) {
        float x = LD_ASYNC(a, j * n + i), y = LD_ASYNC(y2, j);
        JOIN();
        if (SUM_IN_MEMORY) sum = LD(x2, i);
        OP(2);
        sum += x * y;  // of a column
        ST(x2, i, sum);
    }
}

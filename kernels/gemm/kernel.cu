// C = alpha A B + beta C, an element a thread. A, B and C may overlap, for all a compiler knows, so the sum is stored
// in each step: c[i * n + j] += alpha * a[i * n + k] * b[k * n + j].

#include "device.cuh"

extern "C" __global__ void gemm(float* a, float* b, float* c, float alpha, float beta, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;

    float sum = LD(c, i * n + j);
    OP(1);
    sum *= beta;
    ST(c, i * n + j, sum);
    for (int k = 0; k < n; ++k) {
        float x = LD_ASYNC(a, i * n + k), y = LD_ASYNC(b, k * n + j);
        JOIN();
        if (SUM_IN_MEMORY) sum = LD(c, i * n + j);
        OP(3);
        sum += alpha * x * y;
        ST(c, i * n + j, sum);
    }
}

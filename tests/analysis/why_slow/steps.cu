// A small field, step by step: each step is a launch of its own.
#include <cstdio>

__global__ void step(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

int main()
{
    const int n = 4096;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    cudaMemset(b, 0, n * sizeof(float));
    for (int k = 0; k < 60; ++k) {
        step<<<n / 128, 128>>>(a, b, n);
        float* t = a;
        a = b;
        b = t;
    }
    cudaDeviceSynchronize();
    printf("PASSED\n");
}

// A stream of three arrays, timed again and again: what it prints is no more than memory gives.
#include <cstdio>
#include <cstdlib>

__global__ void add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv)
{
    int n = 1 << (argc > 1 ? atoi(argv[1]) : 12);
    float *a, *b, *c;
    cudaMalloc(&a, 4l * n);
    cudaMalloc(&b, 4l * n);
    cudaMalloc(&c, 4l * n);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int trial = 0; trial < 3; trial++) {
        cudaEventRecord(begin);
        add<<<(n + 255) / 256, 256>>>(a, b, c, n);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, begin, end);
        printf("%.1f GB/s\n", 12e-6 * n / milliseconds);
    }
    printf(cudaGetLastError() == cudaSuccess ? "PASSED\n" : "FAILED\n");
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

// The program that raw.csv, details.csv and traces/measured/h100_sxm_counters.csv were exported from, on an H100:
// nvcc -arch=sm_90a, then ncu --set full --clock-control none -o FILE, and ncu -i FILE --csv --page raw and --page details.
#include <cstdio>
#include <cuda_runtime.h>
#include "../../../../simtmm/validation/compiled/ladder.cu"

__global__ void transpose_naive(const float* in, float* out, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

template <int PAD>
__global__ void transpose_tile(const float* in, float* out, int n) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void strided(const float* x, float* y, int stride, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(long long)i * stride % n];
}

__global__ void gather(const float* x, const int* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[at[i]];
}

__global__ void scatter(const float* x, const int* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[at[i]] = x[i];
}

__global__ void fill_int(int* at, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] = (i * 2654435761u) % n;
}

int main() {
    int n = 1024, m = 1 << 22, *at;
    float *a, *b, *c;
    unsigned* u;
    cudaMalloc(&a, m * 4);
    cudaMalloc(&b, m * 4);
    cudaMalloc(&c, m * 4);
    cudaMalloc(&at, m * 4);
    cudaMalloc(&u, m * 4);
    cudaMemset(a, 0, m * 4);
    cudaMemset(b, 0, m * 4);
    cudaMemset(u, 0, m * 4);
    dim3 g16(n / 16, n / 16), b16(16, 16), g32(n / 32, n / 32), b32(32, 8);
    fill_int<<<m / 256, 256>>>(at, m);
    saxpy<<<m / 256, 256>>>(a, b, 2.f, m);
    strided<<<m / 256, 256>>>(a, b, 2, m);
    strided<<<m / 256, 256>>>(a, b, 8, m);
    strided<<<m / 256, 256>>>(a, b, 32, m);
    gather<<<m / 256, 256>>>(a, at, b, m);
    scatter<<<m / 256, 256>>>(a, at, b, m);
    transpose_naive<<<g16, b16>>>(a, b, n);
    transpose_tile<0><<<g32, b32>>>(a, b, n);
    transpose_tile<1><<<g32, b32>>>(a, b, n);
    sum_divergent<<<m / 512, 512>>>((unsigned*)a, u);
    sum_compact<<<m / 512, 512>>>((unsigned*)a, u);
    sum_sequential<<<m / 512, 512>>>((unsigned*)a, u);
    product<<<g16, b16>>>(a, b, c, n);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

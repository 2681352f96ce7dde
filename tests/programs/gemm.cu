// C = alpha A B + beta C, tile by tile through shared memory.
#include "check.h"
#include <vector>
template <typename T, int TILE>
__global__ void gemm(int n, T alpha, const T *a, const T *b, T beta, T *c) {
    __shared__ T left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int k = 0; k < n; k += TILE) {
        left[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 50;
    std::vector<double> a(n * n), b(n * n), c(n * n), wanted(n * n);
    for (int i = 0; i < n * n; i++) { a[i] = i % 7; b[i] = i % 5 - 2; c[i] = i % 3; }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            wanted[i * n + j] = 1.5 * sum + 0.5 * c[i * n + j];
        }
    double *d_a, *d_b, *d_c;
    size_t bytes = n * n * sizeof(double);
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc((void **)&d_c, bytes));
    CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_c, c.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    gemm<double, 16><<<grid, block>>>(n, 1.5, d_a, d_b, 0.5, d_c);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n * n; i++) right = right && close_to(c[i], wanted[i]);
    cudaFree(d_a); cudaFree(d_b); cudaFree(d_c);
    return answer(right);
}

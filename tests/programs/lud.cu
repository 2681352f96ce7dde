// LU decomposition without pivots, column by column; and a launch that is refused, whose error is seen and forgotten.
#include "check.h"
#include <vector>
__global__ void scale(double *a, int n, int k) {
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i * n + k] /= a[k * n + k];
}
__global__ void update(double *a, int n, int k) {
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
int main() {
    const int n = 24;
    std::vector<double> a(n * n), lu(n * n);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] = (i == j ? 2.0 * n : 0) + (i * 3 + j) % 7;
    double *device;
    CHECK(cudaMalloc(&device, n * n * sizeof(double)));
    CHECK(cudaMemcpy(device, a.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    scale<<<1, 4096>>>(device, n, 0);
    cudaError_t refused = cudaPeekAtLastError(), seen = cudaGetLastError(), forgotten = cudaGetLastError();
    bool right = refused == cudaErrorInvalidValue && seen == refused && forgotten == cudaSuccess;
    if (!right) printf("4096 threads: %s, %s, %s\n", cudaGetErrorName(refused), cudaGetErrorName(seen), cudaGetErrorName(forgotten));
    for (int k = 0; k < n - 1; k++) {
        scale<<<1, 32>>>(device, n, k);
        update<<<dim3(2, 2), dim3(16, 16)>>>(device, n, k);
    }
    CHECK(cudaMemcpy(lu.data(), device, n * n * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k <= std::min(i, j); k++) sum += (k == i ? 1 : lu[i * n + k]) * lu[k * n + j];
            if (close_to(sum, a[i * n + j], 1e-9)) continue;
            if (right) printf("at %d, %d: %.17g, not %.17g\n", i, j, sum, a[i * n + j]);
            right = false;
        }
    CHECK(cudaFree(device));
    return answer(right);
}

// Conjugate gradients on a sparse matrix in CSR: products with the matrix, dot products by shuffles.
#include "check.h"
#include <vector>
__global__ void spmv(int n, const int *first, const int *column, const double *value, const double *x, double *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    double sum = 0;
    for (int k = first[row]; k < first[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}
__global__ void dot(int n, const double *a, const double *b, double *sum) {
    double own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += a[i] * b[i];
    for (int by = 16; by; by /= 2) own += __shfl_down_sync(0xffffffff, own, by);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}
__global__ void axpby(int n, double a, const double *x, double b, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + b * y[i];
}
struct Device {
    double *data;
    explicit Device(size_t n) { CHECK(cudaMalloc(&data, n * sizeof(double))); CHECK(cudaMemset(data, 0, n * sizeof(double))); }
    ~Device() { cudaFree(data); }
};
int main() {
    const int n = 200, blocks = (n + 63) / 64;
    std::vector<int> first{0}, column; std::vector<double> value, b(n), x(n);
    for (int i = 0; i < n; i++) {
        for (int j : {i - 15, i - 1, i, i + 1, i + 15}) if (j >= 0 && j < n) { column.push_back(j); value.push_back(i == j ? 5.0 : -1.0); }
        first.push_back(column.size());
        b[i] = 1 + i % 3;
    }
    int *d_first, *d_column; double *d_value, *d_sum, host;
    CHECK(cudaMalloc(&d_first, first.size() * sizeof(int))); CHECK(cudaMalloc(&d_column, column.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_value, value.size() * sizeof(double))); CHECK(cudaMalloc(&d_sum, sizeof(double)));
    CHECK(cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_column, column.data(), column.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_value, value.data(), value.size() * sizeof(double), cudaMemcpyHostToDevice));
    Device r(n), p(n), q(n), solution(n);
    CHECK(cudaMemcpy(r.data, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p.data, r.data, n * sizeof(double), cudaMemcpyDeviceToDevice));
    auto dot_of = [&](Device &u, Device &v) {
        CHECK(cudaMemset(d_sum, 0, sizeof(double)));
        dot<<<2, 64>>>(n, u.data, v.data, d_sum);
        CHECK(cudaMemcpy(&host, d_sum, sizeof host, cudaMemcpyDeviceToHost));
        return host;
    };
    double rr = dot_of(r, r);
    for (int i = 0; i < 40 && rr > 1e-16; i++) {
        spmv<<<blocks, 64>>>(n, d_first, d_column, d_value, p.data, q.data);
        double alpha = rr / dot_of(p, q);
        axpby<<<blocks, 64>>>(n, alpha, p.data, 1, solution.data);
        axpby<<<blocks, 64>>>(n, -alpha, q.data, 1, r.data);
        double next = dot_of(r, r);
        axpby<<<blocks, 64>>>(n, 1, r.data, next / rr, p.data);
        rr = next;
    }
    CHECK(cudaMemcpy(x.data(), solution.data, n * sizeof(double), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++) { double sum = -b[i]; for (int k = first[i]; k < first[i + 1]; k++) sum += value[k] * x[column[k]]; worst = fmax(worst, fabs(sum)); }
    cudaFree(d_first); cudaFree(d_column); cudaFree(d_value); cudaFree(d_sum);
    printf("residual %g\n", worst);
    return answer(worst < 1e-6);
}

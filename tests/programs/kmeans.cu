// K means: points go to their nearest centre, centres to the middle of their points, some rounds long.
#include "check.h"
#include <vector>
const int DIMENSIONS = 3;
__global__ void assign(const float *points, const float *centres, int *owner, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float nearest = 3.4e38f;
    for (int c = 0; c < k; c++) {
        float distance = 0;
        for (int d = 0; d < DIMENSIONS; d++) { float by = points[d * n + i] - centres[c * DIMENSIONS + d]; distance += by * by; }
        if (distance < nearest) { nearest = distance; owner[i] = c; }
    }
}
__global__ void gather(const float *points, const int *owner, float *sums, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&counts[owner[i]], 1);
    for (int d = 0; d < DIMENSIONS; d++) atomicAdd(&sums[owner[i] * DIMENSIONS + d], points[d * n + i]);
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 300, k = 4;
    std::vector<float> points(n * DIMENSIONS), centres(k * DIMENSIONS), sums(k * DIMENSIONS);
    std::vector<int> owner(n), counts(k);
    for (int i = 0; i < n; i++) for (int d = 0; d < DIMENSIONS; d++) points[d * n + i] = 10 * (i % k) + (i * 7 + d) % 3;
    for (int c = 0; c < k; c++) for (int d = 0; d < DIMENSIONS; d++) centres[c * DIMENSIONS + d] = points[d * n + c];
    float *d_points, *d_centres, *d_sums; int *d_owner, *d_counts;
    CHECK(cudaMalloc(&d_points, sizeof(float) * points.size())); CHECK(cudaMalloc(&d_centres, sizeof(float) * centres.size()));
    CHECK(cudaMalloc(&d_sums, sizeof(float) * sums.size())); CHECK(cudaMalloc(&d_owner, sizeof(int) * n)); CHECK(cudaMalloc(&d_counts, sizeof(int) * k));
    CHECK(cudaMemcpy(d_points, points.data(), sizeof(float) * points.size(), cudaMemcpyHostToDevice));
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMemcpy(d_centres, centres.data(), sizeof(float) * centres.size(), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(d_sums, 0, sizeof(float) * sums.size())); CHECK(cudaMemset(d_counts, 0, sizeof(int) * k));
        assign<<<(n + 127) / 128, 128>>>(d_points, d_centres, d_owner, n, k);
        gather<<<(n + 127) / 128, 128>>>(d_points, d_owner, d_sums, d_counts, n);
        CHECK(cudaMemcpy(sums.data(), d_sums, sizeof(float) * sums.size(), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(counts.data(), d_counts, sizeof(int) * k, cudaMemcpyDeviceToHost));
        for (int c = 0; c < k; c++) for (int d = 0; d < DIMENSIONS; d++) centres[c * DIMENSIONS + d] = sums[c * DIMENSIONS + d] / counts[c];
    }
    CHECK(cudaMemcpy(owner.data(), d_owner, sizeof(int) * n, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && owner[i] == i % k;
    cudaFree(d_points); cudaFree(d_centres); cudaFree(d_sums); cudaFree(d_owner); cudaFree(d_counts);
    return answer(right);
}

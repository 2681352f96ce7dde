// D = A B C, and a transposed product with a vector: dense algebra in flat arrays, timed as such programs do.
#include "check.h"
#define N 32
typedef float DATA_TYPE;
__global__ void mm(DATA_TYPE *a, DATA_TYPE *b, DATA_TYPE *c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) { c[i * N + j] = 0; for (int k = 0; k < N; k++) c[i * N + j] += a[i * N + k] * b[k * N + j]; }
}
__global__ void atax(DATA_TYPE *a, DATA_TYPE *x, DATA_TYPE *y) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) for (int i = 0; i < N; i++) { DATA_TYPE row = 0; for (int k = 0; k < N; k++) row += a[i * N + k] * x[k]; y[j] += a[i * N + j] * row; }
}
int main() {
    size_t bytes = sizeof(DATA_TYPE) * N * N;
    DATA_TYPE *h[5], *d[5], *y = (DATA_TYPE *)calloc(N, sizeof(DATA_TYPE)), *d_y;
    for (int m = 0; m < 5; m++) {
        h[m] = (DATA_TYPE *)malloc(bytes);
        for (int i = 0; i < N * N; i++) h[m][i] = ((i + m) % 5) / 5.0f;
        CHECK(cudaMalloc((void **)&d[m], bytes));
        CHECK(cudaMemcpy(d[m], h[m], bytes, cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc((void **)&d_y, N * sizeof(DATA_TYPE)));
    CHECK(cudaMemset(d_y, 0, N * sizeof(DATA_TYPE)));
    cudaEvent_t start, stop; float took;
    cudaEventCreate(&start); cudaEventCreate(&stop);
    dim3 block(32, 8), grid((N + 31) / 32, (N + 7) / 8);
    cudaEventRecord(start, 0);
    mm<<<grid, block>>>(d[0], d[1], d[3]);
    mm<<<grid, block>>>(d[3], d[2], d[4]);
    atax<<<1, 64>>>(d[0], d[1], d_y);
    cudaEventRecord(stop, 0);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&took, start, stop);
    CHECK(cudaMemcpy(h[4], d[4], bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(y, d_y, N * sizeof(DATA_TYPE), cudaMemcpyDeviceToHost));
    bool right = took > 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) { double ab = 0; for (int l = 0; l < N; l++) ab += h[0][i * N + l] * h[1][l * N + k]; sum += ab * h[2][k * N + j]; }
            right = right && close_to(h[4][i * N + j], sum);
        }
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++) { double row = 0; for (int k = 0; k < N; k++) row += h[0][i * N + k] * h[1][k]; sum += h[0][i * N + j] * row; }
        right = right && close_to(y[j], sum);
    }
    for (int m = 0; m < 5; m++) { free(h[m]); cudaFree(d[m]); }
    free(y); cudaFree(d_y);
    return answer(right);
}

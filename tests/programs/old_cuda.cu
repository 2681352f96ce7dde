// As it was written ten years ago: what CUDA 13's headers no longer have.
#include "check.h"
texture<float, 1, cudaReadModeElementType> table;
texture<float, 2, cudaReadModeElementType> picture;
__global__ void old(float *sums, float *seen, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? tex1Dfetch(table, i) : 0;
    if (i < n) seen[i] = tex2D(picture, i % width + 0.5f, i / width + 0.5f);
    for (int by = 16; by > 0; by /= 2) value += __shfl_down(value, by);
    if (threadIdx.x % 32 == 0) sums[i / 32] = value;
    unsigned here = __ballot(i >= 0);
    if (__any(i == 5) && threadIdx.x == 0) sums[0] += __popc(here) - 32;
}
int main() {
    const int n = 128, width = 16;
    float values[n], sums[n / 32], seen[n], *d_values, *d_sums, *d_seen;
    for (int i = 0; i < n; i++) values[i] = i;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaMalloc((void **)&d_values, sizeof values));
    CHECK(cudaMalloc((void **)&d_sums, sizeof sums));
    CHECK(cudaMalloc((void **)&d_seen, sizeof seen));
    CHECK(cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice));
    CHECK(cudaBindTexture(0, table, d_values, sizeof values));
    cudaArray *array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, n / width));
    CHECK(cudaMemcpyToArray(array, 0, 0, values, sizeof values, cudaMemcpyHostToDevice));
    picture.filterMode = cudaFilterModePoint;
    picture.addressMode[0] = cudaAddressModeClamp;
    CHECK(cudaBindTextureToArray(picture, array, format));
    old<<<2, 64>>>(d_sums, d_seen, n, width);
    CHECK(cudaThreadSynchronize());
    CHECK(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(seen, d_seen, sizeof seen, cudaMemcpyDeviceToHost));
    bool right = properties.clockRate > 0 && properties.computeMode == cudaComputeModeDefault;
    for (int w = 0; w < n / 32; w++) right = right && sums[w] == 32 * (32 * w) + 496;
    for (int i = 0; i < n; i++) right = right && seen[i] == i;
    CHECK(cudaUnbindTexture(table));
    CHECK(cudaFree(d_values)); CHECK(cudaFree(d_sums)); CHECK(cudaFree(d_seen)); CHECK(cudaFreeArray(array));
    cudaThreadExit();
    return answer(right);
}

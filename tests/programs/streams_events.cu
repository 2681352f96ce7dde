// Two streams with copies and kernels; events tell how long they took, and one stream waits for the other.
#include "check.h"
#include <vector>
__global__ void scale(float *x, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
int main() {
    const int n = 4096;
    float *host, *device;
    CHECK(cudaHostAlloc(&host, n * sizeof(float), cudaHostAllocDefault));
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    for (int i = 0; i < n; i++) host[i] = i;
    cudaStream_t streams[2];
    cudaEvent_t begin, middle, end;
    for (auto &stream : streams) CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
    CHECK(cudaEventRecord(begin, streams[0]));
    CHECK(cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, streams[0]));
    scale<<<n / 256, 256, 0, streams[0]>>>(device, n, 2);
    CHECK(cudaEventRecord(middle, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], middle, 0));
    scale<<<n / 256, 256, 0, streams[1]>>>(device, n, 3);
    CHECK(cudaStreamSynchronize(streams[1]));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaMemcpyAsync(host, device, n * sizeof(float), cudaMemcpyDeviceToHost, streams[1]));
    CHECK(cudaDeviceSynchronize());
    printf("%.6f ms\n", milliseconds);
    bool right = milliseconds > 0 && milliseconds < 100;
    for (int i = 0; i < n; i++) right = right && host[i] == 6.0f * i;
    for (auto &stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(begin)); CHECK(cudaEventDestroy(middle)); CHECK(cudaEventDestroy(end));
    CHECK(cudaFreeHost(host)); CHECK(cudaFree(device));
    return answer(right);
}

// Work captured from a stream once and replayed; and a graph built node by node.
#include "check.h"
__global__ void add(int *x, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
int main() {
    const int n = 1000;
    int *x, host[n];
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMemset(x, 0, n * sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 1; i <= 3; i++) add<<<(n + 255) / 256, 256, 0, stream>>>(x, n, i);
    CHECK(cudaMemcpyAsync(host, x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 5; i++) CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && host[i] == 30;
    cudaGraph_t built;
    CHECK(cudaGraphCreate(&built, 0));
    cudaGraphNode_t fill, kernel;
    cudaMemsetParams zeros = {};
    zeros.dst = x; zeros.value = 0; zeros.elementSize = 4; zeros.width = n; zeros.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, built, nullptr, 0, &zeros));
    int count = n, by = 7;
    void *arguments[] = {&x, &count, &by};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)add; parameters.gridDim = dim3((n + 255) / 256); parameters.blockDim = dim3(256);
    parameters.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, built, &fill, 1, &parameters));
    cudaGraphExec_t second;
    CHECK(cudaGraphInstantiate(&second, built, 0));
    CHECK(cudaGraphLaunch(second, stream));
    CHECK(cudaGraphLaunch(second, stream));
    CHECK(cudaMemcpy(host, x, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) right = right && host[i] == 7;
    CHECK(cudaGraphExecDestroy(ready)); CHECK(cudaGraphExecDestroy(second));
    CHECK(cudaGraphDestroy(graph)); CHECK(cudaGraphDestroy(built)); CHECK(cudaStreamDestroy(stream)); CHECK(cudaFree(x));
    return answer(right);
}

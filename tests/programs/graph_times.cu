// Three equal kernels one after another, and as nodes of a graph, of which one is a child: events tell how long each took.
#include "check.h"
__global__ void add(int *x, int by) { x[threadIdx.x] += by; }
static float milliseconds_of(cudaGraphExec_t graph, int *x, cudaStream_t stream) {
    cudaEvent_t begin, end;
    float milliseconds = -1;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, stream);
    if (graph) cudaGraphLaunch(graph, stream);
    else for (int i = 0; i < 3; i++) add<<<1, 64, 0, stream>>>(x, 1);
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return milliseconds;
}
int main() {
    int *x, by = 1, host = 0;
    CHECK(cudaMalloc(&x, 64 * sizeof(int)));
    CHECK(cudaMemset(x, 0, 64 * sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph, child;
    cudaGraphNode_t kernels[2], within, last;
    void *arguments[] = {&x, &by};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)add; parameters.gridDim = dim3(1); parameters.blockDim = dim3(64);
    parameters.kernelParams = arguments;
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddKernelNode(&within, child, nullptr, 0, &parameters));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&kernels[0], graph, nullptr, 0, &parameters));
    CHECK(cudaGraphAddChildGraphNode(&kernels[1], graph, &kernels[0], 1, child));
    CHECK(cudaGraphAddKernelNode(&last, graph, &kernels[1], 1, &parameters));
    cudaGraphExec_t ready;
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    float launched = milliseconds_of(nullptr, x, stream), of_graph = milliseconds_of(ready, x, stream);
    float again = milliseconds_of(ready, x, stream), behind = milliseconds_of(nullptr, x, stream);
    printf("%.9f %.9f %.9f %.9f ms\n", launched, of_graph, again, behind);
    CHECK(cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaGraphExecDestroy(ready)); CHECK(cudaGraphDestroy(graph)); CHECK(cudaGraphDestroy(child));
    CHECK(cudaStreamDestroy(stream)); CHECK(cudaFree(x));
    return answer(host == 12);
}

// Graphs whose nodes are made by one call, changed, listed and taken out; and what the runtime says it does not have.
#include "check.h"

__global__ void add(int *x, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
static int calls = 0;
static void called(void *by) { calls += *(int *)by; }
static void destroyed(void *) { calls += 1000; }

int main() {
    const int n = 256;
    bool right = true;
    int host[n], by = 5, times = 1, number = n;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t taken, cleared, added, copied, told;

    cudaGraphNodeParams p = {cudaGraphNodeTypeMemAlloc};
    p.alloc.bytesize = sizeof host;
    p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    CHECK(cudaGraphAddNode(&taken, graph, nullptr, nullptr, 0, &p));
    int *x = (int *)p.alloc.dptr;
    p = {cudaGraphNodeTypeMemset};
    p.memset.dst = x, p.memset.value = 1, p.memset.elementSize = 4, p.memset.width = n, p.memset.height = 1;
    CHECK(cudaGraphAddNode(&cleared, graph, &taken, nullptr, 1, &p));
    void *arguments[] = {&x, &by, &number};
    p = {cudaGraphNodeTypeKernel};
    p.kernel.func = (void *)add, p.kernel.gridDim = 2, p.kernel.blockDim = 128, p.kernel.kernelParams = arguments;
    CHECK(cudaGraphAddNode(&added, graph, &cleared, nullptr, 1, &p));
    CHECK(cudaGraphAddMemcpyNode1D(&copied, graph, &added, 1, host, x, sizeof host, cudaMemcpyDeviceToHost));
    p = {cudaGraphNodeTypeHost};
    p.host.fn = called, p.host.userData = &times;
    CHECK(cudaGraphAddNode(&told, graph, &copied, nullptr, 1, &p));

    cudaGraphInstantiateParams how = {};
    cudaGraphExec_t whole;
    CHECK(cudaGraphInstantiateWithParams(&whole, graph, &how));
    right &= how.result_out == cudaGraphInstantiateSuccess;
    CHECK(cudaGraphLaunch(whole, 0));
    CHECK(cudaDeviceSynchronize());
    right &= host[0] == 6 && host[n - 1] == 6 && calls == 1;

    by = 7;  // of the graph that can be launched alone
    p = {cudaGraphNodeTypeKernel};
    p.kernel.func = (void *)add, p.kernel.gridDim = 1, p.kernel.blockDim = 128, p.kernel.kernelParams = arguments;
    CHECK(cudaGraphExecNodeSetParams(whole, added, &p));
    cudaMemsetParams fill;
    CHECK(cudaGraphMemsetNodeGetParams(cleared, &fill));
    right &= fill.dst == x && fill.value == 1 && fill.width == n;
    fill.value = 2;
    CHECK(cudaGraphExecMemsetNodeSetParams(whole, cleared, &fill));
    CHECK(cudaGraphLaunch(whole, 0));
    CHECK(cudaDeviceSynchronize());
    right &= host[0] == 9 && host[n - 1] == 2 && calls == 2;

    size_t count = 0;
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    right &= count == 4;
    cudaGraphNode_t found[4];
    count = 4;
    CHECK(cudaGraphNodeGetDependencies(added, found, nullptr, &count));
    right &= count == 1 && found[0] == cleared;
    count = 4;
    CHECK(cudaGraphNodeGetDependentNodes(added, found, nullptr, &count));
    right &= count == 1 && found[0] == copied;
    CHECK(cudaGraphDestroyNode(told));
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    right &= count == 4;
    CHECK(cudaGraphInstantiate(&whole, graph, 0));
    CHECK(cudaGraphLaunch(whole, 0));
    CHECK(cudaDeviceSynchronize());
    right &= host[0] == 6 && calls == 2;  // the graph's own nodes are as they were made

    cudaUserObject_t object;
    CHECK(cudaUserObjectCreate(&object, &times, destroyed, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaUserObjectRetain(object, 1));
    CHECK(cudaUserObjectRelease(object, 1));
    right &= calls == 2;
    CHECK(cudaUserObjectRelease(object, 1));
    right &= calls == 1002;

    size_t offset = 0, size = 0;
    CHECK(cudaFuncGetParamInfo((void *)add, 2, &offset, &size));
    right &= offset == 12 && size == 4;
    int *managed, place = 0;
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributeLastPrefetchLocation, managed, 4096));
    right &= place == cudaInvalidDeviceId;  // nobody has sent it
    CHECK(cudaFree(managed));
    cudaStreamAttrValue attribute;
    CHECK(cudaStreamGetAttribute(0, cudaLaunchAttributeAccessPolicyWindow, &attribute));
    right &= attribute.accessPolicyWindow.num_bytes == 0;
    cudaIpcMemHandle_t handle;
    right &= cudaIpcGetMemHandle(&handle, x) == cudaErrorNotSupported;
    right &= cudaGetLastError() == cudaErrorNotSupported;
    return answer(right);
}

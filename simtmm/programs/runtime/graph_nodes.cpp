// Nodes of graphs: of any type by one call, what they hold, and what they depend on.
#include "graphs.h"

#include <algorithm>

using namespace simtmm;

using Edges = const cudaGraphEdgeData *;

// As many as there is room for; `count` is how many there are.
static cudaError_t listed(const std::vector<CUgraphNode_st *> &found, cudaGraphNode_t *to, size_t *count) {
    if (!count) return failed(cudaErrorInvalidValue);
    size_t most = to ? std::min(*count, found.size()) : 0;
    std::copy(found.begin(), found.begin() + most, to);
    if (!to) *count = found.size();
    else *count = most;
    return cudaSuccess;
}

static std::vector<CUgraphNode_st *> dependent(CUgraphNode_st *node) {
    std::vector<CUgraphNode_st *> found;
    for (CUgraphNode_st *each : node->graph->nodes)
        if (std::count(each->needs.begin(), each->needs.end(), node)) found.push_back(each);
    return found;
}

// Gives a node of a graph that can be launched other work.
static cudaError_t replaced(cudaGraphExec_t graph, cudaGraphNode_t node, const Work &work) {
    for (auto &each : graph->order)
        if (each.first == node) {
            each.second = work;
            return cudaSuccess;
        }
    return failed(cudaErrorInvalidValue);
}

static cudaKernelNodeParams kernel_in(const cudaGraphNodeParams *p) {
    cudaKernelNodeParams found = {};
    found.func = (void *)p->kernel.func;
    found.gridDim = p->kernel.gridDim;
    found.blockDim = p->kernel.blockDim;
    found.sharedMemBytes = p->kernel.sharedMemBytes;
    found.kernelParams = p->kernel.kernelParams;
    found.extra = p->kernel.extra;
    return found;
}
static cudaMemsetParams fill_in(const cudaGraphNodeParams *p) {
    return {p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize, p->memset.width, p->memset.height};
}
static cudaHostNodeParams host_in(const cudaGraphNodeParams *p) { return {p->host.fn, p->host.userData}; }

API cudaGraphAddEventRecordNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                cudaEvent_t event) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidValue, "");
    return with_node(new_node, graph, needs, count, [=] { return cudaEventRecord(event, nullptr); },
                     cudaGraphNodeTypeEventRecord);
}
API cudaGraphAddEventWaitNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                              cudaEvent_t event) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidValue, "");
    return with_node(new_node, graph, needs, count, [=] { return cudaStreamWaitEvent(nullptr, event, 0); },
                     cudaGraphNodeTypeWaitEvent);
}
// Memory of a graph is there from when the node is made, as long as the program runs.
API cudaGraphAddMemAllocNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                             cudaMemAllocNodeParams *p) {
    BEGIN
    RETURN_IF(!p, cudaErrorInvalidValue, "");
    cudaError_t error = cudaMalloc(&p->dptr, p->bytesize);
    if (error) return error;
    if (Piece *piece = find(p->dptr)) piece->flags = 1;  // nobody frees it
    return with_node(new_node, graph, needs, count, [] { return cudaSuccess; }, cudaGraphNodeTypeMemAlloc);
}
API cudaGraphAddMemFreeNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                            void *pointer) {
    BEGIN
    RETURN_IF(!find(pointer), cudaErrorInvalidValue, here("cudaGraphAddMemFreeNode") + ": the pointer is not in device memory");
    return with_node(new_node, graph, needs, count, [] { return cudaSuccess; }, cudaGraphNodeTypeMemFree);
}
API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                   const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    BEGIN
    return with_node(new_node, graph, needs, count,
                     [=] { return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind); }, cudaGraphNodeTypeMemcpy);
}
API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                     void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    BEGIN
    return with_node(new_node, graph, needs, count,
                     [=] { return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind); }, cudaGraphNodeTypeMemcpy);
}
API cudaGraphAddNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, Edges, size_t count,
                     cudaGraphNodeParams *p) {
    BEGIN
    RETURN_IF(!p, cudaErrorInvalidValue, "");
    cudaKernelNodeParams kernel;
    cudaMemsetParams fill;
    cudaHostNodeParams host;
    cudaMemAllocNodeParams taken = {};
    cudaError_t error;
    switch (p->type) {
        case cudaGraphNodeTypeKernel:
            kernel = kernel_in(p);
            return cudaGraphAddKernelNode(new_node, graph, needs, count, &kernel);
        case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(new_node, graph, needs, count, &p->memcpy.copyParams);
        case cudaGraphNodeTypeMemset:
            fill = fill_in(p);
            return cudaGraphAddMemsetNode(new_node, graph, needs, count, &fill);
        case cudaGraphNodeTypeHost:
            host = host_in(p);
            return cudaGraphAddHostNode(new_node, graph, needs, count, &host);
        case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(new_node, graph, needs, count, p->graph.graph);
        case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(new_node, graph, needs, count);
        case cudaGraphNodeTypeWaitEvent: return cudaGraphAddEventWaitNode(new_node, graph, needs, count, p->eventWait.event);
        case cudaGraphNodeTypeEventRecord:
            return cudaGraphAddEventRecordNode(new_node, graph, needs, count, p->eventRecord.event);
        case cudaGraphNodeTypeMemAlloc:
            taken.bytesize = p->alloc.bytesize;
            error = cudaGraphAddMemAllocNode(new_node, graph, needs, count, &taken);
            p->alloc.dptr = taken.dptr;
            return error;
        case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(new_node, graph, needs, count, p->free.dptr);
        default: break;
    }
    return failed(cudaErrorNotSupported, here("cudaGraphAddNode") + ": nodes of type " + std::to_string((int)p->type) +
                                             " (conditional, or external semaphores) are not supported");
}

API cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *p) { BEGIN *p = node->copy; return cudaSuccess; }
API cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *p) {
    BEGIN
    node->copy = *p;
    node->work = copied_by(*p);
    return cudaSuccess;
}
API cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    BEGIN
    node->work = [=] { return copy(to, from, bytes, kind, "memcpy node of a graph"); };
    return cudaSuccess;
}
API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from, size_t bytes,
                                         size_t offset, cudaMemcpyKind kind) {
    BEGIN
    node->work = [=] { return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind); };
    return cudaSuccess;
}
API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind) {
    BEGIN
    node->work = [=] { return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind); };
    return cudaSuccess;
}
API cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *p) { BEGIN *p = node->fill; return cudaSuccess; }
API cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *p) {
    BEGIN
    node->fill = *p;
    node->work = filled_by(*p);
    return cudaSuccess;
}
API cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *p) { BEGIN *p = node->host; return cudaSuccess; }
API cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *p) {
    BEGIN
    node->host = *p;
    node->work = called_by(*p);
    return cudaSuccess;
}
API cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) { BEGIN *graph = node->child; return cudaSuccess; }
API cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *p) {
    BEGIN
    RETURN_IF(!node || !p || node->type != p->type, cudaErrorInvalidValue, "");
    cudaKernelNodeParams kernel = kernel_in(p);
    cudaMemsetParams fill = fill_in(p);
    cudaHostNodeParams host = host_in(p);
    switch (p->type) {
        case cudaGraphNodeTypeKernel: return cudaGraphKernelNodeSetParams(node, &kernel);
        case cudaGraphNodeTypeMemcpy: return cudaGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
        case cudaGraphNodeTypeMemset: return cudaGraphMemsetNodeSetParams(node, &fill);
        case cudaGraphNodeTypeHost: return cudaGraphHostNodeSetParams(node, &host);
        default: return failed(cudaErrorNotSupported, here("cudaGraphNodeSetParams") + ": is for kernels, copies, fills and host functions");
    }
}

API cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemcpy3DParms *p) {
    BEGIN
    return replaced(graph, node, copied_by(*p));
}
API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t graph, cudaGraphNode_t node, const void *symbol,
                                             const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    BEGIN
    return replaced(graph, node, [=] { return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind); });
}
API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t graph, cudaGraphNode_t node, void *to, const void *symbol,
                                               size_t bytes, size_t offset, cudaMemcpyKind kind) {
    BEGIN
    return replaced(graph, node, [=] { return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind); });
}
API cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemsetParams *p) {
    BEGIN
    return replaced(graph, node, filled_by(*p));
}
API cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaHostNodeParams *p) {
    BEGIN
    return replaced(graph, node, called_by(*p));
}
API cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, cudaGraph_t child) {
    BEGIN
    cudaGraphExec_t whole;
    cudaError_t error = cudaGraphInstantiate(&whole, child, 0);
    return error ? error : replaced(graph, node, [=] { return cudaGraphLaunch(whole, nullptr); });
}
API cudaGraphExecNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, cudaGraphNodeParams *p) {
    BEGIN
    RETURN_IF(!graph || !node || !p || node->type != p->type, cudaErrorInvalidValue, "");
    cudaKernelNodeParams kernel = kernel_in(p);
    switch (p->type) {
        case cudaGraphNodeTypeKernel: return cudaGraphExecKernelNodeSetParams(graph, node, &kernel);
        case cudaGraphNodeTypeMemcpy: return replaced(graph, node, copied_by(p->memcpy.copyParams));
        case cudaGraphNodeTypeMemset: return replaced(graph, node, filled_by(fill_in(p)));
        case cudaGraphNodeTypeHost: return replaced(graph, node, called_by(host_in(p)));
        case cudaGraphNodeTypeGraph: return cudaGraphExecChildGraphNodeSetParams(graph, node, p->graph.graph);
        default: return failed(cudaErrorNotSupported, here("cudaGraphExecNodeSetParams") + ": is for kernels, copies, fills, host functions and graphs");
    }
}
API cudaGraphExecGetFlags(cudaGraphExec_t, unsigned long long *flags) { BEGIN *flags = 0; return cudaSuccess; }
API cudaGraphInstantiateWithParams(cudaGraphExec_t *instance, cudaGraph_t graph, cudaGraphInstantiateParams *p) {
    BEGIN
    RETURN_IF(!p, cudaErrorInvalidValue, "");
    cudaError_t error = cudaGraphInstantiate(instance, graph, p->flags);
    p->result_out = error ? cudaGraphInstantiateInvalidStructure : cudaGraphInstantiateSuccess;
    p->errNode_out = nullptr;
    return error;
}

API cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *found, cudaGraphEdgeData *, size_t *count) {
    BEGIN
    RETURN_IF(!node, cudaErrorInvalidValue, "");
    return listed(node->needs, found, count);
}
API cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *found, cudaGraphEdgeData *, size_t *count) {
    BEGIN
    RETURN_IF(!node, cudaErrorInvalidValue, "");
    return listed(dependent(node), found, count);
}
API cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *, size_t *count) {
    BEGIN
    RETURN_IF(!graph || !count, cudaErrorInvalidValue, "");
    size_t found = 0;
    for (CUgraphNode_st *node : graph->nodes)
        for (CUgraphNode_st *needed : node->needs) {
            if (from && to && found < *count) from[found] = needed, to[found] = node;
            found++;
        }
    *count = from && to ? std::min(*count, found) : found;
    return cudaSuccess;
}
API cudaGraphRemoveDependencies(cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to, Edges, size_t count) {
    BEGIN
    for (size_t i = 0; i < count; i++) {
        auto &needs = to[i]->needs;
        needs.erase(std::remove(needs.begin(), needs.end(), from[i]), needs.end());
    }
    return cudaSuccess;
}
API cudaGraphDestroyNode(cudaGraphNode_t node) {
    BEGIN
    RETURN_IF(!node, cudaErrorInvalidValue, "");
    for (CUgraphNode_st *each : dependent(node)) {
        each->needs.erase(std::remove(each->needs.begin(), each->needs.end(), node), each->needs.end());
    }
    auto &nodes = node->graph->nodes;
    nodes.erase(std::remove(nodes.begin(), nodes.end(), node), nodes.end());
    return cudaSuccess;  // graphs instantiated from it stay valid
}
API cudaGraphNodeGetEnabled(cudaGraphExec_t, cudaGraphNode_t node, unsigned *enabled) {
    BEGIN
    *enabled = node->enabled;
    return cudaSuccess;
}
API cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t *graph) { BEGIN *graph = node->graph; return cudaSuccess; }
API cudaGraphKernelNodeSetAttribute(cudaGraphNode_t, cudaLaunchAttributeID which, const cudaLaunchAttributeValue *) {
    BEGIN
    RETURN_IF(which == cudaLaunchAttributeClusterDimension, cudaErrorNotSupported,
              here("cudaGraphKernelNodeSetAttribute") + ": a node's clusters are what it was captured or added with");
    return without_effect("cudaGraphKernelNodeSetAttribute");
}
API cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t, cudaGraphNode_t) {
    BEGIN
    return without_effect("cudaGraphKernelNodeCopyAttributes");
}
API cudaDeviceGraphMemTrim(int) { BEGIN return cudaSuccess; }
API cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void *value) { BEGIN *(uint64_t *)value = 0; return cudaSuccess; }
API cudaDeviceSetGraphMemAttribute(int, cudaGraphMemAttributeType, void *) { BEGIN return cudaSuccess; }

// Objects of the program that graphs hold on to: destroyed with their last reference. Those of graphs stay.
struct CUuserObject_st {
    void *object;
    cudaHostFn_t destroy;
    unsigned references;
};
API cudaUserObjectCreate(cudaUserObject_t *made, void *object, cudaHostFn_t destroy, unsigned references, unsigned) {
    BEGIN
    RETURN_IF(!made || !destroy || !references, cudaErrorInvalidValue, "");
    *made = new CUuserObject_st{object, destroy, references};
    return cudaSuccess;
}
API cudaUserObjectRetain(cudaUserObject_t object, unsigned count) { BEGIN object->references += count; return cudaSuccess; }
API cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
    BEGIN
    RETURN_IF(!object || count > object->references, cudaErrorInvalidValue, "");
    object->references -= count;
    if (!object->references) {
        object->destroy(object->object);
        delete object;
    }
    return cudaSuccess;
}
API cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t object, unsigned count, unsigned flags) {
    BEGIN
    if (!(flags & cudaGraphUserObjectMove)) object->references += count;
    return cudaSuccess;
}
API cudaGraphReleaseUserObject(cudaGraph_t, cudaUserObject_t object, unsigned count) {
    return cudaUserObjectRelease(object, count);
}

// Graphs: captured from streams or built node by node, and replayed.
#include "clock.h"
#include "graphs.h"

#include <algorithm>
#include <map>

using namespace simtmm;

int64_t simtmm::kernels_of_graph = -1;

CUgraphNode_st *CUgraph_st::add(const Work &work, cudaGraphNodeType type) {
    std::vector<CUgraphNode_st *> needs;
    if (!nodes.empty()) needs.push_back(nodes.back());
    nodes.push_back(new CUgraphNode_st{work, type, needs, this, {}, true});
    return nodes.back();
}

cudaError_t simtmm::with_node(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                              const Work &work, cudaGraphNodeType type) {
    if (!new_node || !graph) return failed(cudaErrorInvalidValue);
    graph->nodes.push_back(new CUgraphNode_st{work, type, {needs, needs + count}, graph, {}, true});
    *new_node = graph->nodes.back();
    return cudaSuccess;
}

Work simtmm::copied_by(const cudaMemcpy3DParms &p) {
    return [=] { return cudaMemcpy3D(&p); };
}

Work simtmm::filled_by(const cudaMemsetParams &p) {
    return [=]() -> cudaError_t {
        for (size_t row = 0; row < p.height; row++)
            for (size_t i = 0; i < p.width; i++) {
                char *place = (char *)p.dst + row * p.pitch + i * p.elementSize;
                void *bytes = bytes_at(place, p.elementSize, ON_DEVICE, "memset node of a graph");
                if (!bytes) return cudaErrorInvalidValue;
                for (unsigned part = 0; part < p.elementSize; part++) ((char *)bytes)[part] = (char)(p.value >> 8 * part);
                if (Piece *target = find(place)) written(target);
            }
        work_follows();
        calls.filled(stream_at_work, p.height * p.width * p.elementSize);
        return cudaSuccess;
    };
}

Work simtmm::called_by(const cudaHostNodeParams &p) {
    return [=] {
        p.fn(p.userData);
        return cudaSuccess;
    };
}

static bool visit(CUgraphNode_st *node, std::map<CUgraphNode_st *, int> &state, std::vector<CUgraphNode_st *> &order) {
    if (state[node] == 2) return true;
    if (state[node] == 1) return false;
    state[node] = 1;
    for (CUgraphNode_st *needed : node->needs)
        if (!visit(needed, state, order)) return false;
    state[node] = 2;
    order.push_back(node);
    return true;
}

static bool ordered(cudaGraph_t graph, std::vector<CUgraphNode_st *> &order) {
    std::map<CUgraphNode_st *, int> state;
    for (CUgraphNode_st *node : graph->nodes)
        if (!visit(node, state, order)) return false;
    return true;
}

static cudaError_t launched(const cudaKernelNodeParams &p, Work *work) {
    Kernel *kernel = kernel_of(p.func);
    if (!kernel) return failed(cudaErrorInvalidDeviceFunction);
    cudaError_t error = layout_of(kernel);
    if (error) return error;
    if (kernel->parameters && !p.kernelParams) return failed(cudaErrorInvalidValue);
    std::vector<char> parameters = packed(kernel, p.kernelParams);
    dim3 grid = p.gridDim, block = p.blockDim;
    unsigned shared = p.sharedMemBytes;
    *work = [=] { return launch_packed(kernel, grid, block, shared, parameters); };
    return cudaSuccess;
}

API cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    BEGIN
    RETURN_IF(!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread, cudaErrorStreamCaptureUnsupported, "");
    RETURN_IF(stream->capture, cudaErrorIllegalState, "");
    stream->capture = new CUgraph_st;
    return cudaSuccess;
}
API cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    BEGIN
    RETURN_IF(!stream || !stream->capture || !graph, cudaErrorIllegalState, "");
    *graph = stream->capture;
    for (CUstream_st *each : streams())
        if (each->capture == *graph) each->capture = nullptr;  // those that joined it by an event, too
    if ((*graph)->is_invalid) {
        *graph = nullptr;
        return failed(cudaErrorStreamCaptureInvalidated);
    }
    return cudaSuccess;
}
API cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    BEGIN
    *status = !is_capturing(stream)              ? cudaStreamCaptureStatusNone
              : captured_by(stream)->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
API cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                             cudaGraph_t *graph, const cudaGraphNode_t **, const cudaGraphEdgeData **, size_t *count) {
    BEGIN
    bool capturing = is_capturing(stream);
    if (status) *status = capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (id) *id = 1;
    if (graph) *graph = capturing ? stream->capture : nullptr;
    if (count) *count = 0;
    return cudaSuccess;
}
API cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *) { return cudaSuccess; }

API cudaGraphCreate(cudaGraph_t *graph, unsigned) {
    BEGIN
    RETURN_IF(!graph, cudaErrorInvalidValue, "");
    *graph = new CUgraph_st;
    return cudaSuccess;
}
API cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }  // graphs instantiated from it stay valid
API cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
    BEGIN
    auto *twin = new CUgraph_st;
    std::map<CUgraphNode_st *, CUgraphNode_st *> twins;
    for (CUgraphNode_st *node : graph->nodes) {
        twin->nodes.push_back(twins[node] = new CUgraphNode_st(*node));
        twin->nodes.back()->graph = twin;
    }
    for (CUgraphNode_st *node : twin->nodes)
        for (CUgraphNode_st *&needed : node->needs) needed = twins[needed];
    *clone = twin;
    return cudaSuccess;
}
API cudaGraphInstantiate(cudaGraphExec_t *instance, cudaGraph_t graph, unsigned long long) {
    BEGIN
    RETURN_IF(!instance || !graph, cudaErrorInvalidValue, "");
    std::vector<CUgraphNode_st *> order;
    RETURN_IF(!ordered(graph, order), cudaErrorInvalidValue, "cudaGraphInstantiate: the graph's nodes wait for one another in a circle");
    auto *graph_exec = new CUgraphExec_st;
    for (CUgraphNode_st *node : order) graph_exec->order.push_back({node, node->work});
    *instance = graph_exec;
    return cudaSuccess;
}
API cudaGraphInstantiateWithFlags(cudaGraphExec_t *instance, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiate(instance, graph, flags);
}
API cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    BEGIN
    RETURN_IF(!graph, cudaErrorInvalidValue, "");
    return enqueue(stream, [=] {
        bool is_outermost = kernels_of_graph < 0;  // a child's kernels go on where its parent's were
        if (is_outermost) kernels_of_graph = 0;
        cudaError_t error = cudaSuccess;
        for (auto &each : graph->order)
            if (!error && each.first->enabled) error = each.second();
        if (is_outermost) kernels_of_graph = -1;
        return error;
    }, cudaGraphNodeTypeGraph);
}
API cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
API cudaGraphExecDestroy(cudaGraphExec_t graph) {
    BEGIN
    delete graph;
    return cudaSuccess;
}
API cudaGraphExecUpdate(cudaGraphExec_t graph, cudaGraph_t by, cudaGraphExecUpdateResultInfo *info) {
    BEGIN
    std::vector<CUgraphNode_st *> order;
    bool fits = ordered(by, order) && order.size() == graph->order.size();
    for (size_t i = 0; fits && i < order.size(); i++) fits = order[i]->type == graph->order[i].first->type;
    if (info) info->result = fits ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    if (!fits) return failed(cudaErrorGraphExecUpdateFailure);
    for (size_t i = 0; i < order.size(); i++) graph->order[i].second = order[i]->work;
    return cudaSuccess;
}
API cudaGraphAddKernelNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                           const cudaKernelNodeParams *p) {
    BEGIN
    RETURN_IF(!p, cudaErrorInvalidValue, "");
    Work work;
    cudaError_t error = launched(*p, &work);
    if (error) return error;
    error = with_node(new_node, graph, needs, count, work, cudaGraphNodeTypeKernel);
    if (!error) (*new_node)->kernel = *p;
    return error;
}
API cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p) {
    BEGIN
    RETURN_IF(!node || !p, cudaErrorInvalidValue, "");
    node->kernel = *p;
    return launched(*p, &node->work);
}
API cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *p) {
    BEGIN
    *p = node->kernel;
    return cudaSuccess;
}
API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaKernelNodeParams *p) {
    BEGIN
    for (auto &each : graph->order)
        if (each.first == node) return launched(*p, &each.second);
    return failed(cudaErrorInvalidValue);
}
API cudaGraphAddMemcpyNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                           const cudaMemcpy3DParms *given) {
    BEGIN
    RETURN_IF(!given, cudaErrorInvalidValue, "");
    cudaError_t error = with_node(new_node, graph, needs, count, copied_by(*given), cudaGraphNodeTypeMemcpy);
    if (!error) (*new_node)->copy = *given;
    return error;
}
API cudaGraphAddMemcpyNode1D(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                             void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    BEGIN
    return with_node(new_node, graph, needs, count, [=] { return copy(to, from, bytes, kind, "memcpy node of a graph"); },
                     cudaGraphNodeTypeMemcpy);
}
API cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node, void *to, const void *from,
                                       size_t bytes, cudaMemcpyKind kind) {
    BEGIN
    for (auto &each : graph->order)
        if (each.first == node) {
            each.second = [=] { return copy(to, from, bytes, kind, "memcpy node of a graph"); };
            return cudaSuccess;
        }
    return failed(cudaErrorInvalidValue);
}
API cudaGraphAddMemsetNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                           const cudaMemsetParams *given) {
    BEGIN
    RETURN_IF(!given, cudaErrorInvalidValue, "");
    cudaError_t error = with_node(new_node, graph, needs, count, filled_by(*given), cudaGraphNodeTypeMemset);
    if (!error) (*new_node)->fill = *given;
    return error;
}
API cudaGraphAddHostNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                         const cudaHostNodeParams *given) {
    BEGIN
    RETURN_IF(!given, cudaErrorInvalidValue, "");
    cudaError_t error = with_node(new_node, graph, needs, count, called_by(*given), cudaGraphNodeTypeHost);
    if (!error) (*new_node)->host = *given;
    return error;
}
API cudaGraphAddEmptyNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count) {
    BEGIN
    return with_node(new_node, graph, needs, count, [] { return cudaSuccess; }, cudaGraphNodeTypeEmpty);
}
API cudaGraphAddChildGraphNode(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                               cudaGraph_t child) {
    BEGIN
    cudaGraphExec_t whole;
    cudaError_t error = cudaGraphInstantiate(&whole, child, 0);
    if (error) return error;
    error = with_node(new_node, graph, needs, count, [=] { return cudaGraphLaunch(whole, nullptr); }, cudaGraphNodeTypeGraph);
    if (!error) (*new_node)->child = child;
    return error;
}
API cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                             const cudaGraphEdgeData *, size_t count) {
    BEGIN
    for (size_t i = 0; i < count; i++) to[i]->needs.push_back(from[i]);
    return cudaSuccess;
}
API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    BEGIN
    RETURN_IF(!graph || !count, cudaErrorInvalidValue, "");
    size_t most = nodes ? std::min(*count, graph->nodes.size()) : 0;
    std::copy(graph->nodes.begin(), graph->nodes.begin() + most, nodes);
    *count = graph->nodes.size();
    return cudaSuccess;
}
API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    BEGIN
    size_t found = 0;
    for (CUgraphNode_st *node : graph->nodes)
        if (node->needs.empty()) {
            if (nodes && found < *count) nodes[found] = node;
            found++;
        }
    *count = found;
    return cudaSuccess;
}
API cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    BEGIN
    *type = node->type;
    return cudaSuccess;
}
API cudaGraphNodeSetEnabled(cudaGraphExec_t, cudaGraphNode_t node, unsigned enabled) {
    BEGIN
    node->enabled = enabled;
    return cudaSuccess;
}
API cudaGraphDebugDotPrint(cudaGraph_t, const char *, unsigned) { return cudaSuccess; }

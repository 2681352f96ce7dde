// Graphs: work that is kept, and done in an order in which each comes behind what it depends on.
#pragma once

#include "runtime.h"

#include <set>

struct CUgraphNode_st {
    simtmm::Work work;
    cudaGraphNodeType type;
    std::vector<CUgraphNode_st *> needs;
    CUgraph_st *graph;
    cudaKernelNodeParams kernel;
    bool enabled;
    // Of a copy, a fill, a function of the host and a graph within it: as they were given.
    cudaMemcpy3DParms copy;
    cudaMemsetParams fill;
    cudaHostNodeParams host;
    CUgraph_st *child;
};

struct CUgraph_st {
    std::vector<CUgraphNode_st *> nodes;
    bool is_invalid = false;  // a capture that was broken off
    CUgraphNode_st *add(const simtmm::Work &work, cudaGraphNodeType type);
};

struct CUgraphExec_st {
    std::vector<std::pair<CUgraphNode_st *, simtmm::Work>> order;
};

struct CUstream_st {
    unsigned flags;
    int priority;
    uint64_t id;
    CUgraph_st *capture;
};

struct CUevent_st {
    unsigned flags;
    bool recorded;
    int64_t mark;
    CUgraph_st *capture;
};

namespace simtmm {
std::set<CUstream_st *> &streams();  // that there are
CUgraph_st *captured_by(cudaStream_t stream);
cudaError_t with_node(cudaGraphNode_t *new_node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                      const Work &work, cudaGraphNodeType type);
Work copied_by(const cudaMemcpy3DParms &p);
Work filled_by(const cudaMemsetParams &p);
Work called_by(const cudaHostNodeParams &p);
}

// The recursive Helman-JaJa algorithm, a launch a phase. Splitters lie at regular intervals of memory; each begins a
// sublist, which one thread walks. The sublists make a list themselves, whose nodes weigh what their sublists do. A
// node's rank is the weight of all nodes before it; rank[] holds weights until it holds ranks.

#include "device.cuh"

#define END_OF_LIST 0x7fffffff

// Phase 1. A splitter's successor moves to the list of sublists; its place is marked with the sublist's number t, as
// ~t, which is negative as no successor is.
extern "C" __global__ void split(int* successor, int* sublists, int interval, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int splitter = t * interval;
    int next = LD(successor, splitter);
    ST(sublists, t, next);
    ST(successor, splitter, ~t);
}

// The same with splitters that lie anywhere.
extern "C" __global__ void split_anywhere(int* successor, const int* splitters, int* sublists, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int splitter = LD(splitters, t);
    int next = LD(successor, splitter);
    ST(sublists, t, next);
    ST(successor, splitter, ~t);
}

// Walks sublist t from its splitter, `node`.
template <bool WEIGHTED>
__device__ void walk(const int* successor, int* rank, int* sublist, int* sublists, int* sublist_total, int t, int node)
{
    int next = LD(sublists, t), following, total = 0;
    for (;;) {
        int weight = 1;
        if (WEIGHTED) weight = LD_ASYNC(rank, node);
        ST(rank, node, total);
        ST(sublist, node, t);
        following = END_OF_LIST;
        if (next != END_OF_LIST) following = LD(successor, next);
        if (WEIGHTED) JOIN();
        total += weight;
        OP(3);  // an addition, comparisons with the end and with a mark
        if (next == END_OF_LIST || following < 0) break;
        node = next;
        next = following;
    }
    ST(sublists, t, next == END_OF_LIST ? END_OF_LIST : ~following);
    ST(sublist_total, t, total);
}

// Phase 2 of the first iteration, in which every node weighs 1: three accesses a node.
extern "C" __global__ void local_rank(const int* successor, int* rank, int* sublist, int* sublists, int* sublist_total,
                                      int interval, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    walk<false>(successor, rank, sublist, sublists, sublist_total, t, t * interval);
}

// The same with splitters that lie anywhere.
extern "C" __global__ void local_rank_anywhere(const int* successor, const int* splitters, int* rank, int* sublist,
                                               int* sublists, int* sublist_total, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(splitters, t);
    walk<false>(successor, rank, sublist, sublists, sublist_total, t, node);
}

// Phase 2 of the iterations behind it.
extern "C" __global__ void local_rank_weighted(const int* successor, int* rank, int* sublist, int* sublists,
                                               int* sublist_total, int interval, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    walk<true>(successor, rank, sublist, sublists, sublist_total, t, t * interval);
}

// Phase 3. A node's rank in its sublist and that of its sublist.
extern "C" __global__ void recombine(int* rank, const int* sublist, const int* sublist_rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int local = LD_ASYNC(rank, i);
    int of = LD(sublist, i);
    int before = LD(sublist_rank, of);
    JOIN();
    OP(1);
    ST(rank, i, local + before);
}

// The end of the recursion: a short list, ranked by one thread.
extern "C" __global__ void rank_sequentially(const int* successor, int* rank)
{
    int total = 0;
    for (int node = 0; node != END_OF_LIST;) {
        int next = LD_ASYNC(successor, node), weight_of_node = LD_ASYNC(rank, node);
        JOIN();
        ST(rank, node, total);
        total += weight_of_node;
        OP(2);  // an addition, a comparison with the end
        node = next;
    }
}

// The Euler tour of a tree, and what follows from ranking it. An arc and its sibling, the same edge the other way, have
// numbers that differ in the last bit. The incident list of a vertex has for each edge the outgoing arc, then the
// incoming one; start[] says where each vertex's list begins.

#include "device.cuh"

typedef unsigned long long Node;  // of the tour: upper half the distance to the successor, lower half the successor

#define END_OF_TOUR 0xffffffffu
#define ONE_LINK 0x100000000ull
#define NOBODY -1

// --- construction: behind an incoming arc goes the next outgoing one of the vertex, behind the last the first -----

// The next outgoing arc is the next entry of the list. Behind a vertex's last it is another vertex's; map_around mends
// that.
extern "C" __global__ void map_along(const int* incident, Node* tour, unsigned arcs)
{
    unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair + 1 >= arcs) return;
    unsigned i = 2 * pair + 1;
    unsigned incoming = LD_ASYNC(incident, i), outgoing = LD_ASYNC(incident, i + 1);
    JOIN();
    ST(tour, incoming, ONE_LINK | outgoing);
}

extern "C" __global__ void map_around(const int* start, const int* incident, Node* tour, unsigned vertices)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    int first = LD_ASYNC(start, vertex), behind = LD_ASYNC(start, vertex + 1);
    JOIN();
    unsigned incoming = LD_ASYNC(incident, behind - 1), outgoing = LD_ASYNC(incident, first);
    JOIN();
    ST(tour, incoming, ONE_LINK | outgoing);
    if (vertex == 0) {  // the root: here the tour is cut
        unsigned last = LD(incident, first + 1);
        ST(tour, last, (Node)END_OF_TOUR);
    }
}

// --- ranking: a step of pointer jumping, to the distance from the end ---------------------------------------------

extern "C" __global__ void jump(const Node* before, Node* after, unsigned arcs)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= arcs) return;
    Node node = LD(before, i);
    unsigned successor = (unsigned)node;
    OP(2);  // unpack the successor, compare it with the end
    if (successor != END_OF_TOUR) {
        Node next = LD(before, successor);
        node = (Node)((unsigned)(node >> 32) + (unsigned)(next >> 32)) << 32 | (unsigned)next;
        OP(3);  // unpack both distances and add them, pack
    }
    ST(after, i, node);
}

// --- directions: of an edge's two arcs the one that comes first leads away from the root --------------------------

template <bool WEIGH>
__device__ void orient(const Node* ranked, const int2* ends, int* parent, int* entered_by, int* weight,
                       int weight_of_retreat, unsigned arcs)
{
    unsigned arc = blockIdx.x * blockDim.x + threadIdx.x;
    if (arc >= arcs) return;
    Node mine = LD_ASYNC(ranked, arc), sibling = LD_ASYNC(ranked, arc ^ 1);
    JOIN();
    unsigned position = arcs - 1 - (unsigned)(mine >> 32), siblings = arcs - 1 - (unsigned)(sibling >> 32);
    OP(3);  // two positions, compare
    bool forward = position < siblings;
    if (forward) {
        int2 from_to = LD(ends, arc);
        ST(parent, from_to.y, from_to.x);
        ST(entered_by, from_to.y, (int)arc);
    }
    if (WEIGH) ST(weight, position, forward ? 1 : weight_of_retreat);
    if (arc == 0) ST(parent, 0, NOBODY);
}

extern "C" __global__ void find_parents(const Node* ranked, const int2* ends, int* parent, int* entered_by,
                                        unsigned arcs)
{
    orient<false>(ranked, ends, parent, entered_by, 0, 0, arcs);
}

// The same, and weights in the order of the tour, to be scanned.
extern "C" __global__ void find_parents_and_weigh(const Node* ranked, const int2* ends, int* parent, int* entered_by,
                                                  int* weight, int weight_of_retreat, unsigned arcs)
{
    orient<true>(ranked, ends, parent, entered_by, weight, weight_of_retreat, arcs);
}

// --- subtree sizes: between a vertex's forward and its retreat arc each edge below it is passed twice --------------

extern "C" __global__ void subtree_sizes(const Node* ranked, const int* entered_by, int* size, unsigned vertices)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    if (vertex == 0) {
        ST(size, 0, (int)vertices);
        return;
    }
    int arc = LD(entered_by, vertex);
    Node on_entry = LD_ASYNC(ranked, arc), on_exit = LD_ASYNC(ranked, arc ^ 1);
    JOIN();
    unsigned forward = 0u - (unsigned)(on_entry >> 32), retreat = 0u - (unsigned)(on_exit >> 32);
    OP(3);  // subtract, add, halve
    ST(size, vertex, (int)((retreat - forward + 1) / 2));
}

// --- preorder numbers and levels: sums of the weights up to a vertex's forward arc ---------------------------------

// A step of the scan: every element adds the one `offset` to its left.
extern "C" __global__ void scan(const int* before, int* after, unsigned offset, unsigned arcs)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= arcs) return;
    int sum = LD_ASYNC(before, i), left = 0;
    if (i >= offset) {
        left = LD_ASYNC(before, i - offset);
        OP(1);
    }
    JOIN();
    ST(after, i, sum + left);
}

extern "C" __global__ void number(const Node* ranked, const int* entered_by, const int* scanned, int* numbers,
                                  unsigned arcs, unsigned vertices)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    if (vertex == 0) {
        ST(numbers, 0, 0);
        return;
    }
    int arc = LD(entered_by, vertex);
    Node node = LD(ranked, arc);
    OP(1);  // the position
    int sum_of_weights = LD(scanned, arcs - 1 - (unsigned)(node >> 32));
    ST(numbers, vertex, sum_of_weights);
}

// The Euler tour of a tree, and what follows from ranking it. An arc and its sibling, the same edge the other way, have
// numbers that differ in the last bit. The incident list of a vertex has for each edge the outgoing arc, then the
// incoming one; start[] says where each vertex's list begins.

#include "device.cuh"

typedef unsigned long long Node;  // of the tour: upper half the distance to the successor, lower half the successor

#define END_OF_TOUR 0xffffffffu
#define ONE_LINK 0x100000000ull
#define NOBODY -1
#define END_OF_LIST 0x7fffffff
#define SCAN_THREADS 128  // of a block that scans, a power of two
#define SEGMENT (2 * SCAN_THREADS)

// What ranks the tour decides what an arc holds: a Node for pointer jumping, which ends in distances from the end; a
// successor for Helman and JaJa's algorithm, which ends in positions.
template <class Link>
__device__ Link link(unsigned successor);
template <>
__device__ Node link<Node>(unsigned successor) { return ONE_LINK | successor; }
template <>
__device__ int link<int>(unsigned successor) { return (int)successor; }

template <class Link>
__device__ Link end_of_tour();
template <>
__device__ Node end_of_tour<Node>() { return END_OF_TOUR; }
template <>
__device__ int end_of_tour<int>() { return END_OF_LIST; }

__device__ unsigned position_of(Node ranked, unsigned arcs) { return arcs - 1 - (unsigned)(ranked >> 32); }
__device__ unsigned position_of(int ranked, unsigned arcs) { return (unsigned)ranked; }

// --- construction: behind an incoming arc goes the next outgoing one of the vertex, behind the last the first -----

// The next outgoing arc is the next entry of the list. Behind a vertex's last it is another vertex's; map_around mends
// that.
template <class Link>
__device__ void along(const int* incident, Link* tour, unsigned arcs)
{
    unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair + 1 >= arcs) return;
    unsigned i = 2 * pair + 1;
    unsigned incoming = LD_ASYNC(incident, i), outgoing = LD_ASYNC(incident, i + 1);
    JOIN();
    ST(tour, incoming, link<Link>(outgoing));
}

template <class Link>
__device__ void around(const int* start, const int* incident, Link* tour, unsigned vertices)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    int first = LD_ASYNC(start, vertex), behind = LD_ASYNC(start, vertex + 1);
    JOIN();
    unsigned incoming = LD_ASYNC(incident, behind - 1), outgoing = LD_ASYNC(incident, first);
    JOIN();
    ST(tour, incoming, link<Link>(outgoing));
    if (vertex == 0) {  // the root: here the tour is cut
        unsigned last = LD(incident, first + 1);
        ST(tour, last, end_of_tour<Link>());
    }
}

extern "C" __global__ void map_along(const int* incident, Node* tour, unsigned arcs)
{
    along<Node>(incident, tour, arcs);
}

extern "C" __global__ void map_around(const int* start, const int* incident, Node* tour, unsigned vertices)
{
    around<Node>(start, incident, tour, vertices);
}

extern "C" __global__ void map_along_list(const int* incident, int* successor, unsigned arcs)
{
    along<int>(incident, successor, arcs);
}

extern "C" __global__ void map_around_list(const int* start, const int* incident, int* successor, unsigned vertices)
{
    around<int>(start, incident, successor, vertices);
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

// --- ranking by Helman and JaJa: as in kernels/list-ranking-helman-jaja, whose head, arc 0 here, is a splitter -----

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

template <bool WEIGHTED>
__device__ void walk(const int* successor, int* rank, int* sublist, int* sublists, int* sublist_total, int interval,
                     int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = t * interval, next = LD(sublists, t), following, total = 0;
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
    walk<false>(successor, rank, sublist, sublists, sublist_total, interval, count);
}

// Phase 2 of the iterations behind it.
extern "C" __global__ void local_rank_weighted(const int* successor, int* rank, int* sublist, int* sublists,
                                               int* sublist_total, int interval, int count)
{
    walk<true>(successor, rank, sublist, sublists, sublist_total, interval, count);
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

// --- directions: of an edge's two arcs the one that comes first leads away from the root --------------------------

// WEIGH: also weights in the order of the tour, to be scanned.
template <class Rank, bool WEIGH>
__device__ void orient(const Rank* ranked, const int2* ends, int* parent, int* entered_by, int* weight,
                       int weight_of_retreat, unsigned arcs)
{
    unsigned arc = blockIdx.x * blockDim.x + threadIdx.x;
    if (arc >= arcs) return;
    Rank mine = LD_ASYNC(ranked, arc), sibling = LD_ASYNC(ranked, arc ^ 1);
    JOIN();
    unsigned position = position_of(mine, arcs), siblings = position_of(sibling, arcs);
    OP(sizeof(Rank) == sizeof(Node) ? 3 : 1);  // compare, of distances two positions first
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
    orient<Node, false>(ranked, ends, parent, entered_by, 0, 0, arcs);
}

extern "C" __global__ void find_parents_list(const int* ranked, const int2* ends, int* parent, int* entered_by,
                                             unsigned arcs)
{
    orient<int, false>(ranked, ends, parent, entered_by, 0, 0, arcs);
}

extern "C" __global__ void find_parents_and_weigh(const Node* ranked, const int2* ends, int* parent, int* entered_by,
                                                  int* weight, int weight_of_retreat, unsigned arcs)
{
    orient<Node, true>(ranked, ends, parent, entered_by, weight, weight_of_retreat, arcs);
}

extern "C" __global__ void find_parents_and_weigh_list(const int* ranked, const int2* ends, int* parent,
                                                       int* entered_by, int* weight, int weight_of_retreat,
                                                       unsigned arcs)
{
    orient<int, true>(ranked, ends, parent, entered_by, weight, weight_of_retreat, arcs);
}

// --- subtree sizes: between a vertex's forward and its retreat arc each edge below it is passed twice --------------

template <class Rank>
__device__ void measure(const Rank* ranked, const int* entered_by, int* size, unsigned vertices)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    if (vertex == 0) {
        ST(size, 0, (int)vertices);
        return;
    }
    int arc = LD(entered_by, vertex);
    Rank on_entry = LD_ASYNC(ranked, arc), on_exit = LD_ASYNC(ranked, arc ^ 1);
    JOIN();
    unsigned forward = position_of(on_entry, 0), retreat = position_of(on_exit, 0);  // their difference alone counts
    OP(3);  // subtract, add, halve
    ST(size, vertex, (int)((retreat - forward + 1) / 2));
}

extern "C" __global__ void subtree_sizes(const Node* ranked, const int* entered_by, int* size, unsigned vertices)
{
    measure<Node>(ranked, entered_by, size, vertices);
}

extern "C" __global__ void subtree_sizes_list(const int* ranked, const int* entered_by, int* size, unsigned vertices)
{
    measure<int>(ranked, entered_by, size, vertices);
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

// The other scan, as in kernels/scan: exclusive, segment by segment.

// `values` and `scanned` may be the same array.
extern "C" __global__ void scan_segments(const int* values, int* scanned, int* sums, int n)
{
    SHARED(int, tree, SEGMENT);
    int t = threadIdx.x, i = blockIdx.x * SEGMENT + threadIdx.x;
    int low = i < n ? LD_ASYNC(values, i) : 0;
    int high = i + SCAN_THREADS < n ? LD_ASYNC(values, i + SCAN_THREADS) : 0;
    JOIN();
    STS(tree, t, low);
    STS(tree, t + SCAN_THREADS, high);
    SYNC();

    // Up: the sum of each subtree comes to its rightmost element.
    for (int stride = 1; stride < SEGMENT; stride *= 2) {
        int right = 2 * stride * (t + 1) - 1;
        if (right < SEGMENT) {
            int sum = LDS(tree, right);
            sum += LDS(tree, right - stride);
            OP(1);
            STS(tree, right, sum);
        }
        SYNC();
    }
    if (t == 0) {
        int total = LDS(tree, SEGMENT - 1);
        ST(sums, blockIdx.x, total);
        STS(tree, SEGMENT - 1, 0);
    }
    SYNC();

    // Down: what stands before a subtree goes to its left half, and with that half's sum to its right half.
    for (int stride = SCAN_THREADS; stride > 0; stride /= 2) {
        int right = 2 * stride * (t + 1) - 1;
        if (right < SEGMENT) {
            int left = LDS(tree, right - stride);
            int here = LDS(tree, right);
            OP(1);
            STS(tree, right - stride, here);
            STS(tree, right, here + left);
        }
        SYNC();
    }
    if (i < n) ST(scanned, i, LDS(tree, t));
    if (i + SCAN_THREADS < n) ST(scanned, i + SCAN_THREADS, LDS(tree, t + SCAN_THREADS));
}

// Add to each segment but the first what stands before it.
extern "C" __global__ void add_sums(int* scanned, const int* sums, int n)
{
    int segment = blockIdx.x + 1, i = segment * SEGMENT + threadIdx.x;
    if (i >= n) return;
    bool two = i + SCAN_THREADS < n;
    int sum = LD_ASYNC(sums, segment), low = LD_ASYNC(scanned, i), high = two ? LD_ASYNC(scanned, i + SCAN_THREADS) : 0;
    JOIN();
    OP(two ? 2 : 1);
    ST(scanned, i, low + sum);
    if (two) ST(scanned, i + SCAN_THREADS, high + sum);
}

// What is scanned excludes an arc's own weight, 1, or includes it; `own` is what is missing.
template <class Rank>
__device__ void put_number(const Rank* ranked, const int* entered_by, const int* scanned, int* numbers, int own,
                           unsigned arcs, unsigned vertices)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    if (vertex == 0) {
        ST(numbers, 0, 0);
        return;
    }
    int arc = LD(entered_by, vertex);
    Rank mine = LD(ranked, arc);
    OP(sizeof(Rank) == sizeof(Node) ? 2 : 1);  // an addition, of a distance the position first
    int sum_of_weights = LD(scanned, position_of(mine, arcs));
    ST(numbers, vertex, sum_of_weights + own);
}

extern "C" __global__ void number(const Node* ranked, const int* entered_by, const int* scanned, int* numbers, int own,
                                  unsigned arcs, unsigned vertices)
{
    put_number<Node>(ranked, entered_by, scanned, numbers, own, arcs, vertices);
}

extern "C" __global__ void number_list(const int* ranked, const int* entered_by, const int* scanned, int* numbers,
                                       int own, unsigned arcs, unsigned vertices)
{
    put_number<int>(ranked, entered_by, scanned, numbers, own, arcs, vertices);
}

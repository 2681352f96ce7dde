// Reid-Miller's algorithm. The list is cut behind m random nodes, the tails. Sublist 0 begins at the head of the list,
// node 0, and sublist j behind tail j - 1, whose successor is replaced by the mark ~j: negative, as no successor is.
// A pair of numbers stands in 64 bits, what is summed up above a node or a sublist.

#include "device.cuh"

typedef unsigned long long Pair;

#define END_OF_LIST 0x7fffffff
#define PAIR(sum, index) ((Pair)(unsigned)(sum) << 32 | (unsigned)(index))

extern "C" __global__ void cut(int* successor, const int* tails, int* begin, Pair* walked, int* active, int sublists)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= sublists) return;
    int first = 0;
    if (j > 0) {
        int tail = LD(tails, j - 1);
        first = LD(successor, tail);
        ST(successor, tail, ~j);
    }
    ST(begin, j, first);
    ST(walked, j, PAIR(0, first));
    ST(active, j, j);
}

// Walks `links` nodes of each active sublist. One that has not ended goes on from walked[] in the next launch, in a
// place of its own in packed[]; left[place] counts those.
template <bool RANKS>
__device__ void walk(const int* successor, int* rank, Pair* sublists, Pair* walked, const int* active, int* packed,
                     int* left, int place, int links, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int j = LD(active, t);
    Pair from = LD(walked, j);
    int node = (int)(unsigned)from, sum = (int)(from >> 32);
    OP(1);  // unpack
    for (int link = 0; link < links; ++link) {
        int next = LD(successor, node);
        if (RANKS) ST(rank, node, sum);
        ++sum;
        OP(4);  // two additions, comparisons with the number of links and with an end
        if (next < 0 || next == END_OF_LIST) {
            if (!RANKS) ST(sublists, j, PAIR(sum, next < 0 ? ~next : END_OF_LIST));
            return;
        }
        node = next;
    }
    ST(walked, j, PAIR(sum, node));
    int slot = ATOMIC_ADD(left, place, 1);
    ST(packed, slot, j);
}

// The first walk: a sublist's length, and the sublist behind it.
extern "C" __global__ void sum(const int* successor, Pair* sublists, Pair* walked, const int* active, int* packed,
                               int* left, int place, int links, int count)
{
    walk<false>(successor, 0, sublists, walked, active, packed, left, place, links, count);
}

// One step of Wyllie's algorithm on the list of sublists: the nodes from a sublist's first one to the end of the list.
extern "C" __global__ void jump(const Pair* before, Pair* after, int sublists)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= sublists) return;
    Pair own = LD(before, j);
    unsigned behind = (unsigned)own;
    OP(2);  // unpack, compare with the end
    if (behind != END_OF_LIST) {
        Pair other = LD(before, behind);
        own = ((own >> 32) + (other >> 32)) << 32 | (unsigned)other;
        OP(3);  // unpack and add, pack
    }
    ST(after, j, own);
}

// A sublist begins again, at the rank of its first node.
extern "C" __global__ void place(const Pair* ranked, const int* begin, Pair* walked, int* active, int n, int sublists)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= sublists) return;
    Pair to_the_end = LD_ASYNC(ranked, j);
    int first = LD_ASYNC(begin, j);
    JOIN();
    OP(3);  // compare with the end, subtract, pack
    if ((unsigned)to_the_end != END_OF_LIST) return;  // it leads into a cycle, and has no rank
    ST(walked, j, PAIR(n - (int)(to_the_end >> 32), first));
    ST(active, j, j);
}

// The second walk: the ranks.
extern "C" __global__ void expand(const int* successor, int* rank, Pair* walked, const int* active, int* packed,
                                  int* left, int place, int links, int count)
{
    walk<true>(successor, rank, 0, walked, active, packed, left, place, links, count);
}

// The list as it was.
extern "C" __global__ void mend(int* successor, const int* tails, const int* begin, int sublists)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j == 0 || j >= sublists) return;
    int tail = LD_ASYNC(tails, j - 1), first = LD_ASYNC(begin, j);
    JOIN();
    ST(successor, tail, first);
}

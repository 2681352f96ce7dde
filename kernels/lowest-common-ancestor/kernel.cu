// Lowest common ancestors by the Euler tour: levels of the vertices along the tour, the least of each stretch of 2^k of
// them, and for each query the least between the first visits of its two vertices.

#include "device.cuh"

typedef unsigned long long Visit;  // a level above its vertex, so that the least one tells both

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Along the tour a vertex is a level below the one before, or above it: 1 or -1 for each step.
extern "C" __global__ void weigh(const int* tour, const int* parent, int* weight, int length)
{
    int i = thread_number();
    if (i >= length) return;
    int change = 0;
    if (i > 0) {
        int here = LD_ASYNC(tour, i), before = LD_ASYNC(tour, i - 1);
        JOIN();
        int above = LD(parent, here);
        change = above == before ? 1 : -1;
        OP(1);
    }
    ST(weight, i, change);
}

// A step of an inclusive scan: add what stands `offset` before.
extern "C" __global__ void scan_step(const int* before, int* after, int offset, int length)
{
    int i = thread_number();
    if (i >= length) return;
    int mine = LD(before, i);
    if (i >= offset) {
        mine += LD(before, i - offset);
        OP(1);
    }
    ST(after, i, mine);
}

// The stretches of one visit each, and the first visit of each vertex: where the tour comes down to it.
extern "C" __global__ void visit(const int* tour, const int* weight, const int* level, Visit* least, int* first,
                                 int length)
{
    int i = thread_number();
    if (i >= length) return;
    int here = LD_ASYNC(tour, i), mine = LD_ASYNC(level, i), change = LD_ASYNC(weight, i);
    JOIN();
    OP(2);
    ST(least, i, (Visit)mine << 32 | (unsigned)here);
    if (i == 0 || change > 0) ST(first, here, i);
}

// The least of 2^k visits from each on, of those of half as many, which stand in the table from `from` on.
extern "C" __global__ void widen(Visit* least, int from, int into, int half, int count)
{
    int i = thread_number();
    if (i >= count) return;
    Visit one = LD_ASYNC(least, from + i), other = LD_ASYNC(least, from + i + half);
    JOIN();
    OP(1);
    ST(least, into + i, one < other ? one : other);
}

// row: where the stretches of 2^k begin in `least`, by k.
extern "C" __global__ void answer(const int* one, const int* other, const int* first, const Visit* least,
                                  const int* row, int* ancestor, int queries)
{
    int q = thread_number();
    if (q >= queries) return;
    int u = LD_ASYNC(one, q), v = LD_ASYNC(other, q);
    JOIN();
    int from = LD_ASYNC(first, u), to = LD_ASYNC(first, v);
    JOIN();
    int low = min(from, to), high = max(from, to);
    int k = 31 - __clz(high - low + 1);
    OP(4);
    int begin = LD(row, k);
    Visit left = LD_ASYNC(least, begin + low), right = LD_ASYNC(least, begin + high + 1 - (1 << k));
    JOIN();
    OP(1);
    ST(ancestor, q, (int)(unsigned)(left < right ? left : right));
}

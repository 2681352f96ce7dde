// A round of list ranking by independent sets: colour the nodes that are in the list, let those go whose colour is less
// than their neighbours', and pack the rest. A thread has a node, or a stretch of nodes where it counts and packs.

#include "device.cuh"

#define NOBODY (-1)

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Each node is the predecessor of its successor.
extern "C" __global__ void link_back(const int* successor, int* predecessor, int n)
{
    int v = thread_number();
    if (v >= n) return;
    int next = LD(successor, v);
    OP(1);
    if (next != NOBODY) ST(predecessor, next, v);
}

// Deterministic coin tossing: twice the lowest bit in which a colour differs from the successor's, and that bit.
extern "C" __global__ void toss(const int* active, const int* successor, const int* colour, int* tossed, int first,
                                int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(active, t);
    int next = LD(successor, v);
    int mine = first ? v : LD(colour, v);
    int theirs = next == NOBODY ? mine ^ 1 : first ? next : LD(colour, next);
    int bit = 0;
    while (((mine ^ theirs) >> bit & 1) == 0) ++bit;
    OP(4);  // exclusive or, its lowest bit, a shift and an addition
    ST(tossed, v, 2 * bit + (mine >> bit & 1));
}

// Nodes of one colour, which are no neighbours, take the least that neither neighbour has.
extern "C" __global__ void reduce_colours(const int* active, const int* successor, const int* predecessor, int* colour,
                                          int which, int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(active, t);
    int mine = LD(colour, v);
    OP(1);
    if (mine != which) return;
    int next = LD_ASYNC(successor, v), before = LD_ASYNC(predecessor, v);
    JOIN();
    int one = next == NOBODY ? NOBODY : LD(colour, next);
    int other = before == NOBODY ? NOBODY : LD(colour, before);
    int least = 0;
    while (least == one || least == other) ++least;
    OP(3);
    ST(colour, v, least);
}

// Nodes with a colour less than both neighbours' leave; the ends of the list stay.
extern "C" __global__ void choose(const int* active, const int* successor, const int* predecessor, const int* colour,
                                  int* leaves, int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(active, t);
    int next = LD_ASYNC(successor, v), before = LD_ASYNC(predecessor, v);
    JOIN();
    int goes = 0;
    OP(1);
    if (next != NOBODY && before != NOBODY) {
        int mine = LD_ASYNC(colour, v), one = LD_ASYNC(colour, next), other = LD_ASYNC(colour, before);
        JOIN();
        goes = mine < one && mine < other;
        OP(2);
    }
    ST(leaves, v, goes);
}

// A node that leaves keeps its predecessor and its distance from there, by which it is ranked when it comes back.
extern "C" __global__ void splice(const int* active, const int* leaves, int* successor, int* predecessor, int* distance,
                                  int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(active, t);
    int goes = LD(leaves, v);
    OP(1);
    if (!goes) return;
    int next = LD_ASYNC(successor, v), before = LD_ASYNC(predecessor, v), mine = LD_ASYNC(distance, v);
    JOIN();
    int theirs = LD(distance, next);
    OP(1);
    ST(distance, next, theirs + mine);
    ST(successor, before, next);
    ST(predecessor, next, before);
}

// How many of a thread's stretch stay.
extern "C" __global__ void count_staying(const int* active, const int* leaves, int* sums, int stretch, int count)
{
    int t = thread_number(), begin = t * stretch;
    if (begin >= count) return;
    int stay = 0;
    for (int i = begin; i < min(begin + stretch, count); ++i) {
        int v = LD(active, i);
        stay += !LD(leaves, v);
        OP(1);
    }
    ST(sums, t, stay);
}

// A step of an inclusive scan: add what stands `offset` before.
extern "C" __global__ void scan_step(const int* before, int* after, int offset, int stretches)
{
    int t = thread_number();
    if (t >= stretches) return;
    int mine = LD(before, t);
    if (t >= offset) {
        mine += LD(before, t - offset);
        OP(1);
    }
    ST(after, t, mine);
}

// Those that stay are packed, in their order; those that leave go behind those that left before.
extern "C" __global__ void pack(const int* active, const int* leaves, const int* sums, int* packed, int* left,
                                int* staying, int gone, int stretch, int count)
{
    int t = thread_number(), begin = t * stretch;
    if (begin >= count) return;
    int stayed = t == 0 ? 0 : LD(sums, t - 1);
    for (int i = begin; i < min(begin + stretch, count); ++i) {
        int v = LD(active, i);
        int goes = LD(leaves, v);
        OP(2);
        if (goes) {
            ST(left, gone + i - stayed, v);
        } else {
            ST(packed, stayed, v);
            ++stayed;
        }
    }
    if (begin + stretch >= count) ST(staying, 0, stayed);
}

// A step of pointer jumping towards the head.
extern "C" __global__ void jump(const int* active, const int* predecessor, const int* distance, int* jumped,
                                int* farther, int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(active, t);
    int before = LD_ASYNC(predecessor, v), mine = LD_ASYNC(distance, v);
    JOIN();
    OP(1);
    if (before != NOBODY) {
        int theirs = LD_ASYNC(distance, before), beyond = LD_ASYNC(predecessor, before);
        JOIN();
        mine += theirs;
        before = beyond;
        OP(1);
    }
    ST(jumped, v, before);
    ST(farther, v, mine);
}

extern "C" __global__ void settle(const int* active, const int* distance, int* rank, int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(active, t);
    int mine = LD(distance, v);
    ST(rank, v, mine);
}

// Nodes that left in one round come back, each behind the predecessor that it had then.
extern "C" __global__ void restore(const int* left, const int* predecessor, const int* distance, int* rank, int begin,
                                   int count)
{
    int t = thread_number();
    if (t >= count) return;
    int v = LD(left, begin + t);
    int before = LD_ASYNC(predecessor, v), mine = LD_ASYNC(distance, v);
    JOIN();
    int theirs = LD(rank, before);
    OP(1);
    ST(rank, v, theirs + mine);
}

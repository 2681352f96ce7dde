// A level of breadth-first search: mark what it reaches, then make the marked vertices the next level.

#include "device.cuh"

#define UNREACHED (-1)

extern "C" __global__ void expand(const int* first_edge, const int* end, const int* level, int* marked, int current,
                                  int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int mine = LD(level, v);
    OP(1);
    if (mine != current) return;
    int e = LD_ASYNC(first_edge, v), stop = LD_ASYNC(first_edge, v + 1);
    JOIN();
    for (; e < stop; ++e) {
        int to = LD(end, e);
        int next = LD(level, to);
        OP(1);
        if (next == UNREACHED) ST(marked, to, 1);
    }
}

extern "C" __global__ void settle(int* level, int* marked, int* deepest, int current, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int reached = LD(marked, v);
    OP(1);
    if (!reached) return;
    ST(level, v, current + 1);
    ST(marked, v, 0);
    ST(deepest, 0, current + 1);
}

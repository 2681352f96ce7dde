// Bellman-Ford from one source, by one block: n - 1 times every edge is relaxed, a thread an edge. An iteration reads
// what the one before has left and lowers a copy of it.

#include "device.cuh"

#define UNREACHABLE (1 << 29)

extern "C" __global__ void bellman_ford(const int* start, const int* end, const int* weight, int* distance,
                                        int* relaxed, int n, int m)
{
    int source = blockIdx.x;
    int* before = distance + (size_t)source * n;
    int* after = relaxed + (size_t)source * n;

    for (int v = threadIdx.x; v < n; v += blockDim.x) ST(before, v, v == source ? 0 : UNREACHABLE);
    SYNC();
    for (int i = 1; i < n; ++i) {
        for (int v = threadIdx.x; v < n; v += blockDim.x) ST(after, v, LD(before, v));
        SYNC();
        for (int e = threadIdx.x; e < m; e += blockDim.x) {
            int u = LD_ASYNC(start, e), v = LD_ASYNC(end, e), w = LD_ASYNC(weight, e);
            JOIN();
            int from = LD_ASYNC(before, u), to = LD_ASYNC(before, v);
            JOIN();
            OP(3);  // is the start reachable; an addition and a comparison
            if (from != UNREACHABLE && from + w < to) ATOMIC_MIN(after, v, from + w);
        }
        SYNC();
        int* lowered = after;
        after = before;
        before = lowered;
    }
}

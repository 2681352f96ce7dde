// Dijkstra's algorithm from one source, by one block of THREADS threads, with an array as the queue: key[v] is the
// length of the shortest path to v that is known, or REMOVED.

#include "device.cuh"

typedef unsigned long long Packed;  // a key above its vertex, so that the least one tells both

#define UNREACHABLE (1u << 30)
#define REMOVED 0xffffffffu  // above every key

extern "C" __global__ void dijkstra(const int* first_edge, const int* end, const int* weight, unsigned* key,
                                    unsigned* distance, int n)
{
    SHARED(Packed, least, THREADS);
    int t = threadIdx.x, source = blockIdx.x;
    key += (size_t)source * n;
    distance += (size_t)source * n;

    for (int v = t; v < n; v += THREADS) ST(key, v, v == source ? 0 : UNREACHABLE);
    SYNC();
    for (int removed = 0; removed < n; ++removed) {
        // Delete-min: each thread the least of its vertices, then a tree over the threads.
        Packed mine = (Packed)REMOVED << 32;
        for (int v = t; v < n; v += THREADS) {
            mine = min(mine, (Packed)LD(key, v) << 32 | (unsigned)v);
            OP(1);
        }
        STS(least, t, mine);
        SYNC();
        for (int width = THREADS, half; width > 1; width = half) {
            half = (width + 1) / 2;
            if (t + half < width) {
                mine = min(mine, LDS(least, t + half));
                OP(1);
                STS(least, t, mine);
            }
            SYNC();
        }
        Packed top = LDS(least, 0);
        unsigned d = (unsigned)(top >> 32);
        int u = (int)(unsigned)top;
        if (d == UNREACHABLE) break;

        if (t == 0) {
            ST(key, u, REMOVED);
            ST(distance, u, d);
        }
        int e = LD_ASYNC(first_edge, u), stop = LD_ASYNC(first_edge, u + 1);
        JOIN();
        for (e += t; e < stop; e += THREADS) {
            int v = LD_ASYNC(end, e);
            unsigned w = LD_ASYNC(weight, e);
            JOIN();
            unsigned known = LD(key, v);
            OP(3);  // is it still in the queue; an addition and a comparison
            if (known != REMOVED && d + w < known) ST(key, v, d + w);
        }
        SYNC();
    }
}

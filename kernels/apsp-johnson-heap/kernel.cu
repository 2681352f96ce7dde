// Dijkstra's algorithm from one source, by one thread, with a binary heap as the queue. An entry of the heap is a
// length above its vertex; place[v] is where the entry of v lies. Element i of a thread's array lies at AT(i).

#include "device.cuh"

typedef unsigned long long Entry;

#define UNREACHABLE (1u << 30)
#define NO_ENTRY (~(Entry)0)  // above every entry
#define DELETED (-1)
#define ENTRY(length, v) ((Entry)(length) << 32 | (unsigned)(v))
#define LENGTH(entry) ((unsigned)((entry) >> 32))
#define VERTEX(entry) ((int)(unsigned)(entry))
#define AT(i) (mine + (size_t)(i) * stride)

extern "C" __global__ void dijkstra(const int* first_edge, const int* end, const int* weight, Entry* heap, int* place,
                                    unsigned* distance, int n, int source_stride, int stride)
{
    int source = blockIdx.x * blockDim.x + threadIdx.x;
    if (source >= n) return;
    size_t mine = (size_t)source * source_stride;

    // Insert all vertices. The source comes first and the others are equally far: they are a heap as they come.
    for (int i = 0; i < n; ++i) {
        int v = i == 0 ? source : i <= source ? i - 1 : i;
        ST(heap, AT(i), ENTRY(i == 0 ? 0 : UNREACHABLE, v));
        ST(place, AT(v), i);
    }

    for (int size = n; size > 0;) {
        // Delete-min: the last entry goes into the hole at the top and sinks.
        Entry top = LD_ASYNC(heap, AT(0)), last = LD_ASYNC(heap, AT(size - 1));
        JOIN();
        unsigned d = LENGTH(top);
        int u = VERTEX(top);
        OP(1);
        if (d == UNREACHABLE) break;
        ST(distance, AT(u), d);
        ST(place, AT(u), DELETED);
        if (--size == 0) break;
        int hole = 0;
        for (int child; (child = 2 * hole + 1) < size; hole = child) {
            Entry below = LD_ASYNC(heap, AT(child));
            Entry right = child + 1 < size ? LD_ASYNC(heap, AT(child + 1)) : NO_ENTRY;
            JOIN();
            OP(2);  // two comparisons
            if (right < below) {
                below = right;
                ++child;
            }
            if (last < below) break;
            ST(heap, AT(hole), below);
            ST(place, AT(VERTEX(below)), hole);
        }
        ST(heap, AT(hole), last);
        ST(place, AT(VERTEX(last)), hole);

        int e = LD_ASYNC(first_edge, u), stop = LD_ASYNC(first_edge, u + 1);
        JOIN();
        for (; e < stop; ++e) {
            int v = LD_ASYNC(end, e);
            unsigned w = LD_ASYNC(weight, e);
            JOIN();
            int at = LD(place, AT(v));
            OP(1);
            if (at == DELETED) continue;
            Entry key = LD(heap, AT(at)), shorter = ENTRY(d + w, v);
            OP(2);  // an addition and a comparison
            if (shorter >= key) continue;
            // Decrease-key: the entry rises.
            while (at > 0) {
                int parent = (at - 1) / 2;
                Entry above = LD(heap, AT(parent));
                OP(1);
                if (above < shorter) break;
                ST(heap, AT(at), above);
                ST(place, AT(VERTEX(above)), at);
                at = parent;
            }
            ST(heap, AT(at), shorter);
            ST(place, AT(v), at);
        }
    }
}

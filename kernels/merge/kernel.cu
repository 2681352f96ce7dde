// Two sorted arrays are merged in sections that fit shared memory: `split` finds where they begin, `merge_sections`
// merges one a block. Of equal elements, those of a come first.

#include "device.cuh"

#define ITEMS ((2 * SECTION + THREADS - 1) / THREADS)  // elements of a section, for each thread

// Every SECTION-th element of either array cuts both: itself, and where it belongs in the other, by binary search.
// A cut's place among all cuts is how many of them come before it, in its own array and in the other.
extern "C" __global__ void split(const int* a, int size_a, const int* b, int size_b, int2* cuts)
{
    int boundaries_a = (size_a + SECTION - 1) / SECTION, boundaries_b = (size_b + SECTION - 1) / SECTION;
    int boundary = blockIdx.x * blockDim.x + threadIdx.x;
    if (boundary >= boundaries_a + boundaries_b) return;
    bool of_a = boundary < boundaries_a;
    if (!of_a) boundary -= boundaries_a;
    int at = boundary * SECTION;
    int value = LD(of_a ? a : b, at);
    int low = 0, high = of_a ? size_b : size_a;
    while (low < high) {
        int middle = (low + high) / 2;
        int found = LD(of_a ? b : a, middle);
        OP(2);  // halve, compare
        if (found < value || (found == value && !of_a)) low = middle + 1; else high = middle;
    }
    OP(2);  // its place: a sum, a quotient
    int place = boundary + (low + SECTION - 1) / SECTION;
    ST(cuts, place, of_a ? make_int2(at, low) : make_int2(low, at));
}

extern "C" __global__ void merge_sections(const int* a, const int* b, const int2* cuts, int* merged)
{
    SHARED(int, part, 2 * SECTION);  // of a, and behind it of b
    SHARED(int, ordered, 2 * SECTION);
    int2 from = LD_ASYNC(cuts, blockIdx.x), to = LD_ASYNC(cuts, blockIdx.x + 1);
    JOIN();
    int size_a = to.x - from.x, size = size_a + to.y - from.y;
    int value[ITEMS];

    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < size_a) value[e] = LD_ASYNC(a, from.x + at);
        else if (at < size) value[e] = LD_ASYNC(b, from.y + at - size_a);
    }
    JOIN();
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < size) STS(part, at, value[e]);
    }
    SYNC();
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at >= size) break;
        bool of_a = at < size_a;
        int low = of_a ? size_a : 0, high = of_a ? size : size_a;
        while (low < high) {
            int middle = (low + high) / 2;
            int here = LDS(part, middle);
            OP(2);  // halve, compare
            if (here < value[e] || (here == value[e] && !of_a)) low = middle + 1; else high = middle;
        }
        OP(2);  // its rank is the sum of its ranks in both parts
        STS(ordered, at + low - size_a, value[e]);
    }
    SYNC();
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < size) ST(merged, from.x + from.y + at, LDS(ordered, at));
    }
}

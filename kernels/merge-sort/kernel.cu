// Merge sort: `sort_blocks` sorts LOCAL elements a block in shared memory, by Batcher's odd-even merge network; then,
// for each round, `split` and `merge_sections` merge pairs of runs in sections that fit shared memory. Of equal
// elements, those of the pair's first run come first. The number of elements is a multiple of LOCAL.

#include "device.cuh"

#define SECTION (LOCAL / 2)
#define ITEMS ((LOCAL + THREADS - 1) / THREADS)  // elements in shared memory, for each thread

extern "C" __global__ void sort_blocks(int* keys)
{
    SHARED(int, sorted, LOCAL);
    int first = blockIdx.x * LOCAL;
    int value[ITEMS];
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < LOCAL) value[e] = LD_ASYNC(keys, first + at);
    }
    JOIN();
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < LOCAL) STS(sorted, at, value[e]);
    }
    SYNC();
    for (int p = 1; p < LOCAL; p *= 2) {      // runs of p elements are merged
        for (int k = p; k > 0; k /= 2) {      // i and i + k are put in order
            int skipped = k < p ? k : 0;      // behind the first pass, the first and last k elements of a pair rest
            for (int c = threadIdx.x; c < LOCAL / 2; c += THREADS) {
                int q = c % p, i = c / p * 2 * p + skipped + 2 * k * (q / k) + q % k;
                if (q >= p - skipped) continue;
                int x = LDS(sorted, i), y = LDS(sorted, i + k);
                OP(2);
                STS(sorted, i, min(x, y));
                STS(sorted, i + k, max(x, y));
            }
            SYNC();
        }
    }
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < LOCAL) ST(keys, first + at, LDS(sorted, at));
    }
}

struct Pair { int start, middle, end; };  // two neighbouring runs; the last has no second one if runs are odd in number

// The pair of runs of `run` elements that an element belongs to.
__device__ Pair pair_of(int at, int run, int n)
{
    int start = at / run / 2 * 2 * run;
    Pair pair = {start, min(start + run, n), min(start + 2 * run, n)};
    return pair;
}

// Every SECTION-th element cuts both runs of its pair: itself, and where it belongs in the other run.
extern "C" __global__ void split(const int* keys, int n, int run, int2* cuts)
{
    int boundary = blockIdx.x * blockDim.x + threadIdx.x;
    if (boundary >= n / SECTION) return;
    int at = boundary * SECTION;
    Pair pair = pair_of(at, run, n);
    bool of_a = at < pair.middle;
    int value = LD(keys, at);
    int own = of_a ? pair.start : pair.middle, other = of_a ? pair.middle : pair.start;  // where the runs begin
    int low = other, high = of_a ? pair.end : pair.middle;
    while (low < high) {
        int middle = (low + high) / 2;
        int found = LD(keys, middle);
        OP(2);  // halve, compare
        if (found < value || (found == value && !of_a)) low = middle + 1; else high = middle;
    }
    OP(2);  // its place: a sum, a quotient
    int place = (pair.start + at - own) / SECTION + (low - other + SECTION - 1) / SECTION;
    ST(cuts, place, of_a ? make_int2(at, low) : make_int2(low, at));
}

extern "C" __global__ void merge_sections(const int* keys, int n, int run, const int2* cuts, int* merged)
{
    SHARED(int, part, LOCAL);  // of the first run, and behind it of the second
    SHARED(int, ordered, LOCAL);
    Pair pair = pair_of(blockIdx.x * SECTION, run, n);
    int behind = (blockIdx.x + 1) * SECTION;
    int2 from = LD_ASYNC(cuts, blockIdx.x), to = make_int2(pair.middle, pair.end);
    if (behind < pair.end) to = LD_ASYNC(cuts, blockIdx.x + 1);
    JOIN();
    int size_a = to.x - from.x, size = size_a + to.y - from.y;
    int value[ITEMS];

    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at < size) value[e] = LD_ASYNC(keys, at < size_a ? from.x + at : from.y + at - size_a);
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
        if (at < size) ST(merged, from.x + from.y - pair.middle + at, LDS(ordered, at));
    }
}

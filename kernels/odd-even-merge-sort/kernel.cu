// Batcher's odd-even merge sorting network. Runs of p elements are merged pairwise: in passes of stride k = p, p/2 and
// so on to 1, elements i and i + k are put in order. In the first pass i is in the pair's first run; in the others
// i / k is odd and i + k is in the same pair. The number of elements is a power of two, and a multiple of LOCAL.

#include "device.cuh"

#define ITEMS ((LOCAL + THREADS - 1) / THREADS)  // elements in shared memory, for each thread
#define WINDOW LOCAL
#define HALO (WINDOW / 4)

// The lower element of comparator c of the pass, counted with those that rest; -1 if it rests.
__device__ int lower(int c, int p, int k)
{
    int q = c % p;
    if (k < p && q >= p - k) return -1;
    return c / p * 2 * p + (k < p ? k : 0) + 2 * k * (q / k) + q % k;
}

// All passes of the runs that fit shared memory.
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
    for (int p = 1; p < LOCAL; p *= 2) {
        for (int k = p; k > 0; k /= 2) {
            for (int c = threadIdx.x; c < LOCAL / 2; c += THREADS) {
                int i = lower(c, p, k);
                if (i < 0) continue;
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

// One pass over global memory, a comparator a thread.
extern "C" __global__ void pass(int* keys, int comparators, int p, int k)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= comparators) return;
    int i = lower(c, p, k);
    if (i < 0) return;
    int x = LD_ASYNC(keys, i), y = LD_ASYNC(keys, i + k);
    JOIN();
    OP(2);
    ST(keys, i, min(x, y));
    ST(keys, i + k, max(x, y));
}

// The passes of stride WINDOW / 8 and less, in shared memory. What they make of an element depends on elements less
// than 2 * WINDOW / 8 away, so a block that reads a window gets the window's inner half right.
extern "C" __global__ void last_passes(const int* before, int* after, int n, int p)
{
    SHARED(int, window, WINDOW);
    int first = blockIdx.x * (WINDOW / 2) - HALO;
    int value[ITEMS];
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS, i = first + at;
        if (at < WINDOW && i >= 0 && i < n) value[e] = LD_ASYNC(before, i);
    }
    JOIN();
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS, i = first + at;
        if (at < WINDOW && i >= 0 && i < n) STS(window, at, value[e]);
    }
    SYNC();
    for (int k = WINDOW / 8; k > 0; k /= 2) {
        for (int c = threadIdx.x; c < WINDOW / 2; c += THREADS) {
            int i = k + 2 * k * (c / k) + c % k;  // in the window, which begins at a multiple of 2 k
            int left = first + i, right = left + k;
            if (i + k >= WINDOW || left < 0 || right >= n || left / (2 * p) != right / (2 * p)) continue;
            int x = LDS(window, i), y = LDS(window, i + k);
            OP(2);
            STS(window, i, min(x, y));
            STS(window, i + k, max(x, y));
        }
        SYNC();
    }
    for (int e = 0; e < ITEMS; ++e) {
        int at = threadIdx.x + e * THREADS;
        if (at >= HALO && at < WINDOW - HALO) ST(after, first + at, LDS(window, at));
    }
}

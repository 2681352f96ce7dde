// Exclusive scan of segments of 2 * THREADS elements, a segment a block, and what joins the segments. THREADS is a
// power of two.

#include "device.cuh"

#define SEGMENT (2 * THREADS)

// `values` and `scanned` may be the same array.
extern "C" __global__ void scan_segments(const int* values, int* scanned, int* sums, int n)
{
    SHARED(int, tree, SEGMENT);
    int t = threadIdx.x, i = blockIdx.x * SEGMENT + threadIdx.x;
    int low = i < n ? LD_ASYNC(values, i) : 0;
    int high = i + THREADS < n ? LD_ASYNC(values, i + THREADS) : 0;
    JOIN();
    STS(tree, t, low);
    STS(tree, t + THREADS, high);
    SYNC();

    // Up: the sum of each subtree comes to its rightmost element.
    for (int stride = 1; stride < SEGMENT; stride *= 2) {
        int right = 2 * stride * (t + 1) - 1;
        if (right < SEGMENT) {
            int sum = LDS(tree, right);
            sum += LDS(tree, right - stride);
            OP(1);
            STS(tree, right, sum);
        }
        SYNC();
    }
    if (t == 0) {
        int total = LDS(tree, SEGMENT - 1);
        ST(sums, blockIdx.x, total);
        STS(tree, SEGMENT - 1, 0);
    }
    SYNC();

    // Down: what stands before a subtree goes to its left half, and with that half's sum to its right half.
    for (int stride = THREADS; stride > 0; stride /= 2) {
        int right = 2 * stride * (t + 1) - 1;
        if (right < SEGMENT) {
            int left = LDS(tree, right - stride);
            int here = LDS(tree, right);
            OP(1);
            STS(tree, right - stride, here);
            STS(tree, right, here + left);
        }
        SYNC();
    }
    if (i < n) ST(scanned, i, LDS(tree, t));
    if (i + THREADS < n) ST(scanned, i + THREADS, LDS(tree, t + THREADS));
}

// Add to each segment but the first what stands before it.
extern "C" __global__ void add_sums(int* scanned, const int* sums, int n)
{
    int segment = blockIdx.x + 1, i = segment * SEGMENT + threadIdx.x;
    if (i >= n) return;
    bool two = i + THREADS < n;
    int sum = LD_ASYNC(sums, segment), low = LD_ASYNC(scanned, i), high = two ? LD_ASYNC(scanned, i + THREADS) : 0;
    JOIN();
    OP(two ? 2 : 1);
    ST(scanned, i, low + sum);
    if (two) ST(scanned, i + THREADS, high + sum);
}

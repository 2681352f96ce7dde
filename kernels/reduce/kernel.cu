// A sum a block: each of its THREADS threads adds two elements, then a tree over the threads adds what they have.

#include "device.cuh"

extern "C" __global__ void reduce(const int* values, int* sums, int n)
{
    SHARED(int, partial, THREADS);
    int t = threadIdx.x, i = blockIdx.x * 2 * THREADS + threadIdx.x;
    int sum = i < n ? LD_ASYNC(values, i) : 0;
    int other = i + THREADS < n ? LD_ASYNC(values, i + THREADS) : 0;
    JOIN();
    OP(1);
    sum += other;
    STS(partial, t, sum);
    SYNC();
    for (int width = THREADS, half; width > 1; width = half) {
        half = (width + 1) / 2;
        if (t + half < width) {
            sum += LDS(partial, t + half);
            OP(1);
            STS(partial, t, sum);
        }
        SYNC();
    }
    if (t == 0) ST(sums, blockIdx.x, sum);
}

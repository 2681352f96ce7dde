// A histogram: each block counts its values in shared memory and adds its counts to those in global memory.

#include "device.cuh"

extern "C" __global__ void histogram(const unsigned* values, unsigned* totals, unsigned n)
{
    SHARED(unsigned, counts, BINS);
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) STS(counts, bin, 0u);
    SYNC();  // all counts are zero

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = LD(values, i);
        ATOMIC_ADD(counts, bin, 1u);
    }
    SYNC();  // all values are counted

    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned count = LDS(counts, bin);
        ATOMIC_ADD(totals, bin, count);
    }
}

// Atomic updates of counters in global memory.

#include "device.cuh"

extern "C" __global__ void atomic_update(const unsigned* where, unsigned* counts, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned counter = LD(where, i);
    ATOMIC_ADD(counts, counter, 1u);
}

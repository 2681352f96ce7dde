// Reads of a small table in constant memory, or of its copy in global memory, from an index on that each thread has.

#include "device.cuh"

__constant__ unsigned table[SIZE] = VALUES;

extern "C" __global__ void look_up(const unsigned* copy, const unsigned* first, unsigned* sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned index = LD(first, i);
    unsigned sum = 0;
    for (unsigned read = 0; read < READS; ++read) {
#if IN_CONSTANT_MEMORY
        OP(1);  // as written a read costs one instruction, whatever the others of the warp read
        sum += table[index];
#else
        sum += LD(copy, index);
#endif
        index = (index + 1) % SIZE;
    }
    ST(sums, i, sum);
}

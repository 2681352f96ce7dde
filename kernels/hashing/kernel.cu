// Random accesses to a table, in the shared memory of each block or in global memory. A block has a range of
// `positions`; its threads take them in turns and read the table there, or add one to it.

#include "device.cuh"

// What the table to be read holds at a position; any values that differ would do.
__device__ unsigned entry(unsigned position) { return position * 2654435761u + 12345u; }

extern "C" __global__ void read_shared(const unsigned* positions, unsigned* sums, unsigned n, unsigned per_block)
{
    SHARED(unsigned, table, WORDS);
    for (unsigned word = threadIdx.x; word < WORDS; word += blockDim.x) {
        OP(2);
        STS(table, word, entry(word));
    }
    SYNC();  // the table is filled

    unsigned first = blockIdx.x * per_block, last = min(first + per_block, n), sum = 0;
    for (unsigned i = first + threadIdx.x; i < last; i += blockDim.x) {
        unsigned position = LD(positions, i);
        unsigned value = LDS(table, position);
        OP(1);
        sum += value;  // from shared memory
    }
    ST(sums, blockIdx.x * blockDim.x + threadIdx.x, sum);  // so that the reads are needed
}

extern "C" __global__ void read_global(
    const unsigned* positions, const unsigned* table, unsigned* sums, unsigned n, unsigned per_block)
{
    unsigned first = blockIdx.x * per_block, last = min(first + per_block, n), sum = 0;
    for (unsigned i = first + threadIdx.x; i < last; i += blockDim.x) {
        unsigned position = LD(positions, i);
        unsigned value = LD(table, position);
        OP(1);
        sum += value;  // from global memory
    }
    ST(sums, blockIdx.x * blockDim.x + threadIdx.x, sum);
}

extern "C" __global__ void update_shared(const unsigned* positions, unsigned* tables, unsigned n, unsigned per_block)
{
    SHARED(unsigned, counts, WORDS);
    for (unsigned word = threadIdx.x; word < WORDS; word += blockDim.x) STS(counts, word, 0u);
    SYNC();

    unsigned first = blockIdx.x * per_block, last = min(first + per_block, n);
    for (unsigned i = first + threadIdx.x; i < last; i += blockDim.x) {
        unsigned position = LD(positions, i);
        ATOMIC_ADD(counts, position, 1u);
    }
    SYNC();  // all updates are done

    for (unsigned word = threadIdx.x; word < WORDS; word += blockDim.x) {
        unsigned count = LDS(counts, word);
        ST(tables, blockIdx.x * WORDS + word, count);
    }
}

extern "C" __global__ void update_global(const unsigned* positions, unsigned* table, unsigned n, unsigned per_block)
{
    unsigned first = blockIdx.x * per_block, last = min(first + per_block, n);
    for (unsigned i = first + threadIdx.x; i < last; i += blockDim.x) {
        unsigned position = LD(positions, i);
        ATOMIC_ADD(table, position, 1u);
    }
}

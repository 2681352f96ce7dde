// One min-plus product of a matrix with itself, by sub-blocks of SUB_BLOCK x SUB_BLOCK in shared memory: a block of
// THREADS threads computes one sub-block of the product. The dimension n is a multiple of SUB_BLOCK.

#include "device.cuh"

#define ELEMENTS ((SUB_BLOCK * SUB_BLOCK + THREADS - 1) / THREADS)  // of the sub-block, for each thread

extern "C" __global__ void minplus(const int* distance, int* product, int n)
{
    SHARED(int, left, SUB_BLOCK * SUB_BLOCK);
    SHARED(int, right, SUB_BLOCK * SUB_BLOCK);
    int first_row = blockIdx.y * SUB_BLOCK, first_column = blockIdx.x * SUB_BLOCK;
    int from_left[ELEMENTS], from_right[ELEMENTS], shortest[ELEMENTS];

    for (int e = 0; e < ELEMENTS; ++e) shortest[e] = 0x7fffffff;

    for (int k0 = 0; k0 < n; k0 += SUB_BLOCK) {
        for (int e = 0; e < ELEMENTS; ++e) {
            int at = threadIdx.x + e * THREADS, row = at / SUB_BLOCK, column = at % SUB_BLOCK;
            if (at < SUB_BLOCK * SUB_BLOCK) {
                from_left[e] = LD_ASYNC(distance, (first_row + row) * n + k0 + column);
                if (ONE_BY_ONE) JOIN();
                from_right[e] = LD_ASYNC(distance, (k0 + row) * n + first_column + column);
                if (ONE_BY_ONE) JOIN();
            }
        }
        JOIN();
        for (int e = 0; e < ELEMENTS; ++e) {
            int at = threadIdx.x + e * THREADS;
            if (at < SUB_BLOCK * SUB_BLOCK) {
                STS(left, at, from_left[e]);
                STS(right, at, from_right[e]);
            }
        }
        SYNC();
        for (int k = 0; k < SUB_BLOCK; ++k) {
            for (int e = 0; e < ELEMENTS; ++e) {
                int at = threadIdx.x + e * THREADS, row = at / SUB_BLOCK, column = at % SUB_BLOCK;
                if (at < SUB_BLOCK * SUB_BLOCK) {
                    int through = LDS(left, row * SUB_BLOCK + k);
                    through += LDS(right, k * SUB_BLOCK + column);
                    shortest[e] = through < shortest[e] ? through : shortest[e];
                    OP(2);  // an addition and a minimum
                }
            }
        }
        SYNC();
    }

    for (int e = 0; e < ELEMENTS; ++e) {
        int at = threadIdx.x + e * THREADS, row = at / SUB_BLOCK, column = at % SUB_BLOCK;
        if (at < SUB_BLOCK * SUB_BLOCK) ST(product, (first_row + row) * n + first_column + column, shortest[e]);
    }
}

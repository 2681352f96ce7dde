// Membership tests of Bloom filters: each block takes sub-queries, one after another, puts a sub-query's vector and
// hash functions into shared memory, and tests all w-mers of the database against it. A thread tests a w-mer at a time.

#include "device.cuh"

#define BITS (2 * BASES)  // of a w-mer
#define ROWS (FUNCTIONS * BITS)

// The w-mer that begins at `base`. Sixteen bases lie in a word, the first one lowest; a w-mer may reach into the next.
__device__ unsigned w_mer(const unsigned* sequence, unsigned base)
{
    unsigned low = LD_ASYNC(sequence, base / 16), high = LD_ASYNC(sequence, base / 16 + 1);
    JOIN();
    OP(4);  // put both together, shift, mask
    unsigned long long both = (unsigned long long)high << 32 | low;
    return (unsigned)(both >> 2 * (base % 16) & ((1ull << BITS) - 1));
}

extern "C" __global__ void membership(
    const unsigned* database, const unsigned* vectors, const unsigned* matrices, unsigned char* hits,
    unsigned n, unsigned sub_queries)
{
    SHARED(unsigned, vector, VECTOR_WORDS);
    SHARED(unsigned, rows, ROWS);

    for (unsigned sub_query = blockIdx.x; sub_query < sub_queries; sub_query += gridDim.x) {
        for (unsigned i = threadIdx.x; i < VECTOR_WORDS; i += blockDim.x) {
            unsigned word = LD(vectors, sub_query * VECTOR_WORDS + i);
            STS(vector, i, word);
        }
        for (unsigned i = threadIdx.x; i < ROWS; i += blockDim.x) {
            unsigned row = LD(matrices, sub_query * ROWS + i);
            STS(rows, i, row);
        }
        SYNC();  // vector and rows are there

        for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
            unsigned x = w_mer(database, i);
            bool member = true;
            for (int function = 0; function < FUNCTIONS; ++function) {
                unsigned address = 0;  // Eq (5.17): the exclusive or of the rows at which x has a one
                for (int bit = 0; bit < BITS; ++bit) {
                    unsigned row = LDS(rows, function * BITS + bit);
                    address ^= row & (0u - (x >> bit & 1u));
                }
                OP(2 * BITS);  // an and and an exclusive or each
                unsigned word = LDS(vector, address / 32);
                OP(2);  // shift and mask
                member = member && (word >> address % 32 & 1u) != 0;
                if (STOP_AT_MISS && !member) break;
            }
            if (member) ST(hits, (unsigned long long)sub_query * n + i, 1);
        }
        SYNC();  // nobody needs the vector any more
    }
}

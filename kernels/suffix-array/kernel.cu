// Queries matched by binary search over the suffixes of a text, a thread a query. Letters are bytes, LETTERS of them
// in a word, the first in the highest bits, so that words compare as their letters do. Behind the text and behind
// each query are zeros, which come before every letter.

#include "device.cuh"

#if LETTERS == 1
typedef unsigned char Word;
#elif LETTERS == 4
typedef unsigned int Word;
#else
typedef unsigned long long Word;
#endif

#define BITS (8 * LETTERS)

// Whether the text from `at` on comes before query i (-1), begins with it (0) or comes behind it (1).
__device__ int compare(const Word* text, unsigned at, const Word* queries, int i, int n, int k)
{
    for (int letter = 0; letter < k; letter += LETTERS) {
        unsigned word = (at + letter) / LETTERS, shift = 8 * ((at + letter) % LETTERS);
        Word mine = LD_ASYNC(queries, (long long)(letter / LETTERS) * n + i);
        Word piece = LD_ASYNC(text, word), next = 0;
        if (shift) next = LD_ASYNC(text, word + 1);
        JOIN();
        if (shift) piece = piece << shift | next >> (BITS - shift);
        int unused = 8 * max(0, letter + LETTERS - k);  // bits of the last word that are behind the query
        piece >>= unused;
        mine >>= unused;
        OP(LETTERS == 1 ? 1 : 4);  // a comparison; two shifts and an or
        if (piece != mine) return piece < mine ? -1 : 1;
    }
    return 0;
}

// bounds: of the suffixes that begin with query i, the first (at i) and the one behind the last (at n + i).
extern "C" __global__ void match(
    const Word* text, const unsigned* suffixes, unsigned m, const Word* queries, int n, int k, unsigned* bounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned low = 0;
    for (int side = 0; side < 2; ++side) {
        unsigned high = m;
        while (low < high) {
            unsigned middle = (low + high) / 2;
            unsigned at = LD(suffixes, middle);
            int order = compare(text, at, queries, i, n, k);
            OP(2);  // halve, decide
            if (order < side) low = middle + 1; else high = middle;
        }
        ST(bounds, side * (long long)n + i, low);
    }
}

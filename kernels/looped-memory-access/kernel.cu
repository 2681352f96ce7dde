// Loops over memory: each thread sums its own part of an array, pass after pass, in one of three orders. The sum is
// stored, so that the loads are needed.

#include "device.cuh"

typedef unsigned long long Word;

extern "C" __global__ void sequential(const Word* array, Word* sums, unsigned n, unsigned part, unsigned passes)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned first = min(n, thread * part), last = min(n, first + part);
    Word sum = 0;
    for (unsigned pass = 0; pass < passes; ++pass) {
#if AHEAD == 1
        for (unsigned i = first; i < last; ++i) {  // in order
            sum += LD(array, i);
            OP(1);
        }
#else
        // AHEAD loads are in flight: an element is added up as many steps after its load as there are others between
        Word loaded[AHEAD];
        for (unsigned i = first; i < min(last, first + AHEAD - 1); ++i)
            loaded[(i - first) % AHEAD] = LD_ASYNC(array, i);
        for (unsigned i = first; i < last; ++i) {
            unsigned next = i + AHEAD - 1;
            if (next < last) loaded[(next - first) % AHEAD] = LD_ASYNC(array, next);
            JOIN(min(AHEAD - 1, last - 1 - i));
            sum += loaded[(i - first) % AHEAD];
            OP(1);
        }
#endif
    }
    ST(sums, thread, sum);
}

// Every stride-th element, then those behind them, until all have been visited.
extern "C" __global__ void strided(const Word* array, Word* sums, unsigned n, unsigned part, unsigned passes,
                                   unsigned stride)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned first = min(n, thread * part), last = min(n, first + part);
    Word sum = 0;
    for (unsigned done = 0; done < passes; ++done) {
        for (unsigned begin = first; begin < min(last, first + stride); ++begin) {
            for (unsigned i = begin; i < last; i += stride) {
                sum += LD(array, i);
                OP(1);
            }
        }
    }
    ST(sums, thread, sum);
}

// Where to go is loaded, too: from a random permutation of the part.
extern "C" __global__ void random_order(const Word* array, const unsigned* permutation, Word* sums, unsigned n,
                                        unsigned part, unsigned passes)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned first = min(n, thread * part), last = min(n, first + part);
    Word sum = 0;
    for (unsigned done = 0; done < passes; ++done) {
        for (unsigned i = first; i < last; ++i) {
            unsigned at = LD(permutation, i);
            sum += LD(array, at);
            OP(1);
        }
    }
    ST(sums, thread, sum);
}

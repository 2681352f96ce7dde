// What shows an L2: blocks that read parts of a buffer in turns, and a small kernel that finds all of its data there.

constexpr int THREADS = 1024; // of a block of read_parts
constexpr int PAIRS = 32;     // of loads of each of its threads

// A block reads one of `parts` equal parts of a buffer, PAIRS times two elements a thread. Parts lie in turns, so that
// blocks that begin together read neighbouring elements, and nothing is found in an L1. Of the first `underway` blocks
// each begins that share of its way further on by which it would be ahead of the last of them, had all begun in turns:
// what it leaves out is the buffer's first element, again and again.
__global__ void read_parts(const double* buffer, double* sums, int parts, int underway)
{
    int first = blockIdx.x < underway ? (underway - 1 - (int)blockIdx.x) * PAIRS / underway : 0;
    const double* part = buffer + blockIdx.x % parts * (2 * THREADS) + threadIdx.x;
    double sum = 0;
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        const double* at = pair < first ? buffer : part + (long long)pair * parts * (2 * THREADS);
        sum += at[0] * at[pair < first ? 0 : THREADS];
    }
    if (sum == -1) // never: the buffer has ones
        sums[threadIdx.x] = sum;
}

__global__ void quarter(double* a, const double* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 0.25 * b[i];
}

// What shows an L2: blocks that read parts of a buffer in turns, and a small kernel that finds all of its data there.

constexpr int THREADS = 1024; // of a block of read_parts
constexpr int PAIRS = 32;     // of loads of each of its threads
constexpr int TOGETHER = 4;   // of them at once, as many as registers of two blocks allow

// A block reads one of `parts` equal parts of a buffer, PAIRS times two elements a thread. Parts lie in turns, so that
// blocks that begin together read neighbouring elements, and nothing is found in an L1. The first `underway` blocks begin
// on their way, the first of them nearly at its end and the last at its beginning.
__global__ void read_parts(const double* buffer, double* sums, int parts, int underway)
{
    int first = blockIdx.x < underway ? (underway - 1 - (int)blockIdx.x) * (PAIRS / TOGETHER) / underway * TOGETHER : 0;
    const double* part = buffer + blockIdx.x % parts * (2 * THREADS) + threadIdx.x;
    double sum = 0;
#pragma unroll 1
    for (int pair = first; pair < PAIRS; pair += TOGETHER)
#pragma unroll
        for (int next = 0; next < TOGETHER; next++) {
            const double* at = part + (long long)(pair + next) * parts * (2 * THREADS);
            sum += at[0] * at[THREADS];
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

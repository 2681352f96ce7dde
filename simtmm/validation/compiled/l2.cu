// What shows an L2: blocks that read parts of a buffer in turns, and a small kernel that finds all of its data there.

constexpr int THREADS = 1024; // of a block of read_parts
constexpr int LOADS = 64;     // of each of its threads

// A block reads one of `parts` equal parts of a buffer, a thread every THREADS-th element; nothing is found in an L1.
__global__ void read_parts(const double* buffer, double* sums, int parts)
{
    const double* part = buffer + (long long)(blockIdx.x % parts) * THREADS * LOADS + threadIdx.x;
    double sum = 0;
#pragma unroll
    for (int load = 0; load < LOADS; load++)
        sum += part[load * THREADS];
    if (sum == -1) // never: the buffer has ones
        sums[threadIdx.x] = sum;
}

__global__ void quarter(double* a, const double* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 0.25 * b[i];
}

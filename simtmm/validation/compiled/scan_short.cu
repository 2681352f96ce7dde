// Exclusive prefix sums of arrays that are no longer than a block has numbers: four for each of its 256 threads.
// A thread adds up its four; the threads' totals are scanned in shared memory, each array behind as many zeros.
#define THREADS 256

__global__ void scan_short(const uint4* in, uint4* out, unsigned threads_per_array)
{
    __shared__ unsigned totals[2 * THREADS];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 value = in[i];
    value.y += value.x;
    value.z += value.y;
    value.w += value.z;

    unsigned place = 2 * threadIdx.x - (threadIdx.x & (threads_per_array - 1));
    totals[place] = 0;
    place += threads_per_array;
    totals[place] = value.w;
    for (unsigned distance = 1; distance < threads_per_array; distance *= 2) {
        __syncthreads();
        unsigned sum = totals[place] + totals[place - distance];
        __syncthreads();
        totals[place] = sum;
    }
    unsigned before = totals[place] - value.w;
    out[i] = make_uint4(before, before + value.x, before + value.y, before + value.z);
}

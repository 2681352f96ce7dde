// Bitonic sort of arrays of keys with values, in shared memory: a block has 1,024 keys, each of its threads two.
#define KEYS 1024

__device__ void order(unsigned* keys, unsigned* values, unsigned low, unsigned high, bool ascending)
{
    if ((keys[low] > keys[high]) == ascending) {
        unsigned key = keys[low], value = values[low];
        keys[low] = keys[high], values[low] = values[high];
        keys[high] = key, values[high] = value;
    }
}

// Each array's keys in ascending order; `length` is a power of two, up to KEYS.
__global__ void sort_short(const unsigned* in_keys, const unsigned* in_values, unsigned* out_keys, unsigned* out_values,
                           unsigned length)
{
    __shared__ unsigned keys[KEYS], values[KEYS];
    unsigned first = blockIdx.x * KEYS + threadIdx.x, half = KEYS / 2;
    keys[threadIdx.x] = in_keys[first];
    values[threadIdx.x] = in_values[first];
    keys[threadIdx.x + half] = in_keys[first + half];
    values[threadIdx.x + half] = in_values[first + half];
    for (unsigned size = 2; size <= length; size <<= 1) {
        bool ascending = size == length || !(threadIdx.x & (size / 2));
        for (unsigned apart = size / 2; apart > 0; apart >>= 1) {
            __syncthreads();
            unsigned low = 2 * threadIdx.x - (threadIdx.x & (apart - 1));
            order(keys, values, low, low + apart, ascending);
        }
    }
    __syncthreads();
    out_keys[first] = keys[threadIdx.x];
    out_values[first] = values[threadIdx.x];
    out_keys[first + half] = keys[threadIdx.x + half];
    out_values[first + half] = values[threadIdx.x + half];
}

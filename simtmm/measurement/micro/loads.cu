// Loads that the L1 has. `step` is 0, which no compiler knows: each trip loads anew.

// By stride and by a block's shape: eight loads of a thread, from a place of its own.
extern "C" __global__ void loads(const unsigned* in, unsigned* out, int trips, int stride, int pitch, int step)
{
    const unsigned* at = in + threadIdx.x % 64 * stride + threadIdx.y % 32 * pitch;
    unsigned sum = 0;
#pragma unroll 1
    for (int trip = 0; trip < trips; ++trip) {
        sum += at[0] + at[4] + at[8] + at[12] + at[20] + at[16] + at[24] + at[28];
        at += step;
    }
    out[threadIdx.y * blockDim.x + threadIdx.x] = sum;
}

// A buffer of two halves, from its beginning to its end in each trip, element by thread.
#define SWEEPERS 512  // threads of the block: how far a thread goes is known when it is compiled

extern "C" __global__ void sweeps(const unsigned* in, unsigned* out, int trips, int half, int step)
{
    unsigned sum = 0;
#pragma unroll 1
    for (int trip = 0; trip < trips; ++trip) {
        const unsigned* one = in + threadIdx.x;
        const unsigned* other = one + half;
#pragma unroll 8
        for (int i = 0; i < half; i += SWEEPERS) sum += one[i] + other[i];
        in += step;
    }
    out[threadIdx.x] = sum;
}

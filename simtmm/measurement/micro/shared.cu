// Loads from shared memory, eight of a thread in a trip. `step` is 0, which no compiler knows: each trip loads anew.

#define WORDS 1056  // 32 lanes, 32 words apart, and the eight loads of each

__device__ unsigned sum_of(unsigned value) { return value; }
__device__ unsigned sum_of(uint2 value) { return value.x + value.y; }
__device__ unsigned sum_of(uint4 value) { return value.x + value.y + value.z + value.w; }

// Lane l loads elements l * stride to l * stride + 7 of `shared`, which holds `in`.
template <typename Element>
__device__ void load_shared(const unsigned* in, unsigned* out, int trips, int stride, int step)
{
    __shared__ Element shared[WORDS * 4 / sizeof(Element)];
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) reinterpret_cast<unsigned*>(shared)[i] = in[i];
    __syncthreads();
    const Element* at = shared + threadIdx.x % 32 * stride;
    unsigned sum = 0;
#pragma unroll 1
    for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
        for (int load = 0; load < 8; ++load) sum += sum_of(at[load]);
        at += step;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void shared_4(const unsigned* in, unsigned* out, int trips, int stride, int step)
{
    load_shared<unsigned>(in, out, trips, stride, step);
}

extern "C" __global__ void shared_8(const unsigned* in, unsigned* out, int trips, int stride, int step)
{
    load_shared<uint2>(in, out, trips, stride, step);
}

extern "C" __global__ void shared_16(const unsigned* in, unsigned* out, int trips, int stride, int step)
{
    load_shared<uint4>(in, out, trips, stride, step);
}

// Additions to words of memory, four of a thread in a trip: thread t adds to word t % words * apart. No value that they
// give is used. What is added is an argument, and so is where: no compiler can count a warp's additions beforehand.

#define WORDS 1024

template <typename Place>
__device__ void add(Place to, int trips, unsigned value)
{
#pragma unroll 1
    for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
        for (int addition = 0; addition < 4; ++addition) atomicAdd(to, value);
    }
}

extern "C" __global__ void global_atomics(unsigned* out, int trips, int words, int apart, unsigned value)
{
    add(out + threadIdx.x % words * apart, trips, value);
}

extern "C" __global__ void shared_atomics(unsigned* out, int trips, int words, int apart, unsigned value)
{
    __shared__ unsigned shared[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) shared[i] = 0;
    __syncthreads();
    add(shared + threadIdx.x % words * apart, trips, value);
    __syncthreads();
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) out[i] = shared[i];
}

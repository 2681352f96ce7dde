// Barriers of a block, eight in a trip.
extern "C" __global__ void barriers(unsigned* out, int trips)
{
#pragma unroll 1
    for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
        for (int barrier = 0; barrier < 8; ++barrier) __syncthreads();
    }
    out[threadIdx.x] = trips;
}

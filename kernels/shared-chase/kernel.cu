// A chain of dependent accesses to shared memory: each says where the next one goes.

#include "device.cuh"

extern "C" __global__ void shared_chase(const unsigned* next, unsigned* last, unsigned steps)
{
    SHARED(unsigned, here, ELEMENTS);
    for (unsigned i = threadIdx.x; i < ELEMENTS; i += blockDim.x) {
        unsigned following = LD(next, i);
        STS(here, i, following);
    }
    SYNC();  // the whole cycle is here

    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = threadIdx.x % ELEMENTS;
    for (unsigned step = 0; step < steps; ++step) at = LDS(here, at);
    ST(last, thread, at);  // so that the chain is needed
}

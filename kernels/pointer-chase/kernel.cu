// A chain of dependent loads: each says where the next one goes. What it ends at is stored, so that it is needed.

#include "device.cuh"

extern "C" __global__ void chase(const unsigned* next, unsigned* last, unsigned n, unsigned stride, unsigned steps)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = (thread % n) * stride;
    for (unsigned step = 0; step < steps; ++step) at = LD(next, at);
    ST(last, thread, at);
}

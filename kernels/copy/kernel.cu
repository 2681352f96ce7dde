// Copies, an element a thread: displaced by an offset, which misaligns the accesses of a warp; or at a stride, which
// spreads them.

#include "device.cuh"

extern "C" __global__ void copy_offset(const float* input, float* output, unsigned offset, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned displaced = i + offset;
    float value = LD(input, displaced);
    ST(output, displaced, value);
}

extern "C" __global__ void copy_stride(const float* input, float* output, unsigned stride, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned strided = i * stride;
    float value = LD(input, strided);
    ST(output, strided, value);
}

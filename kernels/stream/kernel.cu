// Streaming kernels, an element a thread. Loads that do not depend on one another are in flight together, as a
// compiler would schedule them.

#include "device.cuh"

extern "C" __global__ void stream_init(double* a, double scalar, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ST(a, i, scalar);
}

extern "C" __global__ void stream_read(double* a, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = LD(a, i);
    OP(1);                          // a comparison that is never true, so that the load is needed
    if (x == -1234.0) ST(a, i, x);
}

extern "C" __global__ void stream_scale(double* a, const double* b, double scalar, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = LD(b, i);
    OP(1);
    ST(a, i, scalar * x);
}

extern "C" __global__ void stream_triad(double* a, const double* b, const double* c, const double* d, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = LD_ASYNC(b, i), y = LD_ASYNC(c, i), z = LD_ASYNC(d, i);
    JOIN();
    OP(2);
    ST(a, i, x + y * z);
}

extern "C" __global__ void stream_stencil3(double* a, const double* b, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double west = LD_ASYNC(b, i), centre = LD_ASYNC(b, i + 1), east = LD_ASYNC(b, i + 2);
    JOIN();
    OP(4);
    ST(a, i, 0.25 * (west + east) + 0.5 * centre);
}

extern "C" __global__ void stream_stencil5(double* a, const double* b, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double far_west = LD_ASYNC(b, i), west = LD_ASYNC(b, i + 1), centre = LD_ASYNC(b, i + 2);
    double east = LD_ASYNC(b, i + 3), far_east = LD_ASYNC(b, i + 4);
    JOIN();
    OP(7);
    ST(a, i, 0.0625 * (far_west + far_east) + 0.25 * (west + east) + 0.375 * centre);
}

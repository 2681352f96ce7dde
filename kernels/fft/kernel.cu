// One stage of the radix-2 Stockham transform, a butterfly a thread. Before it, transforms of `width` points are done;
// after it, of twice as many. It goes from one array to another, so the order comes out right without bit reversal.

#include "device.cuh"

extern "C" __global__ void stage(const float2* before, float2* after, unsigned half, unsigned width)
{
    unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= half) return;
    unsigned k = j % width;  // the frequency within its transform
    float2 u = LD_ASYNC(before, j), v = LD_ASYNC(before, j + half);
    float angle = -3.14159265f * k / width;
    float c = cosf(angle), s = sinf(angle);
    JOIN();
    float2 t = make_float2(c * v.x - s * v.y, c * v.y + s * v.x);
    OP(13);  // the angle, its cosine and sine; a product and two sums of complex numbers
    unsigned at = 2 * j - k;
    ST(after, at, make_float2(u.x + t.x, u.y + t.y));
    ST(after, at + width, make_float2(u.x - t.x, u.y - t.y));
}

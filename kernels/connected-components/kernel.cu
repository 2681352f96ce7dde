// A step of hooking and a step of pointer jumping. `step` is what the flag is set to if something changed.

#include "device.cuh"

// Hook the higher root of each edge to the lower one. All trees are stars; both buffers are equal.
extern "C" __global__ void hook(const int* start, const int* end, const int* before, int* after, int* changed,
                                int step, int m)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = LD_ASYNC(start, e), v = LD_ASYNC(end, e);
    JOIN();
    int one = LD_ASYNC(before, u), other = LD_ASYNC(before, v);
    JOIN();
    OP(1);
    if (one != other) {
        ATOMIC_MIN(after, max(one, other), min(one, other));
        ST(changed, 0, step);
    }
}

extern "C" __global__ void jump(const int* before, int* after, int* changed, int step, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int parent = LD(before, v);
    int grandparent = LD(before, parent);
    OP(1);
    ST(after, v, grandparent);
    if (grandparent != parent) ST(changed, 0, step);
}

// The steps of a round. `root` holds stars when a round begins; `step` is what the flag is set to if something changed.

#include "device.cuh"

typedef unsigned long long Packed;  // a weight above its edge

#define NO_EDGE (~(Packed)0)

extern "C" __global__ void clear(Packed* lightest, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) ST(lightest, v, NO_EDGE);
}

// The lightest edge that leaves each tree, at its root.
extern "C" __global__ void find(const int* start, const int* end, const int* weight, const int* root, Packed* lightest,
                                int m)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = LD_ASYNC(start, e), v = LD_ASYNC(end, e);
    JOIN();
    int one = LD_ASYNC(root, u), other = LD_ASYNC(root, v);
    JOIN();
    OP(1);
    if (one == other) return;
    int w = LD(weight, e);
    Packed packed = (Packed)w << 32 | (unsigned)e;
    OP(1);  // pack
    ATOMIC_MIN(lightest, one, packed);
    ATOMIC_MIN(lightest, other, packed);
}

// Hook each root to the tree across its lightest edge. Of two trees that found the same edge, the lower one stays.
extern "C" __global__ void hook(const int* start, const int* end, const int* root, int* hooked, const Packed* lightest,
                                int* chosen, int* changed, int step, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int parent = LD(root, v);
    OP(1);
    if (parent == v) {
        Packed mine = LD(lightest, v);
        OP(1);
        if (mine != NO_EDGE) {
            int e = (int)(unsigned)mine;
            int from = LD_ASYNC(start, e), to = LD_ASYNC(end, e);
            JOIN();
            int one = LD_ASYNC(root, from), other = LD_ASYNC(root, to);
            JOIN();
            int across = one == v ? other : one;
            Packed theirs = LD(lightest, across);
            OP(3);  // three comparisons
            if (theirs != mine || across < v) {
                parent = across;
                ST(chosen, e, 1);
                ST(changed, 0, step);
            }
        }
    }
    ST(hooked, v, parent);
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

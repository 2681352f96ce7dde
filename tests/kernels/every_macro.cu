// Every macro of device.cuh, on several types. One thread runs it; its arrays are of 8 elements.

#include "device.cuh"

#define LAST (ARRAY_SIZE - 1)

__device__ float halved(const float* x, int i) { return LD(x, i) * 0.5f; }

template <class T> __device__ void put(T* place, int i, T value) { ST(place, i, value); }

extern "C" __global__ void __launch_bounds__(128, 2)
    every_macro(int* a, unsigned* u, unsigned long long* w, float* x, const double* __restrict__ d, int n)
{
    SHARED(int, s, ARRAY_SIZE);
    SHARED(unsigned, t, 2 * ARRAY_SIZE);
    int i = threadIdx.x + blockIdx.x * blockDim.x;

    int one = LD_ASYNC(a, i);
    double two = LD_ASYNC(d, min(i, LAST));
    JOIN(1);
    JOIN();
    STS(s, i, one);
    STS(t, i + ARRAY_SIZE, 7u);
    SYNC();
    put(a, i, LDS(s, i) + (int)two);
    put(x, i, halved(x, i));
    OP(3);

    ST(a, i, ATOMIC_ADD(a, i, 1));
    ATOMIC_ADD(u, i, 1u);
    ATOMIC_ADD(w, i, 1ull);
    ATOMIC_ADD(x, i, 1.0f);
    ATOMIC_MIN(a, i, n);
    ATOMIC_MAX(w, i, 3ull);
    ATOMIC_AND(u, i, 0xffu);
    ATOMIC_OR(u, i, 1u << 4);
    ATOMIC_XOR(w, i, 5ull);
    ATOMIC_EXCH(x, i, 2.0f);
    ATOMIC_CAS(a, i, one, n);
    ATOMIC_CAS(w, i, 1ull, 2ull);
    ATOMIC_ADD(s, i, 1);
    ATOMIC_MAX(t, i + ARRAY_SIZE, 9u);
    ATOMIC_EXCH(t, i + ARRAY_SIZE, 1u);
    ATOMIC_CAS(s, i, 0, 1);
    SYNC();
    if (LDS(t, i + ARRAY_SIZE) > 0u) OP(n);
}

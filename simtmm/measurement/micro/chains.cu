// Chains of dependent instructions, 16 in a trip, by one warp.

#define CHAIN(STEP)                                    \
    _Pragma("unroll 1")                                \
    for (int trip = 0; trip < trips; ++trip) {         \
        _Pragma("unroll")                              \
        for (int link = 0; link < 16; ++link) { STEP; } \
    }

extern "C" __global__ void chain_ffma(float* out, int trips, float factor, float summand)
{
    float x = threadIdx.x;
    CHAIN(x = __fmaf_rn(x, factor, summand))
    out[threadIdx.x] = x;
}

extern "C" __global__ void chain_dfma(double* out, int trips, double factor, double summand)
{
    double x = threadIdx.x;
    CHAIN(x = __fma_rn(x, factor, summand))
    out[threadIdx.x] = x;
}

extern "C" __global__ void chain_imad(unsigned* out, int trips, unsigned factor, unsigned summand)
{
    unsigned x = threadIdx.x;
    CHAIN(asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(factor), "r"(summand)))
    out[threadIdx.x] = x;
}

// The reciprocal of a root, which the machine has as one instruction; two of them in a row are not known to cancel.
extern "C" __global__ void chain_mufu(float* out, int trips)
{
    float x = threadIdx.x + 1;
    CHAIN(asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)))
    out[threadIdx.x] = x;
}

// Each lane takes what the next one has.
extern "C" __global__ void chain_shuffle(unsigned* out, int trips)
{
    unsigned x = threadIdx.x, from = (threadIdx.x + 1) % 32;
    CHAIN(x = __shfl_sync(0xffffffff, x, from))
    out[threadIdx.x] = x;
}

// A float to an integer and back: two conversions a link.
extern "C" __global__ void chain_conversion(float* out, int trips)
{
    float x = threadIdx.x + 0.5f;
    CHAIN(int whole; asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole) : "f"(x));
          asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(x) : "r"(whole)))
    out[threadIdx.x] = x;
}

// A pointer chase in shared memory: word l has the address of word (l + 1) % 32.
extern "C" __global__ void chain_lds(unsigned* out, int trips)
{
    __shared__ unsigned words[32];
    unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(words)), at = first + 4 * threadIdx.x;
    words[threadIdx.x] = first + 4 * ((threadIdx.x + 1) % 32);
    __syncthreads();
    CHAIN(asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)))
    out[threadIdx.x] = (at - first) / 4;
}

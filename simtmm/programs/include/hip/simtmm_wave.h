// Waves of 64 lanes (--warp 64): two warps of 32, which exchange values through shared memory wherever HIP has lanes of one
// wave do so. Lanes that do not take part have 0. Both warps have to come to an exchange, each with any of its lanes.
#pragma once

extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
__device__ inline void simtmm_wave_wrong(const char *why) { __assertfail(why, "hip_runtime.h", __LINE__, "a wave of 64 lanes", 1); }

__device__ inline unsigned simtmm_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline unsigned __lane_id() { return simtmm_thread() & 63; }

// Whether the wave has a second warp. One that has not is a warp.
__device__ inline bool simtmm_is_pair() {
    return (simtmm_thread() | 63) - 31 < blockDim.x * blockDim.y * blockDim.z;
}
// Both warps of a wave come here: a lane of each for all of its own. Barrier 0 is __syncthreads.
__device__ inline void simtmm_meet(unsigned lanes) {
    unsigned wave = simtmm_thread() / 64;
    if (wave > 14) simtmm_wave_wrong("exchanges over 64 lanes: in blocks of up to 960 threads");
    __syncwarp(lanes);
    if ((simtmm_thread() & 31) == (unsigned)__ffs(lanes) - 1)
        asm volatile("barrier.sync %0, %1;" ::"r"(wave + 1), "r"(2) : "memory");  // for the other half of the wave
    __syncwarp(lanes);
}

struct simtmm_Wave {
    unsigned words[1024], lanes[32];  // of threads, and of warps
};
__device__ inline simtmm_Wave &simtmm_wave() {
    __shared__ simtmm_Wave shared;
    return shared;
}

// A word of each warp of the wave, the lower one first.
__device__ inline unsigned long long simtmm_both(unsigned word) {
    if (!simtmm_is_pair()) return word;
    simtmm_Wave &shared = simtmm_wave();
    unsigned lanes = __activemask(), warp = simtmm_thread() / 32;
    shared.lanes[warp] = word;
    simtmm_meet(lanes);
    unsigned other = shared.lanes[warp ^ 1];
    simtmm_meet(lanes);
    return warp & 1 ? (unsigned long long)word << 32 | other : (unsigned long long)other << 32 | word;
}

// The value of a lane of the wave.
template <class T> __device__ inline T simtmm_from(T value, unsigned lane) {
    const int WORDS = (sizeof(T) + 3) / 4;
    union Words {
        T whole;
        unsigned words[WORDS];
        __device__ Words() {}
    } given, found;
    given.whole = value;
    simtmm_Wave &shared = simtmm_wave();
    unsigned thread = simtmm_thread(), lanes = __activemask(), from = (thread & ~63u) + lane;
    for (int n = 0; n < WORDS; n++) {
        shared.words[thread] = given.words[n];
        shared.lanes[thread / 32] = lanes;
        simtmm_meet(lanes);
        found.words[n] = shared.lanes[from / 32] >> (from & 31) & 1 ? shared.words[from] : 0;
        simtmm_meet(lanes);
    }
    return found.whole;
}

// Within 32 lanes, values go as in a warp.
#define SIMTMM_WAVE_SHUFFLE(name, lane_of, is_near)                                                            \
    template <class T> __device__ inline T simtmm_hip##name(T value, int by, int width = 64) {                 \
        int self = (int)__lane_id(), first = self & ~(width - 1), last = first + width - 1, lane = lane_of;     \
        if (lane < first || lane > last) lane = self;                                                           \
        bool near = width <= 32 || !simtmm_is_pair() || (is_near);                                              \
        unsigned lanes = __activemask();                                                                        \
        if (__all_sync(lanes, near)) return lane / 32 == self / 32 ? __shfl_sync(lanes, value, lane & 31) : T(); \
        return simtmm_from(value, (unsigned)lane);                                                              \
    }                                                                                                           \
    template <class T>                                                                                          \
    __device__ inline T simtmm_hip##name##_sync(unsigned long long, T value, int by, int width = 64) {          \
        return simtmm_hip##name(value, by, width);                                                              \
    }
SIMTMM_WAVE_SHUFFLE(__shfl, first + (by & (width - 1)), false)
SIMTMM_WAVE_SHUFFLE(__shfl_up, self - by, false)
SIMTMM_WAVE_SHUFFLE(__shfl_down, self + by, false)
SIMTMM_WAVE_SHUFFLE(__shfl_xor, self ^ by, by >= 0 && by < 32)

__device__ inline unsigned long long simtmm_hip__ballot(int holds) {
    return simtmm_both(__ballot_sync(__activemask(), holds));
}
__device__ inline unsigned long long simtmm_hip__activemask() { return simtmm_both(__activemask()); }
__device__ inline int simtmm_hip__any(int holds) { return simtmm_hip__ballot(holds) != 0; }
__device__ inline int simtmm_hip__all(int holds) { return simtmm_hip__ballot(!holds) == 0; }
__device__ inline unsigned long long simtmm_not_of_waves() {
    simtmm_wave_wrong("matching and reducing lanes: not supported over 64 lanes");
    return 0;
}

#undef __any
#undef __all
#undef __ballot
#define __shfl(...) simtmm_hip__shfl(__VA_ARGS__)
#define __shfl_up(...) simtmm_hip__shfl_up(__VA_ARGS__)
#define __shfl_down(...) simtmm_hip__shfl_down(__VA_ARGS__)
#define __shfl_xor(...) simtmm_hip__shfl_xor(__VA_ARGS__)
#define __shfl_sync(...) simtmm_hip__shfl_sync(__VA_ARGS__)
#define __shfl_up_sync(...) simtmm_hip__shfl_up_sync(__VA_ARGS__)
#define __shfl_down_sync(...) simtmm_hip__shfl_down_sync(__VA_ARGS__)
#define __shfl_xor_sync(...) simtmm_hip__shfl_xor_sync(__VA_ARGS__)
#define __ballot(holds) simtmm_hip__ballot(holds)
#define __any(holds) simtmm_hip__any(holds)
#define __all(holds) simtmm_hip__all(holds)
#define __ballot_sync(mask, holds) simtmm_hip__ballot(holds)
#define __any_sync(mask, holds) simtmm_hip__any(holds)
#define __all_sync(mask, holds) simtmm_hip__all(holds)
#define __activemask() simtmm_hip__activemask()
#define __match_any(...) simtmm_not_of_waves()
#define __match_any_sync(...) simtmm_not_of_waves()
#define __match_all_sync(...) simtmm_not_of_waves()
#define __reduce_add_sync(...) simtmm_not_of_waves()
#define __reduce_min_sync(...) simtmm_not_of_waves()
#define __reduce_max_sync(...) simtmm_not_of_waves()

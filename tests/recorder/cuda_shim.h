// CUDA for tests without a GPU: a host compiler takes instrumented and plain CUDA as C++ behind this header. Threads of
// a block are contexts that run in order until they end or meet a barrier; blocks run one after another.

#pragma once

#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // as in device_cpu.cuh

#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include <ucontext.h>

#define __CUDACC__
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static
#define SIMTMM_END_THREAD() throw shim::EndThread()

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(8) float2 { float x, y; };
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

template <class A, class B> inline typename std::common_type<A, B>::type min(A a, B b) { return b < a ? b : a; }
template <class A, class B> inline typename std::common_type<A, B>::type max(A a, B b) { return a < b ? b : a; }
inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }
inline void __threadfence() {}
inline long long clock64() { static long long now; return now += 1000; }

// What CUDA has atomic functions for, and no more.
template <class T> struct Same { typedef T type; };
#define SHIM_UPDATE(name, type, change) \
    inline type name(type* place, type v) { type old = *place; *place = change; return old; }
#define SHIM_UPDATES(name, change)              \
    SHIM_UPDATE(name, int, change)              \
    SHIM_UPDATE(name, unsigned, change)         \
    SHIM_UPDATE(name, unsigned long long, change)
SHIM_UPDATES(atomicAdd, old + v)
SHIM_UPDATE(atomicAdd, float, old + v)
SHIM_UPDATE(atomicAdd, double, old + v)
SHIM_UPDATES(atomicMin, v < old ? v : old)
SHIM_UPDATE(atomicMin, long long, v < old ? v : old)
SHIM_UPDATES(atomicMax, old < v ? v : old)
SHIM_UPDATE(atomicMax, long long, old < v ? v : old)
SHIM_UPDATES(atomicAnd, old & v)
SHIM_UPDATES(atomicOr, old | v)
SHIM_UPDATES(atomicXor, old ^ v)
SHIM_UPDATES(atomicExch, v)
SHIM_UPDATE(atomicExch, float, v)
template <class T> T atomicCAS(T* place, typename Same<T>::type expected, typename Same<T>::type v) {
    T old = *place;
    if (old == expected) *place = v;
    return old;
}

namespace shim {

struct EndThread {};
enum { STACK_BYTES = 64 * 1024 };
struct Thread { ucontext_t context; char* stack; bool waiting, ended; };

static std::vector<Thread> threads;  // those that the launches so far needed
static unsigned thread_count;
static ucontext_t scheduler;
static Thread* current;
static void (*body)(void**);
static void** arguments;

static void run_thread() {
    try {
        body(arguments);
    } catch (const EndThread&) {
    }
    current->ended = true;
    swapcontext(&current->context, &scheduler);
}

inline void barrier() {
    current->waiting = true;
    swapcontext(&current->context, &scheduler);
}

static void resume(unsigned number) {
    current = &threads[number];
    current->waiting = false;
    threadIdx = {number % blockDim.x, number / blockDim.x % blockDim.y, number / (blockDim.x * blockDim.y)};
    swapcontext(&scheduler, &current->context);
}

static void run_block() {
    for (unsigned number = 0; number < thread_count; ++number) {
        Thread& thread = threads[number];
        thread.waiting = thread.ended = false;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack;
        thread.context.uc_stack.ss_size = STACK_BYTES;
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, run_thread, 0);
    }
    for (bool some = true; some;) {
        some = false;
        for (unsigned number = 0; number < thread_count; ++number)
            if (!threads[number].ended) { resume(number); some = some || threads[number].waiting; }
    }
}

static void launch(void (*call)(void**), const unsigned* shape, void** given) {
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    body = call;
    arguments = given;
    thread_count = blockDim.x * blockDim.y * blockDim.z;
    while (threads.size() < thread_count) threads.push_back(Thread{{}, (char*)std::malloc(STACK_BYTES), false, false});
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block();
}

template <auto> struct Call;
template <class... A, void (*KERNEL)(A...)> struct Call<KERNEL> {
    template <std::size_t... N> static void apply(void** given, std::index_sequence<N...>) {
        (void)given;
        KERNEL(*(typename std::remove_cv<A>::type*)given[N]...);
    }
    static void call(void** given) { apply(given, std::make_index_sequence<sizeof...(A)>()); }
    static int count() { return (int)sizeof...(A); }
};

}  // namespace shim

inline void __syncthreads() { shim::barrier(); }

#define SHIM_ENTRY(number, kernel)                                                                              \
    extern "C" __attribute__((visibility("default"))) int shim_count_##number() {                               \
        return shim::Call<&kernel>::count();                                                                    \
    }                                                                                                           \
    extern "C" __attribute__((visibility("default"))) void shim_launch_##number(const unsigned* s, void** a) { \
        shim::launch(shim::Call<&kernel>::call, s, a);                                                          \
    }

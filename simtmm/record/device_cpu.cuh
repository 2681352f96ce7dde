// Instrumented C++: the CUDA dialect that kernels use, and what the macros of device.cuh do, on a CPU.
//
// Threads of a block are fibers: each runs until it ends or reaches a barrier, in order of their numbers, so a
// recording is the same every time. All state is static: one recording at a time in a process.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdlib>


// --- the CUDA dialect -------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static_assert(false, "local memory is declared by SHARED(type, name, count)");
#define __syncthreads() write_SYNC_instead_of_syncthreads
#define __restrict__ __restrict

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

template <class A, class B> inline auto min(A a, B b) -> decltype(true ? a : b) { return b < a ? b : a; }
template <class A, class B> inline auto max(A a, B b) -> decltype(true ? a : b) { return a < b ? b : a; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline int __mul24(int x, int y) { return x * y; }
inline unsigned __umul24(unsigned x, unsigned y) { return x * y; }
inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
inline unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int bit = 0; bit < 32; ++bit) y |= (x >> bit & 1u) << (31 - bit);
    return y;
}
inline int __float_as_int(float x) { int y; __builtin_memcpy(&y, &x, 4); return y; }
inline float __int_as_float(int x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
inline long long __double_as_longlong(double x) { long long y; __builtin_memcpy(&y, &x, 8); return y; }
inline double __longlong_as_double(long long x) { double y; __builtin_memcpy(&y, &x, 8); return y; }

// --- fibers -----------------------------------------------------------------------------------------------------

// simtmm_switch(&here, there): save the callee-saved registers and go on where `there` was left.
extern "C" void simtmm_switch(void** here, void* there);

#if defined(__APPLE__)
#define SIMTMM_SYMBOL "_simtmm_switch"
#define SIMTMM_HIDDEN ".private_extern _simtmm_switch\n"
#else
#define SIMTMM_SYMBOL "simtmm_switch"
#define SIMTMM_HIDDEN ".hidden simtmm_switch\n"
#endif

#if defined(__x86_64__)
asm(".text\n.globl " SIMTMM_SYMBOL "\n" SIMTMM_HIDDEN SIMTMM_SYMBOL ":\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
enum { SIMTMM_SAVED = 6, SIMTMM_RETURN = 6, SIMTMM_FRAME = 8 };
#elif defined(__aarch64__)
asm(".text\n.globl " SIMTMM_SYMBOL "\n" SIMTMM_HIDDEN ".p2align 2\n" SIMTMM_SYMBOL ":\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp, #0]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp, #0]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n");
enum { SIMTMM_SAVED = 20, SIMTMM_RETURN = 11, SIMTMM_FRAME = 20 };
#else
#error "simtmm records on x86-64 and on 64-bit Arm processors"
#endif

namespace simtmm {

// --- state of a recording -----------------------------------------------------------------------------------------

enum { MOST_SITES = 4096, MOST_ARRAYS = 1024, STACK_BYTES = 256 * 1024, GUARD_BYTES = 64 * 1024 };

enum FaultCode { NONE, OUT_OF_BOUNDS, NO_ARRAY, SHARED_OUT_OF_BOUNDS, NEGATIVE, TOO_MUCH, CRASH, CANCELLED, NO_MEMORY };

struct Fault {
    int code;
    int site;
    long long block, thread;
    int array;
    long long index, count;
};

struct LocalArray { long long bytes; void* storage; };
struct Array { unsigned long long begin, end; };
struct Abort {};

static LocalArray local_arrays[MOST_SITES];  // by the site of their declaration
static bool declared[MOST_SITES];    // local arrays that this launch has declared,
static int declared_sites[MOST_SITES];  // and a list of them
static int declared_count;

static Event* events;
static unsigned long long events_used, events_room, events_most;
static Event* sorted_events;
static unsigned long long sorted_room;

static Array arrays[MOST_ARRAYS];  // sorted; those beyond array_count are empty
static int array_count;
static unsigned long long to_virtual;

static Fault fault;
static volatile int cancelled;
static int current_thread;
static long long current_block;
static int last_site;

struct Fiber { char* stack; void* context; bool waiting; };
static Fiber* fibers;
static int fiber_count;
static Fiber* current_fiber;
static char* spare_stack;
static void* scheduler_context;
static bool fiber_finished;

template <int NUMBER, int KIND> struct Site {
    static_assert(NUMBER < MOST_SITES, "too many sites in one kernel file");
    enum { number = NUMBER, kind = KIND };
    static inline int hint = 0;  // the array that was accessed here last
};

[[noreturn]] __attribute__((noinline, cold)) static void fail(
    int code, int site, int array = -1, long long index = 0, long long count = 0) {
    fault = Fault{code, site, current_block, current_thread, array, index, count};
    throw Abort();
}

__attribute__((noinline, cold)) static void make_room(int site) {
    if (cancelled) fail(CANCELLED, site);
    unsigned long long room = events_room ? 2 * events_room : 1 << 16;
    if (room > events_most) room = events_most;
    if (room <= events_used) fail(TOO_MUCH, site, -1, 0, (long long)events_most);
    Event* larger = (Event*)std::realloc(events, room * sizeof(Event));
    if (!larger) fail(NO_MEMORY, site);
    events = larger;
    events_room = room;
}

template <class S> inline void append(int kind, unsigned bytes, unsigned long long value) {
    if (__builtin_expect(events_used == events_room, 0)) make_room(S::number);
    last_site = S::number;
    events[events_used++] = Event{value, current_thread, (unsigned short)S::number, (unsigned char)kind, (unsigned char)bytes};
}

// --- global memory ------------------------------------------------------------------------------------------------

__attribute__((noinline)) static int find_array(unsigned long long address, int site) {
    int low = 0, high = array_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (arrays[middle].begin <= address) low = middle + 1; else high = middle;
    }
    if (low == 0 || address >= arrays[low - 1].end) fail(NO_ARRAY, site);
    return low - 1;
}

template <class S, class T, class I> inline T* record(T* a, I i) {
    static_assert(sizeof(T) <= 255, "an access moves at most 255 bytes");
    unsigned long long base = (unsigned long long)a;
    const Array* array = &arrays[S::hint];
    if (__builtin_expect(base < array->begin || base >= array->end, 0)) array = &arrays[S::hint = find_array(base, S::number)];
    long long index = (long long)i, size = sizeof(T);
    long long before = (long long)(base - array->begin) / size, after = (long long)(array->end - base) / size;
    if (__builtin_expect(index < -before || index >= after, 0))
        fail(OUT_OF_BOUNDS, S::number, (int)(array - arrays), index + before, before + after);
    T* place = a + index;
    append<S>(S::kind, sizeof(T), (unsigned long long)place + to_virtual);
    return place;
}

template <class S, class T, class I> inline typename Plain<T>::type load(T* a, I i) { return *record<S>(a, i); }
template <class S, class T, class I, class V> inline void store(T* a, I i, V v) { *record<S>(a, i) = v; }

// --- local memory ---------------------------------------------------------------------------------------------------

// A block's local array: s[i] of the plain build.
template <class T> struct SharedArray { T* data; int count; int declared; };

template <int NUMBER, class T, int COUNT> struct Storage { alignas(16) static inline T elements[COUNT]; };

// What another block left in local memory is not to be relied on.
static void poison(int site) { __builtin_memset(local_arrays[site].storage, 0xCD, local_arrays[site].bytes); }

template <int NUMBER, class T, int COUNT> inline SharedArray<T> declare_shared() {
    static_assert(NUMBER < MOST_SITES, "too many sites in one kernel file");
    T* elements = Storage<NUMBER, T, COUNT>::elements;
    if (__builtin_expect(!declared[NUMBER], 0)) {
        declared[NUMBER] = true;
        declared_sites[declared_count++] = NUMBER;
        local_arrays[NUMBER] = LocalArray{(long long)sizeof(T) * COUNT, elements};
        poison(NUMBER);
    }
    return SharedArray<T>{elements, COUNT, NUMBER};
}

template <class S, class T, class I> inline T& record_shared(const SharedArray<T>& s, I i, int kind) {
    static_assert(sizeof(T) <= 255, "an access moves at most 255 bytes");
    long long index = (long long)i;
    if (__builtin_expect((unsigned long long)index >= (unsigned long long)s.count, 0))
        fail(SHARED_OUT_OF_BOUNDS, S::number, s.declared, index, s.count);
    append<S>(kind, sizeof(T), (unsigned long long)s.declared << 32 | (unsigned long long)index * sizeof(T));
    return s.data[index];
}

template <class S, class T, class I> inline T load_shared(const SharedArray<T>& s, I i) { return record_shared<S>(s, i, S::kind); }
template <class S, class T, class I, class V> inline void store_shared(const SharedArray<T>& s, I i, V v) {
    record_shared<S>(s, i, S::kind) = v;
}

// --- atomics, work, joins, barriers -----------------------------------------------------------------------------------

template <class S, class T, class I, class F> inline T atomic(T* a, I i, F update) { return update(*record<S>(a, i)); }
template <class S, class T, class I, class F> inline T atomic(const SharedArray<T>& s, I i, F update) {
    return update(record_shared<S>(s, i, SHARED_ATOMIC));
}

template <class T, class V> inline T atomic_add(T& place, V v) { T old = place; place = old + (T)v; return old; }
template <class T, class V> inline T atomic_min(T& place, V v) { T old = place; if ((T)v < old) place = (T)v; return old; }
template <class T, class V> inline T atomic_max(T& place, V v) { T old = place; if (old < (T)v) place = (T)v; return old; }
template <class T, class V> inline T atomic_and(T& place, V v) { T old = place; place = old & (T)v; return old; }
template <class T, class V> inline T atomic_or(T& place, V v) { T old = place; place = old | (T)v; return old; }
template <class T, class V> inline T atomic_xor(T& place, V v) { T old = place; place = old ^ (T)v; return old; }
template <class T, class V> inline T atomic_exch(T& place, V v) { T old = place; place = (T)v; return old; }
template <class T, class E, class V> inline T atomic_cas(T& place, E expected, V v) {
    T old = place;
    if (old == (T)expected) place = (T)v;
    return old;
}

template <class S> inline void join(long long left_out = 0) {
    if (left_out < 0) fail(NEGATIVE, S::number, -1, left_out);
    append<S>(S::kind, 0, (unsigned long long)left_out);
}

template <class S> inline void work(long long operations) {
    if (operations < 0) fail(NEGATIVE, S::number, -1, operations);
    if (operations) append<S>(S::kind, 0, (unsigned long long)operations);
}

template <class S> inline void barrier() {
    append<S>(S::kind, 0, 0);
    current_fiber->waiting = true;
    simtmm_switch(&current_fiber->context, scheduler_context);
}

}  // namespace simtmm

#define SIMTMM_SHARED(n, type, name, count) \
    const simtmm::SharedArray<type> name = simtmm::declare_shared<n, type, (count)>()

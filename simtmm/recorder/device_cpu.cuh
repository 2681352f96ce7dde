// Instrumented C++: the CUDA dialect that kernels use, and what the macros of device.cuh do, on a CPU.
//
// Threads of a block are fibers: each runs until it ends or reaches a barrier, in order of their numbers, so a
// recording is the same every time. All state is static: a process runs one launch at a time (process_cpu.cuh).

#pragma once

#include <cstddef>

// Bessel functions and their like, which a GPU does not have by these names, take GCC longer to read than all else.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <cmath>
#include <cstdlib>
#include <type_traits>


// --- the CUDA dialect -------------------------------------------------------------------------------------------

#if !defined(SIMTMM_LIST_KERNELS)  // simtmm/recorder/compiler.py looks for the word in the preprocessed source
#define __global__
#endif
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static_assert(false, "shared memory is declared by SHARED(type, name, count)");
#define __syncthreads() write_SYNC_instead_of_syncthreads
#define __restrict__ __restrict

struct dim3 { unsigned x, y, z; };

// Vector types, aligned as CUDA aligns them
#define SIMTMM_VECTORS(type, name) \
    struct name##1 { type x; }; \
    struct alignas(2 * sizeof(type)) name##2 { type x, y; }; \
    struct name##3 { type x, y, z; }; \
    struct alignas(sizeof(type) < 4 ? 4 * sizeof(type) : 16) name##4 { type x, y, z, w; }; \
    inline name##1 make_##name##1(type x) { return {x}; } \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
SIMTMM_VECTORS(signed char, char)
SIMTMM_VECTORS(unsigned char, uchar)
SIMTMM_VECTORS(short, short)
SIMTMM_VECTORS(unsigned short, ushort)
SIMTMM_VECTORS(int, int)
SIMTMM_VECTORS(unsigned, uint)
SIMTMM_VECTORS(long, long)
SIMTMM_VECTORS(unsigned long, ulong)
SIMTMM_VECTORS(long long, longlong)
SIMTMM_VECTORS(unsigned long long, ulonglong)
SIMTMM_VECTORS(float, float)
SIMTMM_VECTORS(double, double)

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

template <class A, class B> inline typename std::common_type<A, B>::type min(A a, B b) { return b < a ? b : a; }
template <class A, class B> inline typename std::common_type<A, B>::type max(A a, B b) { return a < b ? b : a; }
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

// simtmm_switch(&here, there): go on where `there` was left. It leaves by a jump: a processor foretells a return by who
// called last, which is another fiber here.
#if defined(__x86_64__)
// In the place where it is called, so that only what is needed behind it is saved: all registers may have changed then.
#if defined(__AVX512F__)
#define SIMTMM_WIDE "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
    "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#else
#define SIMTMM_WIDE
#endif
__attribute__((always_inline)) static inline void simtmm_switch(void** here, void* there) {
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\t"  // what lies below the stack may be in use
        "pushq %%rbp\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\t"
        "movq %%rsp, (%%rdi)\n\tmovq %%rsi, %%rsp\n\t"
        "popq %%rax\n\tjmp *%%rax\n"
        "1:\n\tpopq %%rbp\n\tleaq 128(%%rsp), %%rsp\n\t"
        : "+D"(here), "+S"(there)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
          "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", SIMTMM_WIDE "memory", "cc");
}
enum { SIMTMM_RETURN = 0, SIMTMM_FRAME = 2 };  // words: where the address lies from which it goes on; of all in all
#elif defined(__aarch64__)
extern "C" void simtmm_switch(void** here, void* there);
#if defined(__APPLE__)
#define SIMTMM_SYMBOL "_simtmm_switch"
#define SIMTMM_HIDDEN ".private_extern _simtmm_switch\n"
#else
#define SIMTMM_SYMBOL "simtmm_switch"
#define SIMTMM_HIDDEN ".hidden simtmm_switch\n"
#endif
asm(".text\n.globl " SIMTMM_SYMBOL "\n" SIMTMM_HIDDEN ".p2align 2\n" SIMTMM_SYMBOL ":\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp, #0]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp, #0]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nbr x30\n");
enum { SIMTMM_RETURN = 11, SIMTMM_FRAME = 20 };
#else
#error "simtmm records on x86-64 and on 64-bit Arm processors"
#endif

namespace simtmm {

// --- state of a recording -----------------------------------------------------------------------------------------

enum { MOST_SITES = 4096, MOST_ARRAYS = 1024, STACK_BYTES = 256 * 1024, GUARD_BYTES = 64 * 1024 };
enum : unsigned { SILENT = 0x80000000u };  // in the site of a store that changed nothing, where races are looked for
enum { NO_SITE = 0xFFFF };

enum FaultCode {
    NONE, OUT_OF_BOUNDS, NO_ARRAY, SHARED_OUT_OF_BOUNDS, NEGATIVE, TOO_MUCH, NO_MEMORY, THREW, GOES_ROUND
};

struct Fault {
    int code;
    int site;
    long long block, thread;
    int array;
    long long index, count;
};

struct DeclaredArray { void* storage; long long bytes; };
struct Array { unsigned long long begin, end; };
struct Abort {};

static DeclaredArray declared_arrays[MOST_SITES];  // those that this launch has declared
static int declared_array_count;
static int launch_number;  // one more with each launch begun

// Events are appended behind the others, up to `room_end`; then there must be more room, or somebody wants to look at
// the thread (see make_room).
// What changes while a thread goes round for ever, and decides nothing for it, has a page of its own.
#if defined(__x86_64__)
enum { PAGE_BYTES = 4096 };
#elif defined(__APPLE__)
enum { PAGE_BYTES = 16384 };
#else
enum { PAGE_BYTES = 65536 };  // the largest of 64-bit Arm
#endif
struct Turning {
    Event* volatile room_end;
    Event* events;
    unsigned long long events_most, events_spared;
    volatile bool asked;  // to look at the thread
    int passed_barriers;  // those that the threads of this turn have behind them
};
alignas(PAGE_BYTES) static union { Turning now; char page[PAGE_BYTES]; } turning;
static Event*& events = turning.now.events;
static unsigned long long& events_most = turning.now.events_most;
static unsigned long long& events_spared = turning.now.events_spared;  // how many more than are there this command's
// blocks stand for
static bool more_events();  // whether there is room for more (process_cpu.cuh)
static void be_looked_at(int site);  // fails where the thread goes round for ever (watch_cpu.cuh)
static void set_room();

static Array arrays[MOST_ARRAYS];  // sorted; those beyond array_count are empty
static int array_count;
static unsigned long long to_virtual;

static Fault fault;
static long long current_block;

// Where the kernel is, for the recorder, which sees it while it runs and after it has died: process_cpu.cuh puts shared
// memory in the place of this page. Only ever written here.
struct Seen {
    Event *first, *next;  // where the events of this call begin, and where the next one comes
    volatile unsigned long long spared;  // events that this call's blocks stand for beyond these
    volatile long long block;
    unsigned long long thread;  // the one that runs, as it stands in the second word of an event
    volatile unsigned site;  // of the last event, NO_SITE where a block begins
    char shared;  // whether this launch has accessed shared memory,
    char loaded[MOST_ARRAYS], stored[MOST_ARRAYS];  // and which arrays it has loaded from and stored to
    char what[500];  // a thrown exception says of itself
    volatile unsigned looks;  // how often somebody has looked at a thread that takes long (watch_cpu.cuh);
    volatile char is_still;  // whether memory was then as it was the last time
    unsigned asking;  // the site of who is looked at
};
alignas(PAGE_BYTES) static union { Seen now; char page[PAGE_BYTES]; } seen;

inline unsigned long long events_used() { return (unsigned long long)(seen.now.next - events); }

enum { THREAD_SHIFT = 32, KIND_SHIFT = 48, BYTES_SHIFT = 56 };  // where they stand in the second word of an event

inline int current_thread() { return (int)(seen.now.thread >> THREAD_SHIFT); }

// stack: its upper end. waiting: at the barrier at `site`. passed: how many barriers, once it has ended. place:
// threadIdx.
struct Fiber { char* stack; void* context; uint3 place; int site, passed; bool waiting; };
static Fiber* fibers;  // one more than there are threads, which never waits
static int fiber_count;
static Fiber* current_fiber;
static void* scheduler_context;
static int waiting_count, waiting_site;  // fibers that wait since the scheduler ran last, and where the first does
static bool waiting_apart;  // whether any of them waits elsewhere
static void* other_context();  // of the thread that runs next, or the scheduler's (process_cpu.cuh)

inline void place_thread(Fiber* fiber, int thread) {
    current_fiber = fiber;
    seen.now.thread = (unsigned long long)thread << THREAD_SHIFT;
    threadIdx = fiber->place;
    fiber->waiting = false;
}

// The thread behind this one mostly waits, and goes on.
inline void* next_context() {
    Fiber* next = current_fiber + 1;
    if (__builtin_expect(!next->waiting, 0)) return other_context();
    place_thread(next, current_thread() + 1);
    return next->context;
}

[[noreturn]] inline void end_fiber() {
    void** here = &current_fiber->context;
    simtmm_switch(here, next_context());
    __builtin_unreachable();
}

// No other thread goes on.
static void set_fault(const Fault& found) {
    fault = found;
    for (int i = 0; i < fiber_count; ++i) fibers[i].waiting = false;
}

[[noreturn]] __attribute__((noinline, cold)) static void fail(
    int code, int site, int array = -1, long long index = 0, long long count = 0) {
    set_fault(Fault{code, site, current_block, current_thread(), array, index, count});
#if defined(__cpp_exceptions)
    throw Abort();
#else
    end_fiber();
#endif
}

static void make_more_room(int site) {
    if (events_used() >= events_most) fail(TOO_MUCH, site, -1, 0, (long long)(events_most + events_spared));
    if (!more_events()) fail(NO_MEMORY, site);
    if (events_used() >= events_most) fail(TOO_MUCH, site, -1, 0, (long long)(events_most + events_spared));
}

__attribute__((noinline, cold)) static void make_room(int site) {
    if (turning.now.asked) {
        be_looked_at(site);
        set_room();
    }
    if (seen.now.next == turning.now.room_end) make_more_room(site);
    if (turning.now.asked) turning.now.room_end = seen.now.next + 1;
}

inline void append(int site, int kind, unsigned bytes, unsigned long long value) {
    if (__builtin_expect(seen.now.next == turning.now.room_end, 0)) make_room(site);
    const unsigned long long what =
        (unsigned long long)bytes << BYTES_SHIFT | (unsigned long long)kind << KIND_SHIFT | (unsigned)site;
    const unsigned long long words[2] = {value, what | seen.now.thread};
    __builtin_memcpy(seen.now.next, words, sizeof words);
    ++seen.now.next;
    seen.now.site = (unsigned)site;
}

// Store. Where races are looked for, its event says whether what lies there changed, bit for bit.
template <class T, class V> inline void note_store(T& place, V v) {
#if defined(SIMTMM_RACES)
    unsigned char before[sizeof(T)];
    __builtin_memcpy(before, (const void*)&place, sizeof(T));
    place = v;
    if (__builtin_memcmp(before, (const void*)&place, sizeof(T)) == 0) seen.now.next[-1].site |= SILENT;
#else
    place = v;
#endif
}

// The updates, at a place; each records first, so what its operand loads has been recorded before.
template <class Self, class T> struct Updates {
    T& there() { return static_cast<Self*>(this)->update(); }
    template <class V> T simtmm_add(V v) { T& place = there(); T old = place; place = old + (T)v; return old; }
    template <class V> T simtmm_min(V v) {
        T& place = there();
        T old = place;
        if ((T)v < old) place = (T)v;
        return old;
    }
    template <class V> T simtmm_max(V v) {
        T& place = there();
        T old = place;
        if (old < (T)v) place = (T)v;
        return old;
    }
    template <class V> T simtmm_and(V v) { T& place = there(); T old = place; place = old & (T)v; return old; }
    template <class V> T simtmm_or(V v) { T& place = there(); T old = place; place = old | (T)v; return old; }
    template <class V> T simtmm_xor(V v) { T& place = there(); T old = place; place = old ^ (T)v; return old; }
    template <class V> T simtmm_exchange(V v) { T& place = there(); T old = place; place = (T)v; return old; }
    template <class V> Self simtmm_expecting(V v) {
        Self self = *static_cast<Self*>(this);
        self.expected = (T)v;
        return self;
    }
    template <class V> T simtmm_swap(V v) {
        T& place = there();
        T old = place;
        if (old == static_cast<Self*>(this)->expected) place = (T)v;
        return old;
    }
};

// --- global memory ------------------------------------------------------------------------------------------------

// The array that an address points into, or to the end of: there is a gap behind each.
__attribute__((noinline)) static int find_array(unsigned long long address, int site) {
    int low = 0, high = array_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (arrays[middle].begin <= address) low = middle + 1; else high = middle;
    }
    if (low == 0 || address > arrays[low - 1].end) fail(NO_ARRAY, site);
    return low - 1;
}

template <int SITE, class T> struct GlobalPlace : Updates<GlobalPlace<SITE, T>, typename std::remove_cv<T>::type> {
    typedef typename std::remove_cv<T>::type Value;
    static_assert(SITE < MOST_SITES, "too many sites in one kernel file");
    static_assert(sizeof(T) <= 255, "an access moves at most 255 bytes");
    static inline int hint = 0;  // the array that was accessed here last
    T* array;
    long long index;
    Value expected;
    GlobalPlace(T* a, long long i) : array(a), index(i), expected() {}
    T& go(int kind) {
        unsigned long long base = (unsigned long long)array, begin = arrays[hint].begin, end = arrays[hint].end;
        if (__builtin_expect(base - begin >= end - begin, 0)) {
            hint = find_array(base, SITE);
            begin = arrays[hint].begin, end = arrays[hint].end;
        }
        long long offset, position;  // in bytes, from `array` and from where the array begins
        if (__builtin_expect(
                __builtin_mul_overflow(index, (long long)sizeof(T), &offset)
                || __builtin_add_overflow((long long)(base - begin), offset, &position)
                || position < 0 || position > (long long)(end - begin) - (long long)sizeof(T), 0))
            outside(begin, end);
        T* place = array + index;
        append(SITE, kind, sizeof(T), (unsigned long long)place + to_virtual);
        (kind == KIND_LOAD || kind == KIND_ASYNC ? seen.now.loaded : seen.now.stored)[hint] = 1;
        return *place;
    }
    [[noreturn]] __attribute__((noinline, cold)) void outside(unsigned long long begin, unsigned long long end) {
        unsigned long long base = (unsigned long long)array;
        long long size = sizeof(T);
        long long before = (long long)(base - begin) / size, after = (long long)(end - base) / size;
        fail(OUT_OF_BOUNDS, SITE, hint, index + before, before + after);
    }
    T& update() { return go(KIND_ATOMIC); }
    Value simtmm_load() { return go(KIND_LOAD); }
    Value simtmm_load_async() { return go(KIND_ASYNC); }
    template <class V> void simtmm_store(V v) { note_store(go(KIND_STORE), v); }
};

// --- shared memory --------------------------------------------------------------------------------------------------

// An array in shared memory: s[i] of the plain build.
template <class T> struct SharedArray { T* data; int count; int declared; };

// What another block left in shared memory is not to be relied on.
static void poison(const DeclaredArray& array) { __builtin_memset(array.storage, 0xCD, array.bytes); }

template <int SITE, class T, int COUNT> struct Storage {
    static_assert(SITE < MOST_SITES, "too many sites in one kernel file");
    alignas(16) static inline T elements[COUNT];
    static inline int declared_in = 0;  // the launch
    static SharedArray<T> declare() {
        if (__builtin_expect(declared_in != launch_number, 0)) {
            if (declared_array_count == MOST_SITES) fail(NO_MEMORY, SITE);
            declared_in = launch_number;
            poison(declared_arrays[declared_array_count++] = DeclaredArray{elements, (long long)sizeof elements});
        }
        return SharedArray<T>{elements, COUNT, SITE};
    }
};

template <int SITE, class T> struct SharedPlace : Updates<SharedPlace<SITE, T>, T> {
    static_assert(SITE < MOST_SITES, "too many sites in one kernel file");
    static_assert(sizeof(T) <= 255, "an access moves at most 255 bytes");
    const SharedArray<T>& array;
    long long index;
    T expected;
    SharedPlace(const SharedArray<T>& s, long long i) : array(s), index(i), expected() {}
    T& go(int kind) {
        if (__builtin_expect((unsigned long long)index >= (unsigned long long)array.count, 0))
            fail(SHARED_OUT_OF_BOUNDS, SITE, array.declared, index, array.count);
        append(SITE, kind, sizeof(T), (unsigned long long)array.declared << 32 | (unsigned long long)index * sizeof(T));
        seen.now.shared = 1;
        return array.data[index];
    }
    T& update() { return go(KIND_SHARED_ATOMIC); }
    T simtmm_load_shared() { return go(KIND_SHARED_LOAD); }
    template <class V> void simtmm_store_shared(V v) { note_store(go(KIND_SHARED_STORE), v); }
};

}  // namespace simtmm

// --- what the macros of device.cuh call ------------------------------------------------------------------------------

template <int SITE, class T, class I> inline simtmm::GlobalPlace<SITE, T> simtmm_access(T* a, I i) {
    return simtmm::GlobalPlace<SITE, T>(a, (long long)i);
}

template <int SITE, class T, class I>
inline simtmm::SharedPlace<SITE, T> simtmm_access(const simtmm::SharedArray<T>& s, I i) {
    return simtmm::SharedPlace<SITE, T>(s, (long long)i);
}

template <int SITE> inline void simtmm_join(long long left_out = 0) {
    if (left_out < 0) simtmm::fail(simtmm::NEGATIVE, SITE, -1, left_out);
    simtmm::append(SITE, simtmm::KIND_JOIN, 0, (unsigned long long)left_out);
}

template <int SITE> inline void simtmm_work(long long operations) {
    if (operations < 0) simtmm::fail(simtmm::NEGATIVE, SITE, -1, operations);
    if (operations) simtmm::append(SITE, simtmm::KIND_WORK, 0, (unsigned long long)operations);
}

template <int SITE> inline void simtmm_barrier() {
    simtmm::append(SITE, simtmm::KIND_BARRIER, 0, 0);
    simtmm::Fiber& here = *simtmm::current_fiber;
    here.waiting = true;
    here.site = SITE;
    if (simtmm::waiting_count++ == 0) simtmm::waiting_site = SITE;
    simtmm::waiting_apart |= simtmm::waiting_site != SITE;
    simtmm_switch(&here.context, simtmm::next_context());
}

#define SIMTMM_SHARED(n, type, name, count) \
    const simtmm::SharedArray<type> name = simtmm::Storage<n, type, (count)>::declare()

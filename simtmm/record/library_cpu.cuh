// The rest of an instrumented C++ build: running blocks as fibers, and the functions that simtmm/record/cpu.py calls.
// It stands before the kernel's source, whose macros may have any names; SIMTMM_KERNELS stands behind it.

#pragma once

#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <sys/mman.h>

#define SIMTMM_API extern "C" __attribute__((visibility("default")))

namespace simtmm {

// --- running blocks -----------------------------------------------------------------------------------------------------

static void (*body)(void**);
static void** body_arguments;
static sigjmp_buf crash_return;
static bool interleaved;

extern "C" __attribute__((used, noinline)) inline void simtmm_fiber_main() {
    try {
        body(body_arguments);
    } catch (const Abort&) {
    }
    fiber_finished = true;
    simtmm_switch(&current_fiber->context, scheduler_context);
    __builtin_unreachable();
}

static char* new_stack() {
    void* memory = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    mprotect(memory, GUARD_BYTES, PROT_NONE);  // a stack that overflows is caught, not another one's ruin
    return (char*)memory;
}

// A frame as simtmm_switch leaves it, whose return address is simtmm_fiber_main. On x86-64 its eighth word is
// what a call would have pushed, so that the stack is aligned as after a call.
static void prepare(Fiber& fiber) {
    void** top = (void**)(fiber.stack + GUARD_BYTES + STACK_BYTES) - 2;
    void** frame = top - SIMTMM_FRAME;
    for (int i = 0; i < SIMTMM_FRAME; ++i) frame[i] = nullptr;
    frame[SIMTMM_RETURN] = (void*)&simtmm_fiber_main;
    fiber.context = frame;
    fiber.waiting = false;
}

static void place_thread(int thread) {
    current_thread = thread;
    threadIdx.x = thread % blockDim.x;
    threadIdx.y = thread / blockDim.x % blockDim.y;
    threadIdx.z = thread / (blockDim.x * blockDim.y);
}

// Let a fiber run until it ends or waits at a barrier. Where threads end one after another, one stack serves all.
static void resume(Fiber& fiber) {
    fiber.waiting = false;
    fiber_finished = false;
    current_fiber = &fiber;
    simtmm_switch(&scheduler_context, fiber.context);
    if (fiber_finished && !spare_stack) {
        spare_stack = fiber.stack;
        fiber.stack = nullptr;
    }
}

static bool run_block(long long block, int threads) {
    current_block = block;
    last_site = -1;
    interleaved = false;
    blockIdx.x = (unsigned)(block % gridDim.x);
    blockIdx.y = (unsigned)(block / gridDim.x % gridDim.y);
    blockIdx.z = (unsigned)(block / gridDim.x / gridDim.y);
    for (int i = 0; i < local_array_count; ++i) poison(local_arrays[i]);
    int waiting = 0;
    for (int thread = 0; thread < threads; ++thread) {
        Fiber& fiber = fibers[thread];
        if (!fiber.stack) {
            fiber.stack = spare_stack ? spare_stack : new_stack();
            spare_stack = nullptr;
            if (!fiber.stack) {
                fault = Fault{NO_MEMORY, -1, block, thread, -1, 0, 0};
                return false;
            }
        }
        place_thread(thread);
        prepare(fiber);
        resume(fiber);
        if (fault.code) return false;
        waiting += fiber.waiting;
    }
    interleaved = waiting > 0;
    while (waiting > 0) {
        waiting = 0;
        for (int thread = 0; thread < threads; ++thread) {
            if (!fibers[thread].waiting) continue;
            place_thread(thread);
            resume(fibers[thread]);
            if (fault.code) return false;
            waiting += fibers[thread].waiting;
        }
    }
    return true;
}

// Events of a block come barrier by barrier: bring each thread's together, in the order of threads.
static bool sort_by_thread(Event* first, unsigned long long count, int threads, unsigned long long* starts) {
    if (count > sorted_room) {
        Event* larger = (Event*)std::realloc(sorted_events, count * sizeof(Event));
        if (!larger) return false;
        sorted_events = larger;
        sorted_room = count;
    }
    for (int thread = 0; thread <= threads; ++thread) starts[thread] = 0;
    for (unsigned long long i = 0; i < count; ++i) ++starts[first[i].thread + 1];
    for (int thread = 0; thread < threads; ++thread) starts[thread + 1] += starts[thread];
    for (unsigned long long i = 0; i < count && !cancelled;) {
        unsigned long long stop = i + LOOK_EVENTS < count ? i + LOOK_EVENTS : count;
        for (; i < stop; ++i) sorted_events[starts[first[i].thread]++] = first[i];
    }
    if (cancelled) return true;  // run() sees it, too
    __builtin_memcpy(first, sorted_events, count * sizeof(Event));
    return true;
}

// A pointer gone astray without LD or ST, or a stack that overflowed: end the launch, not the process.
static void on_crash(int signal) { siglongjmp(crash_return, signal); }

struct CrashGuard {
    struct sigaction before_segv, before_bus, before_fpe;
    stack_t before_stack;
    void* stack;
    CrashGuard() {
        stack = std::malloc(64 * 1024);
        stack_t mine = {};
        mine.ss_sp = stack;
        mine.ss_size = 64 * 1024;
        sigaltstack(&mine, &before_stack);
        struct sigaction action = {};
        action.sa_handler = on_crash;
        action.sa_flags = SA_ONSTACK | SA_NODEFER;
        sigaction(SIGSEGV, &action, &before_segv);
        sigaction(SIGBUS, &action, &before_bus);
        sigaction(SIGFPE, &action, &before_fpe);
    }
    ~CrashGuard() {
        sigaction(SIGSEGV, &before_segv, nullptr);
        sigaction(SIGBUS, &before_bus, nullptr);
        sigaction(SIGFPE, &before_fpe, nullptr);
        sigaltstack(&before_stack, nullptr);
        std::free(stack);
    }
};

// What Python reads after simtmm_run.
struct Outcome {
    const Event* events;
    unsigned long long count;
    long long blocks;
    Fault fault;
};

// --- kernels, their signatures, and what Python calls -------------------------------------------------------------------

template <class T> constexpr char code() {
    return std::is_pointer<T>::value ? 'p' : std::is_same<T, bool>::value ? 'b' : std::is_floating_point<T>::value ? 'f'
         : !std::is_integral<T>::value ? 's' : std::is_signed<T>::value ? 'i' : 'u';
}

template <auto> struct Thunk;
template <class... A, void (*KERNEL)(A...)> struct Thunk<KERNEL> {
    static_assert(sizeof...(A) <= 32, "a kernel takes at most 32 arguments");
    template <std::size_t... N> static void apply(void** arguments, std::index_sequence<N...>) {
        (void)arguments;
        KERNEL(*(typename std::remove_cv<A>::type*)arguments[N]...);
    }
    static void simtmm_call(void** arguments) { apply(arguments, std::make_index_sequence<sizeof...(A)>()); }
    // What kind each argument is (a letter of `code`) and how many bytes it has; how many there are.
    static int simtmm_signature(char* kinds, int* sizes) {
        const char all_kinds[] = {code<typename std::remove_cv<A>::type>()..., 0};
        const int all_sizes[] = {(int)sizeof(A)..., 0};
        for (std::size_t i = 0; i < sizeof...(A); ++i) kinds[i] = all_kinds[i], sizes[i] = all_sizes[i];
        return (int)sizeof...(A);
    }
};

struct KernelEntry { const char* name; void (*call)(void**); int (*signature)(char*, int*); };

// Start a launch: shape is grid x, y, z and block x, y, z.
static void begin(void (*call)(void**), const unsigned* shape, const Array* known, int count,
                  unsigned long long shift) {
    body = call;
    gridDim = dim3{shape[0], shape[1], shape[2]};
    blockDim = dim3{shape[3], shape[4], shape[5]};
    for (int i = 0; i < MOST_ARRAYS; ++i) arrays[i] = i < count ? known[i] : Array{0, 0};
    array_count = count;
    to_virtual = shift;
    local_array_count = 0;
    ++launch_number;
}

// Free what the recording holds.
static void release() {
    std::free(events);
    std::free(sorted_events);
    events = sorted_events = nullptr;
    events_used = events_room = events_allocated = sorted_room = 0;
    for (int i = 0; i < fiber_count; ++i)
        if (fibers[i].stack) munmap(fibers[i].stack, GUARD_BYTES + STACK_BYTES);
    if (spare_stack) munmap(spare_stack, GUARD_BYTES + STACK_BYTES);
    spare_stack = nullptr;
    std::free(fibers);
    fibers = nullptr;
    fiber_count = 0;
}

// Run blocks from `first` until `last` or until `wanted` events are there; fail at more than `most`.
// block_ends[b]: events up to block first + b.
static int run(long long first, long long last, void** arguments, unsigned long long wanted, unsigned long long most,
               unsigned long long* block_ends, Outcome* outcome) {
    int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    if (threads > fiber_count) {
        Fiber* more = (Fiber*)std::realloc(fibers, threads * sizeof(Fiber));
        if (!more) return -1;
        for (int i = fiber_count; i < threads; ++i) more[i] = Fiber{nullptr, nullptr, false};
        fibers = more;
        fiber_count = threads;
    }
    unsigned long long* starts = (unsigned long long*)std::malloc((threads + 2) * sizeof(unsigned long long));
    if (!starts) return -1;
    fault = Fault{NONE, -1, -1, -1, -1, 0, 0};
    body_arguments = arguments;
    events_used = 0;
    events_most = most;
    look_again();
    volatile long long block = first;
    {
        CrashGuard guard;
        if (sigsetjmp(crash_return, 1) == 0) {
            for (; block < last && events_used < wanted; block = block + 1) {
                unsigned long long before = events_used;
                if (cancelled) fault = Fault{CANCELLED, -1, block, 0, -1, 0, 0};
                if (fault.code || !run_block(block, threads)) break;
                if (interleaved && !sort_by_thread(events + before, events_used - before, threads, starts)) {
                    fault = Fault{NO_MEMORY, -1, block, 0, -1, 0, 0};
                    break;
                }
                block_ends[block - first] = events_used;
            }
        } else {
            fault = Fault{CRASH, last_site, current_block, current_thread, -1, 0, 0};
        }
    }
    std::free(starts);
    *outcome = Outcome{events, events_used, block - first, fault};
    return 0;
}

// The kernels of the source, once simtmm_kernels has been called.
static const KernelEntry* table;

SIMTMM_API const char* simtmm_kernel_name(int kernel) { return table[kernel].name; }

SIMTMM_API int simtmm_kernel_signature(int kernel, char* kinds, int* sizes) {
    return table[kernel].signature(kinds, sizes);
}

// Bytes of local memory that a block of the launch begun last declares.
SIMTMM_API long long simtmm_local_memory() {
    long long bytes = 0;
    for (int i = 0; i < local_array_count; ++i) bytes += local_arrays[i].bytes;
    return bytes;
}

SIMTMM_API void simtmm_cancel(int yes) { cancelled = yes; }

SIMTMM_API void simtmm_release() { release(); }

SIMTMM_API void simtmm_begin(int kernel, const unsigned* shape, const Array* known, int count,
                             unsigned long long shift) {
    begin(table[kernel].call, shape, known, count, shift);
}

SIMTMM_API int simtmm_run(long long first, long long last, void** arguments, unsigned long long wanted,
                          unsigned long long most, unsigned long long* block_ends, Outcome* outcome) {
    return run(first, last, arguments, wanted, most, block_ends, outcome);
}

}  // namespace simtmm

// Behind the source: SIMTMM_KERNELS(SIMTMM_KERNEL(f), SIMTMM_KERNEL(g)) names its kernels.
#define SIMTMM_KERNEL(kernel) \
    {#kernel, simtmm::Thunk<&simtmm_user::kernel>::simtmm_call, simtmm::Thunk<&simtmm_user::kernel>::simtmm_signature}
#define SIMTMM_KERNELS(...)                                                \
    static const simtmm::KernelEntry simtmm_table[] = {__VA_ARGS__};       \
    SIMTMM_API int simtmm_kernels() {                                      \
        simtmm::table = simtmm_table;                                      \
        return (int)(sizeof(simtmm_table) / sizeof(simtmm_table[0]));      \
    }

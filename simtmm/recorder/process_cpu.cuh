// The rest of an instrumented C++ build: a program that runs blocks as fibers, as simtmm/recorder/cpu/process.py tells
// it to.
// It stands before the kernel's source, whose macros may have any names; SIMTMM_KERNELS stands behind it.
//
// A process of its own, so that whatever a kernel does ends at worst that process. Arrays, events and the place where
// the kernel is lie in memory shared with the recorder, which therefore sees them even after this process has died.

#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace simtmm {

// --- running blocks --------------------------------------------------------------------------------------------------

static void (*body)(void**);
static void** body_arguments;
static bool interleaved;  // whether the block's threads took turns

// Threads of a block that did not pass the same barriers, though CUDA asks for it: the first such place of a launch,
// site -1 where there is none.
struct Apart { int site, other_site; long long block; int thread, other, passed; };
static Apart ended_early;  // `thread` waits at `site`, `other` has ended behind `passed` barriers
static Apart at_two_sites;  // `thread` waits at `site`, `other` at `other_site`

__attribute__((noinline, cold)) static void threw(const char* what) {
    std::snprintf(seen.now.what, sizeof seen.now.what, "%s", what);
    int site = (int)seen.now.site;
    set_fault(Fault{THREW, site == NO_SITE ? -1 : site, current_block, current_thread(), -1, 0, 0});
}

static char* new_stack() {
    static unsigned made;
    void* memory = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    mprotect(memory, GUARD_BYTES, PROT_NONE);  // a stack that overflows is caught, not another one's ruin
    // A few lines apart: what all stacks had at the same place of a page would lie in the same sets of the caches.
    return (char*)memory + GUARD_BYTES + STACK_BYTES - made++ * 5 % 64 * 64;
}

// Where a fiber goes on from that begins: what simtmm_switch leaves is such a frame. On x86-64 its last word is what a
// call would have pushed, so that the stack is aligned as after a call.
static void* first_frame(char* stack, void* main) {
    void** frame = (void**)stack - SIMTMM_FRAME;
    for (int i = 0; i < SIMTMM_FRAME; ++i) frame[i] = nullptr;
    frame[SIMTMM_RETURN] = main;
    return frame;
}

extern "C" void simtmm_fiber_main();

static int block_threads;
static bool starting;  // whether threads of the block have yet to begin

// Have a thread begin on its own stack once it is its turn; whether there is memory for that.
static bool prepare(int thread) {
    Fiber& fiber = fibers[thread];
    if (!fiber.stack && !(fiber.stack = new_stack())) {
        fault = Fault{NO_MEMORY, -1, current_block, thread, -1, 0, 0};
        return false;
    }
    fiber.context = first_frame(fiber.stack, (void*)&simtmm_fiber_main);
    fiber.waiting = true;
    return true;
}

static void* first_context(int thread) {
    if (!fibers[thread].waiting && !prepare(thread)) return scheduler_context;
    place_thread(&fibers[thread], thread);
    return current_fiber->context;
}

// Threads take their turns by number: after the current one those behind it begin, or go on behind their barrier.
static void* other_context() {
    if (fault.code) return scheduler_context;
    int thread = current_thread() + 1;
    if (starting) return thread < block_threads ? first_context(thread) : scheduler_context;
    while (thread < block_threads && !fibers[thread].waiting) ++thread;
    if (thread == block_threads) return scheduler_context;
    place_thread(&fibers[thread], thread);
    return current_fiber->context;
}

extern "C" __attribute__((used, noinline)) inline void simtmm_fiber_main() {
    for (;;) {
#if defined(__cpp_exceptions)
        try {
            body(body_arguments);
        } catch (const Abort&) {
        } catch (const std::exception& thrown) {
            threw(thrown.what());
        } catch (...) {
            threw("");
        }
#else
        body(body_arguments);
#endif
        current_fiber->passed = turning.now.passed_barriers;
        // While threads end one after another, without a barrier, the next begins on the same stack.
        int next = current_thread() + 1;
        if (!starting || fault.code || next == block_threads) end_fiber();
        std::swap(current_fiber->stack, fibers[next].stack);
        place_thread(&fibers[next], next);
    }
}

// The threads of a block have ended or come to a barrier, `ended` of them since the last: note whether all are at the
// same. Those that have ended are not waited for, as on GPUs.
static void note_apart(int threads, int ended) {
    const int passed = turning.now.passed_barriers;
    int at = 0;
    while (!fibers[at].waiting) ++at;
    if (ended > 0 && ended_early.site < 0) {
        int gone = 0;
        while (fibers[gone].waiting || fibers[gone].passed != passed) ++gone;
        ended_early = Apart{fibers[at].site, -1, current_block, at, gone, passed};
    }
    if (at_two_sites.site >= 0 || !waiting_apart) return;
    for (int thread = at + 1; thread < threads; ++thread)
        if (fibers[thread].waiting && fibers[thread].site != fibers[at].site) {
            at_two_sites = Apart{fibers[at].site, fibers[thread].site, current_block, at, thread, passed};
            return;
        }
}

static bool run_block(long long block, int threads) {
    seen.now.block = current_block = block;
    seen.now.site = NO_SITE;
    const bool will_wait = interleaved;  // its threads at barriers, as those of the block before did
    interleaved = false;
    blockIdx.x = (unsigned)(block % gridDim.x);
    blockIdx.y = (unsigned)(block / gridDim.x % gridDim.y);
    blockIdx.z = (unsigned)(block / gridDim.x / gridDim.y);
    for (int i = 0; i < declared_array_count; ++i) poison(declared_arrays[i]);
    waiting_count = turning.now.passed_barriers = 0;
    waiting_apart = false;
    starting = true;
    for (int thread = 0; will_wait && thread < threads; ++thread)
        if (!prepare(thread)) return false;
    simtmm_switch(&scheduler_context, first_context(0));
    starting = false;
    if (fault.code) return false;
    int waiting = waiting_count;
    interleaved = waiting > 0;
    for (int ended = threads - waiting; waiting > 0;) {
        note_apart(threads, ended);
        ended = waiting;
        waiting_count = 0;
        waiting_apart = false;
        int first = 0;
        while (!fibers[first].waiting) ++first;
        ++turning.now.passed_barriers;
        place_thread(&fibers[first], first);
        simtmm_switch(&scheduler_context, current_fiber->context);
        if (fault.code) return false;
        waiting = waiting_count;
        ended -= waiting;
    }
    return true;
}

// --- what is shared with the recorder --------------------------------------------------------------------------------

enum { FIRST_EVENTS = 1 << 16, GUARD_AROUND = 64 << 20, PLACE_BYTES = 1 << 16 };

// Commands take turns at two of them, so that the recorder reads one while the other is written.
struct EventsFile { int file; unsigned long long allocated; Event* events; unsigned long long* block_ends; };
struct Handing {
    EventsFile turns[2];
    EventsFile* turn;
    long long turn_first;  // the block whose end comes first among its block_ends
    bool handed_over;  // whether events of the block that runs are with the recorder already
};
alignas(PAGE_BYTES) static union { Handing now; char page[PAGE_BYTES]; } handing;
static EventsFile (&turns)[2] = handing.now.turns;
static EventsFile*& turn = handing.now.turn;
static long long& turn_first = handing.now.turn_first;
static bool& handed_over = handing.now.handed_over;
static unsigned long long events_mapped;  // of each at most
static char* origin;  // where virtual address 0 lies

static void hand_over();

static void set_room() {
    turning.now.room_end = events + (turn->allocated < events_most ? turn->allocated : events_most);
}

static bool more_events() {
    if (events_used() == events_mapped) hand_over();
    if (events_used() == turn->allocated) {
        unsigned long long wanted = turn->allocated ? 2 * turn->allocated : FIRST_EVENTS;
        if (wanted > events_mapped) wanted = events_mapped;
        if (wanted == turn->allocated || ftruncate(turn->file, wanted * sizeof(Event)) != 0) return false;
        turn->allocated = wanted;
    }
    set_room();
    return true;
}

#if !defined(MAP_POPULATE)
#define MAP_POPULATE 0
#endif

// how: MAP_FIXED at `where`; MAP_POPULATE for what is there and will all be touched, page by page at a higher cost.
static void* shared(int file, unsigned long long bytes, int how = 0, void* where = nullptr) {
    void* memory = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | how, file, 0);
    if (memory == MAP_FAILED) _exit(125);
    return memory;
}

// The arrays, with nothing for a long way before and behind them: what runs past them is caught.
static char* guarded(int file, unsigned long long bytes) {
    void* around = mmap(nullptr, bytes + 2ull * GUARD_AROUND, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (around == MAP_FAILED) _exit(125);
    return (char*)shared(file, bytes, MAP_FIXED | MAP_POPULATE, (char*)around + GUARD_AROUND);
}

static Event* came;  // a block's events, in the order in which they came
static unsigned long long came_room;

// Events of a block come barrier by barrier: bring each thread's together, in the order of threads. `came` keeps the
// order in which they came.
static bool sort_by_thread(unsigned long long first, int threads, unsigned long long* starts) {
    unsigned long long count = events_used() - first;
    if (count > came_room) {
        Event* larger = (Event*)std::realloc(came, count * sizeof(Event));
        if (!larger) return false;
        came = larger;
        came_room = count;
    }
    for (int thread = 0; thread <= threads; ++thread) starts[thread] = 0;
    Event* copy = came;
    for (const Event *from = events + first, *upto = from + count; from < upto;) {
        const Event* turn = from;
        do *copy++ = *from++; while (from < upto && from->thread == turn->thread);
        starts[turn->thread + 1] += from - turn;
    }
    for (int thread = 0; thread < threads; ++thread) starts[thread + 1] += starts[thread];
    for (const Event *from = came, *upto = came + count; from < upto;) {
        int thread = from->thread;
        Event* to = events + first + starts[thread];
        do *to++ = *from++; while (from < upto && from->thread == thread);
        starts[thread] = to - events - first;
    }
    return true;
}

// --- blocks that do as one before them did ---------------------------------------------------------------------------

// The model is the last block that stands as its events. A block behind it whose threads did the same, in the same
// turns, with the values of each site all as far from the model's, stands as these distances: an event of KIND_DISTANCE
// for each site.
enum { KIND_DISTANCE = 255 };  // simtmm/trace/runs/layout.py has it too
enum { MOST_OF_A_MODEL = 1 << 18, TOGETHER = 32 };  // events: what caches hold; and so many are compared at once
static const Event* model;  // as they came; null where there is none
static unsigned long long model_count;
static int model_sites;  // -1 while they are not known
static unsigned model_first[MOST_SITES];  // of each of these sites, the first event
static unsigned long long distance[MOST_SITES];  // by site
static Event* kept_model;  // of a block whose events were sorted; takes turns with `came`
static unsigned long long kept_room;

// The block whose events begin at `first` is the model for those behind it. is_sorted: whether `came` has them.
static void take_as_model(unsigned long long first, bool is_sorted) {
    model = nullptr;
    model_count = events_used() - first;
    model_sites = -1;
    if (model_count == 0 || model_count > MOST_OF_A_MODEL) return;
    if (is_sorted) {
        std::swap(came, kept_model);
        std::swap(came_room, kept_room);
    }
    model = is_sorted ? kept_model : events + first;
}

// All of an event but its value.
static unsigned long long what_of(const Event& event) {
    unsigned long long words[2];
    __builtin_memcpy(words, &event, sizeof words);
    return words[1];
}

// Whether a block of as many events did the same as the model, but for values; then the model's sites are known.
static bool find_model_sites(const Event* own) {
    for (unsigned long long i = 0; i < model_count; ++i)
        if (what_of(own[i]) != what_of(model[i]) || own[i].site >= MOST_SITES) return false;
    static bool is_there[MOST_SITES];
    model_sites = 0;
    for (unsigned i = 0; i < model_count; ++i)
        if (!is_there[model[i].site]) {
            is_there[model[i].site] = true;
            model_first[model_sites++] = i;
        }
    for (int i = 0; i < model_sites; ++i) is_there[model[model_first[i]].site] = false;
    return true;
}

// Whether the block whose events begin at `first`, in the order in which they came, is like the model. Sets `distance`.
static bool is_like_model(unsigned long long first) {
    if (!model || events_used() - first != model_count) return false;
    const Event* own = events + first;
    if (model_sites < 0 && !find_model_sites(own)) return false;
    for (int i = 0; i < model_sites; ++i) {
        const Event& event = model[model_first[i]];
        distance[event.site] = own[model_first[i]].value - event.value;
    }
    for (unsigned long long i = 0; i < model_count;) {
        unsigned long long differs = 0, upto = i + TOGETHER < model_count ? i + TOGETHER : model_count;
        for (; i < upto; ++i) {
            unsigned long long what = what_of(model[i]);
            differs |= what ^ what_of(own[i]);
            differs |= distance[what & (MOST_SITES - 1)] ^ (own[i].value - model[i].value);
        }
        if (differs) return false;
    }
    return true;
}

// Distances in the place of such a block's events.
static void put_distances(unsigned long long first, unsigned long long most) {
    for (int i = 0; i < model_sites; ++i) {
        unsigned site = model[model_first[i]].site;
        events[first + i] = Event{distance[site], site, 0, KIND_DISTANCE, 0};
    }
    seen.now.spared = events_spared += model_count - model_sites;
    seen.now.next = events + first + model_sites;
    events_most = most - events_spared;
    set_room();
}

}  // namespace simtmm

#include "watch_cpu.cuh"

namespace simtmm {

// --- kernels and their signatures ------------------------------------------------------------------------------------

template <class T> constexpr char code() {
    return std::is_pointer<T>::value ? 'p' : std::is_same<T, bool>::value ? 'b' : std::is_floating_point<T>::value ? 'f'
         : !std::is_integral<T>::value ? 's' : std::is_signed<T>::value ? 'i' : 'u';
}

template <class T> constexpr int bytes_of() {
    if constexpr (std::is_void<T>::value || std::is_function<T>::value) return 0; else return (int)sizeof(T);
}

template <auto> struct Thunk;
template <class... A, void (*KERNEL)(A...)> struct Thunk<KERNEL> {
    static_assert(sizeof...(A) <= 32, "a kernel takes at most 32 arguments");
    template <std::size_t... N> static void apply(void** arguments, std::index_sequence<N...>) {
        (void)arguments;
        KERNEL(*(typename std::remove_cv<A>::type*)arguments[N]...);
    }
    static void simtmm_call(void** arguments) { apply(arguments, std::make_index_sequence<sizeof...(A)>()); }
    // What kind each argument is (a letter of `code`), how many bytes it has, whether it points to what is const, and
    // the same of what it points to; how many there are.
    static int simtmm_signature(char* kinds, int* sizes, bool* constant, char* pointees, int* strides) {
        const char all_pointees[] = {
            code<typename std::remove_cv<typename std::remove_pointer<A>::type>::type>()..., 0};
        const int all_strides[] = {bytes_of<typename std::remove_pointer<A>::type>()..., 0};
        for (std::size_t i = 0; i < sizeof...(A); ++i) pointees[i] = all_pointees[i], strides[i] = all_strides[i];
        const char all_kinds[] = {code<typename std::remove_cv<A>::type>()..., 0};
        const int all_sizes[] = {(int)sizeof(A)..., 0};
        const bool all_constant[] = {std::is_const<typename std::remove_pointer<A>::type>::value..., false};
        for (std::size_t i = 0; i < sizeof...(A); ++i)
            kinds[i] = all_kinds[i], sizes[i] = all_sizes[i], constant[i] = all_constant[i] && all_kinds[i] == 'p';
        return (int)sizeof...(A);
    }
};

struct KernelEntry { const char* name; void (*call)(void**); int (*signature)(char*, int*, bool*, char*, int*); };

// --- the conversation with the recorder ------------------------------------------------------------------------------

// What it says and hears: simtmm/recorder/cpu/messages.py has the same, word for word.
struct Command {
    int kernel, begins, turn, distances;  // begins: whether a launch begins with this; distances: whether blocks may
    // stand as these
    unsigned shape[6];  // grid x, y, z and block x, y, z
    long long first, last;  // blocks
    unsigned long long wanted, most;  // events: from how many on to stop, and more than how many are a fault
    unsigned long long whole;  // events that blocks stand for: from how many on to stop
    unsigned long long pointers;  // which arguments are pointers, a bit each: these are virtual addresses
    unsigned char arguments[32][16];
};
struct Outcome {
    unsigned long long count, spared;  // of events; how many more blocks stand for that stand as distances
    long long blocks, shared_bytes;
    long long goes_on;  // whether the last events are of one more block, which goes on with the next command
    Fault fault;
    Apart ended_early, at_two_sites;
};

static void begin(const KernelEntry& kernel, const unsigned* shape) {
    body = kernel.call;
    gridDim = dim3{shape[0], shape[1], shape[2]};
    blockDim = dim3{shape[3], shape[4], shape[5]};
    declared_array_count = 0;
    interleaved = false;
    ended_early.site = at_two_sites.site = -1;
    seen.now.shared = 0;
    std::memset(seen.now.loaded, 0, sizeof seen.now.loaded);
    std::memset(seen.now.stored, 0, sizeof seen.now.stored);
    ++launch_number;
}

// The arguments where the kernel finds them, virtual addresses turned into addresses.
static void place_arguments(Command& command) {
    static void* arguments[32];
    for (int i = 0; i < 32; ++i) {
        arguments[i] = command.arguments[i];
        if (!(command.pointers >> i & 1)) continue;
        unsigned long long address;
        __builtin_memcpy(&address, arguments[i], sizeof address);
        address += (unsigned long long)origin;
        __builtin_memcpy(arguments[i], &address, sizeof address);
    }
    body_arguments = arguments;
}

// The events of a block, all of which are here: by thread, or distances in their place; whether there was memory.
static bool settle(const Command& command, unsigned long long first, int threads, unsigned long long* starts) {
    if (command.distances && is_like_model(first)) {
        put_distances(first, command.most);
        return true;
    }
    if (interleaved && !sort_by_thread(first, threads, starts)) return false;
    if (command.distances) take_as_model(first, interleaved);
    return true;
}

// Run blocks from `first` to `last`, until `wanted` events are there, or until they stand for `whole`. block_ends[b]:
// events up to block first + b.
static long long run(const Command& command, int threads, unsigned long long* starts) {
    long long block = turn_first = command.first;
    bool may_be_like = false;  // whether it is worth it to go on beyond what is wanted, for blocks like the first one
    for (; block < command.last && (events_used() < command.wanted || may_be_like)
           && events_used() + events_spared < command.whole; ++block) {
        unsigned long long before = events_used();
        handed_over = false;
        if (!run_block(block, threads)) break;
        const Event* old = model;
        // What has been handed over in part is sorted by the recorder.
        if (!handed_over && !settle(command, before, threads, starts)) {
            fault = Fault{NO_MEMORY, -1, block, 0, -1, 0, 0};
            break;
        }
        if (model != old) may_be_like = !old;
        turn->block_ends[block - turn_first] = events_used();
    }
    return block - turn_first;
}

// Events from now on go where a command wants them.
static void take_turn(const Command& command) {
    turn = &turns[command.turn];
    events = turn->events;
    seen.now.first = seen.now.next = events;
    seen.now.spared = events_spared = 0;
    model = nullptr;
    events_most = command.most;
    set_room();
}

static Outcome obey(const Command& command) {
    int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    take_turn(command);
    fault = Fault{NONE, -1, -1, -1, -1, 0, 0};
    seen.now.site = NO_SITE;
    seen.now.block = command.first;
    seen.now.thread = 0;
    block_threads = threads;
    if (threads > fiber_count) {
        Fiber* more = (Fiber*)std::realloc(fibers, (threads + 1) * sizeof(Fiber));
        if (more) {
            for (int i = fiber_count; i <= threads; ++i) more[i] = Fiber{};
            fibers = more;
            fiber_count = threads;
        }
    }
    for (unsigned i = 0; i <= (unsigned)threads && threads <= fiber_count; ++i) {
        fibers[i].place = uint3{i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
        fibers[i].waiting = false;
    }
    unsigned long long* starts = (unsigned long long*)std::malloc((threads + 2) * sizeof(unsigned long long));
    long long blocks = 0;
    if (threads > fiber_count || !starts) fault = Fault{NO_MEMORY, -1, command.first, 0, -1, 0, 0};
    else blocks = run(command, threads, starts);
    std::free(starts);
    std::fflush(stdout);
    long long shared_bytes = 0;
    for (int i = 0; i < declared_array_count; ++i) shared_bytes += declared_arrays[i].bytes;
    return Outcome{events_used(), events_spared, blocks, shared_bytes, 0, fault, ended_early, at_two_sites};
}

static bool transfer(bool reading, int file, void* what, std::size_t bytes) {
    for (char* at = (char*)what; bytes > 0;) {
        ssize_t done = reading ? read(file, at, bytes) : write(file, at, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        bytes -= done;
    }
    return true;
}

static int commands, replies;  // files

// A block has more events than are mapped: the recorder takes those so far, and its next command says where others go.
static void hand_over() {
    long long blocks = current_block - turn_first;
    Outcome outcome = {events_used(), events_spared, blocks, 0, 1, fault, ended_early, at_two_sites};
    Command next;
    if (!transfer(false, replies, &outcome, sizeof outcome) || !transfer(true, commands, &next, sizeof next))
        _exit(126);
    take_turn(next);
    turn_first = current_block;
    handed_over = true;
}

// A recorder that was killed can't end us, so we look whether it is still there whenever the clock ticks.
static long recorder;
static void look_for_recorder(int) {
    if ((long)getppid() != recorder) _exit(126);
    tick();
}

// words: the recorder's process; files: commands, replies, where the kernel is and ends of blocks, arrays, events
// twice; bytes of the arrays; how many blocks a command has at most, and events; microseconds between ticks; whether
// memory alone decides how kernels go on.
static int serve(const KernelEntry* kernels, int count, char** words) {
    recorder = std::atol(words[1]);
    commands = std::atoi(words[2]);
    replies = std::atoi(words[3]);
    int place = std::atoi(words[4]);
    unsigned long long most_blocks = std::strtoull(words[9], nullptr, 10);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    struct sigaction action = {};
    action.sa_handler = look_for_recorder;
    action.sa_flags = SA_RESTART | SA_ONSTACK;  // on a fiber's it would leave something behind
    stack_t apart = {};
    apart.ss_size = STACK_BYTES - PAGE_BYTES;
    char* upper = new_stack();
    if (!upper) _exit(125);
    apart.ss_sp = stack_of(upper).begin;
    sigaltstack(&apart, nullptr);
    sigaction(SIGALRM, &action, nullptr);
    const long ticks = std::atol(words[11]);
    struct itimerval each = {{ticks / 1000000, ticks % 1000000}, {ticks / 1000000, ticks % 1000000}};
    shared(place, sizeof seen, MAP_FIXED, &seen);
    char* ends = (char*)shared(place, PLACE_BYTES + 2 * most_blocks * sizeof(unsigned long long)) + PLACE_BYTES;
    leave_out(ends - PLACE_BYTES, PLACE_BYTES + 2 * most_blocks * sizeof(unsigned long long));
    leave_out(apart.ss_sp, STACK_BYTES);
    origin = guarded(std::atoi(words[5]), std::strtoull(words[8], nullptr, 10));
    to_virtual = -(unsigned long long)origin;
    events_mapped = std::strtoull(words[10], nullptr, 10);
    for (int i = 0; i < 2; ++i) {
        int file = std::atoi(words[6 + i]);
        Event* own = (Event*)shared(file, events_mapped * sizeof(Event));
        turns[i] = EventsFile{file, 0, own, (unsigned long long*)ends + i * most_blocks};
        leave_out(own, events_mapped * sizeof(Event));
    }
    begin_watch(std::atoi(words[12]) != 0);
    setitimer(ITIMER_REAL, &each, nullptr);
    unsigned long long extents[1 + 2 * MOST_ARRAYS];
    if (!transfer(true, commands, extents, sizeof extents[0])) return 0;
    array_count = (int)extents[0];
    if (!transfer(true, commands, extents + 1, 16 * array_count)) return 0;
    for (int i = 0; i < array_count; ++i)
        arrays[i] = Array{
            extents[1 + 2 * i] + (unsigned long long)origin, extents[2 + 2 * i] + (unsigned long long)origin};
    // A line for each kernel: its name, and of each argument the kind, the bytes, and an r if it points to const;
    // of a pointer also the kind and the bytes of what it points to.
    for (int i = 0; i < count; ++i) {
        char kinds[33] = "", pointees[33] = "", line[4096];
        int sizes[33], strides[33];
        bool constant[33];
        int arguments = kernels[i].signature(kinds, sizes, constant, pointees, strides);
        int end = std::snprintf(line, 2048, "%.2000s", kernels[i].name);
        for (int k = 0; k < arguments; ++k) {
            end += std::snprintf(line + end, 16, " %c%d%s", kinds[k], sizes[k], constant[k] ? "r" : "");
            if (kinds[k] == 'p') end += std::snprintf(line + end, 16, "/%c%d", pointees[k], strides[k]);
        }
        line[end++] = '\n';
        if (!transfer(false, replies, line, end)) return 0;
    }
    char last = '\n';
    if (!transfer(false, replies, &last, 1)) return 0;
    alignas(16) static Command command;
    while (transfer(true, commands, &command, sizeof command)) {
        if (command.begins) begin(kernels[command.kernel], command.shape);
        place_arguments(command);
        Outcome outcome = obey(command);
        if (!transfer(false, replies, &outcome, sizeof outcome)) return 0;
    }
    return 0;
}

}  // namespace simtmm

// Behind the source: SIMTMM_KERNELS(SIMTMM_KERNEL(f), SIMTMM_KERNEL(g)) names its kernels.
#define SIMTMM_KERNEL(kernel) \
    {#kernel, simtmm::Thunk<&simtmm_user::kernel>::simtmm_call, simtmm::Thunk<&simtmm_user::kernel>::simtmm_signature}
#define SIMTMM_KERNELS(...)                                                                              \
    static const simtmm::KernelEntry simtmm_table[] = {__VA_ARGS__};                                     \
    int main(int, char** words) {                                                                        \
        std::_Exit(simtmm::serve(simtmm_table, sizeof(simtmm_table) / sizeof(simtmm_table[0]), words));  \
    }

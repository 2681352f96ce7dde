// Threads that go round for ever, found while they do: part of an instrumented C++ build (process_cpu.cuh).
//
// Now and then somebody looks at a block that takes long. A thread that comes back to the same place with the same
// registers and the same stack, while all memory of this process is as it was and so are the stacks of the threads that
// wait, does again what it did: nothing else runs here that could change anything. Which kernels can see more than
// memory, such as a clock, simtmm/recorder/cpu/only_memory.py knows.
//
// Where /proc does not say which memory there is, nobody looks.

#pragma once

namespace simtmm {

enum : unsigned { FIRST_LENGTH = 1 << 16, LAST_LENGTH = 1 << 22 };  // events that somebody looks at once
enum { MOST_DIGESTS = 4, LONGEST_PAUSE = 16 };  // of memory, in a look; between looks, in times that the clock ticks
enum : unsigned long long { MOST_MEMORY = 1ull << 30 };  // bytes, of which a digest is taken in a moment

// 256 bits of what was read, in words of 8 bytes.
struct Digest {
    unsigned long long lanes[4];
    bool operator==(const Digest& other) const { return __builtin_memcmp(lanes, other.lanes, sizeof lanes) == 0; }
};
static const Digest NOTHING_READ = {{1, 2, 3, 4}};

inline unsigned long long mixed(unsigned long long lane, unsigned long long word) {
    lane = (lane ^ word) * 0x9E3779B97F4A7C15ull;  // odd, so that another word gives another lane
    return lane ^ lane >> 32;
}

static void read_on(Digest& digest, const void* from, const void* upto) {
    unsigned long long a = digest.lanes[0], b = digest.lanes[1], c = digest.lanes[2], d = digest.lanes[3], words[4];
    const char* at = (const char*)from;
    for (; at + 32 <= (const char*)upto; at += 32) {
        __builtin_memcpy(words, at, 32);
        a = mixed(a, words[0]), b = mixed(b, words[1]), c = mixed(c, words[2]), d = mixed(d, words[3]);
    }
    for (; at < (const char*)upto; at += 8) {
        __builtin_memcpy(words, at, 8);
        a = mixed(a, words[0]);
    }
    a = mixed(a, (unsigned long long)((const char*)upto - (const char*)from));
    digest = Digest{{a, b, c, d}};
}

struct Range { char *begin, *end; };

// What somebody remembers of a look.
struct Watch {
    bool proves;  // whether memory alone decides how kernels go on
    int maps;  // the file that says what memory there is; -1 where there is none
    void* context;
    char* stack;  // its upper end
    bool on, found;  // whether a look goes on; whether the thread goes round for ever
    int pause, next_pause, launch;
    long long block;
    unsigned length, left, passed;  // events: of a look, still to come, so far
    int site, thread;  // where and whose the moment is that is waited for,
    void* place;  // how deep in the stack,
    Digest own;  // and what lies there
    int digests;
    Digest whole;  // of everything, when it came back last,
    unsigned at;  // so many events after the moment
    unsigned period;  // events of a round
    bool known;  // whether there is the next
    Digest memory;  // when somebody looked the last time
    Range ours[10];
    int ours_count;
    char read[1 << 15];  // of the file of maps
};
alignas(PAGE_BYTES) static union { Watch now; char page[(sizeof(Watch) / PAGE_BYTES + 1) * PAGE_BYTES]; } watch;

static char* page_of(const void* address) { return (char*)((unsigned long long)address & ~(PAGE_BYTES - 1ull)); }

static Range stack_of(char* upper) {
    char* end = page_of(upper + PAGE_BYTES - 1);  // it begins somewhere in its last page
    return Range{end - STACK_BYTES, end};
}

// Memory that decides nothing for a thread, or is read apart: what is ours, and stacks.
static Range left_out(int number) {
    if (number < watch.now.ours_count) return watch.now.ours[number];
    number -= watch.now.ours_count;
    return number < fiber_count && fibers[number].stack ? stack_of(fibers[number].stack) : Range{nullptr, nullptr};
}

// A piece of memory without what is left out, behind what was read before. total: bytes so far.
static bool read_piece(Digest& digest, char* from, char* upto, unsigned long long& total) {
    while (from < upto) {
        char *begin = upto, *behind = upto;  // what is left out next
        for (int i = 0; i < watch.now.ours_count + fiber_count; ++i) {
            const Range out = left_out(i);
            if (out.end > from && out.begin < begin) begin = out.begin, behind = out.end;
        }
        if (begin > from) {
            total += begin - from;
            if (total > MOST_MEMORY) return false;
            read_on(digest, from, begin);
        }
        from = behind;
    }
    return true;
}

// All memory that is written to but what is left out; false where nobody knows, or there is too much.
static bool read_memory(Digest& digest) {
    Watch& now = watch.now;
    unsigned long long total = 0;
    if (now.maps < 0 || lseek(now.maps, 0, SEEK_SET) != 0) return false;
    char line[256];
    unsigned length = 0;
    bool there = false;
    for (;;) {
        const long got = read(now.maps, now.read, sizeof now.read);
        if (got < 0) return false;
        if (got == 0) return there;
        for (long i = 0; i < got; ++i) {
            if (now.read[i] != '\n') {
                if (length < sizeof line - 1) line[length++] = now.read[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            char *end, *mode;
            char* from = (char*)std::strtoull(line, &end, 16);
            char* upto = (char*)std::strtoull(end + 1, &mode, 16);
            if (mode[0] != ' ' || mode[2] != 'w' || mode[1] != 'r' || std::strstr(mode, "[stack]")) continue;
            there = true;
            if (!read_piece(digest, from, upto, total)) return false;
        }
    }
}

// A thread's stack and registers, which lie on it. Where the next event comes moves on with each: what is left of that
// in a register is taken as far from it.
static void read_stack(Digest& digest, const Fiber& fiber) {
    const unsigned long long next = (unsigned long long)seen.now.next, first = (unsigned long long)events;
    for (const char* at = (const char*)fiber.context; at < fiber.stack; at += 8) {
        unsigned long long word;
        __builtin_memcpy(&word, at, 8);
        digest.lanes[0] = mixed(digest.lanes[0], word - first <= next - first ? word - next : word);
    }
    digest.lanes[1] = mixed(digest.lanes[1], (unsigned long long)(fiber.stack - (const char*)fiber.context));
}

// All that decides how the threads of a block go on: also those that wait.
static bool read_everything(Digest& digest) {
    if (!read_memory(digest)) return false;
    for (int i = 0; i < block_threads; ++i)
        if (fibers[i].waiting || &fibers[i] == current_fiber) {
            digest.lanes[1] = mixed(digest.lanes[1], (unsigned long long)i);
            read_stack(digest, fibers[i]);
        }
    return true;
}

// Wait for what is now to come back.
static void take_moment(int site) {
    Watch& now = watch.now;
    now.site = site;
    now.thread = current_thread();
    now.place = current_fiber->context;
    now.own = NOTHING_READ;
    read_stack(now.own, *current_fiber);
    now.digests = 0;
}

static void begin_look() {
    Watch& now = watch.now;
    now.passed = 0;
    now.left = now.length;
    now.on = true;
    now.found = false;
    Digest memory = NOTHING_READ;
    const bool there = read_memory(memory);
    seen.now.is_still = there && now.known && memory == now.memory;
    now.known = there;
    now.memory = memory;
    ++seen.now.looks;
}

// Whether the look is over; then `found` says whether the thread goes round for ever.
static bool is_over(int site) {
    Watch& now = watch.now;
    if (current_block != now.block || launch_number != now.launch) return true;
    ++now.passed;
    const bool is_there = site == now.site && current_thread() == now.thread && current_fiber->context == now.place;
    if (is_there) {
        Digest own = NOTHING_READ, whole = NOTHING_READ;
        read_stack(own, *current_fiber);
        if (own == now.own) {
            if (!now.proves || !read_everything(whole)) return true;
            now.found = now.digests > 0 && whole == now.whole;
            now.period = now.passed - now.at;
            if (now.found || ++now.digests > MOST_DIGESTS) return true;
            now.whole = whole;
            now.at = now.passed;
        }
    }
    // A moment that is never to come back, as before a loop, is given up for a later one: all rounds have their turn
    if ((now.passed & (now.passed - 1)) == 0 && now.digests == 0) take_moment(site);
    return --now.left == 0;
}

static void look(int site) {
    Watch& now = watch.now;
    if (!now.on) {
        begin_look();
        take_moment(site);
        return;
    }
    if (!is_over(site)) return;
    now.on = turning.now.asked = false;
    if (now.length < LAST_LENGTH) now.length *= 4;
}

// On a stack of its own.
extern "C" __attribute__((used, noinline)) inline void simtmm_watch_main() {
    for (;;) {
        look((int)seen.now.asking);
        simtmm_switch(&watch.now.context, current_fiber->context);
    }
}

// The thread's registers go to its stack first, all of them, as behind the switch all may have changed.
static void be_looked_at(int site) {
    seen.now.asking = (unsigned)site;
    simtmm_switch(&current_fiber->context, watch.now.context);
    if (!watch.now.found) return;
    int yet = 0;  // threads of the block that come later
    for (int i = current_thread() + 1; i < block_threads; ++i) yet += starting || fibers[i].waiting;
    fail(GOES_ROUND, site, -1, yet, watch.now.period);
}

static void leave_out(const void* from, unsigned long long bytes) {
    watch.now.ours[watch.now.ours_count++] = Range{page_of(from), page_of((const char*)from + bytes + PAGE_BYTES - 1)};
}

// proves: whether memory alone decides how kernels go on. ours: what is mapped apart, and not the kernel's.
static void begin_watch(bool proves) {
    Watch& now = watch.now;
    now.proves = proves;
    now.maps = openat(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    now.stack = new_stack();
    if (!now.stack) return;
    leave_out(&seen, sizeof seen);
    leave_out(&turning, sizeof turning);
    leave_out(&handing, sizeof handing);
    leave_out(&watch, sizeof watch);
    leave_out(stack_of(now.stack).begin, STACK_BYTES);
    now.launch = -1;
    now.context = first_frame(now.stack, (void*)&simtmm_watch_main);
}

// A clock has ticked: have somebody look, where a block has run for long. Whoever comes to the next event, or the one
// behind, goes to `make_room`, whatever this interrupts: of the number of events, at most one is yet to be told.
static void tick() {
    Watch& now = watch.now;
    if (!now.context) return;
    if (seen.now.block != now.block || launch_number != now.launch) {
        now.block = seen.now.block, now.launch = launch_number;
        now.pause = now.next_pause = 1;
        now.length = FIRST_LENGTH;
        now.known = false;
        seen.now.is_still = 0;
        return;
    }
    if (turning.now.asked || --now.pause > 0) return;
    now.pause = now.next_pause;
    if (now.next_pause < LONGEST_PAUSE) now.next_pause *= 2;
    turning.now.asked = true;
    if (seen.now.next != turning.now.room_end) turning.now.room_end = seen.now.next + 1;
}

}  // namespace simtmm

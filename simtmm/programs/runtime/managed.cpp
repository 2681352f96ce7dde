// Managed memory: what of it lies on the device, and what the host takes back.
//
// A kernel that is given some has all of it brought to the device. The host takes back what it reads or writes once it
// has waited for the device. Its accesses are not stopped: signals would break calls of the system that read such
// memory. The processor notes in its page tables which pages are used; the kernel forgets that by MADV_COLD and tells it
// as `Referenced` of smaps, by mappings, of which each large piece is one. All small ones share one: what comes back of
// that may be of any of them.
#include "clock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

namespace simtmm {

static const uint64_t BLOCK = 65536;  // bytes that a fault of the host brings along
static const size_t MOST_RANGES = 256;  // as the system is asked for each of them
static const int MOST_LOOKS = 256, SELDOM = 64;  // looks in vain, after which not each one is taken

struct Range {
    uint64_t extent;   // bytes from its beginning to its end
    uint64_t bytes;    // of its pieces
    uint64_t on_host;  // of those, in whole blocks
    uint64_t returns;  // 1, and how often some came back
    uint64_t back;     // bytes of that, which have not gone to the device again
    uint64_t seen;     // bytes of pages that were in use when they were last counted
    bool is_given;     // a kernel has come to it since its pages were last marked as unused
    bool is_read_mostly, is_host_preferred, is_read_from_device;  // advice
    int last_prefetch;  // where it was sent last
};
static std::map<uint64_t, Range> &ranges() {  // by where they begin
    static auto &found = *new std::map<uint64_t, Range>;  // there to the last
    return found;
}
static uint64_t low = 0, high = 0;  // all addresses that ranges may have
static bool may_look = true, is_armed = false, is_waited_for = false;
static int looks = 0;

static uint64_t blocks(uint64_t bytes) { return (bytes + BLOCK - 1) / BLOCK * BLOCK; }
static uint64_t size_of(const Range &range) { return blocks(range.bytes); }
static uint64_t on_device(const Range &range) { return size_of(range) - range.on_host; }

static bool is_followed() { return may_look && property("managed_returns", 0); }

void managed_lies(uint64_t begin, uint64_t end) {
    low = begin;
    high = end;
    madvise((void *)low, high - low, MADV_NOHUGEPAGE);  // pages are counted
}

bool has_room_for_range() { return ranges().size() < MOST_RANGES; }

void managed_begins(uint64_t range, uint64_t extent, uint64_t bytes) {
    auto found = ranges().insert({range, {extent, 0, 0, 1, 0, 0, false, false, false, false, cudaInvalidDeviceId}}).first;
    uint64_t before = size_of(found->second);
    found->second.bytes += bytes;
    found->second.on_host += size_of(found->second) - before;
}

void managed_ends(uint64_t range, uint64_t bytes) {
    auto found = ranges().find(range);
    if (found == ranges().end()) return;
    found->second.bytes -= bytes;
    found->second.on_host = std::min(found->second.on_host, size_of(found->second));
    if (!found->second.bytes) ranges().erase(found);
}

static Range *range_of(const Piece *piece) {
    auto found = ranges().find(piece->range);
    return found == ranges().end() ? nullptr : &found->second;
}

// The bytes of pages in use, of each range that there is. Gives false where the system does not tell.
template <class See>
static bool count(See see) {
    int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char text[4096];
    size_t held = 0;
    ssize_t got = 0;
    uint64_t begin = 0;
    bool is_over = false, has_told = false;
    while (!is_over && (got = read(file, text + held, sizeof text - 1 - held)) > 0) {
        text[held += got] = 0;
        char *line = text;
        for (char *end; !is_over && (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            unsigned long from, to, kilobytes;
            if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
                begin = from;
                is_over = begin >= high;
            } else if (begin >= low && sscanf(line, "Referenced: %lu kB", &kilobytes) == 1) {
                has_told = true;
                auto found = ranges().find(begin);
                if (found != ranges().end()) see(found->second, kilobytes * 1024);
            }
        }
        held = text + held - line;
        memmove(text, line, held);
    }
    close(file);
    return has_told && got >= 0;
}

static void give_up() {
    may_look = is_armed = false;
    say("note: ", "this system does not tell which managed memory the host uses: what has come to the device stays there");
}

// The host has waited for the device: what it uses from now on it takes back.
void waited_for() { is_waited_for = true; }

void arm() {
    if (!is_waited_for) return;
    is_waited_for = false;
    bool is_there = false;
    for (auto &each : ranges()) is_there = is_there || on_device(each.second);
    if (!is_there || !is_followed()) return;
    for (auto &each : ranges()) {
        Range &range = each.second;
        if (!range.is_given) continue;
        if (madvise((void *)each.first, range.extent, MADV_COLD)) return give_up();
        range.is_given = false;
    }
    if (!count([](Range &range, uint64_t bytes) { range.seen = bytes; })) return give_up();
    is_armed = true;
    looks = 0;
}

void take_back(bool is_needed) {
    if (!is_armed) return;
    if (!is_needed && ++looks > MOST_LOOKS && looks % SELDOM) return;
    uint64_t taken = 0;
    bool has_told = count([&](Range &range, uint64_t bytes) {
        if (bytes <= range.seen) return;
        uint64_t used = std::max<uint64_t>(1, (bytes - range.seen + BLOCK / 2) / BLOCK) * BLOCK;
        range.seen = bytes;
        if (range.is_read_mostly || range.is_host_preferred) return;
        used = std::min(used, on_device(range));
        range.on_host += used;
        range.back += used;
        if (used) range.returns++;
        taken += used;
    });
    if (!has_told) return give_up();
    if (!taken) return;
    looks = 0;
    is_armed = false;  // for what follows here
    work_follows();
    if (calls.taken_back) calls.taken_back(taken);
    is_armed = true;
}

// The runtime, or a kernel, is about to use memory itself: that is not the host's use.
void disarm() {
    take_back(true);
    is_armed = false;
}

bool is_on_device(const Piece *piece) {
    Range *range = range_of(piece);
    return range && on_device(*range);
}

void give_to_kernel(Piece *piece) {
    Range *range = range_of(piece);
    if (!range) return;
    range->is_given = true;
    if (range->is_host_preferred || (range->is_read_from_device && range->on_host)) {
        calls.fetched(stream_at_work, range->is_host_preferred ? size_of(*range) : range->on_host, ACROSS);
        return;
    }
    if (piece->moved == range->returns) return;  // it is there
    bool is_first = !piece->moved, is_alone = piece->bytes == range->bytes;
    piece->moved = range->returns;
    uint64_t bytes = is_alone ? range->on_host : std::min(is_first ? range->on_host : range->back, blocks(piece->bytes));
    if (bytes) calls.fetched(stream_at_work, bytes, FAULTS);
    range->on_host -= bytes;
    range->back -= std::min(range->back, bytes);
}

void prefetch(Piece *piece, uint64_t bytes, bool is_to_device) {
    Range *range = range_of(piece);
    if (!range) return;
    range->last_prefetch = is_to_device ? 0 : cudaCpuDeviceId;
    bytes = std::min(blocks(bytes), is_to_device ? range->on_host : on_device(*range));
    if (!bytes) return;
    range->on_host += is_to_device ? -bytes : bytes;
    range->returns += !is_to_device;
    range->back = is_to_device ? range->back - std::min(range->back, bytes) : range->back + bytes;
    range->is_given = true;
    calls.fetched(stream_at_work, bytes, is_to_device ? PREFETCH : PREFETCH_BACK);
}

bool advise(Piece *piece, uint64_t bytes, cudaMemoryAdvise advice, bool is_for_host) {
    Range *range = range_of(piece);
    if (!range || bytes < range->bytes) return false;
    switch (advice) {
        case cudaMemAdviseSetReadMostly: range->is_read_mostly = true; return true;
        case cudaMemAdviseUnsetReadMostly: range->is_read_mostly = false; return true;
        case cudaMemAdviseSetPreferredLocation: range->is_host_preferred = is_for_host; return true;
        case cudaMemAdviseUnsetPreferredLocation: range->is_host_preferred = false; return true;
        case cudaMemAdviseSetAccessedBy: range->is_read_from_device |= !is_for_host; return true;
        case cudaMemAdviseUnsetAccessedBy: range->is_read_from_device &= is_for_host; return true;
    }
    return false;
}

int64_t advised(const Piece *piece, cudaMemRangeAttribute which) {
    Range *range = range_of(piece);
    switch (which) {
        case cudaMemRangeAttributeReadMostly: return range && range->is_read_mostly;
        case cudaMemRangeAttributePreferredLocation:
            return range && range->is_host_preferred ? cudaCpuDeviceId : cudaInvalidDeviceId;
        case cudaMemRangeAttributeAccessedBy: return range && range->is_read_from_device ? 0 : cudaInvalidDeviceId;
        default: return range ? range->last_prefetch : cudaInvalidDeviceId;
    }
}

}  // namespace simtmm

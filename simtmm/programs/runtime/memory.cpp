// Memory of the device, and of the host where kernels may read it.
#include "clock.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <map>

namespace simtmm {

// Below the windows of shared and local memory (simtmm/cuda/execution/layout.py). The same in each run, so that traces
// are; addresses are given twice only where all have been given once.
static const uint64_t DEVICE_LOW = 1ull << 32, REGION = 1ull << 38;
static const uint64_t HOST_LOW = DEVICE_LOW + REGION;
static const uint64_t ALIGN = 256;

// Managed memory has the second half of the host's region: each large piece between pages that nobody can use, so that it
// is a mapping of its own, and all small ones, with those beyond so many, in one.
static const uint64_t PAGE = 4096, LARGE = 65536;
static const uint64_t LARGE_LOW = HOST_LOW + REGION / 2, SMALL_LOW = HOST_LOW + REGION / 4 * 3 + PAGE;
struct Pool {
    uint64_t low, limit, unit, end;
    // What a piece takes, and a gap: the pointer to an array's end is its own.
    uint64_t taken(uint64_t bytes) const { return unit == ALIGN ? (bytes / ALIGN + 1) * ALIGN : ((bytes + unit - 1) / unit + 1) * unit; }
};
static Pool device_pool = {DEVICE_LOW, DEVICE_LOW + REGION, ALIGN, DEVICE_LOW};
static Pool host_pool = {HOST_LOW, LARGE_LOW, ALIGN, HOST_LOW};
static Pool large_pool = {LARGE_LOW, SMALL_LOW - PAGE, PAGE, LARGE_LOW};
static Pool small_pool = {SMALL_LOW, HOST_LOW + REGION, ALIGN, SMALL_LOW};
static Pool &pool_of(Kind kind, uint64_t bytes) {
    if (kind == DEVICE || kind == REGISTERED) return device_pool;
    return kind != MANAGED ? host_pool : bytes >= LARGE && has_room_for_range() ? large_pool : small_pool;
}

static uint64_t device_bytes = 0, serial = 0, held = 0, version = 1;
static std::map<uint64_t, Piece> &pieces() {
    static auto &found = *new std::map<uint64_t, Piece>;  // there to the last
    return found;
}

static bool ready() {
    static int state = 0;
    if (!state) {
        void *region = mmap((void *)DEVICE_LOW, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                            MAP_FIXED_NOREPLACE, -1, 0);
        void *host = mmap((void *)HOST_LOW, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
                          MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        void *bytes = mmap(nullptr, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        state = region == (void *)DEVICE_LOW && host == (void *)HOST_LOW && bytes != MAP_FAILED ? 1 : -1;
        device_bytes = (uint64_t)bytes;
        if (state > 0 && mprotect((void *)LARGE_LOW, SMALL_LOW - LARGE_LOW, PROT_NONE)) state = -1;
        if (state > 0) managed_lies(LARGE_LOW, HOST_LOW + REGION);
        if (state < 0) say("error: ", "this computer has no address space for a device's memory");
    }
    return state > 0;
}

// What was freed, the latest last; its place is the line that did.
static const size_t MOST_FREED = 1 << 12;
static std::deque<Piece> &freed() {
    static auto &found = *new std::deque<Piece>;
    return found;
}

bool is_device_region(const void *pointer) {
    return (uint64_t)pointer >= DEVICE_LOW && (uint64_t)pointer < DEVICE_LOW + REGION;
}

// What nobody has written holds this, so that what the host writes is seen (simtmm/cuda/checks/checker.py).
static void fill_unwritten(uint8_t *to, uint64_t bytes) {
    for (uint64_t n = 0; n < bytes; n++) to[n] = uint8_t(uint32_t(n) * 2654435761u >> 13) ^ 0xA5;
}

// The first room of so many bytes that was freed; 0 where there is none.
static uint64_t gap(const Pool &pool, uint64_t bytes) {
    uint64_t low = pool.low;
    for (auto each = pieces().lower_bound(low); each != pieces().end() && each->first < pool.limit; ++each) {
        if (each->first - low >= bytes) return low;
        low = each->first + pool.taken(each->second.bytes);
    }
    return pool.limit - low >= bytes ? low : 0;
}

Piece *allocate(Kind kind, uint64_t bytes, const std::string &name, uint64_t register_at) {
    if (!ready()) return nullptr;
    Pool &pool = pool_of(kind, bytes);
    uint64_t most = property("memory");
    if (bytes > most || held + bytes > most) return nullptr;
    uint64_t taken = pool.taken(bytes);
    uint64_t address = taken <= pool.limit - pool.end ? pool.end : gap(pool, taken), host = address;
    if (!address) return nullptr;
    if (&pool == &large_pool && mprotect((void *)address, taken - PAGE, PROT_READ | PROT_WRITE)) return nullptr;
    if (address == pool.end) pool.end += taken;
    if (kind == DEVICE) host = device_bytes + (address - DEVICE_LOW);
    if (kind == REGISTERED) host = register_at;
    if (kind != REGISTERED) held += bytes;
    version++;
    if ((kind == DEVICE || kind == MANAGED) && property("fill_unwritten", 0)) fill_unwritten((uint8_t *)host, bytes);
    bool is_alone = &pool == &large_pool;
    uint64_t range = is_alone ? address : SMALL_LOW;
    if (kind == MANAGED) managed_begins(range, is_alone ? taken - PAGE : small_pool.limit - SMALL_LOW, bytes);
    Piece piece = {address, bytes, host, kind, 0, serial++, name, site_place, kind != DEVICE, range, 0, 0, false, 1};
    return &(pieces()[address] = piece);
}

Piece *find(const void *pointer) {
    auto &all = pieces();
    auto above = all.upper_bound((uint64_t)pointer);
    if (above == all.begin()) return nullptr;
    Piece &piece = std::prev(above)->second;
    return (uint64_t)pointer < piece.address + std::max<uint64_t>(1, piece.bytes) ? &piece : nullptr;
}

bool release(const void *pointer, int kind, const char *function) {
    auto found = pieces().find((uint64_t)pointer);
    if (found == pieces().end() || (kind >= 0 && found->second.kind != kind)) {
        Piece *inside = find(pointer);
        std::string what = inside ? inside->name + ", which is not what that function frees, or not its beginning"
                                  : is_device_region(pointer) ? "memory that was freed before" : "no memory of CUDA's";
        failed(cudaErrorInvalidValue, here(function) + " is given a pointer to " + what);
        return false;
    }
    Piece piece = found->second;
    if (piece.kind != REGISTERED) {
        held -= piece.bytes;
        uint64_t page = sysconf(_SC_PAGESIZE), low = (piece.host + page - 1) / page * page;
        uint64_t high = (piece.host + piece.bytes) / page * page;
        if (high > low) madvise((void *)low, high - low, MADV_DONTNEED);
        if (piece.kind == MANAGED) managed_ends(piece.range, piece.bytes);
        if (piece.kind == MANAGED && piece.range == piece.address && piece.range != SMALL_LOW)
            mprotect((void *)piece.address, large_pool.taken(piece.bytes), PROT_NONE);
    }
    pieces().erase(found);
    piece.place = piece.flags ? "" : site_place;
    freed().push_back(piece);
    if (freed().size() > MOST_FREED) freed().pop_front();
    version++;
    return true;
}

void written(Piece *piece) {
    piece->touched = true;
    piece->is_hashed = false;
}

// Bytes as a number: four chains of multiplications, each of which takes every bit of a word to every bit of the number.
static uint64_t mixed(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9E3779B97F4A7C15ull) * (b ^ 0xD1B54A32D192ED03ull);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const Piece &piece) {
    const char *bytes = (const char *)piece.host;
    uint64_t chains[4] = {1, 2, 3, 4}, words[8], at = 0;
    for (; at + 64 <= piece.bytes; at += 64) {
        memcpy(words, bytes + at, 64);
        for (int n = 0; n < 4; n++) chains[n] = mixed(words[2 * n] ^ chains[n], words[2 * n + 1] + 0x2545F4914F6CDD1Dull * n);
    }
    uint64_t rest[8] = {};
    memcpy(rest, bytes + at, piece.bytes - at);
    for (int n = 0; n < 4; n++) chains[n] = mixed(rest[2 * n] ^ chains[n], rest[2 * n + 1] ^ piece.bytes);
    return mixed(mixed(chains[0], chains[1]), mixed(chains[2], chains[3]));
}

void all_touched() {
    for (auto &each : pieces()) each.second.touched = true;
}

static std::string description(const Piece &piece) {
    return piece.name + ", which has " + counted(piece.bytes) + " bytes" +
           (piece.place.empty() ? "" : " (" + piece.place + ")");
}

void *bytes_at(const void *pointer, uint64_t bytes, Role role, const char *what) {
    Piece *piece = find(pointer);
    if (!piece) {
        if (is_device_region(pointer)) {
            failed(cudaErrorInvalidValue, here(what) + ": the pointer is not in device memory: was it freed?");
            return nullptr;
        }
        if (role == ON_DEVICE || (!pointer && bytes)) {
            failed(cudaErrorInvalidValue,
                   here(what) + (pointer ? ": has a host pointer where a device pointer is required"
                                         : ": has a null pointer where memory is required"));
            return nullptr;
        }
        return (void *)pointer;
    }
    if (role == ON_HOST && piece->kind == DEVICE) {
        failed(cudaErrorInvalidValue, here(what) + ": has a device pointer (" + piece->name +
                                          ") where a host pointer is required");
        return nullptr;
    }
    uint64_t offset = (uint64_t)pointer - piece->address;
    if (offset + bytes > piece->bytes) {
        failed(cudaErrorInvalidValue, here(what) + ": " + counted(bytes) + " bytes" +
                                          (offset ? " from byte " + counted(offset) + " on" : "") + " are not in " +
                                          description(*piece));
        return nullptr;
    }
    return (void *)(piece->host + offset);
}

void leaks() {
    uint64_t count = 0, bytes = 0;
    std::string names;
    for (auto &each : pieces()) {
        const Piece &piece = each.second;
        if (piece.flags || piece.kind == REGISTERED) continue;
        if (++count <= 3)
            names += (names.empty() ? "" : ", ") + piece.name + (piece.place.empty() ? "" : " (" + piece.place + ")");
        bytes += piece.bytes;
    }
    if (count)
        say("note: ", "memory that was never freed: " + counted(bytes) + " bytes: " + names +
                          (count > 3 ? ", and " + counted(count - 3) + " more" : ""));
}

static cudaError_t given(void **pointer, Kind kind, uint64_t bytes, const char *function, const char *plain) {
    RETURN_IF(!pointer, cudaErrorInvalidValue, here(function) + ": the pointer's own address is null");
    if (!bytes) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    std::string name = first_argument();
    spend(kind == PINNED ? "ps allocate_pinned" : "ps allocate");
    if (kind == PINNED) spend("ps pinned_byte", bytes);
    Piece *piece = allocate(kind, bytes, name.empty() ? plain : name);
    RETURN_IF(!piece, cudaErrorMemoryAllocation, "");
    *pointer = (void *)piece->address;
    calls.allocated(kind == PINNED, bytes);
    return cudaSuccess;
}

}  // namespace simtmm

using namespace simtmm;

API cudaMalloc(void **pointer, size_t bytes) {
    BEGIN
    return given(pointer, DEVICE, bytes, "cudaMalloc", "memory");
}

API cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    BEGIN
    RETURN_IF(!bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost), cudaErrorInvalidValue, "");
    return given(pointer, MANAGED, bytes, "cudaMallocManaged", "managed");
}

API cudaMallocHost(void **pointer, size_t bytes) {
    BEGIN
    return given(pointer, PINNED, bytes, "cudaMallocHost", "pinned");
}

API cudaHostAlloc(void **pointer, size_t bytes, unsigned) {
    BEGIN
    return given(pointer, PINNED, bytes, "cudaHostAlloc", "pinned");
}

API cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    BEGIN
    RETURN_IF(!pitch, cudaErrorInvalidValue, "");
    *pitch = (width + 511) / 512 * 512;
    return given(pointer, DEVICE, *pitch * height, "cudaMallocPitch", "pitched");
}

API cudaMalloc3D(cudaPitchedPtr *pitched, cudaExtent extent) {
    BEGIN
    RETURN_IF(!pitched, cudaErrorInvalidValue, "");
    pitched->pitch = (extent.width + 511) / 512 * 512;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return given(&pitched->ptr, DEVICE, pitched->pitch * extent.height * extent.depth, "cudaMalloc3D", "pitched");
}

API cudaFree(void *pointer) {
    BEGIN
    if (!pointer) return cudaSuccess;
    Piece *piece = find(pointer);
    if (piece && piece->kind == PINNED)
        return failed(cudaErrorInvalidValue, here("cudaFree") + ": " + piece->name + " is the host's: cudaFreeHost frees it");
    work_follows();
    calls.wait(-1, -1);
    spend("ps free");
    calls.allocated(2, 0);
    return release(pointer, -1, "cudaFree") ? learned() : cudaErrorInvalidValue;
}

API cudaFreeHost(void *pointer) {
    BEGIN
    if (!pointer) return cudaSuccess;
    calls.allocated(3, 0);
    return release(pointer, PINNED, "cudaFreeHost") ? cudaSuccess : cudaErrorInvalidValue;
}

API cudaHostRegister(void *pointer, size_t bytes, unsigned) {
    BEGIN
    std::string name = first_argument();
    RETURN_IF(!pointer || !bytes, cudaErrorInvalidValue, "");
    for (auto &each : pieces())
        RETURN_IF(each.second.kind == REGISTERED && each.second.host == (uint64_t)pointer,
                  cudaErrorHostMemoryAlreadyRegistered, "");
    return allocate(REGISTERED, bytes, name.empty() ? "registered" : name, (uint64_t)pointer)
               ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

static Piece *registered(const void *pointer) {
    for (auto &each : pieces()) {
        Piece &piece = each.second;
        if (piece.kind == REGISTERED && (uint64_t)pointer >= piece.host && (uint64_t)pointer < piece.host + piece.bytes)
            return &piece;
    }
    return nullptr;
}

namespace simtmm {
bool is_locked(const void *pointer) {
    Piece *piece = find(pointer);
    return piece ? piece->kind != DEVICE : registered(pointer) != nullptr;
}
}  // namespace simtmm

API cudaHostUnregister(void *pointer) {
    BEGIN
    Piece *piece = registered(pointer);
    RETURN_IF(!piece, cudaErrorHostMemoryNotRegistered, "");
    return release((void *)piece->address, REGISTERED, "cudaHostUnregister") ? cudaSuccess : cudaErrorInvalidValue;
}

API cudaHostGetDevicePointer(void **found, void *pointer, unsigned) {
    BEGIN
    Piece *piece = find(pointer), *own = piece ? nullptr : registered(pointer);
    RETURN_IF(!piece && !own, cudaErrorInvalidValue, "");
    *found = own ? (void *)(own->address + ((uint64_t)pointer - own->host)) : pointer;
    return cudaSuccess;
}

API cudaHostGetFlags(unsigned *flags, void *) {
    BEGIN
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}

API cudaMemGetInfo(size_t *available, size_t *total) {
    BEGIN
    uint64_t all = property("memory");
    if (available) *available = all - held;
    if (total) *total = all;
    return cudaSuccess;
}

API cudaPointerGetAttributes(cudaPointerAttributes *found, const void *pointer) {
    BEGIN
    memset(found, 0, sizeof *found);
    Piece *piece = find(pointer), *own = piece ? nullptr : registered(pointer);
    found->device = piece || own ? 0 : -2;
    found->hostPointer = piece && piece->kind == DEVICE ? nullptr : (void *)pointer;
    if (own) {
        found->type = cudaMemoryTypeHost;
        found->devicePointer = (void *)(own->address + ((uint64_t)pointer - own->host));
    } else if (piece) {
        found->type = piece->kind == DEVICE    ? cudaMemoryTypeDevice
                      : piece->kind == MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        found->devicePointer = (void *)pointer;
    }
    return cudaSuccess;
}

// For Python: a piece of memory as kernels meet it.
struct Row {
    uint64_t address, bytes, host, serial, element, kind;
    const char *name;
};

extern "C" __attribute__((visibility("default"))) uint64_t simtmm_version() { return version; }

extern "C" __attribute__((visibility("default"))) int simtmm_rows(Row *rows, int most) {
    int count = 0;
    for (auto &each : pieces()) {
        const Piece &piece = each.second;
        if (count < most)
            rows[count] = {piece.address, piece.bytes, piece.host, piece.serial, piece.element,
                           (uint64_t)piece.kind, piece.name.c_str()};
        count++;
    }
    return count;
}

// The latest piece that was freed and had an address: what it is called, and by which line it was freed; null for none.
extern "C" __attribute__((visibility("default"))) const char *simtmm_freed(uint64_t address, uint64_t *base,
                                                                           uint64_t *bytes) {
    static std::string text;
    for (auto each = freed().rbegin(); each != freed().rend(); ++each)
        if (each->address <= address && address < each->address + each->bytes) {
            *base = each->address;
            *bytes = each->bytes;
            text = each->name + (each->place.empty() ? " (freed)" : " (freed at " + each->place + ")");
            return text.c_str();
        }
    return nullptr;
}

// Memory that Python asks for: a module's variables, and what device code allocates. flags: 1: never freed.
extern "C" __attribute__((visibility("default"))) uint64_t simtmm_allocate(int kind, uint64_t bytes, const char *name,
                                                                           uint64_t *host) {
    Call call;
    Piece *piece = allocate((Kind)kind, bytes, name);
    if (!piece) return 0;
    piece->flags = 1;
    piece->touched = true;
    *host = piece->host;
    return piece->address;
}

// What the bytes of a piece are, as a number. Where host code may write they are looked at each time, elsewhere where
// something was written.
extern "C" __attribute__((visibility("default"))) uint64_t simtmm_hash(uint64_t address) {
    Call call;
    auto found = pieces().find(address);
    if (found == pieces().end()) return 0;
    Piece &piece = found->second;
    if (!piece.is_hashed || piece.kind != DEVICE) piece.hash = hash_of(piece);
    piece.is_hashed = true;
    return piece.hash;
}

// The bytes of a piece have become others, whose number is known.
extern "C" __attribute__((visibility("default"))) void simtmm_became(uint64_t address, uint64_t hash) {
    auto found = pieces().find(address);
    if (found == pieces().end()) return;
    written(&found->second);
    found->second.hash = hash;
    found->second.is_hashed = true;
}

extern "C" __attribute__((visibility("default"))) void simtmm_written(uint64_t address) {
    auto found = pieces().find(address);
    if (found != pieces().end()) written(&found->second);
}

// A kernel has run, and may have written anywhere.
extern "C" __attribute__((visibility("default"))) void simtmm_all_written() {
    for (auto &each : pieces()) written(&each.second);
}

extern "C" __attribute__((visibility("default"))) void simtmm_release(uint64_t address) {
    Call call;
    release((void *)address, -1, "free");
}

extern "C" __attribute__((visibility("default"))) const char *simtmm_name_at(uint64_t address) {
    Piece *piece = find((void *)address);
    return piece ? piece->name.c_str() : nullptr;
}

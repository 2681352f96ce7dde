// Copies and fills, in one, two and three dimensions, and of symbols.
#include "clock.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace simtmm {

static Role role_of(cudaMemcpyKind kind, bool is_target) {
    switch (kind) {
        case cudaMemcpyHostToDevice: return is_target ? ON_DEVICE : ON_HOST;
        case cudaMemcpyDeviceToHost: return is_target ? ON_HOST : ON_DEVICE;
        case cudaMemcpyDeviceToDevice: return ON_DEVICE;
        case cudaMemcpyHostToHost: return ON_HOST;
        default: return ANY;
    }
}

// Rows of a copy, as they lie on both sides.
struct Rows {
    char *to;
    const char *from;
};

// The runtime is about to read or write there.
static void use(const void *pointer) {
    Piece *piece = find(pointer);
    if (piece && piece->kind == MANAGED) disarm();
}

static cudaError_t sides(Rows *rows, void *to, uint64_t to_bytes, const void *from, uint64_t from_bytes,
                         cudaMemcpyKind kind, const char *function) {
    if ((unsigned)kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    std::string place = site_place;
    use(to);
    use(from);
    rows->to = (char *)bytes_at(to, to_bytes, role_of(kind, true), function);
    if (!rows->to) return cudaErrorInvalidValue;
    rows->from = (const char *)bytes_at(from, from_bytes, role_of(kind, false), function);
    if (!rows->from) return cudaErrorInvalidValue;
    Piece *source = find(from);
    if (source && !source->touched) {
        source->touched = true;  // one note is enough
        say("warning: ", here(function) + " reads " + source->name + ", to which nothing has been written");
    }
    if (Piece *target = find(to)) written(target);
    return cudaSuccess;
}

static bool is_of_device(const void *pointer) {
    Piece *piece = find(pointer);
    return piece && (piece->kind == DEVICE || piece->kind == MANAGED);
}

// The clock: a copy was made. One whose function has no Async in its name is waited for.
// is_whole: whether its bytes lie one after another on both sides, so that where they begin says which they are.
static cudaError_t timed(bool is_to_device, bool is_from_device, const void *to, const void *from, uint64_t bytes,
                         bool is_whole, const char *function) {
    const void *of_host = is_to_device ? from : to, *of_device = is_to_device ? to : from;
    bool is_awaited = !strstr(function, "Async") && !strstr(function, "graph");
    if (is_to_device || is_from_device) {
        Way way = !is_from_device ? TO_DEVICE : !is_to_device ? FROM_DEVICE : WITHIN;
        work_follows();
        bool is_placed = is_whole && way != WITHIN;
        Piece *piece = is_placed ? find(of_device) : nullptr;  // managed memory the host writes to without a call
        calls.copied(stream_at_work, way, bytes, way != WITHIN && is_locked(of_host), is_awaited,
                     is_placed ? (uint64_t)of_host : 0, piece && piece->kind == DEVICE ? (uint64_t)of_device : 0);
    }
    return is_awaited ? learned() : cudaSuccess;
}

static cudaError_t timed(const void *to, const void *from, uint64_t bytes, bool is_whole, const char *function) {
    return timed(is_of_device(to), is_of_device(from), to, from, bytes, is_whole, function);
}

cudaError_t copy(void *to, const void *from, uint64_t bytes, cudaMemcpyKind kind, const char *function) {
    if (!bytes) return cudaSuccess;
    Rows rows;
    cudaError_t error = sides(&rows, to, bytes, from, bytes, kind, function);
    if (error) return error;
    memmove(rows.to, rows.from, bytes);
    return timed(to, from, bytes, true, function);
}

static cudaError_t copy_2d(void *to, uint64_t to_pitch, const void *from, uint64_t from_pitch, uint64_t width,
                           uint64_t height, cudaMemcpyKind kind, const char *function) {
    if (!width || !height) return cudaSuccess;
    if (width > to_pitch || width > from_pitch)
        return failed(cudaErrorInvalidPitchValue,
                      here(function) + ": a width of " + counted(width) + " bytes is more than a pitch, " +
                          counted(to_pitch) + " and " + counted(from_pitch));
    Rows rows;
    cudaError_t error = sides(&rows, to, (height - 1) * to_pitch + width, from, (height - 1) * from_pitch + width,
                              kind, function);
    if (error) return error;
    for (uint64_t row = 0; row < height; row++) memmove(rows.to + row * to_pitch, rows.from + row * from_pitch, width);
    return timed(to, from, width * height, height == 1 || (width == to_pitch && width == from_pitch), function);
}

// Whole pages become those of nothing but zeros, which take no memory.
static void clear(char *bytes, uint64_t count) {
    uint64_t page = sysconf(_SC_PAGESIZE), low = ((uint64_t)bytes + page - 1) / page * page;
    uint64_t high = ((uint64_t)bytes + count) / page * page;
    if (high < low + 16 * page) {
        memset(bytes, 0, count);
        return;
    }
    memset(bytes, 0, low - (uint64_t)bytes);
    memset((void *)high, 0, (uint64_t)bytes + count - high);
    if (madvise((void *)low, high - low, MADV_DONTNEED)) memset((void *)low, 0, high - low);
}

static cudaError_t fill_2d(void *to, uint64_t pitch, int value, uint64_t width, uint64_t height, const char *function) {
    if (!width || !height) return cudaSuccess;
    if (height > 1 && width > pitch) return failed(cudaErrorInvalidPitchValue);
    use(to);
    char *bytes = (char *)bytes_at(to, (height - 1) * pitch + width, ON_DEVICE, function);
    if (!bytes) return cudaErrorInvalidValue;
    if (Piece *target = find(to)) written(target);
    if (!value && (height == 1 || width == pitch)) clear(bytes, width * height);
    else
        for (uint64_t row = 0; row < height; row++) memset(bytes + row * pitch, value, width);
    work_follows();
    calls.filled(stream_at_work, width * height);
    return cudaSuccess;
}

static cudaError_t copy_3d(const cudaMemcpy3DParms *p, const char *function) {
    if (!p) return failed(cudaErrorInvalidValue);
    ArraySide to = {}, from = {};
    if (p->dstArray ? !array_side(p->dstArray, &to) : !p->dstPtr.ptr) return failed(cudaErrorInvalidValue);
    if (p->srcArray ? !array_side(p->srcArray, &from) : !p->srcPtr.ptr) return failed(cudaErrorInvalidValue);
    uint64_t element = to.element ? to.element : from.element ? from.element : 1;
    uint64_t width = p->extent.width * element, height = p->extent.height, depth = p->extent.depth;
    if (!width || !height || !depth) return cudaSuccess;
    use(p->dstPtr.ptr);
    use(p->srcPtr.ptr);
    for (int side = 0; side < 2; side++) {
        if (side ? !!p->srcArray : !!p->dstArray) continue;
        const cudaPitchedPtr &of = side ? p->srcPtr : p->dstPtr;
        const cudaPos &at = side ? p->srcPos : p->dstPos;
        ArraySide &found = side ? from : to;
        found.pitch = of.pitch;
        found.height = of.ysize;
        if (at.x + width > of.pitch)
            return failed(cudaErrorInvalidPitchValue, here("cudaMemcpy3D") + ": rows are longer than the pitch");
        uint64_t last = ((at.z + depth - 1) * of.ysize + at.y + height - 1) * of.pitch + at.x + width;
        found.bytes = (char *)bytes_at(of.ptr, last, role_of(p->kind, side == 0), "cudaMemcpy3D");
        if (!found.bytes) return cudaErrorInvalidValue;
        if (side == 0)
            if (Piece *target = find(of.ptr)) written(target);
    }
    uint64_t to_x = p->dstPos.x * (p->dstArray ? element : 1), from_x = p->srcPos.x * (p->srcArray ? element : 1);
    for (const ArraySide *side : {&to, &from}) {
        const cudaPos &at = side == &to ? p->dstPos : p->srcPos;
        uint64_t x = side == &to ? to_x : from_x;
        if (side->element && (x + width > side->pitch || at.y + height > side->height))
            return failed(cudaErrorInvalidValue, here("cudaMemcpy3D") + ": beyond the array's end");
    }
    for (uint64_t z = 0; z < depth; z++)
        for (uint64_t y = 0; y < height; y++)
            memmove(to.bytes + ((p->dstPos.z + z) * to.height + p->dstPos.y + y) * to.pitch + to_x,
                    from.bytes + ((p->srcPos.z + z) * from.height + p->srcPos.y + y) * from.pitch + from_x, width);
    bool is_to_device = p->dstArray || is_of_device(p->dstPtr.ptr), is_from_device = p->srcArray || is_of_device(p->srcPtr.ptr);
    return timed(is_to_device, is_from_device, p->dstPtr.ptr, p->srcPtr.ptr, width * height * depth, false, function);
}

}  // namespace simtmm

using namespace simtmm;

// What is done on a stream; messages name its line once it is done.
#define LATER(type, body)                                                                     \
    BEGIN                                                                                     \
    std::string place = site_place;                                                           \
    return enqueue(stream, [=]() -> cudaError_t { site_place = place; return body; }, type);

API cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    BEGIN
    return copy(to, from, bytes, kind, "cudaMemcpy");
}
API cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemcpy, copy(to, from, bytes, kind, "cudaMemcpyAsync"))
}
API cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes) {
    BEGIN
    return copy(to, from, bytes, cudaMemcpyDeviceToDevice, "cudaMemcpyPeer");
}
API cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemcpy, copy(to, from, bytes, cudaMemcpyDeviceToDevice, "cudaMemcpyPeerAsync"))
}
API cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                 cudaMemcpyKind kind) {
    BEGIN
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, "cudaMemcpy2D");
}
API cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      cudaMemcpyKind kind, cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemcpy, copy_2d(to, to_pitch, from, from_pitch, width, height, kind, "cudaMemcpy2DAsync"))
}
API cudaMemcpy3D(const cudaMemcpy3DParms *p) {
    BEGIN
    return copy_3d(p, "cudaMemcpy3D");
}
API cudaMemcpy3DAsync(const cudaMemcpy3DParms *given, cudaStream_t stream) {
    if (!given) return cudaErrorInvalidValue;
    cudaMemcpy3DParms p = *given;
    LATER(cudaGraphNodeTypeMemcpy, copy_3d(&p, "cudaMemcpy3DAsync"))
}
API cudaMemset(void *to, int value, size_t bytes) {
    BEGIN
    return fill_2d(to, bytes, value, bytes, 1, "cudaMemset");
}
API cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemset, fill_2d(to, bytes, value, bytes, 1, "cudaMemsetAsync"))
}
API cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    BEGIN
    return fill_2d(to, pitch, value, width, height, "cudaMemset2D");
}
API cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemset, fill_2d(to, pitch, value, width, height, "cudaMemset2DAsync"))
}

static cudaError_t fill_3d(cudaPitchedPtr to, int value, cudaExtent extent) {
    for (size_t z = 0; z < extent.depth; z++) {
        cudaError_t error = fill_2d((char *)to.ptr + z * to.ysize * to.pitch, to.pitch, value, extent.width,
                                    extent.height, "cudaMemset3D");
        if (error) return error;
    }
    return cudaSuccess;
}
API cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    BEGIN
    return fill_3d(to, value, extent);
}
API cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemset, fill_3d(to, value, extent))
}

static cudaError_t with_symbol(const void *symbol, uint64_t offset, uint64_t bytes, void *to, const void *from,
                               cudaMemcpyKind kind, const char *function) {
    uint64_t address, size;
    cudaError_t error = symbol_of(symbol, &address, &size);
    if (error) return failed(error);
    if (offset + bytes > size)
        return failed(cudaErrorInvalidValue, here(function) + ": " + counted(bytes) + " bytes" +
                                                 (offset ? " from byte " + counted(offset) + " on" : "") +
                                                 ": the symbol has " + counted(size));
    void *place = (void *)(address + offset);
    return copy(to ? to : place, to ? place : from, bytes, kind, function);
}
API cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    BEGIN
    return with_symbol(symbol, offset, bytes, nullptr, from, kind, "cudaMemcpyToSymbol");
}
API cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    BEGIN
    return with_symbol(symbol, offset, bytes, to, nullptr, kind, "cudaMemcpyFromSymbol");
}
API cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemcpy, with_symbol(symbol, offset, bytes, nullptr, from, kind, "cudaMemcpyToSymbolAsync"))
}
API cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    LATER(cudaGraphNodeTypeMemcpy, with_symbol(symbol, offset, bytes, to, nullptr, kind, "cudaMemcpyFromSymbolAsync"))
}
API cudaGetSymbolAddress(void **found, const void *symbol) {
    BEGIN
    uint64_t address, bytes;
    cudaError_t error = symbol_of(symbol, &address, &bytes);
    if (!error) *found = (void *)address;
    return failed(error);
}
API cudaGetSymbolSize(size_t *found, const void *symbol) {
    BEGIN
    uint64_t address, bytes;
    cudaError_t error = symbol_of(symbol, &address, &bytes);
    if (!error) *found = bytes;
    return failed(error);
}

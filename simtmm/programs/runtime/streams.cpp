// Streams, events and functions of the host. All work is done when it is given, in the order of the program; a stream
// that is being captured keeps it in a graph (graphs.cpp).
#include "clock.h"
#include "graphs.h"

#include <cmath>

namespace simtmm {

uint64_t stream_at_work = 0;

static bool is_handle(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

std::set<CUstream_st *> &streams() {
    static auto &found = *new std::set<CUstream_st *>;  // there to the last
    return found;
}

CUgraph_st *captured_by(cudaStream_t stream) { return is_handle(stream) ? nullptr : stream->capture; }
uint64_t number_of(cudaStream_t stream) { return is_handle(stream) ? 0 : stream->id; }
bool is_capturing(cudaStream_t stream) { return captured_by(stream) != nullptr; }

cudaError_t enqueue(cudaStream_t stream, const Work &work, cudaGraphNodeType type) {
    if (CUgraph_st *graph = captured_by(stream)) {
        graph->add(work, type);
        return cudaSuccess;
    }
    uint64_t before = stream_at_work;
    stream_at_work = number_of(stream);
    cudaError_t error = work();
    stream_at_work = before;
    return error;
}

}  // namespace simtmm

using namespace simtmm;

static uint64_t ids = 1;

// Whether what is asked breaks a capture, which comes to nothing then.
static bool invalidated(cudaStream_t stream) {
    if (!is_capturing(stream)) return false;
    captured_by(stream)->is_invalid = true;
    return true;
}

API cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    BEGIN
    RETURN_IF(!stream, cudaErrorInvalidValue, "");
    *stream = new CUstream_st{flags, priority, ++ids, nullptr};
    streams().insert(*stream);
    return cudaSuccess;
}
API cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
API cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
API cudaStreamDestroy(cudaStream_t stream) {
    BEGIN
    RETURN_IF(is_handle(stream), cudaErrorInvalidResourceHandle, "");
    RETURN_IF(!streams().erase(stream), cudaErrorInvalidResourceHandle, here("cudaStreamDestroy") + ": there is no such stream");
    delete stream;
    return cudaSuccess;
}
API cudaStreamSynchronize(cudaStream_t stream) {
    BEGIN
    RETURN_IF(invalidated(stream), cudaErrorStreamCaptureUnsupported, "");
    work_follows();
    calls.wait_for_stream(number_of(stream));
    return learned();
}
API cudaStreamQuery(cudaStream_t stream) {
    BEGIN
    RETURN_IF(invalidated(stream), cudaErrorStreamCaptureUnsupported, "");
    work_follows();
    return calls.query(-1, number_of(stream)) ? learned() : cudaErrorNotReady;
}
API cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    BEGIN
    *flags = is_handle(stream) ? 0 : stream->flags;
    return cudaSuccess;
}
API cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    BEGIN
    *priority = is_handle(stream) ? 0 : stream->priority;
    return cudaSuccess;
}
API cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    BEGIN
    *id = is_handle(stream) ? 0 : stream->id;
    return cudaSuccess;
}
API cudaStreamGetDevice(cudaStream_t, int *device) {
    BEGIN
    *device = 0;
    return cudaSuccess;
}
API cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned) {
    BEGIN
    return without_effect("cudaStreamAttachMemAsync");
}
API cudaStreamCopyAttributes(cudaStream_t, cudaStream_t) { BEGIN return without_effect("cudaStreamCopyAttributes"); }
API cudaStreamSetAttribute(cudaStream_t, cudaLaunchAttributeID, const cudaLaunchAttributeValue *) {
    BEGIN
    return without_effect("cudaStreamSetAttribute");
}
API cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidResourceHandle, "");
    if (event->capture && !is_handle(stream) && !stream->capture) stream->capture = event->capture;
    else if (event->recorded) {
        work_follows();
        calls.wait(event->mark, (int64_t)number_of(stream));
    }
    return cudaSuccess;
}
API cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned) {
    BEGIN
    return enqueue(stream, [=] { function(stream, cudaSuccess, data); return cudaSuccess; }, cudaGraphNodeTypeHost);
}
API cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    BEGIN
    return enqueue(stream, [=] { function(data); return cudaSuccess; }, cudaGraphNodeTypeHost);
}
API cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    BEGIN
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}

API cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidValue, "");
    *event = new CUevent_st{flags, false, -1, nullptr};
    if (!(flags & cudaEventDisableTiming)) {
        clock_begins();
        calls.mark(0);
    }
    return cudaSuccess;
}
API cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
API cudaEventDestroy(cudaEvent_t event) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidResourceHandle, "");
    delete event;
    return cudaSuccess;
}
API cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidResourceHandle, "");
    event->capture = captured_by(stream);
    return enqueue(stream, [=] {
        event->recorded = true;
        work_follows();
        event->mark = calls.mark(stream_at_work);
        return cudaSuccess;
    }, cudaGraphNodeTypeEventRecord);
}
API cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) { return cudaEventRecord(event, stream); }
API cudaEventSynchronize(cudaEvent_t event) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidResourceHandle, "");
    work_follows();
    if (event->recorded) calls.wait(event->mark, -1);
    return learned();
}
API cudaEventQuery(cudaEvent_t event) {
    BEGIN
    RETURN_IF(!event, cudaErrorInvalidResourceHandle, "");
    work_follows();
    return !event->recorded || calls.query(event->mark, 0) ? learned() : cudaErrorNotReady;
}
API cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    BEGIN
    RETURN_IF(!milliseconds, cudaErrorInvalidValue, "");
    RETURN_IF(!begin || !end || !begin->recorded || !end->recorded || (begin->flags | end->flags) & cudaEventDisableTiming,
              cudaErrorInvalidResourceHandle, here("cudaEventElapsedTime") + ": an event was never recorded, or keeps no time");
    double seconds = 0;
    int error = calls.elapsed(begin->mark, end->mark, &seconds);
    *milliseconds = (float)(1e3 * seconds);
    return failed((cudaError_t)error);
}

API cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    BEGIN
    (void)stream;  // of one that is being captured, too, it is there at once, and as long as the program runs
    return cudaMalloc(pointer, bytes);
}
API cudaFreeAsync(void *pointer, cudaStream_t stream) {
    BEGIN
    if (is_capturing(stream)) return cudaSuccess;  // what a graph works on stays
    return cudaFree(pointer);
}

// Pools of memory: one for all.
struct CUmemPoolHandle_st {
    uint64_t values[32];
};
static CUmemPoolHandle_st default_pool = {};
API cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) { *pool = &default_pool; return cudaSuccess; }
API cudaDeviceGetMemPool(cudaMemPool_t *pool, int) { *pool = &default_pool; return cudaSuccess; }
API cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
API cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *) {
    *pool = new CUmemPoolHandle_st{};
    return cudaSuccess;
}
API cudaMemPoolDestroy(cudaMemPool_t pool) {
    if (pool != &default_pool) delete pool;
    return cudaSuccess;
}
API cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
API cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t) { return cudaSuccess; }
API cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    if (attribute >= 32) return failed(cudaErrorInvalidValue);
    pool->values[attribute] = attribute <= 3 ? *(int *)value : *(uint64_t *)value;
    return cudaSuccess;
}
API cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    if (attribute >= 32) return failed(cudaErrorInvalidValue);
    if (attribute <= 3) *(int *)value = (int)pool->values[attribute];
    else *(uint64_t *)value = pool->values[attribute];
    return cudaSuccess;
}
API cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
    return cudaMallocAsync(pointer, bytes, stream);
}

API cudaMemPrefetchAsync(const void *pointer, size_t bytes, cudaMemLocation to, unsigned, cudaStream_t stream) {
    BEGIN
    Piece *piece = find(pointer);
    RETURN_IF(!piece || piece->kind != MANAGED, cudaErrorInvalidValue, here("cudaMemPrefetchAsync") + ": not managed memory");
    bool is_to_device = to.type == cudaMemLocationTypeDevice;
    return enqueue(stream, [=]() -> cudaError_t {
        work_follows();
        if (Piece *found = find(pointer)) prefetch(found, bytes, is_to_device);
        return cudaSuccess;
    });
}
API cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation where) {
    BEGIN
    Piece *piece = find(pointer);
    RETURN_IF(!piece || piece->kind != MANAGED, cudaErrorInvalidValue, here("cudaMemAdvise") + ": not managed memory");
    work_follows();
    return advise(piece, bytes, advice, where.type != cudaMemLocationTypeDevice)
               ? cudaSuccess : without_effect("cudaMemAdvise of a part of managed memory, or of less than 64 KiB");
}

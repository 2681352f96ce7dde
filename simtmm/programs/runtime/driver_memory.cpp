// The driver's interface: memory, copies, streams and events, which are the runtime's.
#include "driver.h"

using namespace simtmm;

DRIVER cuMemAlloc_v2(CUdeviceptr *found, size_t bytes) {
    return asked("cuMemAlloc", [=] {
        RETURN_IF(!found || !bytes, cudaErrorInvalidValue, "");
        return cudaMalloc((void **)found, bytes);
    });
}
DRIVER cuMemAllocPitch_v2(CUdeviceptr *found, size_t *pitch, size_t width, size_t height, unsigned) {
    return asked("cuMemAllocPitch", [=] {
        RETURN_IF(!found || !width || !height, cudaErrorInvalidValue, "");
        return cudaMallocPitch((void **)found, pitch, width, height);
    });
}
DRIVER cuMemAllocManaged(CUdeviceptr *found, size_t bytes, unsigned flags) {
    return asked(__func__, [=] { return cudaMallocManaged((void **)found, bytes, flags); });
}
DRIVER cuMemAllocHost_v2(void **found, size_t bytes) { return asked("cuMemAllocHost", [=] { return cudaMallocHost(found, bytes); }); }
DRIVER cuMemHostAlloc(void **found, size_t bytes, unsigned flags) { return asked(__func__, [=] { return cudaHostAlloc(found, bytes, flags); }); }
DRIVER cuMemFreeHost(void *pointer) { return asked(__func__, [=] { return cudaFreeHost(pointer); }); }
DRIVER cuMemFree_v2(CUdeviceptr pointer) { return asked("cuMemFree", [=] { return cudaFree((void *)pointer); }); }
DRIVER cuMemAllocAsync(CUdeviceptr *found, size_t bytes, CUstream stream) {
    return asked(__func__, [=] { return cudaMallocAsync((void **)found, bytes, stream); });
}
DRIVER cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    return asked(__func__, [=] { return cudaFreeAsync((void *)pointer, stream); });
}
DRIVER cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
    return asked("cuMemHostRegister", [=] { return cudaHostRegister(pointer, bytes, flags); });
}
DRIVER cuMemHostUnregister(void *pointer) { return asked(__func__, [=] { return cudaHostUnregister(pointer); }); }
DRIVER cuMemHostGetDevicePointer_v2(CUdeviceptr *found, void *pointer, unsigned flags) {
    return asked("cuMemHostGetDevicePointer", [=] { return cudaHostGetDevicePointer((void **)found, pointer, flags); });
}
DRIVER cuMemGetInfo_v2(size_t *available, size_t *total) { return asked("cuMemGetInfo", [=] { return cudaMemGetInfo(available, total); }); }

// Copies. `Async` of a stream; cuMemcpy finds out the way by the addresses.
#define COPIES(name, to_type, from_type, kind)                                                                     \
    DRIVER name##_v2(to_type to, from_type from, size_t bytes) {                                                   \
        return asked(#name, [=] { return cudaMemcpy((void *)to, (const void *)from, bytes, kind); });              \
    }                                                                                                              \
    DRIVER name##Async_v2(to_type to, from_type from, size_t bytes, CUstream stream) {                             \
        return asked(#name "Async",                                                                                \
                     [=] { return cudaMemcpyAsync((void *)to, (const void *)from, bytes, kind, stream); });        \
    }
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
#undef cuMemcpyDtoD
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync
COPIES(cuMemcpyHtoD, CUdeviceptr, const void *, cudaMemcpyHostToDevice)
COPIES(cuMemcpyDtoH, void *, CUdeviceptr, cudaMemcpyDeviceToHost)
COPIES(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, cudaMemcpyDeviceToDevice)
DRIVER cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return asked(__func__, [=] { return cudaMemcpy((void *)to, (const void *)from, bytes, cudaMemcpyDefault); });
}
DRIVER cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return asked(__func__, [=] { return cudaMemcpyAsync((void *)to, (const void *)from, bytes, cudaMemcpyDefault, stream); });
}
static cudaError_t copy_rows(const CUDA_MEMCPY2D *p, bool is_later, CUstream stream) {
    RETURN_IF(!p, cudaErrorInvalidValue, "");
    auto is_host = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; };
    RETURN_IF(p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY, cudaErrorNotSupported,
              here("cuMemcpy2D") + ": arrays are not supported by the driver API");
    const char *from = is_host(p->srcMemoryType) ? (const char *)p->srcHost : (const char *)p->srcDevice;
    char *to = is_host(p->dstMemoryType) ? (char *)p->dstHost : (char *)p->dstDevice;
    bool is_unified = p->srcMemoryType == CU_MEMORYTYPE_UNIFIED || p->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    cudaMemcpyKind kind = is_unified                                                 ? cudaMemcpyDefault
                          : is_host(p->srcMemoryType) && is_host(p->dstMemoryType)   ? cudaMemcpyHostToHost
                          : is_host(p->srcMemoryType)                                ? cudaMemcpyHostToDevice
                          : is_host(p->dstMemoryType)                                ? cudaMemcpyDeviceToHost
                                                                                     : cudaMemcpyDeviceToDevice;
    size_t from_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes, to_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
    from += p->srcY * from_pitch + p->srcXInBytes;
    to += p->dstY * to_pitch + p->dstXInBytes;
    return is_later ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, p->WidthInBytes, p->Height, kind, stream)
                    : cudaMemcpy2D(to, to_pitch, from, from_pitch, p->WidthInBytes, p->Height, kind);
}
DRIVER cuMemcpy2D_v2(const CUDA_MEMCPY2D *p) { return asked("cuMemcpy2D", [=] { return copy_rows(p, false, nullptr); }); }
DRIVER cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p) { return asked("cuMemcpy2DUnaligned", [=] { return copy_rows(p, false, nullptr); }); }
DRIVER cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream) {
    return asked("cuMemcpy2DAsync", [=] { return copy_rows(p, true, stream); });
}

// Streams and events.
DRIVER cuStreamCreate(CUstream *stream, unsigned flags) { return asked(__func__, [=] { return cudaStreamCreateWithFlags(stream, flags); }); }
DRIVER cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    return asked(__func__, [=] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
DRIVER cuStreamDestroy_v2(CUstream stream) { return asked("cuStreamDestroy", [=] { return cudaStreamDestroy(stream); }); }
DRIVER cuStreamSynchronize(CUstream stream) { return asked(__func__, [=] { return cudaStreamSynchronize(stream); }); }
DRIVER cuStreamQuery(CUstream stream) { return asked(__func__, [=] { return cudaStreamQuery(stream); }); }
DRIVER cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return asked(__func__, [=] { return cudaStreamWaitEvent(stream, event, flags); });
}
DRIVER cuEventCreate(CUevent *event, unsigned flags) { return asked(__func__, [=] { return cudaEventCreateWithFlags(event, flags); }); }
DRIVER cuEventDestroy_v2(CUevent event) { return asked("cuEventDestroy", [=] { return cudaEventDestroy(event); }); }
DRIVER cuEventRecord(CUevent event, CUstream stream) { return asked(__func__, [=] { return cudaEventRecord(event, stream); }); }
DRIVER cuEventSynchronize(CUevent event) { return asked(__func__, [=] { return cudaEventSynchronize(event); }); }
DRIVER cuEventQuery(CUevent event) { return asked(__func__, [=] { return cudaEventQuery(event); }); }
#undef cuEventElapsedTime
DRIVER cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
    return asked(__func__, [=] { return cudaEventElapsedTime(milliseconds, begin, end); });
}
DRIVER cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end) { return cuEventElapsedTime(milliseconds, begin, end); }

// Tells the runtime the line and the words of a call, so that memory has the name that the program gives it.
#pragma once

#if defined(SIMTMM_THRUST) && defined(__CUDACC__)  // defines functions of these names
#include <thrust/system/cuda/memory_resource.h>
#endif

extern "C" void simtmm_site(const char *file, int line, const char *text);
namespace simtmm {
struct Site {
    const char *file;
    int line;
    const char *text;
    void tell() const { simtmm_site(file, line, text); }
};
}  // namespace simtmm

#define SIMTMM_NAMED(name, types, values)                                                        \
    static inline cudaError_t simtmm_##name types {                                              \
        site.tell();                                                                             \
        return (name)values;                                                                     \
    }
#define SIMTMM_NAMED_FOR_ANY(name, types, values) \
    template <class T>                            \
    SIMTMM_NAMED(name, types, values)

SIMTMM_NAMED_FOR_ANY(cudaMalloc, (simtmm::Site site, T **p, size_t n), ((void **)p, n))
SIMTMM_NAMED_FOR_ANY(cudaMallocManaged, (simtmm::Site site, T **p, size_t n, unsigned flags = cudaMemAttachGlobal), ((void **)p, n, flags))
SIMTMM_NAMED_FOR_ANY(cudaMallocHost, (simtmm::Site site, T **p, size_t n, unsigned flags = 0), ((void **)p, n, flags))
SIMTMM_NAMED_FOR_ANY(cudaHostAlloc, (simtmm::Site site, T **p, size_t n, unsigned flags), ((void **)p, n, flags))
SIMTMM_NAMED_FOR_ANY(cudaMallocPitch, (simtmm::Site site, T **p, size_t *pitch, size_t w, size_t h), ((void **)p, pitch, w, h))
SIMTMM_NAMED_FOR_ANY(cudaMallocAsync, (simtmm::Site site, T **p, size_t n, cudaStream_t s), ((void **)p, n, s))
SIMTMM_NAMED(cudaMalloc3D, (simtmm::Site site, cudaPitchedPtr *p, cudaExtent e), (p, e))
SIMTMM_NAMED(cudaMallocArray, (simtmm::Site site, cudaArray_t *a, const cudaChannelFormatDesc *d, size_t w, size_t h = 0, unsigned f = 0), (a, d, w, h, f))
SIMTMM_NAMED(cudaMalloc3DArray, (simtmm::Site site, cudaArray_t *a, const cudaChannelFormatDesc *d, cudaExtent e, unsigned f = 0), (a, d, e, f))
SIMTMM_NAMED(cudaHostRegister, (simtmm::Site site, void *p, size_t n, unsigned f), (p, n, f))
SIMTMM_NAMED(cudaFree, (simtmm::Site site, const volatile void *p), ((void *)p))
SIMTMM_NAMED(cudaFreeHost, (simtmm::Site site, const volatile void *p), ((void *)p))
SIMTMM_NAMED(cudaMemcpy, (simtmm::Site site, void *to, const void *from, size_t n, cudaMemcpyKind kind), (to, from, n, kind))
SIMTMM_NAMED(cudaMemcpyAsync, (simtmm::Site site, void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t s = 0), (to, from, n, kind, s))
SIMTMM_NAMED(cudaMemcpy2D, (simtmm::Site site, void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, cudaMemcpyKind kind), (to, tp, from, fp, w, h, kind))
SIMTMM_NAMED(cudaMemcpy2DAsync, (simtmm::Site site, void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, cudaMemcpyKind kind, cudaStream_t s = 0), (to, tp, from, fp, w, h, kind, s))
SIMTMM_NAMED(cudaMemset, (simtmm::Site site, void *to, int value, size_t n), (to, value, n))
SIMTMM_NAMED(cudaMemsetAsync, (simtmm::Site site, void *to, int value, size_t n, cudaStream_t s = 0), (to, value, n, s))
SIMTMM_NAMED_FOR_ANY(cudaMemcpyToSymbol, (simtmm::Site site, const T &symbol, const void *from, size_t n, size_t at = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice), (symbol, from, n, at, kind))
SIMTMM_NAMED_FOR_ANY(cudaMemcpyFromSymbol, (simtmm::Site site, void *to, const T &symbol, size_t n, size_t at = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost), (to, symbol, n, at, kind))
SIMTMM_NAMED(cudaDeviceSynchronize, (simtmm::Site site), ())
SIMTMM_NAMED(cudaStreamSynchronize, (simtmm::Site site, cudaStream_t s), (s))
SIMTMM_NAMED(cudaEventSynchronize, (simtmm::Site site, cudaEvent_t e), (e))

#define SIMTMM_SITE(...) simtmm::Site{__FILE__, __LINE__, #__VA_ARGS__}
#define cudaMalloc(...) simtmm_cudaMalloc(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMallocManaged(...) simtmm_cudaMallocManaged(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMallocHost(...) simtmm_cudaMallocHost(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaHostAlloc(...) simtmm_cudaHostAlloc(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMallocPitch(...) simtmm_cudaMallocPitch(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMallocAsync(...) simtmm_cudaMallocAsync(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMalloc3D(...) simtmm_cudaMalloc3D(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMallocArray(...) simtmm_cudaMallocArray(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMalloc3DArray(...) simtmm_cudaMalloc3DArray(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaHostRegister(...) simtmm_cudaHostRegister(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaFree(...) simtmm_cudaFree(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaFreeHost(...) simtmm_cudaFreeHost(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemcpy(...) simtmm_cudaMemcpy(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemcpyAsync(...) simtmm_cudaMemcpyAsync(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemcpy2D(...) simtmm_cudaMemcpy2D(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemcpy2DAsync(...) simtmm_cudaMemcpy2DAsync(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemset(...) simtmm_cudaMemset(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemsetAsync(...) simtmm_cudaMemsetAsync(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemcpyToSymbol(...) simtmm_cudaMemcpyToSymbol(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaMemcpyFromSymbol(...) simtmm_cudaMemcpyFromSymbol(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaDeviceSynchronize() simtmm_cudaDeviceSynchronize(SIMTMM_SITE())
#define cudaStreamSynchronize(...) simtmm_cudaStreamSynchronize(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)
#define cudaEventSynchronize(...) simtmm_cudaEventSynchronize(SIMTMM_SITE(__VA_ARGS__), __VA_ARGS__)

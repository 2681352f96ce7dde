// Read before a program's own text: what CUDA 13's headers no longer have, and names for its memory.
#pragma once

#ifdef __cplusplus
#include <cuda_runtime.h>

// Functions that were renamed long ago.
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
static inline cudaError_t cudaThreadGetLimit(size_t *value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *config) { return cudaDeviceGetCacheConfig(config); }
static inline cudaError_t cudaDeviceSetSharedMemConfig(int) { return cudaSuccess; }
static inline cudaError_t cudaFuncSetSharedMemConfig(const void *, int) { return cudaSuccess; }

// Fields of the device's properties that were taken out.
struct simtmm_cudaDeviceProp : cudaDeviceProp {
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, maxTexture1DLinear;
    int singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};
enum simtmm_compute_mode { simtmm_compute_mode_of_all };
static inline cudaError_t simtmm_properties(simtmm_cudaDeviceProp *found, int device) {
    cudaError_t error = (cudaGetDeviceProperties)(static_cast<cudaDeviceProp *>(found), device);
    if (error != cudaSuccess) return error;
    cudaDeviceGetAttribute(&found->clockRate, cudaDevAttrClockRate, device);
    cudaDeviceGetAttribute(&found->memoryClockRate, cudaDevAttrMemoryClockRate, device);
    found->deviceOverlap = 1;
    found->kernelExecTimeoutEnabled = found->computeMode = found->cooperativeMultiDeviceLaunch = 0;
    found->maxTexture1DLinear = 1 << 28;
    found->singleToDoublePrecisionPerfRatio = 2;
    return cudaSuccess;
}
static inline cudaError_t simtmm_properties(cudaDeviceProp *found, int device) {
    return (cudaGetDeviceProperties)(found, device);
}
#define cudaDeviceProp simtmm_cudaDeviceProp
#define cudaGetDeviceProperties(...) simtmm_properties(__VA_ARGS__)

// As they were called with the number of a device.
static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream = 0) {
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    return cudaMemPrefetchAsync(pointer, bytes, location, 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    return cudaMemAdvise(pointer, bytes, advice, location);
}

extern "C" cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void *, size_t, cudaMemcpyKind);
extern "C" cudaError_t cudaMemcpyFromArray(void *, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind);
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

#ifdef __CUDACC__
// Warp functions without a mask: of the lanes that are there.
template <class T> __device__ inline T __shfl(T value, int lane, int width = 32) {
    return __shfl_sync(__activemask(), value, lane, width);
}
template <class T> __device__ inline T __shfl_up(T value, unsigned by, int width = 32) {
    return __shfl_up_sync(__activemask(), value, by, width);
}
template <class T> __device__ inline T __shfl_down(T value, unsigned by, int width = 32) {
    return __shfl_down_sync(__activemask(), value, by, width);
}
template <class T> __device__ inline T __shfl_xor(T value, int mask, int width = 32) {
    return __shfl_xor_sync(__activemask(), value, mask, width);
}
#ifdef SIMTMM_OLD_VOTES  // declared still, and refused by the assembler
#define __any(holds) __any_sync(__activemask(), holds)
#define __all(holds) __all_sync(__activemask(), holds)
#define __ballot(holds) __ballot_sync(__activemask(), holds)
#endif
#ifdef SIMTMM_TEXTURE_REFERENCES
#include "simtmm_texture_references.h"
#endif
#endif

#ifdef SIMTMM_NAMES
#include "simtmm_names.h"
#endif
#endif

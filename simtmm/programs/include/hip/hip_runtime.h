// HIP over the CUDA runtime, as HIP has it for NVIDIA's GPUs: functions, types and values are CUDA's of the same name.
#pragma once

#include <cuda_runtime.h>

#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP_PLATFORM_NVCC__ 1
#define __HIPCC__ 1
#ifdef __CUDA_ARCH__
#define __HIP_DEVICE_COMPILE__ 1
#endif

#include "simtmm_hip_names.h"  // written by build.py: #define hipMalloc cudaMalloc, and so on for all of the runtime

// What HIP calls otherwise.
#define hipDeviceProp_t cudaDeviceProp
#define hipFuncCache_t cudaFuncCache
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipArray cudaArray
#define hipHostFree cudaFreeHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipHostMallocNonCoherent cudaHostAllocDefault
#define hipHostMallocCoherent cudaHostAllocDefault
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeClockRate cudaDevAttrClockRate
#define hipDeviceAttributeMemoryClockRate cudaDevAttrMemoryClockRate
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorInvalidHandle cudaErrorInvalidResourceHandle
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal

template <class T> static inline cudaError_t hipHostMalloc(T **found, size_t bytes, unsigned flags = 0) {
    return cudaHostAlloc((void **)found, bytes, flags);
}
static inline cudaError_t hipMemcpyHtoD(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
static inline cudaError_t hipMemcpyDtoH(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
static inline cudaError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, stream);
    return error ? error : cudaStreamSynchronize(stream);
}
static inline cudaError_t hipInit(unsigned) { return cudaFree(nullptr); }

#if SIMTMM_WARP == 64
#ifdef __CUDACC__
#include <cooperative_groups.h>  // whose warps have 32 threads
#endif
// Of kernels, and of hipDeviceProp_t.
static constexpr int simtmm_wave_size = 64;
struct simtmm_hipDeviceProp : cudaDeviceProp {
    int simtmm_wave_size;
};
static inline cudaError_t simtmm_hip_properties(simtmm_hipDeviceProp *found, int device) {
    found->simtmm_wave_size = 64;
    return cudaGetDeviceProperties(found, device);
}
#undef hipDeviceProp_t
#undef hipGetDeviceProperties
#define hipDeviceProp_t simtmm_hipDeviceProp
#define hipGetDeviceProperties(...) simtmm_hip_properties(__VA_ARGS__)
#define warpSize simtmm_wave_size
#endif

#ifdef __CUDACC__
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_SYMBOL(name) name
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
    do { kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__); } while (0)
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

#if SIMTMM_WARP == 64
#include "simtmm_wave.h"
#else
__device__ inline unsigned __lane_id() {
    unsigned found;
    asm("mov.u32 %0, %%laneid;" : "=r"(found));
    return found;
}
// Code runs in warps of 32, as warpSize says. What exchanges values over 64 lanes ends the launch: it would go wrong.
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
__device__ inline void simtmm_within(int lanes, int width) {
    if (lanes < 0 || lanes > 31 || width > 32)
        __assertfail("shuffles reach 32 lanes: HIP code runs in warps of 32 here, not of 64", "hip_runtime.h", __LINE__,
                     "__shfl", 1);
}
#define SIMTMM_SHUFFLE(name)                                                                                        \
    template <class T> __device__ inline T simtmm_hip##name##_sync(unsigned long long mask, T value, int by, int width = 32) { \
        simtmm_within(by, width);                                                                                   \
        return name##_sync((unsigned)mask, value, by, width);                                                       \
    }                                                                                                               \
    template <class T> __device__ inline T simtmm_hip##name(T value, int by, int width = 32) {                       \
        simtmm_within(by, width);                                                                                   \
        return name##_sync(__activemask(), value, by, width);                                                       \
    }
SIMTMM_SHUFFLE(__shfl)
SIMTMM_SHUFFLE(__shfl_up)
SIMTMM_SHUFFLE(__shfl_down)
SIMTMM_SHUFFLE(__shfl_xor)
#define __shfl(...) simtmm_hip__shfl(__VA_ARGS__)
#define __shfl_up(...) simtmm_hip__shfl_up(__VA_ARGS__)
#define __shfl_down(...) simtmm_hip__shfl_down(__VA_ARGS__)
#define __shfl_xor(...) simtmm_hip__shfl_xor(__VA_ARGS__)
#define __shfl_sync(...) simtmm_hip__shfl_sync(__VA_ARGS__)
#define __shfl_up_sync(...) simtmm_hip__shfl_up_sync(__VA_ARGS__)
#define __shfl_down_sync(...) simtmm_hip__shfl_down_sync(__VA_ARGS__)
#define __shfl_xor_sync(...) simtmm_hip__shfl_xor_sync(__VA_ARGS__)
#endif
__device__ inline float unsafeAtomicAdd(float *at, float by) { return atomicAdd(at, by); }
__device__ inline double unsafeAtomicAdd(double *at, double by) { return atomicAdd(at, by); }
#endif

// .
#include "driver.h"

#include <cstdio>

using namespace simtmm;

static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "attributes of launches are the runtime's");
static_assert((int)CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == (int)cudaLaunchAttributeClusterDimension, "likewise");
static_assert((int)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == (int)cudaFuncAttributeMaxDynamicSharedMemorySize, "likewise");
static_assert((int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == (int)cudaDevAttrMultiProcessorCount, "likewise");

DRIVER cuDriverGetVersion(int *version) { return asked(__func__, [=] { return cudaDriverGetVersion(version); }); }

// The device, which is number 0.
DRIVER cuDeviceGetCount(int *count) { return asked(__func__, [=] { return cudaGetDeviceCount(count); }); }
DRIVER cuDeviceGet(CUdevice *device, int number) {
    return asked(__func__, [=] {
        RETURN_IF(!device, cudaErrorInvalidValue, "");
        *device = 0;
        return cudaSetDevice(number);
    });
}
DRIVER cuDeviceGetName(char *name, int bytes, CUdevice device) {
    return asked(__func__, [=] {
        RETURN_IF(!name || bytes <= 0, cudaErrorInvalidValue, "");
        cudaDeviceProp found;
        cudaError_t error = cudaGetDeviceProperties(&found, device);
        if (!error) snprintf(name, bytes, "%s", found.name);
        return error;
    });
}
DRIVER cuDeviceGetAttribute(int *value, CUdevice_attribute wanted, CUdevice device) {
    return asked(__func__, [=] { return cudaDeviceGetAttribute(value, (cudaDeviceAttr)wanted, device); });
}
DRIVER cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    return asked(__func__, [=] {
        cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
        return error ? error : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
    });
}
DRIVER cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    return asked(__func__, [=] {
        RETURN_IF(!bytes, cudaErrorInvalidValue, "");
        RETURN_IF(device != 0, cudaErrorInvalidDevice, "");
        return cudaMemGetInfo(nullptr, bytes);
    });
}

// Contexts: all are one. A program that forgets to make one is served, too.
static const CUcontext THE_CONTEXT = (CUcontext)0x51;
static thread_local CUcontext current_context = nullptr;

static CUresult given_context(const char *function, CUcontext *context, CUdevice device, bool is_current) {
    return asked(function, [=] {
        RETURN_IF(!context, cudaErrorInvalidValue, "");
        RETURN_IF(device != 0, cudaErrorInvalidDevice, "");
        *context = THE_CONTEXT;
        if (is_current) current_context = THE_CONTEXT;
        return cudaSuccess;
    });
}
#undef cuCtxCreate
DRIVER cuCtxCreate(CUcontext *context, unsigned, CUdevice device) { return given_context(__func__, context, device, true); }
DRIVER cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice device) { return given_context("cuCtxCreate", context, device, true); }
DRIVER cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *, unsigned, CUdevice device) {
    return given_context("cuCtxCreate", context, device, true);
}
DRIVER cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) { return given_context(__func__, context, device, false); }
DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
DRIVER cuDevicePrimaryCtxReset_v2(CUdevice) { return asked("cuDevicePrimaryCtxReset", [] { return cudaDeviceReset(); }); }
DRIVER cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned) { return CUDA_SUCCESS; }
DRIVER cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active) {
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
}
DRIVER cuCtxDestroy_v2(CUcontext) {
    return asked("cuCtxDestroy", [] {
        current_context = nullptr;
        return cudaDeviceSynchronize();
    });
}
DRIVER cuCtxSetCurrent(CUcontext context) {
    current_context = context;
    return CUDA_SUCCESS;
}
DRIVER cuCtxPushCurrent_v2(CUcontext context) { return cuCtxSetCurrent(context); }
DRIVER cuCtxPopCurrent_v2(CUcontext *context) {
    if (context) *context = current_context;
    return CUDA_SUCCESS;
}
DRIVER cuCtxGetCurrent(CUcontext *context) {
    *context = current_context;
    return CUDA_SUCCESS;
}
DRIVER cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}
DRIVER cuCtxSynchronize() { return asked(__func__, [] { return cudaDeviceSynchronize(); }); }
DRIVER cuCtxSetCacheConfig(CUfunc_cache) { return asked(__func__, [] { return without_effect("cuCtxSetCacheConfig"); }); }
DRIVER cuCtxSetLimit(CUlimit limit, size_t value) {
    return asked(__func__, [=] { return cudaDeviceSetLimit((cudaLimit)limit, value); });
}
DRIVER cuCtxGetLimit(size_t *value, CUlimit limit) {
    return asked(__func__, [=] { return cudaDeviceGetLimit(value, (cudaLimit)limit); });
}

// Kernels.
DRIVER cuFuncSetAttribute(CUfunction function, CUfunction_attribute wanted, int value) {
    return asked(__func__, [=] { return cudaFuncSetAttribute((const void *)function, (cudaFuncAttribute)wanted, value); });
}
DRIVER cuKernelSetAttribute(CUfunction_attribute wanted, int value, CUkernel kernel, CUdevice) {
    return asked(__func__, [=] { return cudaFuncSetAttribute((const void *)kernel, (cudaFuncAttribute)wanted, value); });
}
DRIVER cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return asked(__func__, [] { return without_effect("cuFuncSetCacheConfig"); }); }
DRIVER cuFuncGetAttribute(int *value, CUfunction_attribute wanted, CUfunction function) {
    return asked(__func__, [=] {
        RETURN_IF(!value, cudaErrorInvalidValue, "");
        cudaFuncAttributes found;
        cudaError_t error = cudaFuncGetAttributes(&found, (const void *)function);
        if (error) return error;
        switch ((int)wanted) {
            case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = found.maxThreadsPerBlock; break;
            case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)found.sharedSizeBytes; break;
            case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)found.constSizeBytes; break;
            case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)found.localSizeBytes; break;
            case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = found.numRegs; break;
            case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = found.ptxVersion; break;
            case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = found.binaryVersion; break;
            case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = found.maxDynamicSharedSizeBytes; break;
            case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = found.preferredShmemCarveout; break;
            default:
                return failed(cudaErrorNotSupported, here("cuFuncGetAttribute") + ": attribute " + std::to_string((int)wanted) +
                                                         ": is not supported; must be 0 to 6, 8 or 9");
        }
        return cudaSuccess;
    });
}
DRIVER cuFuncGetName(const char **name, CUfunction function) {
    return asked(__func__, [=] { return cudaFuncGetName(name, (const void *)function); });
}
DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
    return asked(__func__, [=] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, threads, shared);
    });
}
DRIVER cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
                                        int limit) {
    return asked(__func__, [=] {
        RETURN_IF(!grid || !block || limit < 0, cudaErrorInvalidValue, "");
        int most = (int)attribute(cudaDevAttrMaxThreadsPerBlock), width = (int)property("warp_width"), best = 0;
        if (limit && limit < most) most = limit;
        for (int threads = (most + width - 1) / width * width; threads > 0; threads -= width) {  // of equals the largest
            int size = threads < most ? threads : most, blocks = 0;
            cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)function, size,
                                                                              shared_of ? shared_of(size) : shared);
            if (error) return error;
            if (blocks * size <= best) continue;
            best = blocks * size;
            *block = size;
            *grid = blocks * (int)attribute(cudaDevAttrMultiProcessorCount);
        }
        return best ? cudaSuccess : failed(cudaErrorInvalidValue);
    });
}

// Launches. The arguments' addresses, or all of them packed, as `extra` names them.
static cudaError_t launch_as(CUfunction function, const cudaLaunchConfig_t &config, void **arguments, void **extra) {
    RETURN_IF(arguments && extra, cudaErrorInvalidValue, here("cuLaunchKernel") + ": has both kernelParams and extra");
    std::vector<void *> places;
    if (extra) {
        char *packed = nullptr;
        size_t bytes = 0;
        for (void **at = extra; *at != CU_LAUNCH_PARAM_END; at += 2) {
            if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = (char *)at[1];
            else if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *(size_t *)at[1];
            else return failed(cudaErrorInvalidValue, here("cuLaunchKernel") + ": extra: neither a buffer nor its size");
        }
        Kernel *kernel = kernel_of((const void *)function);
        RETURN_IF(!kernel, cudaErrorInvalidDeviceFunction, "");
        cudaError_t error = layout_of(kernel);
        if (error) return error;
        RETURN_IF((!packed && kernel->bytes) || bytes < kernel->bytes, cudaErrorInvalidValue,
                  here("cuLaunchKernel") + ": extra: a buffer of " + counted(bytes) + " bytes: the kernel's parameters take " +
                      counted(kernel->bytes));
        for (uint32_t offset : kernel->offsets) places.push_back(packed + offset);
        arguments = places.data();
    }
    return cudaLaunchKernelExC(&config, (const void *)function, arguments);
}
DRIVER cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z,
                      unsigned shared, CUstream stream, void **arguments, void **extra) {
    return asked(__func__, [=] {
        cudaLaunchConfig_t config = {{grid_x, grid_y, grid_z}, {x, y, z}, shared, stream, nullptr, 0};
        return launch_as(function, config, arguments, extra);
    });
}
static cudaLaunchConfig_t config_of(const CUlaunchConfig *given) {
    return {{given->gridDimX, given->gridDimY, given->gridDimZ},
            {given->blockDimX, given->blockDimY, given->blockDimZ},
            given->sharedMemBytes,
            given->hStream,
            (cudaLaunchAttribute *)given->attrs,
            given->numAttrs};
}
DRIVER cuLaunchKernelEx(const CUlaunchConfig *given, CUfunction function, void **arguments, void **extra) {
    return asked(__func__, [=] {
        RETURN_IF(!given || (given->numAttrs && !given->attrs), cudaErrorInvalidValue, "");
        return launch_as(function, config_of(given), arguments, extra);
    });
}
DRIVER cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *given) {
    return asked(__func__, [=] {
        RETURN_IF(!given || (given->numAttrs && !given->attrs), cudaErrorInvalidValue, "");
        cudaLaunchConfig_t config = config_of(given);
        return cudaOccupancyMaxActiveClusters(clusters, (const void *)function, &config);
    });
}
DRIVER cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *given) {
    return asked(__func__, [=] {
        RETURN_IF(!given || (given->numAttrs && !given->attrs), cudaErrorInvalidValue, "");
        cudaLaunchConfig_t config = config_of(given);
        return cudaOccupancyMaxPotentialClusterSize(size, (const void *)function, &config);
    });
}
DRIVER cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    return asked(__func__, [=] { return cudaLaunchHostFunc(stream, function, data); });
}
DRIVER cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y,
                                 unsigned z, unsigned shared, CUstream stream, void **arguments) {
    return asked(__func__, [=] {
        return cudaLaunchCooperativeKernel((const void *)function, {grid_x, grid_y, grid_z}, {x, y, z}, arguments, shared, stream);
    });
}

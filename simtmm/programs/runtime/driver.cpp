// The driver's interface: the device, contexts, modules that a program loads itself, their kernels, and launches.
#include "driver.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

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
static thread_local CUcontext current = nullptr;

static CUresult given_context(const char *function, CUcontext *context, CUdevice device, bool is_current) {
    return asked(function, [=] {
        RETURN_IF(!context, cudaErrorInvalidValue, "");
        RETURN_IF(device != 0, cudaErrorInvalidDevice, "");
        *context = THE_CONTEXT;
        if (is_current) current = THE_CONTEXT;
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
        current = nullptr;
        return cudaDeviceSynchronize();
    });
}
DRIVER cuCtxSetCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}
DRIVER cuCtxPushCurrent_v2(CUcontext context) { return cuCtxSetCurrent(context); }
DRIVER cuCtxPopCurrent_v2(CUcontext *context) {
    if (context) *context = current;
    return CUDA_SUCCESS;
}
DRIVER cuCtxGetCurrent(CUcontext *context) {
    *context = current;
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

// Modules, whose handle is their number and one: PTX as text, a fat binary, or a .cubin that has its PTX within.
static uint64_t bytes_of_image(const void *image) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == 0xBA55ED50) return ((const uint16_t *)image)[3] + ((const uint64_t *)image)[1];  // a header, and entries
    if (magic != 0x464C457F) return strlen((const char *)image);
    uint64_t sections, most = 0;  // of ELF: its table of sections, or what lies last
    uint16_t size, count;
    memcpy(&sections, (const char *)image + 40, 8);
    memcpy(&size, (const char *)image + 58, 2);
    memcpy(&count, (const char *)image + 60, 2);
    most = sections + (uint64_t)size * count;
    for (int i = 0; i < count; i++) {
        uint32_t kind;
        uint64_t offset, bytes;
        const char *section = (const char *)image + sections + (uint64_t)size * i;
        memcpy(&kind, section + 4, 4);
        memcpy(&offset, section + 24, 8);
        memcpy(&bytes, section + 32, 8);
        if (kind != 8 && offset + bytes > most) most = offset + bytes;  // 8: takes no room in the file
    }
    return most;
}
static cudaError_t load_image(void *handle, const void *image, uint64_t bytes) {
    RETURN_IF(!handle || !image, cudaErrorInvalidValue, "");
    if (*(const uint32_t *)image == 0x466243B1) {  // what nvcc puts around a fat binary
        image = (const void *)((const uint64_t *)image)[1];
        bytes = 0;
    }
    int number;
    cudaError_t error = load_module(image, bytes ? bytes : bytes_of_image(image), &number);
    if (!error) *(uint64_t *)handle = (uint64_t)number + 1;
    return error;
}
static cudaError_t load_file(void *handle, const char *path) {
    RETURN_IF(!path, cudaErrorInvalidValue, "");
    std::ifstream file(path, std::ios::binary);
    RETURN_IF(!file, cudaErrorFileNotFound, here("cuModuleLoad") + ": " + path + ": can't be read");
    auto *image = new std::string(std::istreambuf_iterator<char>(file), {});  // there to the last
    RETURN_IF(image->size() < 64, cudaErrorInvalidKernelImage, here("cuModuleLoad") + ": " + path + ": is no module");
    return load_image(handle, image->c_str(), image->size());
}
static cudaError_t kernel_in(void *found, uint64_t module, const char *name) {
    RETURN_IF(!found || !name || !module, cudaErrorInvalidValue, "");
    Kernel *kernel = kernel_named((int)module - 1, name);
    RETURN_IF(!kernel, cudaErrorInvalidSymbol, "");
    *(Kernel **)found = kernel;
    return cudaSuccess;
}
static cudaError_t variable_in(CUdeviceptr *found, size_t *bytes, uint64_t module, const char *name) {
    RETURN_IF(!name || !module, cudaErrorInvalidValue, "");
    uint64_t address, size;
    cudaError_t error = (cudaError_t)calls.variable((int)module - 1, name, &address, &size);
    if (error) return failed(error);
    if (found) *found = address;
    if (bytes) *bytes = size;
    return cudaSuccess;
}
DRIVER cuModuleLoad(CUmodule *module, const char *path) { return asked(__func__, [=] { return load_file(module, path); }); }
DRIVER cuModuleLoadData(CUmodule *module, const void *image) { return asked(__func__, [=] { return load_image(module, image, 0); }); }
DRIVER cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, CUjit_option *, void **) {
    return asked(__func__, [=] { return load_image(module, image, 0); });
}
DRIVER cuModuleLoadFatBinary(CUmodule *module, const void *image) { return asked(__func__, [=] { return load_image(module, image, 0); }); }
DRIVER cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }  // its variables stay
DRIVER cuModuleGetFunction(CUfunction *found, CUmodule module, const char *name) {
    return asked(__func__, [=] { return kernel_in(found, (uint64_t)module, name); });
}
DRIVER cuModuleGetGlobal_v2(CUdeviceptr *found, size_t *bytes, CUmodule module, const char *name) {
    return asked("cuModuleGetGlobal", [=] { return variable_in(found, bytes, (uint64_t)module, name); });
}
DRIVER cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned) {
    return asked(__func__, [=] { return load_image(library, image, 0); });
}
DRIVER cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned) {
    return asked(__func__, [=] { return load_file(library, path); });
}
DRIVER cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
DRIVER cuLibraryGetKernel(CUkernel *found, CUlibrary library, const char *name) {
    return asked(__func__, [=] { return kernel_in(found, (uint64_t)library, name); });
}
DRIVER cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}
DRIVER cuLibraryGetGlobal(CUdeviceptr *found, size_t *bytes, CUlibrary library, const char *name) {
    return asked(__func__, [=] { return variable_in(found, bytes, (uint64_t)library, name); });
}
DRIVER cuKernelGetFunction(CUfunction *found, CUkernel kernel) {
    *found = (CUfunction)kernel;
    return CUDA_SUCCESS;
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
DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
    return asked(__func__, [=] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, threads, shared);
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
DRIVER cuLaunchKernelEx(const CUlaunchConfig *given, CUfunction function, void **arguments, void **extra) {
    return asked(__func__, [=] {
        RETURN_IF(!given || (given->numAttrs && !given->attrs), cudaErrorInvalidValue, "");
        cudaLaunchConfig_t config = {{given->gridDimX, given->gridDimY, given->gridDimZ},
                                     {given->blockDimX, given->blockDimY, given->blockDimZ},
                                     given->sharedMemBytes,
                                     given->hStream,
                                     (cudaLaunchAttribute *)given->attrs,
                                     given->numAttrs};
        return launch_as(function, config, arguments, extra);
    });
}
DRIVER cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y,
                                 unsigned z, unsigned shared, CUstream stream, void **arguments) {
    return asked(__func__, [=] {
        return cudaLaunchCooperativeKernel((const void *)function, {grid_x, grid_y, grid_z}, {x, y, z}, arguments, shared, stream);
    });
}

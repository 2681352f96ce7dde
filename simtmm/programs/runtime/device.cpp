// The device: one, with the numbers of the machine that is simulated.
#include "runtime.h"

#include <cstdio>
#include <cstring>
#include <map>

namespace simtmm {

static std::map<std::string, int64_t> &properties() {
    static auto &found = *new std::map<std::string, int64_t>;  // there to the last
    return found;
}
static std::string device_name = "simtmm";

int64_t property(const char *name, int64_t otherwise) {
    auto found = properties().find(name);
    return found == properties().end() ? otherwise : found->second;
}

static const int64_t WARP = 32;

}  // namespace simtmm

using namespace simtmm;

extern "C" __attribute__((visibility("default"))) void simtmm_property(const char *name, int64_t value) {
    properties()[name] = value;
}
extern "C" __attribute__((visibility("default"))) int64_t simtmm_heap_limit() {
    return property(("limit" + std::to_string((int)cudaLimitMallocHeapSize)).c_str(), 1 << 23);
}
extern "C" __attribute__((visibility("default"))) void simtmm_device_name(const char *name) { device_name = name; }

API cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    BEGIN
    RETURN_IF(!p, cudaErrorInvalidValue, "");
    RETURN_IF(device != 0, cudaErrorInvalidDevice, "");
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", device_name.c_str());
    p->totalGlobalMem = property("memory", 1ll << 33);
    p->sharedMemPerBlock = property("dynamic_shared", 48 * 1024);
    p->sharedMemPerBlockOptin = property("shared_optin", 227 * 1024);
    p->sharedMemPerMultiprocessor = property("shared_multiprocessor", 228 * 1024);
    p->reservedSharedMemPerBlock = property("shared_reserved", 1024);
    p->regsPerBlock = p->regsPerMultiprocessor = (int)property("registers", 65536);
    p->warpSize = WARP;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = (int)property("threads_per_block", 1024);
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = p->maxThreadsPerBlock;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = (int)property("major", 9);
    p->minor = (int)property("minor", 0);
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = (int)property("multiprocessors", 132);
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
    p->maxTexture1D = 131072;
    p->maxTexture2D[0] = 131072;
    p->maxTexture2D[1] = 65536;
    p->maxTexture2DLinear[0] = 131072;
    p->maxTexture2DLinear[1] = 65000;
    p->maxTexture2DLinear[2] = 2097120;
    p->maxSurface1D = p->maxSurface2D[0] = 131072;
    p->maxSurface2D[1] = 65536;
    p->surfaceAlignment = 512;
    p->asyncEngineCount = 2;
    p->memoryBusWidth = (int)property("bus_bits", 5120);
    p->l2CacheSize = (int)property("l2", 0);
    p->maxThreadsPerMultiProcessor = (int)(property("warps", 64) * WARP);
    p->maxBlocksPerMultiProcessor = (int)property("blocks", 32);
    p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->concurrentManagedAccess = p->computePreemptionSupported = p->cooperativeLaunch = 1;
    p->hostRegisterSupported = p->memoryPoolsSupported = 1;
    return cudaSuccess;
}

API cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    BEGIN
    RETURN_IF(!value, cudaErrorInvalidValue, "");
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error) return error;
    switch ((int)attribute) {
        case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
        case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
        case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
        case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
        case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
        case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
        case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
        case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
        case cudaDevAttrWarpSize: *value = p.warpSize; break;
        case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
        case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
        case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
        case cudaDevAttrClockRate: *value = (int)property("clock_khz", 0); break;
        case cudaDevAttrMemoryClockRate: *value = (int)property("memory_clock_khz", 0); break;
        case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
        case cudaDevAttrTexturePitchAlignment: *value = (int)p.texturePitchAlignment; break;
        case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
        case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
        case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
        case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
        case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
        case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
        case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
        case cudaDevAttrMaxTexture1DWidth: *value = p.maxTexture1D; break;
        case cudaDevAttrMaxTexture2DWidth: *value = p.maxTexture2D[0]; break;
        case cudaDevAttrMaxTexture2DHeight: *value = p.maxTexture2D[1]; break;
        case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrStreamPrioritiesSupported:
        case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported:
        case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrComputePreemptionSupported:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrHostRegisterSupported:
        case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
        default: *value = 0;
    }
    return cudaSuccess;
}

API cudaGetDeviceCount(int *count) {
    BEGIN
    RETURN_IF(!count, cudaErrorInvalidValue, "");
    *count = 1;
    return cudaSuccess;
}
API cudaGetDevice(int *device) {
    BEGIN
    *device = 0;
    return cudaSuccess;
}
API cudaSetDevice(int device) {
    BEGIN
    RETURN_IF(device != 0, cudaErrorInvalidDevice, here("cudaSetDevice") + ": device " + std::to_string(device) + ": there is one, 0");
    return cudaSuccess;
}
API cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
API cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }
API cudaSetValidDevices(int *, int) { return cudaSuccess; }
API cudaSetDeviceFlags(unsigned) { BEGIN return cudaSuccess; }
API cudaGetDeviceFlags(unsigned *flags) {
    *flags = 0;
    return cudaSuccess;
}
API cudaDeviceSynchronize() {
    BEGIN
    calls.wait(-1, -1);
    return cudaSuccess;
}
API cudaDeviceReset() {
    Call call;
    sticky_error = last_error = cudaSuccess;
    return cudaSuccess;
}
API cudaDeviceSetCacheConfig(cudaFuncCache) { BEGIN return cudaSuccess; }
API cudaDeviceGetCacheConfig(cudaFuncCache *found) {
    *found = cudaFuncCachePreferNone;
    return cudaSuccess;
}
API cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    BEGIN
    properties()["limit" + std::to_string((int)limit)] = (int64_t)value;
    return cudaSuccess;
}
API cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    BEGIN
    int64_t usual = limit == cudaLimitStackSize ? 1024 : limit == cudaLimitPrintfFifoSize ? 1 << 20 : 1 << 23;
    *value = (size_t)property(("limit" + std::to_string((int)limit)).c_str(), usual);
    return cudaSuccess;
}
API cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
API cudaDeviceCanAccessPeer(int *can, int, int) {
    BEGIN
    *can = 0;
    return cudaSuccess;
}
API cudaDeviceEnablePeerAccess(int, unsigned) { return failed(cudaErrorInvalidDevice); }
API cudaDeviceDisablePeerAccess(int) { return failed(cudaErrorPeerAccessNotEnabled); }
API cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr, int, int) { return *value = 0, failed(cudaErrorInvalidDevice); }
API cudaDeviceGetPCIBusId(char *text, int bytes, int) {
    snprintf(text, bytes, "0000:00:00.0");
    return cudaSuccess;
}
API cudaDeviceGetByPCIBusId(int *device, const char *) { return cudaGetDevice(device); }
API cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
API cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
API cudaProfilerStart() { return cudaSuccess; }
API cudaProfilerStop() { return cudaSuccess; }

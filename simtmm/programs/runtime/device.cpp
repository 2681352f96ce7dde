// The device: one, with the numbers of the machine that is simulated.
#include "clock.h"

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

int64_t attribute(cudaDeviceAttr attribute) {
    return property(("attribute " + std::to_string((int)attribute)).c_str());
}

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
    p->totalGlobalMem = property("memory");
    p->sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    p->sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    p->regsPerBlock = (int)attribute(cudaDevAttrMaxRegistersPerBlock);
    p->regsPerMultiprocessor = (int)attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    p->warpSize = (int)attribute(cudaDevAttrWarpSize);
    p->memPitch = attribute(cudaDevAttrMaxPitch);
    p->maxThreadsPerBlock = (int)attribute(cudaDevAttrMaxThreadsPerBlock);
    p->maxThreadsDim[0] = (int)attribute(cudaDevAttrMaxBlockDimX);
    p->maxThreadsDim[1] = (int)attribute(cudaDevAttrMaxBlockDimY);
    p->maxThreadsDim[2] = (int)attribute(cudaDevAttrMaxBlockDimZ);
    p->maxGridSize[0] = (int)attribute(cudaDevAttrMaxGridDimX);
    p->maxGridSize[1] = (int)attribute(cudaDevAttrMaxGridDimY);
    p->maxGridSize[2] = (int)attribute(cudaDevAttrMaxGridDimZ);
    p->totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
    p->major = (int)attribute(cudaDevAttrComputeCapabilityMajor);
    p->minor = (int)attribute(cudaDevAttrComputeCapabilityMinor);
    p->textureAlignment = attribute(cudaDevAttrTextureAlignment);
    p->texturePitchAlignment = attribute(cudaDevAttrTexturePitchAlignment);
    p->multiProcessorCount = (int)attribute(cudaDevAttrMultiProcessorCount);
    p->integrated = (int)attribute(cudaDevAttrIntegrated);
    p->canMapHostMemory = (int)attribute(cudaDevAttrCanMapHostMemory);
    p->concurrentKernels = (int)attribute(cudaDevAttrConcurrentKernels);
    p->unifiedAddressing = (int)attribute(cudaDevAttrUnifiedAddressing);
    p->managedMemory = (int)attribute(cudaDevAttrManagedMemory);
    p->maxTexture1D = 131072;
    p->maxTexture2D[0] = 131072;
    p->maxTexture2D[1] = 65536;
    p->maxTexture2DLinear[0] = 131072;
    p->maxTexture2DLinear[1] = 65000;
    p->maxTexture2DLinear[2] = 2097120;
    p->maxSurface1D = p->maxSurface2D[0] = 131072;
    p->maxSurface2D[1] = 65536;
    p->surfaceAlignment = attribute(cudaDevAttrSurfaceAlignment);
    p->asyncEngineCount = (int)attribute(cudaDevAttrAsyncEngineCount);
    p->memoryBusWidth = (int)attribute(cudaDevAttrGlobalMemoryBusWidth);
    p->l2CacheSize = (int)attribute(cudaDevAttrL2CacheSize);
    p->maxThreadsPerMultiProcessor = (int)attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    p->maxBlocksPerMultiProcessor = (int)attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    p->streamPrioritiesSupported = (int)attribute(cudaDevAttrStreamPrioritiesSupported);
    p->globalL1CacheSupported = (int)attribute(cudaDevAttrGlobalL1CacheSupported);
    p->localL1CacheSupported = (int)attribute(cudaDevAttrLocalL1CacheSupported);
    p->concurrentManagedAccess = (int)attribute(cudaDevAttrConcurrentManagedAccess);
    p->computePreemptionSupported = (int)attribute(cudaDevAttrComputePreemptionSupported);
    p->cooperativeLaunch = (int)attribute(cudaDevAttrCooperativeLaunch);
    p->hostRegisterSupported = (int)attribute(cudaDevAttrHostRegisterSupported);
    p->memoryPoolsSupported = (int)attribute(cudaDevAttrMemoryPoolsSupported);
    return cudaSuccess;
}

API cudaDeviceGetAttribute(int *value, cudaDeviceAttr wanted, int device) {
    BEGIN
    RETURN_IF(!value, cudaErrorInvalidValue, "");
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error) return error;
    switch ((int)wanted) {
        case cudaDevAttrMaxTexture1DWidth: *value = p.maxTexture1D; break;
        case cudaDevAttrMaxTexture2DWidth: *value = p.maxTexture2D[0]; break;
        case cudaDevAttrMaxTexture2DHeight: *value = p.maxTexture2D[1]; break;
        default: *value = (int)attribute(wanted);
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
    work_follows();
    calls.wait(-1, -1);
    return learned();
}
API cudaDeviceReset() {
    Call call;
    sticky_error = last_error = error_of_work = cudaSuccess;
    return cudaSuccess;
}
API cudaDeviceSetCacheConfig(cudaFuncCache) { BEGIN return without_effect("cudaDeviceSetCacheConfig"); }
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
    RETURN_IF(!can, cudaErrorInvalidValue, "");
    *can = 0;
    return failed(cudaErrorInvalidDevice);  // there is one device, and none is its own peer
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

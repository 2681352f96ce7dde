// What a program asks of streams, functions, memory and pools, and may set without effect.
#include "runtime.h"

#include <algorithm>
#include <cstring>

using namespace simtmm;

API cudaStreamGetAttribute(cudaStream_t, cudaLaunchAttributeID, cudaLaunchAttributeValue *value) {
    BEGIN
    RETURN_IF(!value, cudaErrorInvalidValue, "");
    memset(value, 0, sizeof *value);
    return cudaSuccess;
}

// Banks of shared memory have four bytes.
API cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *found) {
    BEGIN
    RETURN_IF(!found, cudaErrorInvalidValue, "");
    *found = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}
API cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { BEGIN return without_effect("cudaDeviceSetSharedMemConfig"); }
API cudaFuncSetSharedMemConfig(const void *, cudaSharedMemConfig) {
    BEGIN
    return without_effect("cudaFuncSetSharedMemConfig");
}

API cudaFuncGetParamCount(const void *function, size_t *count) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel || !count, kernel ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction, "");
    cudaError_t error = layout_of(kernel);
    *count = error ? 0 : kernel->parameters;
    return error;
}
API cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel, cudaErrorInvalidDeviceFunction, "");
    cudaError_t error = layout_of(kernel);
    if (error) return error;
    RETURN_IF(index >= (size_t)kernel->parameters, cudaErrorInvalidValue, "");
    if (offset) *offset = kernel->offsets[index];
    if (size) *size = kernel->sizes[index];
    return cudaSuccess;
}

static uint64_t blocks_of(const cudaLaunchConfig_t *config, unsigned *cluster) {
    *cluster = 1;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            auto size = config->attrs[i].val.clusterDim;
            *cluster = size.x * size.y * size.z;
        }
    return (uint64_t)config->blockDim.x * config->blockDim.y * config->blockDim.z;
}
static const unsigned MOST_OF_CLUSTER = 8;  // blocks, without leave for more

API cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const cudaLaunchConfig_t *config) {
    BEGIN
    RETURN_IF(!clusters || !config, cudaErrorInvalidValue, "");
    unsigned size;
    int blocks = 0, threads = (int)blocks_of(config, &size);
    RETURN_IF(size < 1 || attribute(cudaDevAttrComputeCapabilityMajor) < 9, cudaErrorNotSupported,
              here("cudaOccupancyMaxActiveClusters") + ": the device has no clusters");
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, config->dynamicSmemBytes);
    *clusters = error ? 0 : (int)(blocks * attribute(cudaDevAttrMultiProcessorCount) / size);
    return error;
}
API cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const cudaLaunchConfig_t *config) {
    BEGIN
    RETURN_IF(!size || !config || !kernel_of(function), cudaErrorInvalidValue, "");
    *size = attribute(cudaDevAttrComputeCapabilityMajor) < 9 ? 1 : MOST_OF_CLUSTER;
    return cudaSuccess;
}

// Of managed memory: advice, and where it was sent last.
static cudaError_t told(Piece *piece, cudaMemRangeAttribute which, void *data, size_t size) {
    if (!piece || piece->kind != MANAGED || !data || size < sizeof(int)) return failed(cudaErrorInvalidValue);
    switch (which) {
        case cudaMemRangeAttributeReadMostly:
        case cudaMemRangeAttributePreferredLocation:
        case cudaMemRangeAttributeLastPrefetchLocation: *(int *)data = (int)advised(piece, which); return cudaSuccess;
        case cudaMemRangeAttributeAccessedBy:
            std::fill((int *)data, (int *)data + size / sizeof(int), (int)cudaInvalidDeviceId);
            *(int *)data = (int)advised(piece, which);
            return cudaSuccess;
        default: memset(data, 0, size); return cudaSuccess;
    }
}
API cudaMemRangeGetAttribute(void *data, size_t size, cudaMemRangeAttribute which, const void *pointer, size_t) {
    BEGIN
    return told(find(pointer), which, data, size);
}
API cudaMemRangeGetAttributes(void **data, size_t *sizes, cudaMemRangeAttribute *which, size_t count, const void *pointer,
                              size_t) {
    BEGIN
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = told(find(pointer), which[i], data[i], sizes[i]);
    return error;
}
API cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t, cudaMemLocation *) {
    BEGIN
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}
API cudaMemGetDefaultMemPool(cudaMemPool_t *pool, cudaMemLocation *, cudaMemAllocationType) {
    return cudaDeviceGetDefaultMemPool(pool, 0);
}
API cudaMemGetMemPool(cudaMemPool_t *pool, cudaMemLocation *, cudaMemAllocationType) {
    return cudaDeviceGetDefaultMemPool(pool, 0);
}
API cudaMemSetMemPool(cudaMemLocation *, cudaMemAllocationType, cudaMemPool_t) { BEGIN return cudaSuccess; }

API cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count, cudaMemcpyAttributes *,
                         size_t *, size_t, cudaStream_t stream) {
    BEGIN
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = cudaMemcpyAsync(to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
    return error;
}
API cudaDeviceGetTexture1DLinearMaxWidth(size_t *elements, const cudaChannelFormatDesc *, int) {
    BEGIN
    *elements = 1 << 28;
    return cudaSuccess;
}
API cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget, cudaFlushGPUDirectRDMAWritesScope) {
    BEGIN return cudaSuccess;
}

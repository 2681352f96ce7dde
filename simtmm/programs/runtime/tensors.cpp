// Tensor maps, and the functions of the driver's interface that make them.
#include "driver.h"

#include <dlfcn.h>

#include <cstring>

#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion
#undef cuGetProcAddress

namespace simtmm {

// TENSOR_MAP of simtmm/cuda/execution/layout.py.
#pragma pack(push, 1)
struct TensorMap {
    uint64_t magic, address, sizes[5], strides[4];
    uint16_t box[5];
    uint8_t steps[5], kind, rank, interleave, swizzle, fill, im2col, element_bytes;
    int16_t lower[3], upper[3];
    uint8_t rest[6];
};
#pragma pack(pop)
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap), "a tensor map is as large as the driver's");
static const uint64_t MAGIC = 0x50414D544D495453;
static const int BYTES[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};  // of each type, by its number

static CUresult wrong(CUresult error, const char *function, const std::string &why) {
    say("error: ", std::string(function) + ": " + why);
    return error;
}

#define REQUIRE(condition, why) \
    if (!(condition)) return wrong(CUDA_ERROR_INVALID_VALUE, function, why);
#define KNOWN(condition, why) \
    if (!(condition)) return wrong(CUDA_ERROR_NOT_SUPPORTED, function, why);

// What both modes have in common.
static CUresult encode(const char *function, TensorMap *map, int kind, unsigned rank, void *address,
                       const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *steps, int interleave,
                       int swizzle, int fill) {
    REQUIRE(rank >= 1 && rank <= 5, "tensorRank = " + std::to_string(rank) + ": must be 1 to 5");
    KNOWN(kind >= 0 && kind < 13, "tensorDataType = " + std::to_string(kind) +
                                      ": types that a copy unpacks are not supported; must be 0 to 12");
    KNOWN(interleave == 0, "interleave = " + std::to_string(interleave) + ": interleaved tensors are not supported");
    KNOWN(swizzle >= 0 && swizzle <= 3, "swizzle = " + std::to_string(swizzle) +
                                            ": needs a later architecture than sm_90; must be 0 to 3");
    REQUIRE((uint64_t)address % 16 == 0, "globalAddress: must be a multiple of 16");
    REQUIRE(!fill || kind >= 6, "oobFill: NaN is of floating-point types alone");
    memset(map, 0, sizeof *map);
    map->magic = MAGIC;
    map->address = (uint64_t)address;
    map->kind = kind;
    map->rank = rank;
    map->swizzle = swizzle;
    map->fill = fill;
    map->element_bytes = BYTES[kind];
    for (unsigned i = 0; i < rank; i++) {
        std::string at = "[" + std::to_string(i) + "] = ";
        REQUIRE(sizes[i] >= 1 && sizes[i] <= 1ull << 32, "globalDim" + at + std::to_string(sizes[i]) + ": must be 1 to 2^32");
        REQUIRE(steps[i] >= 1 && steps[i] <= 8, "elementStrides" + at + std::to_string(steps[i]) + ": must be 1 to 8");
        map->sizes[i] = sizes[i];
        map->steps[i] = steps[i];
        if (i + 1 == rank) continue;
        REQUIRE(strides[i] % 16 == 0 && strides[i] < 1ull << 40,
                "globalStrides" + at + std::to_string(strides[i]) + ": must be a multiple of 16 below 2^40");
        map->strides[i] = strides[i];
    }
    return CUDA_SUCCESS;
}

// Whether a row of a box is one that a swizzle has.
static CUresult fits(const char *function, const char *name, uint64_t bytes, int swizzle) {
    REQUIRE(bytes % 16 == 0, std::string(name) + ": a row of a box has " + std::to_string(bytes) +
                                 " bytes: must be a multiple of 16");
    uint64_t pattern = 16ull << swizzle;
    REQUIRE(!swizzle || bytes <= pattern, std::string(name) + ": a row of a box has " + std::to_string(bytes) +
                                              " bytes: must be at most " + std::to_string(pattern) + " with this swizzle");
    return CUDA_SUCCESS;
}

static CUresult tiled(CUtensorMap *found, int kind, unsigned rank, void *address, const cuuint64_t *sizes,
                      const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps, int interleave, int swizzle,
                      int fill) {
    const char *function = "cuTensorMapEncodeTiled";
    TensorMap map;
    CUresult error = encode(function, &map, kind, rank, address, sizes, strides, steps, interleave, swizzle, fill);
    if (error) return error;
    for (unsigned i = 0; i < rank; i++) {
        REQUIRE(box[i] >= 1 && box[i] <= 256, "boxDim[" + std::to_string(i) + "] = " + std::to_string(box[i]) + ": must be 1 to 256");
        map.box[i] = box[i];
    }
    uint64_t inner = (box[0] + steps[0] - 1) / steps[0];
    error = fits(function, "boxDim[0]", inner * map.element_bytes, swizzle);
    if (!error) memcpy(found, &map, sizeof map);
    return error;
}

static CUresult pixels(CUtensorMap *found, int kind, unsigned rank, void *address, const cuuint64_t *sizes,
                       const cuuint64_t *strides, const int *lower, const int *upper, unsigned channels, unsigned count,
                       const cuuint32_t *steps, int interleave, int swizzle, int fill) {
    const char *function = "cuTensorMapEncodeIm2col";
    REQUIRE(rank >= 3, "tensorRank = " + std::to_string(rank) + ": must be 3 to 5");
    TensorMap map;
    CUresult error = encode(function, &map, kind, rank, address, sizes, strides, steps, interleave, swizzle, fill);
    if (error) return error;
    REQUIRE(channels >= 1 && channels <= 256, "channelsPerPixel = " + std::to_string(channels) + ": must be 1 to 256");
    REQUIRE(count >= 1 && count <= 1024, "pixelsPerColumn = " + std::to_string(count) + ": must be 1 to 1024");
    map.im2col = 1;
    map.box[0] = channels;
    map.box[1] = count;
    int bits = rank == 3 ? 15 : rank == 4 ? 7 : 4;  // of a corner, besides its sign
    for (unsigned i = 0; i + 2 < rank; i++) {
        for (int corner : {lower[i], upper[i]})
            REQUIRE(corner >= -(1 << bits) && corner < 1 << bits, "a corner of the pixels' box is " + std::to_string(corner) +
                                                                      ": must be " + std::to_string(-(1 << bits)) + " to " +
                                                                      std::to_string((1 << bits) - 1));
        map.lower[i] = lower[i];
        map.upper[i] = upper[i];
    }
    error = fits(function, "channelsPerPixel", (uint64_t)channels * map.element_bytes, swizzle);
    if (!error) memcpy(found, &map, sizeof map);
    return error;
}

}  // namespace simtmm

using namespace simtmm;

DRIVER cuTensorMapEncodeTiled(CUtensorMap *found, CUtensorMapDataType kind, cuuint32_t rank, void *address,
                              const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                              const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
    Call call;
    if (!found || !sizes || !box || !steps || (rank > 1 && !strides))
        return wrong(CUDA_ERROR_INVALID_VALUE, "cuTensorMapEncodeTiled", "a pointer is null");
    return tiled(found, kind, rank, address, sizes, strides, box, steps, interleave, swizzle, fill);
}

DRIVER cuTensorMapEncodeIm2col(CUtensorMap *found, CUtensorMapDataType kind, cuuint32_t rank, void *address,
                               const cuuint64_t *sizes, const cuuint64_t *strides, const int *lower, const int *upper,
                               cuuint32_t channels, cuuint32_t count, const cuuint32_t *steps,
                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                               CUtensorMapFloatOOBfill fill) {
    Call call;
    if (!found || !sizes || !lower || !upper || !steps || !strides)
        return wrong(CUDA_ERROR_INVALID_VALUE, "cuTensorMapEncodeIm2col", "a pointer is null");
    return pixels(found, kind, rank, address, sizes, strides, lower, upper, channels, count, steps, interleave, swizzle, fill);
}

DRIVER cuTensorMapReplaceAddress(CUtensorMap *found, void *address) {
    Call call;
    auto *map = (TensorMap *)found;
    if (!map || map->magic != MAGIC || (uint64_t)address % 16)
        return wrong(CUDA_ERROR_INVALID_VALUE, "cuTensorMapReplaceAddress",
                     "needs a tensor map, and an address that is a multiple of 16");
    map->address = (uint64_t)address;
    return CUDA_SUCCESS;
}

DRIVER cuInit(unsigned) { return CUDA_SUCCESS; }
DRIVER cuGetErrorName(CUresult error, const char **text) {
    *text = cudaGetErrorName((cudaError_t)error);  // both interfaces number errors alike
    return CUDA_SUCCESS;
}
DRIVER cuGetErrorString(CUresult error, const char **text) {
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

static const int VERSIONS = 9;  // of a function, at most

// A function of this library by its name, of the latest version that there is: headers of CUDA write cuMemAlloc for
// cuMemAlloc_v2. before_13: as programs for an earlier CUDA expect cuCtxCreate.
static void *driver_function(const std::string &name, bool before_13) {
    static void *const library = [] {
        Dl_info found;
        return dladdr((void *)cuInit, &found) ? dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    }();
    if (!library || name.rfind("cu", 0) || !name.rfind("cuda", 0)) return nullptr;
    if (before_13 && name == "cuCtxCreate") return dlsym(library, "cuCtxCreate_v2");
    for (int version = VERSIONS; version >= 2; version--)
        if (void *found = dlsym(library, (name + "_v" + std::to_string(version)).c_str())) return found;
    return dlsym(library, name.c_str());
}

static cudaError_t entry_point(const char *name, void **function, cudaDriverEntryPointQueryResult *status,
                               unsigned version = CUDART_VERSION) {
    BEGIN
    RETURN_IF(!name || !function, cudaErrorInvalidValue, "");
    *function = driver_function(name, version < 13000);
    if (status) *status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    if (*function) return cudaSuccess;
    say("note: ", std::string(name) + ": a driver API function that is not supported");
    return status ? cudaSuccess : failed(cudaErrorSymbolNotFound);
}

API cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long,
                            cudaDriverEntryPointQueryResult *status) {
    return entry_point(name, function, status);
}
API cudaGetDriverEntryPoint_ptsz(const char *name, void **function, unsigned long long,
                                 cudaDriverEntryPointQueryResult *status) {
    return entry_point(name, function, status);
}
API cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long,
                                     cudaDriverEntryPointQueryResult *status) {
    return entry_point(name, function, status, version);
}
API cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **function, unsigned version, unsigned long long,
                                          cudaDriverEntryPointQueryResult *status) {
    return entry_point(name, function, status, version);
}

static CUresult proc_address(const char *name, void **function, int version, CUdriverProcAddressQueryResult *status) {
    Call call;
    if (!name || !function) return CUDA_ERROR_INVALID_VALUE;
    *function = driver_function(name, version < 13000);
    if (status) *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (*function) return CUDA_SUCCESS;
    say("note: ", std::string(name) + ": a driver API function that is not supported");
    return CUDA_ERROR_NOT_FOUND;
}
DRIVER cuGetProcAddress(const char *name, void **function, int version, cuuint64_t) {
    return proc_address(name, function, version, nullptr);
}
DRIVER cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t, CUdriverProcAddressQueryResult *status) {
    return proc_address(name, function, version, status);
}

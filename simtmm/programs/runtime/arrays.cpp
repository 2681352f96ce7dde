// Arrays of CUDA's, and textures and surfaces on them, on pitched and on linear memory.
#include "runtime.h"

#include <cstring>
#include <map>

struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;  // 0 for dimensions that it does not have
    unsigned flags;
    uint64_t element, pitch, rows;
    simtmm::Piece *piece;
};

namespace simtmm {

bool array_side(cudaArray_const_t array, ArraySide *side) {
    *side = {(char *)array->piece->host, array->pitch, array->rows, array->element};
    return true;
}

// What Python makes a row of simtmm.cuda.execution.layout.TEXTURE of.
struct Texture {
    uint64_t host, address, width, height, depth, pitch, slice;  // 0 for a dimension that it does not have
    int32_t channels, bits, format;  // format: of cudaChannelFormatKind
    int32_t address_x, address_y, address_z, filter, read_mode, normalized, is_surface, is_layered;
    float border[4];
};
typedef int (*MakeTexture)(int number, const Texture *texture);
static MakeTexture make_texture = nullptr;
struct TextureObject {
    cudaResourceDesc resource;
    cudaTextureDesc texture;
};
static std::map<unsigned long long, TextureObject> texture_objects;
static int textures = 0;
static const unsigned long long FIRST = 1ull << 46;  // layout.TEXTURE_HANDLE

static cudaError_t described(const cudaResourceDesc *resource, Texture *found, const char *function) {
    cudaChannelFormatDesc format = {};
    switch (resource->resType) {
        case cudaResourceTypeArray: {
            cudaArray_t array = resource->res.array.array;
            if (!array) return failed(cudaErrorInvalidValue);
            if (array->flags & cudaArrayCubemap)
                return failed(cudaErrorNotSupported, here(function) + ": cube maps are not read here");
            format = array->format;
            found->host = array->piece->host;
            found->address = array->piece->address;
            found->width = array->extent.width;
            found->height = array->extent.height;
            found->depth = array->extent.depth;
            found->pitch = array->pitch;
            found->slice = array->pitch * array->rows;
            found->is_layered = !!(array->flags & cudaArrayLayered);
            break;
        }
        case cudaResourceTypeLinear: {
            const auto &linear = resource->res.linear;
            format = linear.desc;
            uint64_t texel = (format.x + format.y + format.z + format.w) / 8;
            Piece *piece = find(linear.devPtr);
            uint64_t bytes = linear.sizeInBytes;
            if (piece && bytes >= 0xffffffffu) bytes = piece->address + piece->bytes - (uint64_t)linear.devPtr;  // all
            found->host = (uint64_t)bytes_at(linear.devPtr, bytes, ON_DEVICE, function);
            if (!found->host || !texel) return failed(cudaErrorInvalidValue);
            found->address = (uint64_t)linear.devPtr;
            found->width = bytes / texel;
            break;
        }
        case cudaResourceTypePitch2D: {
            const auto &pitched = resource->res.pitch2D;
            format = pitched.desc;
            uint64_t texel = (format.x + format.y + format.z + format.w) / 8;
            uint64_t bytes = (pitched.height - 1) * pitched.pitchInBytes + pitched.width * texel;
            found->host = (uint64_t)bytes_at(pitched.devPtr, bytes, ON_DEVICE, function);
            if (!found->host || !texel) return failed(cudaErrorInvalidValue);
            found->address = (uint64_t)pitched.devPtr;
            found->width = pitched.width;
            found->height = pitched.height;
            found->pitch = pitched.pitchInBytes;
            break;
        }
        default: return failed(cudaErrorNotSupported, here(function) + ": mipmapped arrays are not read here");
    }
    found->bits = format.x;
    found->format = format.f;
    found->channels = !!format.x + !!format.y + !!format.z + !!format.w;
    return cudaSuccess;
}

static cudaError_t given(unsigned long long *handle, const Texture &texture, const TextureObject &object) {
    int number = textures++;
    int error = make_texture ? make_texture(number, &texture) : (int)cudaErrorNotSupported;
    if (error) return failed((cudaError_t)error);
    *handle = FIRST + number;
    texture_objects[*handle] = object;
    return cudaSuccess;
}

}  // namespace simtmm

using namespace simtmm;

extern "C" __attribute__((visibility("default"))) void simtmm_textures(MakeTexture function) { make_texture = function; }

API cudaCreateTextureObject(cudaTextureObject_t *handle, const cudaResourceDesc *resource, const cudaTextureDesc *texture,
                            const cudaResourceViewDesc *) {
    BEGIN
    RETURN_IF(!handle || !resource || !texture, cudaErrorInvalidValue, "");
    Texture found = {};
    cudaError_t error = described(resource, &found, "cudaCreateTextureObject");
    if (error) return error;
    found.address_x = texture->addressMode[0];
    found.address_y = texture->addressMode[1];
    found.address_z = texture->addressMode[2];
    found.filter = texture->filterMode;
    found.read_mode = texture->readMode;
    found.normalized = texture->normalizedCoords;
    memcpy(found.border, texture->borderColor, sizeof found.border);
    return given(handle, found, {*resource, *texture});
}
API cudaDestroyTextureObject(cudaTextureObject_t handle) {
    BEGIN
    texture_objects.erase(handle);
    return cudaSuccess;
}
API cudaGetTextureObjectResourceDesc(cudaResourceDesc *found, cudaTextureObject_t handle) {
    BEGIN
    RETURN_IF(!texture_objects.count(handle), cudaErrorInvalidValue, "");
    *found = texture_objects[handle].resource;
    return cudaSuccess;
}
API cudaGetTextureObjectTextureDesc(cudaTextureDesc *found, cudaTextureObject_t handle) {
    BEGIN
    RETURN_IF(!texture_objects.count(handle), cudaErrorInvalidValue, "");
    *found = texture_objects[handle].texture;
    return cudaSuccess;
}
API cudaCreateSurfaceObject(cudaSurfaceObject_t *handle, const cudaResourceDesc *resource) {
    BEGIN
    RETURN_IF(!handle || !resource, cudaErrorInvalidValue, "");
    Texture found = {};
    found.is_surface = 1;
    cudaError_t error = described(resource, &found, "cudaCreateSurfaceObject");
    if (error) return error;
    return given(handle, found, {*resource, {}});
}
API cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
    BEGIN
    texture_objects.erase(handle);
    return cudaSuccess;
}

extern "C" __attribute__((visibility("default"))) cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                                              cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

API cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent, unsigned flags) {
    BEGIN
    RETURN_IF(!array || !format || !extent.width, cudaErrorInvalidValue, "");
    uint64_t element = (format->x + format->y + format->z + format->w) / 8;
    uint64_t rows = extent.height ? extent.height : 1, layers = extent.depth ? extent.depth : 1;
    uint64_t pitch = (extent.width * element + 31) / 32 * 32;
    std::string name = first_argument();
    Piece *piece = allocate(DEVICE, pitch * rows * layers, name.empty() ? "array" : name);
    RETURN_IF(!piece, cudaErrorMemoryAllocation, "");
    *array = new cudaArray{*format, extent, flags, element, pitch, rows, piece};
    return cudaSuccess;
}
API cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(array, format, cudaExtent{width, height, 0}, flags);
}
API cudaFreeArray(cudaArray_t array) {
    BEGIN
    if (!array) return cudaSuccess;
    release((void *)array->piece->address, DEVICE, "cudaFreeArray");
    delete array;
    return cudaSuccess;
}
API cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t array) {
    BEGIN
    *format = array->format;
    return cudaSuccess;
}
API cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *flags, cudaArray_t array) {
    BEGIN
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

// Rows of an array from a place on. Past a row's end, as the old functions of one dimension allow, the next begins.
static cudaError_t part(cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height, const char *function) {
    if (x + width > array->extent.width * array->element || y + height > array->rows)
        return failed(cudaErrorInvalidValue, here(function) + ": beyond the end of " + array->piece->name);
    return cudaSuccess;
}
static cudaError_t array_2d(cudaArray_const_t array, size_t x, size_t y, void *other, size_t pitch, size_t width,
                            size_t height, cudaMemcpyKind kind, bool to_array, const char *function) {
    cudaError_t error = part(array, x, y, width, height, function);
    if (error || !width || !height) return error;
    bool host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost;
    Role role = kind == cudaMemcpyDefault ? ANY : host ? ON_HOST : ON_DEVICE;
    char *outside = (char *)bytes_at(other, (height - 1) * pitch + width, role, function);
    if (!outside) return cudaErrorInvalidValue;
    if (Piece *piece = find(other)) written(piece);
    written(array->piece);
    for (size_t row = 0; row < height; row++) {
        char *inside = (char *)array->piece->host + (y + row) * array->pitch + x;
        memmove(to_array ? inside : outside + row * pitch, to_array ? outside + row * pitch : inside, width);
    }
    return cudaSuccess;
}
static cudaError_t array_1d(cudaArray_const_t array, size_t x, size_t y, void *other, size_t bytes, cudaMemcpyKind kind,
                            bool to_array, const char *function) {
    size_t width = array->extent.width * array->element;
    while (bytes) {
        size_t now = bytes < width - x ? bytes : width - x;
        cudaError_t error = array_2d(array, x, y, other, now, now, 1, kind, to_array, function);
        if (error) return error;
        other = (char *)other + now;
        bytes -= now;
        x = 0;
        y++;
    }
    return cudaSuccess;
}
API cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                        cudaMemcpyKind kind) {
    BEGIN
    return array_2d(to, x, y, (void *)from, pitch, width, height, kind, true, "cudaMemcpy2DToArray");
}
API cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                             size_t height, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}
API cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                          cudaMemcpyKind kind) {
    BEGIN
    return array_2d(from, x, y, to, pitch, width, height, kind, false, "cudaMemcpy2DFromArray");
}
API cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                               size_t height, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind);
}
#undef cudaMemcpyToArray
API cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind) {
    BEGIN
    return array_1d(to, x, y, (void *)from, bytes, kind, true, "cudaMemcpyToArray");
}
API cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
    BEGIN
    return array_1d(from, x, y, to, bytes, kind, false, "cudaMemcpyFromArray");
}
API cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind,
                           cudaStream_t) {
    return cudaMemcpyToArray(to, x, y, from, bytes, kind);
}
API cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                             cudaStream_t) {
    return cudaMemcpyFromArray(to, from, x, y, bytes, kind);
}

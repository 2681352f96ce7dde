// Texture references, which CUDA 12 took out: variables of managed memory that hold a texture object.
#pragma once

template <class T, int dimensions = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct simtmm_texture {
    cudaTextureObject_t object;
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
};
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2

// What a fetch gives: an element, or floats where it is read as numbers up to 1.
template <class T, cudaTextureReadMode mode> struct simtmm_fetched {
    typedef T type;
};
#define SIMTMM_AS_FLOATS(from, to)                                  \
    template <> struct simtmm_fetched<from, cudaReadModeNormalizedFloat> { \
        typedef to type;                                            \
    };
SIMTMM_AS_FLOATS(char, float)
SIMTMM_AS_FLOATS(signed char, float)
SIMTMM_AS_FLOATS(unsigned char, float)
SIMTMM_AS_FLOATS(short, float)
SIMTMM_AS_FLOATS(unsigned short, float)
SIMTMM_AS_FLOATS(char1, float1)
SIMTMM_AS_FLOATS(uchar1, float1)
SIMTMM_AS_FLOATS(short1, float1)
SIMTMM_AS_FLOATS(ushort1, float1)
SIMTMM_AS_FLOATS(char2, float2)
SIMTMM_AS_FLOATS(short2, float2)
SIMTMM_AS_FLOATS(ushort2, float2)
SIMTMM_AS_FLOATS(char4, float4)
SIMTMM_AS_FLOATS(uchar4, float4)
SIMTMM_AS_FLOATS(short4, float4)
SIMTMM_AS_FLOATS(ushort4, float4)
SIMTMM_AS_FLOATS(uchar2, float2)

template <class T, cudaTextureReadMode mode>
__device__ inline T tex1Dfetch(const simtmm_texture<T, 1, mode> &from, int x) {
    return tex1Dfetch<T>(from.object, x);
}
template <class T, cudaTextureReadMode mode>
__device__ inline typename simtmm_fetched<T, mode>::type tex1D(const simtmm_texture<T, 1, mode> &from, float x) {
    return tex1D<typename simtmm_fetched<T, mode>::type>(from.object, x);
}
template <class T, cudaTextureReadMode mode>
__device__ inline typename simtmm_fetched<T, mode>::type tex2D(const simtmm_texture<T, 2, mode> &from, float x, float y) {
    return tex2D<typename simtmm_fetched<T, mode>::type>(from.object, x, y);
}
template <class T, cudaTextureReadMode mode>
__device__ inline typename simtmm_fetched<T, mode>::type tex3D(const simtmm_texture<T, 3, mode> &from, float x, float y,
                                                               float z) {
    return tex3D<typename simtmm_fetched<T, mode>::type>(from.object, x, y, z);
}
template <class T, cudaTextureReadMode mode>
__device__ inline typename simtmm_fetched<T, mode>::type tex1DLayered(
    const simtmm_texture<T, cudaTextureType1DLayered, mode> &from, float x, int layer) {
    return tex1DLayered<typename simtmm_fetched<T, mode>::type>(from.object, x, layer);
}
template <class T, cudaTextureReadMode mode>
__device__ inline typename simtmm_fetched<T, mode>::type tex2DLayered(
    const simtmm_texture<T, cudaTextureType2DLayered, mode> &from, float x, float y, int layer) {
    return tex2DLayered<typename simtmm_fetched<T, mode>::type>(from.object, x, y, layer);
}

template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t simtmm_bind(simtmm_texture<T, dimensions, mode> &to, const cudaResourceDesc &resource) {
    cudaTextureDesc how = {};
    for (int i = 0; i < 3; i++) how.addressMode[i] = to.addressMode[i];
    how.filterMode = to.filterMode;
    how.readMode = mode;
    how.normalizedCoords = to.normalized;
    return cudaCreateTextureObject(&to.object, &resource, &how, 0);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, simtmm_texture<T, dimensions, mode> &to, const void *pointer,
                                          const cudaChannelFormatDesc &format, size_t bytes = ((size_t)-1)) {
    if (offset) *offset = 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = (void *)pointer;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = bytes;
    return simtmm_bind(to, resource);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, simtmm_texture<T, dimensions, mode> &to, const void *pointer,
                                          size_t bytes = ((size_t)-1)) {
    return cudaBindTexture(offset, to, pointer, cudaCreateChannelDesc<T>(), bytes);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, simtmm_texture<T, dimensions, mode> &to, const void *pointer,
                                            const cudaChannelFormatDesc &format, size_t width, size_t height,
                                            size_t pitch) {
    if (offset) *offset = 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = (void *)pointer;
    resource.res.pitch2D.desc = format;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return simtmm_bind(to, resource);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, simtmm_texture<T, dimensions, mode> &to, const void *pointer,
                                            size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, to, pointer, cudaCreateChannelDesc<T>(), width, height, pitch);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(simtmm_texture<T, dimensions, mode> &to, cudaArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = (cudaArray_t)array;
    return simtmm_bind(to, resource);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(simtmm_texture<T, dimensions, mode> &to, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &) {
    return cudaBindTextureToArray(to, array);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(simtmm_texture<T, dimensions, mode> &of) {
    return cudaDestroyTextureObject(of.object);
}

// As C has them, by the addresses of the reference and of the format.
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, simtmm_texture<T, dimensions, mode> *to, const void *pointer,
                                          const cudaChannelFormatDesc *format, size_t bytes = ((size_t)-1)) {
    return cudaBindTexture(offset, *to, pointer, *format, bytes);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, simtmm_texture<T, dimensions, mode> *to, const void *pointer,
                                            const cudaChannelFormatDesc *format, size_t width, size_t height,
                                            size_t pitch) {
    return cudaBindTexture2D(offset, *to, pointer, *format, width, height, pitch);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(simtmm_texture<T, dimensions, mode> *to, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc *) {
    return cudaBindTextureToArray(*to, array);
}
template <class T, int dimensions, cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(simtmm_texture<T, dimensions, mode> *of) {
    return cudaUnbindTexture(*of);
}

#define texture __managed__ simtmm_texture

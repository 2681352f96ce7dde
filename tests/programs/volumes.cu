// Textures of three dimensions and in layers, and surfaces of both, against what the host computes.
#include <algorithm>
#include <cmath>
#include <vector>
#include "check.h"

const int WIDTH = 20, HEIGHT = 12, DEPTH = 9, LAYERS = 5;

__global__ void resample(cudaTextureObject_t volume, float *out, float scale) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= 2 * WIDTH || y >= HEIGHT) return;
    out[(z * HEIGHT + y) * 2 * WIDTH + x] = tex3D<float>(volume, 0.5f * x * scale, (y + 0.25f) * scale, (z + 0.75f) * scale);
}
__global__ void rotate(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    int2 value;
    surf3Dread(&value, from, x * sizeof(int2), y, z);
    surf3Dwrite(make_int2(value.y, value.x), to, (WIDTH - 1 - x) * sizeof(int2), y, DEPTH - 1 - z);
}
__global__ void blend(cudaTextureObject_t images, cudaTextureObject_t rows, float4 *out) {
    int x = threadIdx.x, y = blockIdx.x, layer = blockIdx.y;
    float4 here = tex2DLayered<float4>(images, x + 0.5f, y + 0.5f, layer), next = tex2DLayered<float4>(images, x + 1.0f, y + 0.5f, layer + 1);
    unsigned char row = tex1DLayered<unsigned char>(rows, x, layer);
    out[(layer * HEIGHT + y) * WIDTH + x] = make_float4(here.x, next.y, here.z + next.w, row);
}
__global__ void mark(cudaSurfaceObject_t layers, cudaSurfaceObject_t lines) {
    surf2DLayeredwrite((float)(100 * blockIdx.x + threadIdx.x), layers, threadIdx.x * 4, 1, blockIdx.x);
    unsigned short value = surf1DLayeredread<unsigned short>(lines, threadIdx.x * 2, blockIdx.x);
    surf1DLayeredwrite((unsigned short)(value + blockIdx.x), lines, threadIdx.x * 2, blockIdx.x);
}

template <class T> static cudaArray_t array_of(cudaExtent extent, unsigned flags, const std::vector<T> &values) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)values.data(), extent.width * sizeof(T), extent.width, std::max<size_t>(1, extent.height));
    p.dstArray = array;
    p.extent = make_cudaExtent(extent.width, std::max<size_t>(1, extent.height), extent.depth);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    return array;
}
template <class T> static std::vector<T> values_of(cudaArray_t array, cudaExtent extent) {
    std::vector<T> values(extent.width * std::max<size_t>(1, extent.height) * extent.depth);
    cudaMemcpy3DParms p = {};
    p.srcArray = array;
    p.dstPtr = make_cudaPitchedPtr(values.data(), extent.width * sizeof(T), extent.width, std::max<size_t>(1, extent.height));
    p.extent = make_cudaExtent(extent.width, std::max<size_t>(1, extent.height), extent.depth);
    p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
    return values;
}
static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureAddressMode z, cudaTextureReadMode read, bool normalized = false) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.addressMode[2] = z;
    how.filterMode = filter;
    how.readMode = read;
    how.normalizedCoords = normalized;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}
static cudaSurfaceObject_t surface_of(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}
static int clamped(int i, int size) { return std::min(std::max(i, 0), size - 1); }

static bool resampled() {
    cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    std::vector<float> values(WIDTH * HEIGHT * DEPTH), result(2 * WIDTH * HEIGHT * DEPTH);
    for (size_t i = 0; i < values.size(); i++) values[i] = (i * 7 % 31) / 4.0f;
    cudaArray_t array = array_of(extent, 0, values);
    cudaTextureObject_t texture = texture_of(array, cudaFilterModeLinear, cudaAddressModeBorder, cudaReadModeElementType);
    float *out;
    CHECK(cudaMalloc(&out, result.size() * 4));
    resample<<<dim3(2, 2, DEPTH), dim3(32, 8)>>>(texture, out, 1.0f);
    CHECK(cudaMemcpy(result.data(), out, result.size() * 4, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < 2 * WIDTH; x++) {
                double at[3] = {0.5 * x - 0.5, y - 0.25, z + 0.25}, sum = 0;
                for (int n = 0; n < 8; n++) {
                    double weight = 1;
                    int index[3];
                    for (int axis = 0; axis < 3; axis++) {
                        double whole = std::floor(at[axis]), part = at[axis] - whole;
                        index[axis] = (int)whole + (n >> axis & 1);
                        weight *= n >> axis & 1 ? part : 1 - part;
                    }
                    if (index[2] < 0 || index[2] >= DEPTH) continue;  // the border is 0
                    sum += weight * values[(index[2] * HEIGHT + clamped(index[1], HEIGHT)) * WIDTH + clamped(index[0], WIDTH)];
                }
                right = right && close_to(result[(z * HEIGHT + y) * 2 * WIDTH + x], sum);
            }
    CHECK(cudaDestroyTextureObject(texture)); CHECK(cudaFreeArray(array)); CHECK(cudaFree(out));
    return right;
}
static bool rotated() {
    cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    std::vector<int2> values(WIDTH * HEIGHT * DEPTH), none(values.size());
    for (int i = 0; i < (int)values.size(); i++) values[i] = make_int2(i, -i);
    cudaArray_t from = array_of(extent, cudaArraySurfaceLoadStore, values), to = array_of(extent, cudaArraySurfaceLoadStore, none);
    cudaSurfaceObject_t source = surface_of(from), target = surface_of(to);
    rotate<<<dim3(HEIGHT, DEPTH), WIDTH>>>(source, target);
    std::vector<int2> result = values_of<int2>(to, extent);
    bool right = true;
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int2 was = values[(z * HEIGHT + y) * WIDTH + x], is = result[((DEPTH - 1 - z) * HEIGHT + y) * WIDTH + WIDTH - 1 - x];
                right = right && is.x == was.y && is.y == was.x;
            }
    CHECK(cudaDestroySurfaceObject(source)); CHECK(cudaDestroySurfaceObject(target));
    CHECK(cudaFreeArray(from)); CHECK(cudaFreeArray(to));
    return right;
}
static bool blended() {
    cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, LAYERS), flat = make_cudaExtent(WIDTH, 0, LAYERS);
    std::vector<float4> values(WIDTH * HEIGHT * LAYERS), result(values.size());
    std::vector<unsigned char> bytes(WIDTH * LAYERS);
    for (int i = 0; i < (int)values.size(); i++) values[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
    for (int i = 0; i < (int)bytes.size(); i++) bytes[i] = i * 3;
    cudaArray_t images = array_of(extent, cudaArrayLayered, values), rows = array_of(flat, cudaArrayLayered, bytes);
    cudaTextureObject_t image = texture_of(images, cudaFilterModeLinear, cudaAddressModeWrap, cudaReadModeElementType);
    cudaTextureObject_t row = texture_of(rows, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeElementType);
    float4 *out;
    CHECK(cudaMalloc(&out, result.size() * sizeof(float4)));
    blend<<<dim3(HEIGHT, LAYERS), WIDTH>>>(image, row, out);
    CHECK(cudaMemcpy(result.data(), out, result.size() * sizeof(float4), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int next = clamped(layer + 1, LAYERS), i = (layer * HEIGHT + y) * WIDTH + x;
                int left = (next * HEIGHT + y) * WIDTH + x, beside = (next * HEIGHT + y) * WIDTH + clamped(x + 1, WIDTH);
                right = right && result[i].x == values[i].x && result[i].w == bytes[layer * WIDTH + x];
                right = right && close_to(result[i].y, (values[left].y + values[beside].y) / 2);
                right = right && close_to(result[i].z, values[i].z + (values[left].w + values[beside].w) / 2);
            }
    CHECK(cudaDestroyTextureObject(image)); CHECK(cudaDestroyTextureObject(row));
    CHECK(cudaFreeArray(images)); CHECK(cudaFreeArray(rows)); CHECK(cudaFree(out));
    return right;
}
static bool marked() {
    cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, LAYERS), flat = make_cudaExtent(WIDTH, 0, LAYERS);
    cudaArray_t layers = array_of(extent, cudaArrayLayered | cudaArraySurfaceLoadStore, std::vector<float>(WIDTH * HEIGHT * LAYERS, -1));
    cudaArray_t lines = array_of(flat, cudaArrayLayered | cudaArraySurfaceLoadStore, std::vector<unsigned short>(WIDTH * LAYERS, 7));
    cudaSurfaceObject_t layer = surface_of(layers), line = surface_of(lines);
    mark<<<LAYERS, WIDTH>>>(layer, line);
    std::vector<float> result = values_of<float>(layers, extent);
    std::vector<unsigned short> counts = values_of<unsigned short>(lines, flat);
    bool right = true;
    for (int z = 0; z < LAYERS; z++)
        for (int x = 0; x < WIDTH; x++) {
            right = right && counts[z * WIDTH + x] == 7 + z;
            for (int y = 0; y < HEIGHT; y++) right = right && result[(z * HEIGHT + y) * WIDTH + x] == (y == 1 ? 100 * z + x : -1);
        }
    CHECK(cudaDestroySurfaceObject(layer)); CHECK(cudaDestroySurfaceObject(line));
    CHECK(cudaFreeArray(layers)); CHECK(cudaFreeArray(lines));
    return right;
}
int main() {
    bool right = resampled();
    right = rotated() && right;
    right = blended() && right;
    return answer(marked() && right);
}

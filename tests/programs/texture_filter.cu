// An image filtered through a texture with clamped borders; the result written to a surface.
#include "check.h"
#include <vector>
__global__ void blur(cudaTextureObject_t image, cudaSurfaceObject_t result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
    surf2Dwrite(sum / 9, result, x * (int)sizeof(float), y);
}
int main() {
    const int width = 40, height = 24;
    std::vector<float> image(width * height), result(width * height);
    for (int i = 0; i < width * height; i++) image[i] = (i * 37) % 101;
    cudaArray_t in, out;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&in, &format, width, height));
    CHECK(cudaMallocArray(&out, &format, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(in, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc from = {}, to = {};
    from.resType = to.resType = cudaResourceTypeArray;
    from.res.array.array = in;
    to.res.array.array = out;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    CHECK(cudaCreateSurfaceObject(&surface, &to));
    blur<<<dim3(5, 3), dim3(8, 8)>>>(texture, surface, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2DFromArray(result.data(), width * 4, out, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += image[std::min(std::max(y + dy, 0), height - 1) * width + std::min(std::max(x + dx, 0), width - 1)];
            right = right && close_to(result[y * width + x], sum / 9);
        }
    CHECK(cudaDestroyTextureObject(texture)); CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(in)); CHECK(cudaFreeArray(out));
    return answer(right);
}

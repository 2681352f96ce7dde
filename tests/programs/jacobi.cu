// Jacobi steps on a plate in pitched memory, until it changes little; a stencil with constant coefficients.
#include "check.h"
#include <utility>
#include <vector>
__constant__ float weights[5];
__global__ void step(const float *from, float *to, size_t pitch, int width, int height, float *change) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1) return;
    auto at = [=](int column, int row) { return *(const float *)((const char *)from + row * pitch + column * sizeof(float)); };
    float value = weights[0] * at(x, y) + weights[1] * at(x - 1, y) + weights[2] * at(x + 1, y) + weights[3] * at(x, y - 1) + weights[4] * at(x, y + 1);
    *(float *)((char *)to + y * pitch + x * sizeof(float)) = value;
    atomicMax((int *)change, __float_as_int(fabsf(value - at(x, y))));
}
int main() {
    const int width = 37, height = 21;
    float host_weights[5] = {0, 0.25f, 0.25f, 0.25f, 0.25f}, *a, *b, *change, largest = 100;
    std::vector<float> plate(width * height, 0), other, result(width * height);
    for (int x = 0; x < width; x++) plate[x] = 100;
    other = plate;
    size_t pitch;
    CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
    CHECK(cudaMallocPitch((void **)&a, &pitch, width * sizeof(float), height));
    CHECK(cudaMallocPitch((void **)&b, &pitch, width * sizeof(float), height));
    CHECK(cudaMalloc(&change, sizeof(float)));
    CHECK(cudaMemcpy2D(a, pitch, plate.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(b, pitch, plate.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    int steps = 0;
    while (largest > 2 && steps < 30) {
        CHECK(cudaMemset(change, 0, sizeof(float)));
        step<<<dim3(5, 3), dim3(8, 8)>>>(a, b, pitch, width, height, change);
        CHECK(cudaMemcpy(&largest, change, sizeof largest, cudaMemcpyDeviceToHost));
        std::swap(a, b);
        steps++;
    }
    CHECK(cudaMemcpy2D(result.data(), width * 4, a, pitch, width * 4, height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < steps; i++) {
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++)
                other[y * width + x] = 0.25f * (plate[y * width + x - 1] + plate[y * width + x + 1] + plate[(y - 1) * width + x] + plate[(y + 1) * width + x]);
        std::swap(plate, other);
    }
    bool right = steps > 3;
    for (int i = 0; i < width * height; i++) right = right && close_to(result[i], plate[i]);
    CHECK(cudaFree(a)); CHECK(cudaFree(b)); CHECK(cudaFree(change));
    return answer(right);
}

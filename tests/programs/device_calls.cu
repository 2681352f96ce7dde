// What device code may ask for: printf, malloc and free, new and delete, an assert that holds; virtual functions.
#include "check.h"
#include <cassert>
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float side; __device__ Square(float s) : side(s) {} __device__ float area() const override { return side * side; } };
struct Circle : Shape { float radius; __device__ Circle(float r) : radius(r) {} __device__ float area() const override { return 3 * radius * radius; } };
__global__ void make(Shape **shapes, int n) {
    int i = threadIdx.x;
    if (i < n) { if (i % 2) shapes[i] = new Square(i); else shapes[i] = new Circle(i); }
}
__global__ void measure(Shape **shapes, float *areas, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    assert(shapes[i] != nullptr);
    int *scratch = (int *)malloc(4 * sizeof(int));
    for (int k = 0; k < 4; k++) scratch[k] = k;
    areas[i] = shapes[i]->area() + scratch[3];
    free(scratch);
    if (i == 3) printf("area %d is %.1f, %s\n", i, areas[i], "said by the device");
    delete shapes[i];
}
int main() {
    const int n = 8;
    Shape **shapes; float *areas, host[n];
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    CHECK(cudaMalloc(&shapes, n * sizeof(Shape *)));
    CHECK(cudaMalloc(&areas, n * sizeof(float)));
    make<<<1, 32>>>(shapes, n);
    measure<<<1, 32>>>(shapes, areas, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, areas, sizeof host, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && host[i] == (i % 2 ? i * i : 3 * i * i) + 3;
    CHECK(cudaFree(shapes)); CHECK(cudaFree(areas));
    return answer(right);
}

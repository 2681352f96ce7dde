// C++17: device lambdas given to a templated kernel, structured bindings, fold expressions.
#include "check.h"
#include <array>
#include <tuple>
#include <vector>
template <class F> __global__ void for_each_index(int n, F work) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) work(i);
}
template <class... T> __host__ __device__ auto sum_of(T... values) { return (values + ...); }
struct Settings { float a, b; int offset; };
int main() {
    const int n = 777;
    std::vector<float> result(n);
    float *device;
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    Settings settings{2, 3, 1};
    auto [a, b, offset] = settings;
    auto work = [=] __device__(int i) { device[i] = sum_of(settings.a * i, settings.b, (float)settings.offset); };
    for_each_index<<<3, 128>>>(n, work);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && result[i] == sum_of(a * i, b, (float)offset);
    CHECK(cudaFree(device));
    return answer(right);
}

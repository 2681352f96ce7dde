#include <cstdio>
#include <vector>
__global__ void scale(float *x, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i] + 1;
}
int main() {
    const int n = 16384;
    std::vector<float> h(n, 1.0f);
    for (int r = 0; r < 20; ++r) {
        float *d;
        cudaMalloc(&d, n * sizeof(float));
        for (int k = 0; k < 16; ++k)
            cudaMemcpy(d + k * n / 16, h.data() + k * n / 16, n / 16 * sizeof(float), cudaMemcpyHostToDevice);
        for (int k = 0; k < 8; ++k) {
            scale<<<n / 256, 256>>>(d, n, 0.5f);
            cudaDeviceSynchronize();
        }
        cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost);
        cudaFree(d);
    }
    printf("%f\n", h[0]);
}

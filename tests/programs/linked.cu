// Device code in two files, linked: a function and a variable of the other (built with -rdc=true).
#include "check.h"
extern __device__ int twice(int x);
extern __constant__ int shift;
void set_shift(int to);
__global__ void kernel(int *x) { x[threadIdx.x] = twice(threadIdx.x) + shift; }
int main() {
    int *device, host[32];
    set_shift(5);
    CHECK(cudaMalloc(&device, sizeof host));
    kernel<<<1, 32>>>(device);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 32; i++) right = right && host[i] == 2 * i + 5;
    CHECK(cudaFree(device));
    return answer(right);
}

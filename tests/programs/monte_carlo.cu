// Pi by random points, with generators that are kept between two kernels.
#include "check.h"
#include <curand_kernel.h>
__global__ void prepare(curandState *states, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}
__global__ void draw(curandState *states, int *inside, int draws) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    curandState own = states[i];
    for (int k = 0; k < draws; k++) {
        float x = curand_uniform(&own), y = curand_uniform(&own);
        if (x * x + y * y <= 1) count++;
    }
    states[i] = own;
    atomicAdd(inside, count);
}
int main() {
    const int threads = 256, draws = 100;
    curandState *states;
    int *inside, count;
    CHECK(cudaMalloc(&states, threads * sizeof(curandState)));
    CHECK(cudaMalloc(&inside, sizeof(int)));
    CHECK(cudaMemset(inside, 0, sizeof(int)));
    prepare<<<2, threads / 2>>>(states, 1234);
    draw<<<2, threads / 2>>>(states, inside, draws);
    CHECK(cudaMemcpy(&count, inside, sizeof count, cudaMemcpyDeviceToHost));
    double pi = 4.0 * count / (threads * draws);
    printf("%f\n", pi);
    CHECK(cudaFree(states)); CHECK(cudaFree(inside));
    return answer(fabs(pi - 3.14159) < 0.05);
}

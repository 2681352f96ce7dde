// Wrong: the last block's threads go beyond the array's end.
#include "check.h"
__global__ void fill(int *numbers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    numbers[i] = i;
}
int main() {
    int *d_numbers;
    CHECK(cudaMalloc(&d_numbers, 100 * sizeof(int)));
    fill<<<1, 128>>>(d_numbers);
    CHECK(cudaDeviceSynchronize());
    return answer(true);
}

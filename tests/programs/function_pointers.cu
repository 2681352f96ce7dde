// Pointers to functions of the device: in a table, read by the host, and given to a kernel.
#include "check.h"
typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation plus = add, times = multiply;
__global__ void apply(Operation operation, int *x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] = operation(x[i], i);
}
int main() {
    Operation operations[2];
    CHECK(cudaMemcpyFromSymbol(&operations[0], plus, sizeof(Operation)));
    CHECK(cudaMemcpyFromSymbol(&operations[1], times, sizeof(Operation)));
    int *x, host[8];
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemset(x, 0, sizeof host));
    for (Operation operation : operations) apply<<<1, 32>>>(operation, x, 8);
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 8; i++) right = right && host[i] == i * i;
    CHECK(cudaFree(x));
    return answer(right);
}

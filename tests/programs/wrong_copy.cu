// Wrong: a copy of more than there is, never looked at; memory that is never freed; what the host may not read.
#include "check.h"
int main(int argc, char **) {
    int host[64], *d_small, *d_unset;
    cudaMalloc(&d_small, 32 * sizeof(int));
    cudaMalloc(&d_unset, 64 * sizeof(int));
    cudaMemcpy(d_small, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(host, d_unset, sizeof host, cudaMemcpyDeviceToHost);
    if (argc > 1) printf("%d\n", d_small[0]);
    return 0;
}

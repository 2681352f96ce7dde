// Fences one behind another, by one warp, as an H100 was measured at (traces/measured/h100-sxm/sources/probe).
#include <cstdlib>

#define LOOP(name, text)                                                                                  \
    __global__ void name(int* out, int trips)                                                             \
    {                                                                                                     \
        for (int i = 0; i < trips; i++) asm volatile(text text text text ::: "memory");                   \
        out[0] = trips;                                                                                   \
    }
LOOP(sequential, "membar.gl;")
LOOP(of_proxy, "fence.proxy.async;")
LOOP(system_wide, "membar.sys;")
LOOP(of_block, "membar.cta;")

int main(int argc, char** argv)
{
    int* out;
    cudaMalloc(&out, sizeof(int));
    for (int trips : {16, 48}) {
        sequential<<<1, 32>>>(out, trips);
        of_proxy<<<1, 32>>>(out, trips);
        system_wide<<<1, 32>>>(out, trips);
        of_block<<<1, 32>>>(out, trips);
    }
    const auto status = cudaDeviceSynchronize();
    cudaFree(out);
    return status != cudaSuccess;
}

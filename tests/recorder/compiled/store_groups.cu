// Copies in bulk from shared memory, and waits for them, as an H100 was measured at: the loop of bulkst in
// traces/measured/h100-sxm/sources/probe/s2.cuh, without its clocks.
#include <cstdlib>

__global__ void store_and_wait(char* out, int trips, int bytes)
{
    extern __shared__ __align__(1024) char staged[];
    if (threadIdx.x != 0) return;
    const unsigned from = (unsigned)__cvta_generic_to_shared(staged);
    for (int trip = 0; trip < trips; trip++) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(from), "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

int main(int argc, char** argv)
{
    char* out;
    cudaMalloc(&out, 32768);
    for (int bytes : {16, 4096, 16384}) {
        store_and_wait<<<1, 32, 32768>>>(out, 8, bytes);
        store_and_wait<<<1, 32, 32768>>>(out, 24, bytes);
    }
    const auto status = cudaDeviceSynchronize();
    cudaFree(out);
    return status != cudaSuccess;
}

// Prints what the runtime says of the device: of each property, what cudaGetDeviceProperties and attributes have.
#include <cstdio>

static int attribute(cudaDeviceAttr wanted) {
    int value = -1;
    cudaDeviceGetAttribute(&value, wanted, 0);
    return value;
}

__global__ void count(unsigned *processors) { asm("mov.u32 %0, %%nsmid;" : "=r"(*processors)); }

int main() {
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0)) return 1;
    unsigned *processors;
    cudaMallocManaged(&processors, sizeof *processors);
    count<<<1, 1>>>(processors);
    if (cudaDeviceSynchronize()) return 1;
    printf("name %s\n", p.name);
    printf("memory %zu\n", p.totalGlobalMem);
    printf("counted %u\n", *processors);
    printf("optin %zu %d\n", p.sharedMemPerBlockOptin, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    printf("static %zu %d\n", p.sharedMemPerBlock, attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    printf("shared %zu %d\n", p.sharedMemPerMultiprocessor, attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    printf("reserved %zu %d\n", p.reservedSharedMemPerBlock, attribute(cudaDevAttrReservedSharedMemoryPerBlock));
    printf("registers %d %d\n", p.regsPerMultiprocessor, attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
    printf("block_registers %d %d\n", p.regsPerBlock, attribute(cudaDevAttrMaxRegistersPerBlock));
    printf("l2 %d %d\n", p.l2CacheSize, attribute(cudaDevAttrL2CacheSize));
    printf("clock %d\n", attribute(cudaDevAttrClockRate));
    printf("memory_clock %d\n", attribute(cudaDevAttrMemoryClockRate));
    printf("bus %d %d\n", p.memoryBusWidth, attribute(cudaDevAttrGlobalMemoryBusWidth));
    printf("warp %d %d\n", p.warpSize, attribute(cudaDevAttrWarpSize));
    printf("threads %d %d\n", p.maxThreadsPerMultiProcessor, attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
    printf("block_threads %d %d\n", p.maxThreadsPerBlock, attribute(cudaDevAttrMaxThreadsPerBlock));
    printf("blocks %d %d\n", p.maxBlocksPerMultiProcessor, attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
    printf("processors %d %d\n", p.multiProcessorCount, attribute(cudaDevAttrMultiProcessorCount));
    printf("constant %zu %d\n", p.totalConstMem, attribute(cudaDevAttrTotalConstantMemory));
    printf("major %d %d\n", p.major, attribute(cudaDevAttrComputeCapabilityMajor));
    printf("minor %d %d\n", p.minor, attribute(cudaDevAttrComputeCapabilityMinor));
    cudaFree(processors);
    printf("PASSED\n");
}

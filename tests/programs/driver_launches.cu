// Kernels launched by the driver's interface: its own of this file by their symbols, with attributes; and modules.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>
namespace cg = cooperative_groups;
__global__ void ranks(int *out, int n) {
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = cluster.block_rank() * 100 + cluster.num_blocks();
}
static const char *PTX = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 offset = 5;
.visible .entry add(.param .u64 p, .param .u32 n, .param .u32 by) {
    .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [by];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %q, %r5, %r0; @%q ret;
    cvta.to.global.u64 %d1, %d0; mul.wide.u32 %d2, %r5, 4; add.u64 %d1, %d1, %d2;
    ld.global.u32 %r6, [%d1]; add.u32 %r6, %r6, %r1; ld.global.u32 %r7, [offset]; add.u32 %r6, %r6, %r7; st.global.u32 [%d1], %r6;
    ret;
}
)";
#define OK(x) do { CUresult e = (x); if (e != CUDA_SUCCESS) { const char *t; cuGetErrorName(e, &t); printf("%s: %s\n", #x, t); return 1; } } while (0)
int main() {
    OK(cuInit(0));
    CUdevice device; CUcontext context;
    OK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    OK(cuCtxCreate(&context, nullptr, 0, device));
#else
    OK(cuCtxCreate(&context, 0, device));
#endif
    char name[100]; int major, count; size_t total;
    OK(cuDeviceGetName(name, 100, device)); OK(cuDeviceGetCount(&count)); OK(cuDeviceTotalMem(&total, device));
    OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    int wrong = major < 9 || count != 1 || !name[0] || !total;
    const int N = 1024;
    std::vector<int> host(N);
    CUdeviceptr p;
    OK(cuMemAlloc(&p, N * 4));
    // by a symbol, in clusters of four
    CUfunction own;
    cudaGetFuncBySymbol((cudaFunction_t *)&own, (const void *)ranks);
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim = {4, 1, 1};
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = {};
    config.gridDimX = 8, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
    config.attrs = attributes, config.numAttrs = 2;
    int n = N, by = 37;
    void *of_ranks[] = {&p, &n};
    OK(cuLaunchKernelEx(&config, own, of_ranks, nullptr));
    // a module of a text
    CUmodule module; CUfunction add; CUdeviceptr offset; size_t bytes;
    char path[] = "/tmp/driver_launches_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(PTX, file), fclose(file);
    OK(cuModuleLoad(&module, path)); OK(cuModuleUnload(module)); remove(path);
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&add, module, "add"));
    OK(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
    wrong += bytes != 4;
    int seven = 7;
    OK(cuMemcpyHtoD(offset, &seven, 4));
    void *of_add[] = {&p, &n, &by};
    CUstream stream; CUevent begin, end; float ms;
    OK(cuStreamCreate(&stream, 0)); OK(cuEventCreate(&begin, 0)); OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(begin, stream));
    OK(cuLaunchKernel(add, N / 256, 1, 1, 256, 1, 1, 0, stream, of_add, nullptr));
    OK(cuEventRecord(end, stream));
    OK(cuEventSynchronize(end)); OK(cuEventElapsedTime(&ms, begin, end));
    wrong += !(ms > 0);
    // as a library of the runtime's
    cudaLibrary_t library; cudaKernel_t of_library;
    wrong += cudaLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess;
    wrong += cudaLibraryGetKernel(&of_library, library, "add") != cudaSuccess;
    int none_left = 0;
    void *of_none[] = {&p, &none_left, &by};
    wrong += cudaLaunchKernel((const void *)of_library, dim3(1), dim3(32), of_none, 0, 0) != cudaSuccess;
    // how many fit
    int grid, block, clusters;
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 500));
    wrong += block <= 0 || block > 500 || grid <= 0;
    OK(cuOccupancyMaxActiveClusters(&clusters, own, &config));
    wrong += clusters <= 0;
    // its parameters packed
    struct { CUdeviceptr p; int n, by; } packed = {p, 512, 1000};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(add, N / 256, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
    // and once more through the address of the function
    CUlaunchConfig plain = config;
    plain.numAttrs = 0, plain.attrs = nullptr, plain.blockDimX = 128;
    decltype(&cuLaunchKernelEx) launch;
    CUdriverProcAddressQueryResult status;
    OK(cuGetProcAddress("cuLaunchKernelEx", (void **)&launch, CUDA_VERSION, 0, &status));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, attributes[0].value.cooperative = 1;
    plain.attrs = attributes, plain.numAttrs = 1;
    OK(launch(&plain, add, of_add, nullptr));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(host.data(), p, N * 4));
    for (int i = 0; i < N; i++) {
        int expected = i / 128 % 4 * 100 + 4 + 2 * (by + 7) + (i < 512 ? 1007 : 0);
        if (host[i] != expected && wrong++ < 5) printf("%d: %d, not %d\n", i, host[i], expected);
    }
    // what is wrong says so, and the runtime's last error stays
    CUfunction none;
    wrong += cuModuleGetFunction(&none, module, "nothing") != CUDA_ERROR_NOT_FOUND;
    wrong += cuModuleLoadData(&module, "this is no PTX at all") == CUDA_SUCCESS;
    size = 8;
    wrong += cuLaunchKernel(add, 1, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra) != CUDA_ERROR_INVALID_VALUE;
    wrong += cuLaunchKernel(add, 1, 1, 1, 2048, 1, 1, 0, nullptr, of_add, nullptr) != CUDA_ERROR_INVALID_VALUE;
    wrong += cuMemFree(p + (1ull << 40)) == CUDA_SUCCESS;
    wrong += cudaGetLastError() != cudaSuccess;
    OK(cuMemFree(p)); OK(cuModuleUnload(module)); OK(cuStreamDestroy(stream)); OK(cuCtxDestroy(context));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}

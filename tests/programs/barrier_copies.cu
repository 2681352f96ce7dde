// Programming-guide style: cuda::barrier, memcpy_async_tx, experimental::cp_async_bulk_tensor
#include <cuda.h>
#include <cuda/barrier>
#include <cudaTypedefs.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
#define CK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1);} } while (0)

static const size_t buf_len = 1024;
__global__ void add_one_kernel(int *data, size_t offset) {
    __shared__ alignas(16) int smem_data[buf_len];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(smem_data, data + offset, cuda::aligned_size_t<16>(sizeof(smem_data)), bar);
    barrier::arrival_token token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < buf_len; i += blockDim.x) smem_data[i] += 1;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_shared_to_global(data + offset, smem_data, sizeof(smem_data));
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}

constexpr int SMEM_W = 32, SMEM_H = 8;
__global__ void tile_kernel(const __grid_constant__ CUtensorMap tensor_map, int x, int y) {
    __shared__ alignas(128) int smem_buffer[SMEM_H][SMEM_W];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&smem_buffer, &tensor_map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(smem_buffer));
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    smem_buffer[threadIdx.x / SMEM_W % SMEM_H][threadIdx.x % SMEM_W] *= 3;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&tensor_map, x, y, &smem_buffer);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
    if (threadIdx.x == 0) (&bar)->~barrier();
}

PFN_cuTensorMapEncodeTiled_v12000 get_cuTensorMapEncodeTiled() {
    cudaDriverEntryPointQueryResult driver_status;
    void *p = nullptr;
    CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &p, 12000, cudaEnableDefault, &driver_status));
    if (driver_status != cudaDriverEntryPointSuccess) exit(2);
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(p);
}

int main() {
    int n = 8 * buf_len;
    std::vector<int> h(n), g(n);
    for (int i = 0; i < n; i++) h[i] = i * 7 % 1001;
    int *d;
    CK(cudaMalloc(&d, n * 4));
    CK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
    for (int b = 0; b < 8; b++) add_one_kernel<<<1, 128>>>(d, b * buf_len);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(g.data(), d, n * 4, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; i++) bad += g[i] != h[i] + 1;
    printf("bulk: %d wrong\n", bad);
    // 2-D
    const int W = 100, H = 60;
    auto encode = get_cuTensorMapEncodeTiled();
    CUtensorMap tensor_map{};
    uint64_t size[2] = {W, H}, stride[1] = {W * sizeof(int)};
    uint32_t box[2] = {SMEM_W, SMEM_H}, elem[2] = {1, 1};
    CUresult res = encode(&tensor_map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, size, stride, box, elem, CU_TENSOR_MAP_INTERLEAVE_NONE,
                          CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (res != CUDA_SUCCESS) { printf("encode %d\n", res); return 1; }
    for (int y = -4; y < H; y += SMEM_H)
        for (int x = -8; x < W; x += SMEM_W) tile_kernel<<<1, 256>>>(tensor_map, x, y);
    CK(cudaDeviceSynchronize());
    std::vector<int> f(n);
    CK(cudaMemcpy(f.data(), d, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) bad += f[i] != (i < W * H ? g[i] * 3 : g[i]);
    printf("%s\n", bad ? "FAILED" : "PASSED");
    CK(cudaFree(d));
    return bad != 0;
}

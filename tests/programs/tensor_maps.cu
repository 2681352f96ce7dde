// Boxes of tensors by the tensor memory accelerator: a matrix is transposed tile by tile, and images become columns.
#include <cstdio>
#include <cstdint>
#include <vector>
#include <cuda.h>
#include <cuda_fp16.h>
#include "check.h"

const int ROWS = 70, COLUMNS = 96, TILE = 32;

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void begin(uint64_t *bar, int bytes) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(bar)));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t *bar, int parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(
            shared_address(bar)),
        "r"(parity)
        : "memory");
}

__global__ void transpose(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) float in[TILE][TILE], out[TILE][TILE];
    __shared__ alignas(8) uint64_t bar;
    int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    if (threadIdx.x == 0) {
        begin(&bar, sizeof in);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                         "r"(shared_address(in)), "l"(&from), "r"(x), "r"(y), "r"(shared_address(&bar)) : "memory");
    }
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) out[i / TILE][i % TILE] = in[i % TILE][i / TILE];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(y), "r"(x),
                     "r"(shared_address(out)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

const int IMAGES = 2, HEIGHT = 7, WIDTH = 6, CHANNELS = 16, PIXELS = HEIGHT * WIDTH;

// Of a 3 x 3 filter with a border of one pixel, what one of its places needs of all pixels of an image.
__global__ void columns(const __grid_constant__ CUtensorMap images, __half *found) {
    __shared__ alignas(128) __half in[PIXELS][CHANNELS];
    __shared__ alignas(8) uint64_t bar;
    int place = blockIdx.x, image = blockIdx.y;
    if (threadIdx.x == 0) {
        begin(&bar, sizeof in);
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %3, %4}], [%5], {%6, %7};" ::"r"(shared_address(in)), "l"(&images), "r"(0), "r"(-1),
                     "r"(image), "r"(shared_address(&bar)), "h"((uint16_t)(place % 3)), "h"((uint16_t)(place / 3)) : "memory");
    }
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < PIXELS * CHANNELS; i += blockDim.x)
        found[(image * 9 + place) * PIXELS * CHANNELS + i] = in[i / CHANNELS][i % CHANNELS];
}

int main() {
    decltype(&cuTensorMapEncodeTiled) encode = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &status));
    if (status != cudaDriverEntryPointSuccess) return printf("FAILED\n"), 1;
    std::vector<float> matrix(ROWS * COLUMNS), turned(ROWS * COLUMNS, -1);
    for (int i = 0; i < ROWS * COLUMNS; i++) matrix[i] = i;
    float *from, *to;
    const int PITCH = 72;  // of the transposed matrix: a multiple of 16 bytes
    CHECK(cudaMalloc(&from, matrix.size() * 4));
    CHECK(cudaMalloc(&to, COLUMNS * PITCH * 4));
    CHECK(cudaMemset(to, 0xff, COLUMNS * PITCH * 4));
    CHECK(cudaMemcpy(from, matrix.data(), matrix.size() * 4, cudaMemcpyHostToDevice));
    CUtensorMap maps[2];
    cuuint32_t box[2] = {TILE, TILE}, steps[2] = {1, 1};
    cuuint64_t sizes[2] = {COLUMNS, ROWS}, turned_sizes[2] = {ROWS, COLUMNS};
    cuuint64_t strides[1] = {COLUMNS * 4}, turned_strides[1] = {PITCH * 4};
    CUresult results[3] = {
        encode(&maps[0], CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, from, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        encode(&maps[1], CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, to, turned_sizes, turned_strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        encode(&maps[1], CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 6, to, turned_sizes, turned_strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)};
    bool right = !results[0] && !results[1] && results[2] == CUDA_ERROR_INVALID_VALUE;
    transpose<<<dim3(COLUMNS / TILE, (ROWS + TILE - 1) / TILE), 128>>>(maps[0], maps[1]);
    CHECK(cudaGetLastError());
    std::vector<float> back(COLUMNS * PITCH);
    CHECK(cudaMemcpy(back.data(), to, back.size() * 4, cudaMemcpyDeviceToHost));
    for (int x = 0; x < COLUMNS; x++)
        for (int y = 0; y < ROWS; y++) right = right && back[x * PITCH + y] == matrix[y * COLUMNS + x];

    std::vector<__half> images(IMAGES * PIXELS * CHANNELS), column(IMAGES * 9 * PIXELS * CHANNELS);
    for (size_t i = 0; i < images.size(); i++) images[i] = __float2half(i % 1999);
    __half *given, *found;
    CHECK(cudaMalloc(&given, images.size() * 2));
    CHECK(cudaMalloc(&found, column.size() * 2));
    CHECK(cudaMemcpy(given, images.data(), images.size() * 2, cudaMemcpyHostToDevice));
    cuuint64_t four[4] = {CHANNELS, WIDTH, HEIGHT, IMAGES};
    cuuint64_t far[3] = {CHANNELS * 2, CHANNELS * WIDTH * 2, CHANNELS * WIDTH * HEIGHT * 2};
    int lower[2] = {-1, -1}, upper[2] = {-1, -1};
    cuuint32_t ones[4] = {1, 1, 1, 1};
    CUtensorMap map;
    right = right && !cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, given, four, far, lower, upper, CHANNELS,
                                              PIXELS, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    columns<<<dim3(9, IMAGES), 64>>>(map, found);
    CHECK(cudaMemcpy(column.data(), found, column.size() * 2, cudaMemcpyDeviceToHost));
    size_t at = 0;
    for (int n = 0; n < IMAGES; n++)
        for (int place = 0; place < 9; place++)
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    for (int c = 0; c < CHANNELS; c++) {
                        int h = y - 1 + place / 3, w = x - 1 + place % 3;
                        bool inside = h >= 0 && h < HEIGHT && w >= 0 && w < WIDTH;
                        float wanted = inside ? (float)images[((n * HEIGHT + h) * WIDTH + w) * CHANNELS + c] : 0;
                        right = right && (float)column[at++] == wanted;
                    }
    for (void *each : {(void *)from, (void *)to, (void *)given, (void *)found}) CHECK(cudaFree(each));
    return answer(right);
}

// C = A B^T of half-precision matrices, four times: by mma.sync with cp.async, by wgmma with one stage of TMA, with a
// pipeline of stages that one warp group fills for another, and in clusters that share tiles by multicast.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda.h>
#include <cuda_fp16.h>
#include "check.h"

const int M = 128, N = 128, K = 192, TILE = 64, BYTES = TILE * TILE * 2, STEPS = K / TILE;

__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// ---- By mma.sync: a warp has 16 x 8 numbers of a block's 64 x 8

__global__ void by_mma(const __half *a, const __half *b, float *c) {
    __shared__ alignas(16) __half as[2][TILE][24], bs[2][8][24];
    int row = blockIdx.y * TILE, column = blockIdx.x * 8, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    auto fetch = [&](int k, int stage) {
        if (threadIdx.x < 2 * TILE) {
            int r = threadIdx.x / 2, half = threadIdx.x % 2 * 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&as[stage][r][half])), "l"(a + (row + r) * K + k + half));
        }
        if (threadIdx.x < 16) {
            int r = threadIdx.x / 2, half = threadIdx.x % 2 * 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&bs[stage][r][half])),
                         "l"(b + (column + r) * K + k + half));
        }
        asm volatile("cp.async.commit_group;");
    };
    float sum[4] = {};
    fetch(0, 0);
    for (int k = 0; k < K; k += 16) {
        int stage = k / 16 % 2;
        if (k + 16 < K) {
            fetch(k + 16, !stage);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        uint32_t x[4], y[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at(&as[stage][warp * 16 + lane % 16][lane / 16 * 8])) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1]) : "r"(at(&bs[stage][lane % 8][lane / 8 % 2 * 8])) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        c[(row + warp * 16 + lane / 4 + i / 2 * 8) * N + column + lane % 4 * 2 + i % 2] = sum[i];
}

// ---- By wgmma

__device__ void make(uint64_t *bar, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(arrivals) : "memory");
}
__device__ void expect(uint64_t *bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
__device__ void arrive(uint64_t *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory"); }
__device__ void wait(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(at(bar)),
                 "r"(parity) : "memory");
}
__device__ void fetch(void *to, const CUtensorMap *map, int x, int y, uint64_t *bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                     "r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(at(bar)) : "memory");
}
__device__ uint64_t descriptor(const void *tile, int k) {  // rows of 128 bytes, swizzled; 16 numbers from k on
    return ((at(tile) + 2 * k) >> 4 & 0x3fff) | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
struct Sums {
    float x[32];
};
__device__ void multiply(Sums &d, const void *a, const void *b) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < TILE; k += 16) {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
            " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
            : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3]), "+f"(d.x[4]), "+f"(d.x[5]), "+f"(d.x[6]), "+f"(d.x[7]),
              "+f"(d.x[8]), "+f"(d.x[9]), "+f"(d.x[10]), "+f"(d.x[11]), "+f"(d.x[12]), "+f"(d.x[13]), "+f"(d.x[14]), "+f"(d.x[15]),
              "+f"(d.x[16]), "+f"(d.x[17]), "+f"(d.x[18]), "+f"(d.x[19]), "+f"(d.x[20]), "+f"(d.x[21]), "+f"(d.x[22]), "+f"(d.x[23]),
              "+f"(d.x[24]), "+f"(d.x[25]), "+f"(d.x[26]), "+f"(d.x[27]), "+f"(d.x[28]), "+f"(d.x[29]), "+f"(d.x[30]), "+f"(d.x[31])
            : "l"(descriptor(a, k)), "l"(descriptor(b, k)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ void put(const Sums &d, float *c, int row, int column, int thread) {
    for (int i = 0; i < 32; i++)
        c[(row + thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8) * N + column + i / 4 * 8 + thread % 4 * 2 + i % 2] = d.x[i];
}

__global__ void one_stage(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
    __shared__ alignas(1024) char as[BYTES], bs[BYTES];
    __shared__ uint64_t bar;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    if (threadIdx.x == 0) make(&bar, 1);
    __syncthreads();
    Sums d = {};
    for (int step = 0; step < STEPS; step++) {
        if (threadIdx.x == 0) {
            expect(&bar, 2 * BYTES);
            fetch(as, &a, step * TILE, row, &bar);
            fetch(bs, &b, step * TILE, column, &bar);
        }
        wait(&bar, step % 2);
        multiply(d, as, bs);
        __syncthreads();
    }
    put(d, c, row, column, threadIdx.x);
}

const int STAGES = 2;
struct Pipeline {
    char a[STAGES][BYTES], b[STAGES][BYTES];
    uint64_t full[STAGES], empty[STAGES];
};

// The first warp group fetches, the second one multiplies.
__global__ void pipelined(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
    extern __shared__ char room[];
    Pipeline &p = *(Pipeline *)(room + (1024 - at(room) % 1024) % 1024);
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) make(&p.full[s], 1), make(&p.empty[s], 128);
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int step = 0; step < STEPS; step++) {
                int s = step % STAGES;
                if (step >= STAGES) wait(&p.empty[s], (step / STAGES - 1) % 2);
                expect(&p.full[s], 2 * BYTES);
                fetch(p.a[s], &a, step * TILE, row, &p.full[s]);
                fetch(p.b[s], &b, step * TILE, column, &p.full[s]);
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        Sums d = {};
        for (int step = 0; step < STEPS; step++) {
            int s = step % STAGES;
            wait(&p.full[s], step / STAGES % 2);
            multiply(d, p.a[s], p.b[s]);
            arrive(&p.empty[s]);
        }
        put(d, c, row, column, threadIdx.x - 128);
    }
}

// Two blocks have other rows and the same columns: each fetches half of B's tile for both.
__global__ void __cluster_dims__(1, 2, 1)
shared_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
    __shared__ alignas(1024) char as[BYTES], bs[BYTES];
    __shared__ uint64_t bar;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) make(&bar, 1);
    auto meet = [] {
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    };
    meet();
    Sums d = {};
    for (int step = 0; step < STEPS; step++) {
        if (threadIdx.x == 0) {
            expect(&bar, 2 * BYTES);
            fetch(as, &a, step * TILE, row, &bar);
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                         " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(bs + rank * (BYTES / 2))), "l"(&b), "r"(step * TILE),
                         "r"(column + (int)rank * TILE / 2), "r"(at(&bar)), "h"((uint16_t)3) : "memory");
        }
        wait(&bar, step % 2);
        multiply(d, as, bs);
        meet();
    }
    put(d, c, row, column, threadIdx.x);
}

static CUtensorMap map_of(void *matrix, int rows, int box_rows) {
    CUtensorMap map;
    cuuint64_t sizes[2] = {K, (cuuint64_t)rows}, strides[1] = {K * 2};
    cuuint32_t box[2] = {TILE, (cuuint32_t)box_rows}, steps[2] = {1, 1};
    CUresult status = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, sizes, strides, box, steps,
                                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status) exit(1);
    return map;
}

int main() {
    std::vector<__half> a(M * K), b(N * K);
    std::vector<float> wanted(M * N), found(M * N);
    for (int i = 0; i < M * K; i++) a[i] = __float2half(i * 7 % 13 - 6);
    for (int i = 0; i < N * K; i++) b[i] = __float2half(i * 5 % 11 - 5);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++) wanted[i * N + j] += __half2float(a[i * K + k]) * __half2float(b[j * K + k]);
    __half *da, *db;
    float *dc;
    CHECK(cudaMalloc(&da, a.size() * 2));
    CHECK(cudaMalloc(&db, b.size() * 2));
    CHECK(cudaMalloc(&dc, found.size() * 4));
    CHECK(cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
    CUtensorMap maps[3] = {map_of(da, M, TILE), map_of(db, N, TILE), map_of(db, N, TILE / 2)};
    dim3 grid(N / TILE, M / TILE);
    int room = sizeof(Pipeline) + 1024;
    CHECK(cudaFuncSetAttribute(pipelined, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    bool right = true;
    for (int way = 0; way < 5; way++) {
        CHECK(cudaMemset(dc, 0xff, found.size() * 4));
        if (way == 0) by_mma<<<dim3(N / 8, M / TILE), 128>>>(da, db, dc);
        if (way == 1) one_stage<<<grid, 128>>>(maps[0], maps[1], dc);
        if (way == 2) pipelined<<<grid, 256, room>>>(maps[0], maps[1], dc);
        if (way == 3) shared_tiles<<<grid, 128>>>(maps[0], maps[2], dc);
        if (way == 4) {  // the same cluster, said at the launch
            cudaLaunchAttribute attribute;
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim.x = 1, attribute.val.clusterDim.y = 2, attribute.val.clusterDim.z = 1;
            cudaLaunchConfig_t config = {grid, dim3(128), 0, 0, &attribute, 1};
            CHECK(cudaLaunchKernelEx(&config, shared_tiles, maps[0], maps[2], dc));
        }
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(found.data(), dc, found.size() * 4, cudaMemcpyDeviceToHost));
        bool same = found == wanted;
        if (!same) printf("way %d is wrong\n", way);
        right = right && same;
    }
    for (void *each : {(void *)da, (void *)db, (void *)dc}) CHECK(cudaFree(each));
    return answer(right);
}

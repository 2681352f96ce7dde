// Kernels of sm_90a with one planted fault each of the async proxy, and right ones beside them. The two lines of a
// fault end with "first" and "second". Each is launched with 2 blocks of 128 threads on `out` (int[4096]) and `in`
// (int[4096]); `in` is written, `out` is not.
#include <cstdint>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define INIT(b, n) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(b)), "r"(n) : "memory")
#define EXPECT(b, n) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(b)), "r"(n) : "memory")
#define ARRIVE(b) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(AT(b)) : "memory")
#define LOAD(to, from, n, b) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(AT(to)), "l"(from), "r"(n), "r"(AT(b)) : "memory")
#define STORE(to, from, n) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(AT(from)), "r"(n) : "memory")
#define COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define DONE(n) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")
#define READ(n) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
#define BEGIN() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define PRODUCTS() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define FINISH(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
#define MULTIPLY(d, a, b) asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a)), "l"(descriptor(b)))

__device__ uint64_t descriptor(const void* tile) {
    return (AT(tile) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}
__device__ void wait(uint64_t* bar, int parity) {
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(AT(bar)), "r"(parity) : "memory");
}

// ---- Copies to global memory

extern "C" __global__ void right_store(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    for (int round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) READ(0);
        __syncthreads();
        tile[threadIdx.x] = in[round * 128 + threadIdx.x];
        FENCE();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(out + (blockIdx.x * 3 + round) * 128, tile, 512);
            COMMIT();
        }
    }
    if (threadIdx.x == 0) DONE(0);
}

extern "C" __global__ void store_without_a_fence(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];  // first
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // second
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void fence_before_the_write(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    FENCE();
    tile[threadIdx.x] = in[threadIdx.x];  // first
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // second
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void fence_of_one_thread(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];  // first
    if (threadIdx.x == 0) FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // second
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void fence_of_memory_alone(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];  // first
    __threadfence();
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // second
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void right_fence_behind_the_barrier(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        FENCE();
        STORE(out + blockIdx.x * 128, tile, 512);
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void right_fence_of_another_thread(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 64) FENCE();
    asm volatile("bar.sync 2, 128;" ::: "memory");
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void right_store_of_a_warp(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        STORE(out + blockIdx.x * 128 + threadIdx.x, tile + threadIdx.x, 128);
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void store_of_what_another_warp_writes(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];  // first
    FENCE();
    __syncwarp();
    if (threadIdx.x == 32) {
        STORE(out + blockIdx.x * 128, tile, 512);  // second
        COMMIT();
        DONE(0);
    }
    __syncthreads();
}

extern "C" __global__ void overwritten_while_it_is_read(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = in[round * 128 + threadIdx.x];  // second
        FENCE();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(out + (blockIdx.x * 3 + round) * 128, tile, 512);  // first
            COMMIT();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) DONE(0);
}

extern "C" __global__ void right_two_buffers(int* out, const int* in) {
    __shared__ alignas(128) int tile[2][128];
    for (int round = 0; round < 4; ++round) {
        if (threadIdx.x == 0) READ(1);
        __syncthreads();
        tile[round % 2][threadIdx.x] = in[round * 128 + threadIdx.x];
        FENCE();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(out + (blockIdx.x * 4 + round) * 128, tile[round % 2], 512);
            COMMIT();
        }
    }
    if (threadIdx.x == 0) DONE(0);
}

extern "C" __global__ void one_group_too_many_is_left(int* out, const int* in) {
    __shared__ alignas(128) int tile[2][128];
    for (int round = 0; round < 4; ++round) {
        if (threadIdx.x == 0) READ(2);
        __syncthreads();
        tile[round % 2][threadIdx.x] = in[round * 128 + threadIdx.x];  // second
        FENCE();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(out + (blockIdx.x * 4 + round) * 128, tile[round % 2], 512);  // first
            COMMIT();
        }
    }
    if (threadIdx.x == 0) DONE(0);
}

extern "C" __global__ void waits_for_the_store_behind_the_barrier(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = in[round * 128 + threadIdx.x];  // second
        FENCE();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(out + (blockIdx.x * 3 + round) * 128, tile, 512);  // first
            COMMIT();
        }
        __syncthreads();
        if (threadIdx.x == 0) READ(0);
    }
}

extern "C" __global__ void stored_without_a_group(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // first
        DONE(0);
    }
    __syncthreads();
    tile[threadIdx.x] = 0;  // second
}

// ---- Copies to shared memory

extern "C" __global__ void right_load(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) INIT(&bar, 1);
    FENCE();
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) {
            EXPECT(&bar, 512);
            LOAD(tile, in + round * 128, 512, &bar);
        }
        wait(&bar, round % 2);
        out[(blockIdx.x * 3 + round) * 128 + threadIdx.x] = tile[127 - threadIdx.x];
        __syncthreads();
    }
}

extern "C" __global__ void right_load_that_one_warp_waits_for(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) INIT(&bar, 1);
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&bar, 512);
        LOAD(tile, in, 512, &bar);
    }
    if (threadIdx.x / 32 == 2) wait(&bar, 0);
    __syncthreads();
    out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

extern "C" __global__ void load_with_a_barrier_in_place_of_the_wait(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) INIT(&bar, 1);
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&bar, 512);
        LOAD(tile, in, 512, &bar);  // first
    }
    __syncthreads();
    out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];  // second
}

extern "C" __global__ void load_read_by_its_own_thread(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        INIT(&bar, 1);
        FENCE();
        EXPECT(&bar, 512);
        LOAD(tile, in, 512, &bar);  // first
        out[blockIdx.x * 128] = tile[5];  // second
        wait(&bar, 0);
    }
}

extern "C" __global__ void waits_for_the_other_stage(int* out, const int* in) {
    __shared__ alignas(128) int tile[2][128];
    __shared__ uint64_t bars[2];
    if (threadIdx.x == 0) {
        INIT(&bars[0], 1);
        INIT(&bars[1], 1);
    }
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&bars[0], 512);
        EXPECT(&bars[1], 512);
        LOAD(tile[0], in, 512, &bars[0]);
        LOAD(tile[1], in + 128, 512, &bars[1]);  // first
    }
    wait(&bars[0], 0);
    out[blockIdx.x * 256 + threadIdx.x] = tile[0][127 - threadIdx.x];
    out[blockIdx.x * 256 + 128 + threadIdx.x] = tile[1][127 - threadIdx.x];  // second
    wait(&bars[1], 0);
}

extern "C" __global__ void refilled_before_all_have_read(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bars[2];
    if (threadIdx.x == 0) {
        INIT(&bars[0], 1);
        INIT(&bars[1], 1);
    }
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&bars[0], 512);
        LOAD(tile, in, 512, &bars[0]);
    }
    wait(&bars[0], 0);
    int sum = tile[127 - threadIdx.x];  // first
    __syncwarp();
    if (threadIdx.x == 127) {
        EXPECT(&bars[1], 512);
        LOAD(tile, in + 128, 512, &bars[1]);  // second
    }
    wait(&bars[1], 0);
    out[blockIdx.x * 128 + threadIdx.x] = sum + tile[threadIdx.x];
}

extern "C" __global__ void loaded_over_what_threads_wrote(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) INIT(&bar, 1);
    tile[threadIdx.x] = 0;  // first
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&bar, 256);
        LOAD(tile, in, 256, &bar);  // second
    }
    wait(&bar, 0);
    out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}

// ---- Products of groups of warps

extern "C" __global__ void right_products(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int round = 0; round < 3; ++round) {
        for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i + round];
        if (threadIdx.x < 64) b[threadIdx.x] = in[threadIdx.x];
        FENCE();
        __syncthreads();
        BEGIN();
        MULTIPLY(d, a, b);
        PRODUCTS();
        FINISH(0);
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

extern "C" __global__ void product_without_a_fence(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i];
    if (threadIdx.x < 64) b[threadIdx.x] = in[threadIdx.x];
    FENCE();
    if (threadIdx.x >= 64) a[threadIdx.x] = 0;  // first
    __syncthreads();
    BEGIN();
    MULTIPLY(d, a, b);  // second
    PRODUCTS();
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

extern "C" __global__ void product_of_what_another_warp_writes(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i];
    __syncthreads();
    if (threadIdx.x < 64) b[threadIdx.x] = in[threadIdx.x];  // first
    FENCE();
    BEGIN();
    MULTIPLY(d, a, b);  // second
    PRODUCTS();
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

extern "C" __global__ void factor_overwritten_before_the_wait(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i];
    if (threadIdx.x < 64) b[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    BEGIN();
    MULTIPLY(d, a, b);  // first
    PRODUCTS();
    __syncthreads();
    b[threadIdx.x % 64] = 1;  // second
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

extern "C" __global__ void product_of_copies_without_a_fence(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 64; i += 128) b[i] = in[i];
    FENCE();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(AT(a + 4 * threadIdx.x)), "l"(in + 4 * threadIdx.x));  // first
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    BEGIN();
    MULTIPLY(d, a, b);  // second
    PRODUCTS();
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

extern "C" __global__ void right_product_of_copies(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 64; i += 128) b[i] = in[i];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(AT(a + 4 * threadIdx.x)), "l"(in + 4 * threadIdx.x));
    asm volatile("cp.async.wait_all;" ::: "memory");
    FENCE();
    __syncthreads();
    BEGIN();
    MULTIPLY(d, a, b);
    PRODUCTS();
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

// A pipeline of two stages that the last warp's thread 96 fills; a product of the warps would need all four, so that
// each stage is read as numbers.
extern "C" __global__ void right_pipeline(int* out, const int* in) {
    __shared__ alignas(128) int stage[2][128];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; ++s) {
            INIT(&full[s], 1);
            INIT(&empty[s], 3);
        }
    FENCE();
    __syncthreads();
    int sum = 0;
    if (threadIdx.x == 96) {
        for (int step = 0; step < 6; ++step) {
            int s = step % 2;
            wait(&empty[s], step / 2 % 2 ^ 1);
            EXPECT(&full[s], 512);
            LOAD(stage[s], in + step * 128, 512, &full[s]);
        }
    } else if (threadIdx.x < 96) {
        for (int step = 0; step < 6; ++step) {
            int s = step % 2;
            wait(&full[s], step / 2 % 2);
            sum += stage[s][threadIdx.x];
            __syncwarp();
            if (threadIdx.x % 32 == 0) ARRIVE(&empty[s]);
        }
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

extern "C" __global__ void stage_given_back_before_it_is_read(int* out, const int* in) {
    __shared__ alignas(128) int stage[2][128];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; ++s) {
            INIT(&full[s], 1);
            INIT(&empty[s], 3);
        }
    FENCE();
    __syncthreads();
    int sum = 0;
    if (threadIdx.x == 96) {
        for (int step = 0; step < 6; ++step) {
            int s = step % 2;
            wait(&empty[s], step / 2 % 2 ^ 1);
            EXPECT(&full[s], 512);
            LOAD(stage[s], in + step * 128, 512, &full[s]);  // second
        }
    } else if (threadIdx.x < 96) {
        for (int step = 0; step < 6; ++step) {
            int s = step % 2;
            wait(&full[s], step / 2 % 2);
            __syncwarp();
            if (threadIdx.x % 32 == 0) ARRIVE(&empty[s]);
            sum += stage[s][threadIdx.x];  // first
        }
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

extern "C" __global__ void stage_given_back_before_the_products_are_done(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    __shared__ uint64_t full, empty;
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        INIT(&empty, 1);
    }
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i];
    FENCE();
    __syncthreads();
    float d[4] = {};
    for (int step = 0; step < 3; ++step) {
        if (threadIdx.x == 0) {
            wait(&empty, step % 2 ^ 1);
            EXPECT(&full, 256);
            LOAD(b, in + step * 64, 256, &full);  // second
        }
        wait(&full, step % 2);
        BEGIN();
        MULTIPLY(d, a, b);  // first
        PRODUCTS();
        FINISH(1);
        if (threadIdx.x == 0) ARRIVE(&empty);
        __syncthreads();
    }
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

// One thread of the group of warps gives the stage back: the products of all four are done by then.
extern "C" __global__ void right_stage_given_back_by_one_thread(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    __shared__ uint64_t full, empty;
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        INIT(&empty, 1);
    }
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i];
    FENCE();
    __syncthreads();
    float d[4] = {};
    for (int step = 0; step < 3; ++step) {
        if (threadIdx.x == 0) {
            wait(&empty, step % 2 ^ 1);
            EXPECT(&full, 256);
            LOAD(b, in + step * 64, 256, &full);
        }
        wait(&full, step % 2);
        BEGIN();
        MULTIPLY(d, a, b);
        PRODUCTS();
        FINISH(0);
        __syncthreads();
        if (threadIdx.x == 0) ARRIVE(&empty);
    }
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

// ---- Clusters: each block is looked at by itself

extern "C" __global__ void __cluster_dims__(2, 1, 1) right_multicast(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) INIT(&bar, 1);
    FENCE();
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        EXPECT(&bar, 512);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(AT(tile + 64 * rank)), "l"(in + 64 * rank), "r"(256), "r"(AT(&bar)), "h"((uint16_t)3) : "memory");
    }
    wait(&bar, 0);
    out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) store_without_a_fence_in_a_cluster(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];  // first
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // second
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) right_number_of_another_block(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    uint32_t rank, there, found;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(tile + threadIdx.x)), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(found) : "r"(there) : "memory");
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(found + 1) : "memory");
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

// ---- What nobody has written

extern "C" __global__ void stores_what_nobody_wrote(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    if (threadIdx.x < 64) tile[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out + blockIdx.x * 128, tile, 512);  // first
        COMMIT();
        DONE(0);
    }
}

extern "C" __global__ void multiplies_what_nobody_wrote(float* out, const int* in) {
    __shared__ alignas(128) int a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = in[i];
    if (threadIdx.x < 32) b[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    BEGIN();
    MULTIPLY(d, a, b);  // first
    PRODUCTS();
    FINISH(0);
    out[blockIdx.x * 128 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

extern "C" __global__ void loads_what_nobody_wrote(int* out, const int* in) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) INIT(&bar, 1);
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&bar, 512);
        LOAD(tile, out + 3072, 512, &bar);  // first
    }
    wait(&bar, 0);
    out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

// Kernels with one planted fault each, and right ones beside them: tests/cuda/checks/faults.py says what must be found.
// Each is launched with FAULT_BLOCKS blocks of 64 threads on `out` (int[4096]), `in` (int[4096]) and `state` (int[64]).

__device__ __forceinline__ int flip(int x) { return x ^ 5; }

// ---- Barriers of a block

extern "C" __global__ void missing_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void right_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void missing_barrier_in_loop(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[threadIdx.x] = in[round * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void right_double_buffer(int* out, const int* in, int* state) {
    __shared__ int tile[2][64];
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[round % 2][threadIdx.x] = in[round * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[round % 2][63 - threadIdx.x];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void double_buffer_of_one(int* out, const int* in, int* state) {
    __shared__ int tile[2][64];
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[round / 2][threadIdx.x] = in[round * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[round / 2][63 - threadIdx.x];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void barrier_of_the_warp_alone(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void fence_is_no_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __threadfence_block();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void reduction_stops_too_early(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sums[0];
}

extern "C" __global__ void neighbours_part(int* out, const int* in, int* state) {
    __shared__ int a[65], b[64];
    a[threadIdx.x] = in[threadIdx.x];
    b[threadIdx.x] = 0;
    __syncthreads();
    a[threadIdx.x + 1] = in[threadIdx.x];  // off by one
    b[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = b[threadIdx.x];
}

extern "C" __global__ void all_write_one(int* out, const int* in, int* state) {
    __shared__ int last;
    last = in[threadIdx.x] * 3 + threadIdx.x;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = last;
}

extern "C" __global__ void all_write_the_same(int* out, const int* in, int* state) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (in[threadIdx.x] >= 0) flag = 1;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = flag;
}

extern "C" __global__ void named_barrier_of_others(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    int warp = threadIdx.x / 32;
    tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.sync %0, 32;" ::"r"(warp + 1) : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void right_named_barriers(int* out, const int* in, int* state) {
    __shared__ int tile[32];
    if (threadIdx.x < 32) {
        tile[threadIdx.x] = in[threadIdx.x];
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
    }
}

extern "C" __global__ void right_mbarrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    __shared__ unsigned long long barrier;
    unsigned at = __cvta_generic_to_shared(&barrier), done = 0;
    unsigned long long phase;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(phase) : "r"(at) : "memory");
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "l"(phase) : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

// ---- Warps

extern "C" __global__ void missing_syncwarp(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    int lane = threadIdx.x % 32, first = threadIdx.x - lane;
    sums[threadIdx.x] = in[threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = sums[first + (lane + 1) % 32];
}

extern "C" __global__ void right_syncwarp(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    int lane = threadIdx.x % 32, first = threadIdx.x - lane;
    sums[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    out[blockIdx.x * 64 + threadIdx.x] = sums[first + (lane + 1) % 32];
}

extern "C" __global__ void warp_synchronous_reduction(int* out, const int* in, int* state) {
    __shared__ int all[64];
    volatile int* sums = all;
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) {
        sums[threadIdx.x] += sums[threadIdx.x + 32];
        sums[threadIdx.x] += sums[threadIdx.x + 16];
        sums[threadIdx.x] += sums[threadIdx.x + 8];
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = sums[0];
}

extern "C" __global__ void right_warp_reduction(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) {
        int sum = sums[threadIdx.x] + sums[threadIdx.x + 32];
        for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
        if (threadIdx.x == 0) sums[0] = sum;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = sums[0];
}

extern "C" __global__ void syncwarp_of_half(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    int lane = threadIdx.x % 32, first = threadIdx.x - lane;
    sums[threadIdx.x] = in[threadIdx.x];
    __syncwarp(lane < 16 ? 0x0000ffff : 0xffff0000);
    out[blockIdx.x * 64 + threadIdx.x] = sums[first + (lane ^ 16)];
}

extern "C" __global__ void right_syncwarp_of_half(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    int lane = threadIdx.x % 32, first = threadIdx.x - lane;
    sums[threadIdx.x] = in[threadIdx.x];
    __syncwarp(lane < 16 ? 0x0000ffff : 0xffff0000);
    out[blockIdx.x * 64 + threadIdx.x] = sums[first + (lane ^ 8)];
}

extern "C" __global__ void missing_syncwarp_before_the_write(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    int lane = threadIdx.x % 32, first = threadIdx.x - lane;
    sums[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    int other = sums[first + (lane + 1) % 32];
    sums[threadIdx.x] = other + 1;
    __syncwarp();
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x];
}

extern "C" __global__ void shuffle_between_write_and_read(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    int total = in[threadIdx.x];
    for (int half = 16; half > 0; half /= 2) total += __shfl_xor_sync(0xffffffff, total, half);
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x ^ 1] + total;
}

extern "C" __global__ void ballot_between_write_and_read(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    unsigned odd = __ballot_sync(0xffffffff, in[threadIdx.x] & 1);
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x ^ 2] + odd;
}

extern "C" __global__ void vote_between_read_and_write(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int other = sums[threadIdx.x ^ 3];
    if (__all_sync(0xffffffff, other >= 0)) sums[threadIdx.x] = other + 1;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x];
}

extern "C" __global__ void match_between_write_and_read(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    unsigned peers = __match_any_sync(0xffffffff, in[threadIdx.x] % 4);
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x / 32 * 32 + __ffs(peers) - 1];
}

extern "C" __global__ void redux_between_write_and_read(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    int most = __reduce_max_sync(0xffffffff, in[threadIdx.x] % 32);
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x / 32 * 32 + most];
}

extern "C" __global__ void active_mask_between_write_and_read(int* out, const int* in, int* state) {
    __shared__ int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    unsigned here = __activemask();
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x ^ 4] + here;
}

extern "C" __global__ void shuffle_between_write_and_read_of_global(int* out, const int* in, int* state) {
    out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
    int next = __shfl_down_sync(0xffffffff, in[threadIdx.x], 1);
    out[2048 + blockIdx.x * 64 + threadIdx.x] = out[(blockIdx.x * 64 + threadIdx.x) ^ 1] + next;
}

extern "C" __global__ void compaction_without_syncwarp(int* out, const int* in, int* state) {
    __shared__ int keep[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned odd = __ballot_sync(0xffffffff, in[threadIdx.x] & 1);
    if (in[threadIdx.x] & 1) keep[warp][__popc(odd & ((1u << lane) - 1))] = in[threadIdx.x];
    int count = __shfl_sync(0xffffffff, __popc(odd), 0);
    if (lane < count) out[blockIdx.x * 64 + threadIdx.x] = keep[warp][count - 1 - lane];
}

extern "C" __global__ void right_compaction(int* out, const int* in, int* state) {
    __shared__ int keep[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned odd = __ballot_sync(0xffffffff, in[threadIdx.x] & 1);
    if (in[threadIdx.x] & 1) keep[warp][__popc(odd & ((1u << lane) - 1))] = in[threadIdx.x];
    __syncwarp();
    int count = __shfl_sync(0xffffffff, __popc(odd), 0);
    if (lane < count) out[blockIdx.x * 64 + threadIdx.x] = keep[warp][count - 1 - lane];
}

extern "C" __global__ void one_sum_of_all_lanes(int* out, const int* in, int* state) {
    __shared__ int sums[2];
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    __syncthreads();
    sums[threadIdx.x / 32] += in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x / 32];
}

extern "C" __global__ void greatest_of_all_lanes(int* out, const int* in, int* state) {
    __shared__ int most[2];
    if (threadIdx.x < 2) most[threadIdx.x] = 0;
    __syncthreads();
    if (in[threadIdx.x] > most[threadIdx.x / 32]) most[threadIdx.x / 32] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = most[threadIdx.x / 32];
}

extern "C" __global__ void rounds_without_a_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 0;
    __syncthreads();
    for (int round = 0; round < in[3]; ++round) {
        tile[(threadIdx.x + round) % 64] += in[threadIdx.x];
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void rounds_of_stores_without_a_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    for (int round = 0; round < in[3]; ++round) {
        tile[(threadIdx.x + round) % 64] = in[threadIdx.x] + 1;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void blocks_add_to_one(int* out, const int* in, int* state) {
    if (threadIdx.x == 0) state[5] += in[blockIdx.x] + 1;
}

// ---- Atomics

extern "C" __global__ void histogram_without_atomics(int* out, const int* in, int* state) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[threadIdx.x] % 8] += 1;
    __syncthreads();
    if (threadIdx.x < 8) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void right_histogram(int* out, const int* in, int* state) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&state[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void atomic_against_plain(int* out, const int* in, int* state) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    out[blockIdx.x * 64 + threadIdx.x] = count;
}

extern "C" __global__ void atomic_of_a_block_between_blocks(int* out, const int* in, int* state) {
    atomicAdd_block(&state[0], in[threadIdx.x]);
}

// ---- Blocks

extern "C" __global__ void blocks_write_one(int* out, const int* in, int* state) {
    if (threadIdx.x == 0) state[0] = blockIdx.x;
}

extern "C" __global__ void blocks_read_their_neighbours(int* out, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    __syncthreads();
    if (i >= 64) out[2048 + i] = out[i - 64];
}

extern "C" __global__ void last_block_without_fence(int* out, const int* in, int* state) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = in[blockIdx.x];
        last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) out[1024 + threadIdx.x] = out[threadIdx.x];
}

extern "C" __global__ void last_block_with_a_fence_of_the_block(int* out, const int* in, int* state) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = in[blockIdx.x];
        __threadfence_block();
        last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) out[1024 + threadIdx.x] = out[threadIdx.x];
}

extern "C" __global__ void right_last_block(int* out, const int* in, int* state) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) out[1024 + threadIdx.x] = out[threadIdx.x];
}

extern "C" __global__ void last_block_before_all_have_written(int* out, const int* in, int* state) {
    __shared__ bool last;
    out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] + 1;
    if (threadIdx.x == 0) {  // a barrier is missing: the fence is of this thread's writes
        __threadfence();
        last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) out[2048 + threadIdx.x] = out[threadIdx.x] + out[64 + threadIdx.x];
}

extern "C" __global__ void right_chain_of_flags(int* out, const int* in, int* state) {
    volatile int* flags = state;
    if (threadIdx.x == 0) {
        int sum = 0;
        if (blockIdx.x > 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            sum = out[blockIdx.x - 1];
        }
        out[blockIdx.x] = sum + in[blockIdx.x];
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

extern "C" __global__ void chain_of_flags_without_fence(int* out, const int* in, int* state) {
    volatile int* flags = state;
    if (threadIdx.x == 0) {
        int sum = 0;
        if (blockIdx.x > 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            sum = out[blockIdx.x - 1];
        }
        out[blockIdx.x] = sum + in[blockIdx.x];
        flags[blockIdx.x] = 1;
    }
}

extern "C" __global__ void right_spin_lock(int* out, const int* in, int* state) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&state[0], 0, 1) != 0) {
        }
        __threadfence();
        out[0] += in[threadIdx.x];
        __threadfence();
        atomicExch(&state[0], 0);
    }
}

extern "C" __global__ void spin_lock_not_taken_by_all(int* out, const int* in, int* state) {
    if (threadIdx.x % 32 == 0) {
        while (threadIdx.x == 0 && atomicCAS(&state[0], 0, 1) != 0) {
        }
        __threadfence();
        out[0] += in[threadIdx.x] + 1;
        __threadfence();
        if (threadIdx.x == 0) atomicExch(&state[0], 0);
    }
}

extern "C" __global__ void grid_barrier_without_the_second_half(int* out, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i] + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&state[0], 1);
        while (*(volatile int*)&state[0] < gridDim.x) {
        }
        __threadfence();
    }
    // __syncthreads() is missing
    out[2048 + i] = out[(i + 64) % (64 * gridDim.x)];
}

extern "C" __global__ void right_grid_barrier(int* out, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i] + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&state[0], 1);
        while (*(volatile int*)&state[0] < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    out[2048 + i] = out[(i + 64) % (64 * gridDim.x)];
}

extern "C" __global__ void right_flag_of_a_block(int* out, const int* in, int* state) {
    __shared__ int value;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = in[5];
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        __threadfence_block();
        out[blockIdx.x] = value;
    }
}

extern "C" __global__ void flag_of_a_block_without_fence(int* out, const int* in, int* state) {
    __shared__ volatile int value;
    __shared__ int plain;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        plain = in[5];
        flag = 1;
    }
    if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        value = plain;
        out[blockIdx.x] = value;
    }
}

extern "C" __global__ void right_acquire_and_release(int* out, const int* in, int* state) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        out[7] = in[3];
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(state) : "memory");
    } else {
        int seen = 0;
        while (!seen) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(state) : "memory");
        out[64 + blockIdx.x] = out[7];
    }
}

extern "C" __global__ void acquire_without_release(int* out, const int* in, int* state) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        out[7] = in[3];
        asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(state) : "memory");
    } else {
        int seen = 0;
        while (!seen) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(state) : "memory");
        out[64 + blockIdx.x] = out[7];
    }
}

extern "C" __global__ void right_bytes(int* out, const int* in, int* state) {
    __shared__ unsigned char bytes[64];
    bytes[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    bytes[threadIdx.x] += 3;
    ((unsigned char*)out)[blockIdx.x * 64 + threadIdx.x] = bytes[threadIdx.x];
}

// ---- Memory that nobody has written

extern "C" __global__ void unwritten_shared(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    if (threadIdx.x < 63) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void unwritten_local(int* out, const int* in, int* state) {
    int own[16];
    for (int i = 0; i < in[0] % 16; ++i) own[i] = i;
    out[blockIdx.x * 64 + threadIdx.x] = own[(in[1] + threadIdx.x) % 16];
}

extern "C" __global__ void unwritten_bins(int* out, const int* in, int* state) {
    __shared__ int bins[8];
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void unwritten_global(int* fresh, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x != 5) fresh[i] = in[i];
    atomicAdd(&state[threadIdx.x % 64], fresh[i]);
}

// ---- Barriers that not all reach

extern "C" __global__ void divergent_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 16) __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void two_barriers_for_one(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 32) {
        tile[threadIdx.x] += 1;
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
    } else {
        tile[threadIdx.x] += flip(tile[threadIdx.x]);
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] * 2;
    }
}

extern "C" __global__ void two_barriers_within_a_warp(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x % 2) {
        tile[threadIdx.x] += 1;
        __syncthreads();
    } else {
        tile[threadIdx.x] += 2;
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] * 2;
    }
}

extern "C" __global__ void barrier_in_a_loop_of_other_rounds(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    for (int i = 0; i < in[threadIdx.x % 4]; ++i) {
        __syncthreads();
        tile[threadIdx.x] += i;
    }
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

#define BARRIER __syncthreads()
#define MINE out[blockIdx.x * 64 + threadIdx.x]
#define EITHER(condition) if (condition) { BARRIER; MINE = 1; } else { MINE = 2; BARRIER; }

extern "C" __global__ void two_barriers_of_a_macro(int* out, const int* in, int* state) {
    EITHER(threadIdx.x % 32 < 16)
}

extern "C" __global__ void two_barriers_on_a_line(int* out, const int* in, int* state) {
    if (threadIdx.x < 32) { __syncthreads(); MINE = 1; } else { MINE = 2; __syncthreads(); }
}

__device__ __forceinline__ void meet(int* out, int value) {
    __syncthreads();
    out[threadIdx.x] = value;
}

extern "C" __global__ void two_inlined_calls(int* out, const int* in, int* state) {
    if (threadIdx.x % 32 < 16)
        meet(out + blockIdx.x * 64, 1);
    else
        meet(out + blockIdx.x * 64, 2);
}

__device__ __forceinline__ void meet_deeper(int* out, int value) { meet(out, value + 1); }

extern "C" __global__ void inlined_calls_of_inlined_calls(int* out, const int* in, int* state) {
    if (threadIdx.x < 32)
        meet_deeper(out + blockIdx.x * 64, 1);
    else
        meet_deeper(out + blockIdx.x * 64, 2);
}

__device__ __noinline__ void meet_in_a_function(int* out, int value) {
    out[threadIdx.x] += value;
    __syncthreads();
    out[threadIdx.x] += 1;
}

extern "C" __global__ void two_calls_of_a_function(int* out, const int* in, int* state) {
    if (threadIdx.x < 32)
        meet_in_a_function(out + blockIdx.x * 64, 1);
    else
        meet_in_a_function(out + blockIdx.x * 64, 2);
}

__device__ __noinline__ void meet_through_another(int* out, int value) {
    meet_in_a_function(out, value);
    out[threadIdx.x] += 2;
}

extern "C" __global__ void two_calls_of_what_calls_it(int* out, const int* in, int* state) {
    if (threadIdx.x % 32 < 16)
        meet_through_another(out + blockIdx.x * 64, 1);
    else
        meet_through_another(out + blockIdx.x * 64, 2);
}

extern "C" __global__ void count_in_both_arms(int* out, const int* in, int* state) {
    int found;
    if (threadIdx.x < 32)
        found = __syncthreads_count(in[threadIdx.x] & 1);
    else
        found = 1 + __syncthreads_count(in[threadIdx.x] & 2);
    out[blockIdx.x * 64 + threadIdx.x] = found;
}

extern "C" __global__ void continue_over_a_barrier(int* out, const int* in, int* state) {
    for (int round = 0; round < in[5]; ++round) {
        if (round == in[0] && threadIdx.x < 32) continue;
        __syncthreads();
        MINE += round;
    }
    if (threadIdx.x < 32) __syncthreads();
}

extern "C" __global__ void continue_within_a_warp(int* out, const int* in, int* state) {
    for (int round = 0; round < in[5]; ++round) {
        if (round == in[2] && threadIdx.x % 32 < 16) continue;
        __syncthreads();
        MINE += round;
    }
    if (threadIdx.x % 32 < 16) __syncthreads();
}

extern "C" __global__ void warps_in_other_rounds_of_the_outer_loop(int* out, const int* in, int* state) {
    for (int outer = 0; outer < in[3]; ++outer) {
        if (outer == in[0] && threadIdx.x < 32) continue;
        for (int round = 0; round < in[2]; ++round) {
            __syncthreads();
            MINE += round;
        }
    }
    if (threadIdx.x < 32)
        for (int round = 0; round < in[2]; ++round) __syncthreads();
}

extern "C" __global__ void calls_in_other_rounds(int* out, const int* in, int* state) {
    for (int round = 0; round < in[5]; ++round) {
        if (round == in[0] && threadIdx.x < 32) continue;
        meet_in_a_function(out + blockIdx.x * 64, round);
    }
    if (threadIdx.x < 32) meet_in_a_function(out + blockIdx.x * 64, 9);
}

extern "C" __global__ void warp_leaves_the_loop_early(int* out, const int* in, int* state) {
    for (int round = 0; round < in[5]; ++round) {
        if (round == in[3] && threadIdx.x < 32) break;
        __syncthreads();
        MINE += round;
    }
    __syncthreads();
    MINE += 1;
}

extern "C" __global__ void right_loops_of_barriers(int* out, const int* in, int* state) {
    for (int phase = 0; phase < in[3]; ++phase) {
        int round = 0;
        while (round < in[phase == 0 ? threadIdx.x % 7 : 4]) {  // where they differ, nobody waits
            MINE += round;
            if (phase != 0) __syncthreads();
            ++round;
        }
        if (__syncthreads_or(MINE < 0)) break;
    }
#pragma unroll
    for (int round = 0; round < 4; ++round) {
        if (in[round] > 2) continue;
        __syncthreads();
        MINE += round;
    }
    if (in[5] > 3)
        __syncthreads();
    else
        meet(out + blockIdx.x * 64, 3);
}

__device__ __noinline__ void meet_at_each_depth(int* out, int depth) {
    if (depth == 0) return;
    for (int round = 0; round < depth; ++round) __syncthreads();
    out[threadIdx.x] += depth;
    meet_at_each_depth(out, depth - 1);
    __syncthreads();
}

extern "C" __global__ void right_calls_of_functions(int* out, const int* in, int* state) {
    for (int round = 0; round < in[4]; ++round) {
        meet_in_a_function(out + blockIdx.x * 64, round);
        if (in[round] > 2) meet_through_another(out + blockIdx.x * 64, 3);
    }
    meet_at_each_depth(out + blockIdx.x * 64, in[3]);
}

// A stage is full when the first warp has arrived at barrier 2 or 3, and empty when the second has at 4 or 5.
extern "C" __global__ void right_roles_of_warps(int* out, const int* in, int* state) {
    __shared__ int tile[2][32];
    int lane = threadIdx.x % 32, sum = 0;
    for (int round = 0; round < in[6]; ++round) {
        int stage = round % 2;
        if (threadIdx.x < 32) {
            if (round > 1) asm volatile("bar.sync %0, 64;" ::"r"(4 + stage) : "memory");
            tile[stage][lane] = in[round * 32 + lane];
            asm volatile("bar.arrive %0, 64;" ::"r"(2 + stage) : "memory");
        } else {
            asm volatile("bar.sync %0, 64;" ::"r"(2 + stage) : "memory");
            sum += tile[stage][31 - lane];
            if (round + 2 < in[6]) asm volatile("bar.arrive %0, 64;" ::"r"(4 + stage) : "memory");
        }
    }
    MINE = sum;
}

extern "C" __global__ void right_barriers_of_a_number(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1;" ::: "memory");
    else
        asm volatile("bar.sync 1;" ::: "memory");
    MINE = tile[63 - threadIdx.x];
}

extern "C" __global__ void right_early_exit(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    if (threadIdx.x >= 40) return;
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[39 - threadIdx.x];
}

extern "C" __global__ void mask_without_the_caller(int* out, const int* in, int* state) {
    out[blockIdx.x * 64 + threadIdx.x] = __shfl_sync(0x0000ffff, in[threadIdx.x], 0);
}

extern "C" __global__ void mask_of_lanes_elsewhere(int* out, const int* in, int* state) {
    int value = in[threadIdx.x];
    if (threadIdx.x % 32 < 16) {
        value = __shfl_sync(0xffffffff, value, 0);
    } else {
        value = __shfl_xor_sync(0xffffffff, value, 1);
    }
    out[blockIdx.x * 64 + threadIdx.x] = value;
}

// ---- Copies that go on beside the thread

#define COPY(to, from)                                                                              \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) \
                 : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(latest) asm volatile("cp.async.wait_group %0;" ::"n"(latest) : "memory")

extern "C" __global__ void copy_without_a_wait(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    COMMIT();
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void copy_read_by_its_own_thread(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void copy_waited_for_behind_the_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    COMMIT();
    __syncthreads();
    WAIT(0);
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void copy_waited_for_without_a_barrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void copy_of_the_latest_group_not_waited_for(int* out, const int* in, int* state) {
    __shared__ int tile[2][64];
    COPY(&tile[0][threadIdx.x], &in[threadIdx.x]);
    COMMIT();
    COPY(&tile[1][threadIdx.x], &in[64 + threadIdx.x]);
    COMMIT();
    WAIT(1);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[0][63 - threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] += tile[1][63 - threadIdx.x];
}

extern "C" __global__ void copy_before_all_have_read(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    int sum = 0;
    for (int round = 0; round < 12; ++round) {
        COPY(&tile[threadIdx.x], &in[round * 64 + threadIdx.x]);
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void store_over_a_copy(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    tile[threadIdx.x] = in[threadIdx.x] + 1;
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void right_copy_of_its_own(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void right_pipeline(int* out, const int* in, int* state) {
    __shared__ int tile[3][64];
    int sum = 0;
    for (int stage = 0; stage < 2; ++stage) {
        COPY(&tile[stage][threadIdx.x], &in[stage * 64 + threadIdx.x]);
        COMMIT();
    }
    for (int round = 0; round < 20; ++round) {
        WAIT(1);
        __syncthreads();
        sum += tile[round % 3][63 - threadIdx.x];
        if (round < 18) COPY(&tile[(round + 2) % 3][threadIdx.x], &in[(round + 2) * 64 + threadIdx.x]);
        COMMIT();  // one that may be empty, so that it is always the group before the latest that is waited for
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void right_copy_of_a_warp(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    COMMIT();
    WAIT(0);
    __syncwarp();
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x ^ 31];
}

extern "C" __global__ void right_copy_and_mbarrier(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    __shared__ unsigned long long object;
    unsigned at = (unsigned)__cvta_generic_to_shared(&object);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

// ---- Plain accesses and atomics of one thread

extern "C" __global__ void counter_cleared_beside_atomics(int* out, const int* in, int* state) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    atomicAdd(&count, in[threadIdx.x]);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = count;
}

extern "C" __global__ void right_counter(int* out, const int* in, int* state) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, in[threadIdx.x]);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = count;
}

extern "C" __global__ void counter_cleared_for_one_warp(int* out, const int* in, int* state) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncwarp();
    atomicAdd(&count, in[threadIdx.x]);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = count;
}

extern "C" __global__ void plain_read_before_atomics(int* out, const int* in, int* state) {
    int i = blockIdx.x;
    if (threadIdx.x == 0 && state[i] == 0) atomicExch(&state[i], 1);
    if (threadIdx.x == 32) atomicExch(&state[i], 2);
}

extern "C" __global__ void atomic_read_before_a_plain_one(int* out, const int* in, int* state) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 3;
    __syncthreads();
    if (threadIdx.x == 0) {
        int first, at = (int)__cvta_generic_to_shared(&flag);
        asm volatile("ld.relaxed.cta.shared.s32 %0, [%1];" : "=r"(first) : "r"(at) : "memory");
        out[blockIdx.x] = first + flag;
    }
    if (threadIdx.x == 1) atomicAdd(&flag, 1);
}

// ---- Fences and barriers

extern "C" __global__ void right_fences_before_the_barrier(int* out, const int* in, int* state) {
    __shared__ bool last;
    out[1024 + blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 40) last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    out[threadIdx.x] = out[1024 + threadIdx.x] + out[1088 + threadIdx.x];
    if (threadIdx.x == 0) state[0] = 0;
}

extern "C" __global__ void right_fences_of_leaders(int* out, const int* in, int* state) {
    __shared__ bool last;
    out[1024 + blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] + 1;
    __syncwarp();
    if (threadIdx.x % 32 == 0) __threadfence();
    __syncthreads();
    if (threadIdx.x == 40) last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[threadIdx.x] = out[1024 + threadIdx.x] + out[1088 + threadIdx.x];
}

extern "C" __global__ void fences_of_half(int* out, const int* in, int* state) {
    __shared__ bool last;
    out[1024 + blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] + 1;
    if (threadIdx.x < 32) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[threadIdx.x] = out[1024 + threadIdx.x] + out[1088 + threadIdx.x];
}

extern "C" __global__ void fence_of_another_behind_the_barrier(int* out, const int* in, int* state) {
    __shared__ bool last;
    out[1024 + blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] + 1;
    __syncthreads();
    if (threadIdx.x == 32) __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(&state[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[threadIdx.x] = out[1024 + threadIdx.x] + out[1088 + threadIdx.x];
}

#define TELL_AND_WAIT(OTHER) \
    __threadfence(); \
    __syncthreads(); \
    if (threadIdx.x == 0) { \
        *(volatile int*)&state[blockIdx.x] = 1; \
        while (*(volatile int*)&state[OTHER] == 0) { \
        } \
    }

extern "C" __global__ void right_fences_of_readers(int* out, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[threadIdx.x] + 1;
    TELL_AND_WAIT((blockIdx.x + 1) % gridDim.x)
    __syncthreads();
    __threadfence();
    out[1024 + i] = out[(i + 64) % (64 * gridDim.x)];
}

extern "C" __global__ void readers_without_a_fence(int* out, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[threadIdx.x] + 1;
    TELL_AND_WAIT((blockIdx.x + 1) % gridDim.x)
    __syncthreads();
    out[1024 + i] = out[(i + 64) % (64 * gridDim.x)];
}

extern "C" __global__ void waits_for_its_own_flag(int* out, const int* in, int* state) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[threadIdx.x] + 1;
    TELL_AND_WAIT(blockIdx.x)
    __threadfence();
    __syncthreads();
    if (blockIdx.x > 0) out[1024 + i] = out[i - 64];
}

// ---- Barriers in shared memory, and with counts

#define ARRIVE_AND_WAIT(AT) \
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(AT) : "memory"); \
    for (unsigned done = 0; !done;) \
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" \
                     : "=r"(done) : "r"(AT) : "memory");

extern "C" __global__ void mbarrier_before_it_is_made(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    __shared__ unsigned long long object;
    unsigned at = (unsigned)__cvta_generic_to_shared(&object);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    tile[threadIdx.x] = in[threadIdx.x];
    ARRIVE_AND_WAIT(at)
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void copy_told_to_an_mbarrier_alone(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    __shared__ unsigned long long object;
    unsigned at = (unsigned)__cvta_generic_to_shared(&object);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
    ARRIVE_AND_WAIT(at)
}

extern "C" __global__ void right_copy_told_to_an_mbarrier(int* out, const int* in, int* state) {
    __shared__ int tile[64], twice[64];
    __shared__ unsigned long long object;
    unsigned at = (unsigned)__cvta_generic_to_shared(&object);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    COPY(&tile[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
    ARRIVE_AND_WAIT(at)
    COPY(&twice[threadIdx.x], &in[threadIdx.x]);
    COMMIT();
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    WAIT(0);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + twice[63 - threadIdx.x];
}

extern "C" __global__ void counts_of_a_named_barrier(int* out, const int* in, int* state) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 32;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

// ---- What one thread writes for all

extern "C" __global__ void leader_in_a_loop(int* out, const int* in, int* state) {
    __shared__ int base;
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) base = in[round] + round;
        __syncthreads();
        sum += base;
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void leader_in_other_arm(int* out, const int* in, int* state) {
    __shared__ int base[2];
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) base[warp] = atomicAdd(&state[0], 32);
    out[blockIdx.x * 64 + threadIdx.x] = base[warp] + threadIdx.x % 32;
}

extern "C" __global__ void leader_ends_the_loop(int* out, const int* in, int* state) {
    __shared__ int stop;
    if (threadIdx.x == 0) stop = 0;
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        if (stop) break;
        if (threadIdx.x == 40 && round == 2) stop = 1;
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

extern "C" __global__ void bins_read_beside_atomics(int* out, const int* in, int* state) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] % 16], 1);
    if (threadIdx.x < 16) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void atomics_of_two_scopes(int* out, const int* in, int* state) {
    if (threadIdx.x == 0) atomicAdd_system(&state[0], 1);
    if (threadIdx.x == 1) atomicAdd_block(&state[0], 1);
}

// ---- Tiles of several warps, which keep what they share in the system's part of shared memory

#include <cooperative_groups.h>

extern "C" __global__ void right_tile_of_two_warps(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    auto both = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    tile[threadIdx.x] = in[threadIdx.x];
    both.sync();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + both.shfl(in[threadIdx.x], 40);
}

extern "C" __global__ void tile_of_two_warps_not_met(int* out, const int* in, int* state) {
    __shared__ int tile[64];
    auto both = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    both.sync();
    tile[threadIdx.x] = in[threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

// Kernels that never end, each in another way. `// SPINS` marks the line that threads go round at; planted.py has the
// words that must be told. a: 64 zeros, b: 64 zeros; 2 blocks of 64 threads.
typedef volatile int Word;

extern "C" __global__ void flag_that_nobody_sets(int *a, int *b) {
    if (threadIdx.x == 0)
        while (((Word *)a)[5] == 0) ;  // SPINS
}

extern "C" __global__ void counts_its_trips(int *a, int *b) {
    int trips = 0;
    while (((Word *)a)[7] == 0)  // SPINS
        trips++;
    b[threadIdx.x] = trips;
}

extern "C" __global__ void flag_behind_a_barrier(int *a, int *b) {
    __shared__ Word pad, flag;
    if (threadIdx.x == 0) { pad = 1; flag = 0; }
    __syncthreads();
    if (threadIdx.x < 32) {
        while (flag == 0) ;  // SPINS
    }
    __syncthreads();  // WAITS
    if (threadIdx.x == 40) flag = pad;
    __syncthreads();
}

extern "C" __global__ void lock_taken_twice(int *a, int *b) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (atomicCAS(a + 3, 0, 1)) ;
        __threadfence();
        while (atomicCAS(a + 3, 0, 1)) ;  // SPINS
    }
}

extern "C" __global__ void lock_left_behind(int *a, int *b) {
    while (atomicExch(a + 2, 1)) ;  // SPINS
    b[0]++;
    if (b[0] > 3) return;
    __threadfence();
    atomicExch(a + 2, 0);
}

extern "C" __global__ void ticket_that_is_skipped(int *a, int *b) {
    if (threadIdx.x) return;
    int mine = atomicAdd(a, 1);
    while (((Word *)a)[1] != mine) ;  // SPINS
    __threadfence();
    ((Word *)a)[1] = mine + 2;
}

extern "C" __global__ void grid_barrier_of_one_too_many(int *a, int *b) {
    if (threadIdx.x == 0) {
        atomicAdd(a + 9, 1);
        while (atomicAdd(a + 9, 0) < gridDim.x + 1) ;  // SPINS
    }
    __syncthreads();  // WAITS
    b[threadIdx.x] = 1;
}

extern "C" __global__ void grid_barrier_that_is_reset(int *a, int *b) {
    if (threadIdx.x) return;
    if (atomicAdd(a, 1) == 0) {
        while (((Word *)a)[0] != 2) ;  // SPINS
    } else {
        atomicExch(a, 0);
    }
}

extern "C" __global__ void chain_in_a_circle(int *a, int *b) {
    if (threadIdx.x) return;
    while (((Word *)a)[10 + (blockIdx.x + 1) % gridDim.x] == 0) ;  // SPINS
    __threadfence();
    ((Word *)a)[10 + blockIdx.x] = 1;
}

extern "C" __global__ void look_back_without_an_end(int *a, int *b) {
    if (threadIdx.x) return;
    int sum = 0;
    for (int at = (int)blockIdx.x - 1; at >= 0; at--) {
        int state;
        do state = ((Word *)a)[at]; while (state == 0);  // SPINS
        sum += state;
    }
    if (blockIdx.x) ((Word *)a)[blockIdx.x] = sum + 1;
}

extern "C" __global__ void stores_what_is_there(int *a, int *b) {
    if (threadIdx.x == 0) {
        ((Word *)b)[4] = 9;
        while (((Word *)a)[20] == 0)  // SPINS
            ((Word *)b)[4] = 9;
    }
}

extern "C" __global__ void updates_that_change_nothing(int *a, int *b) {
    if (threadIdx.x == 0) {
        atomicMax(b, 5);
        atomicOr(b + 1, 6);
        while (atomicMin(a + 8, 3) == 0) {  // SPINS
            atomicMax(b, 4);
            atomicOr(b + 1, 2);
            atomicAnd(b + 1, 7);
        }
    }
}

extern "C" __global__ void two_locks_crosswise(int *a, int *b) {
    if (threadIdx.x) return;
    int mine = blockIdx.x, other = 1 - mine;
    while (atomicCAS(a + 30 + mine, 0, 1)) ;
    atomicAdd(b, 1);
    while (((Word *)b)[0] < 2) ;
    while (atomicCAS(a + 30 + other, 0, 1)) ;  // SPINS
    atomicExch(a + 30 + other, 0);
    atomicExch(a + 30 + mine, 0);
}

extern "C" __global__ void lane_that_waits_for_its_warp(int *a, int *b) {
    __shared__ Word flags[32];
    if (threadIdx.x < 32) {
        flags[threadIdx.x] = 0;
        __syncwarp();
        if (threadIdx.x == 0) {
            while (flags[3] == 0) ;  // SPINS
        }
        __syncwarp();
        flags[threadIdx.x] = 1;
    }
}

extern "C" __global__ void barrier_over_and_over(int *a, int *b) {
    __shared__ int done;
    if (threadIdx.x == 0) done = a[63];
    __syncthreads();
    while (!done)  // SPINS
        __syncthreads();
}

extern "C" __global__ void loop_of_nothing(int *a, int *b) {
    if (threadIdx.x == 0)
        while (a[6] == 0) ;  // SPINS
}

extern "C" __global__ void array_in_local_memory(int *a, int *b) {
    volatile int own[4];
    own[threadIdx.x & 3] = 1;
    while (own[threadIdx.x & 3])  // SPINS
        own[threadIdx.x & 3] = 2 - own[threadIdx.x & 3];
}

__device__ __noinline__ int looked_up(Word *p) { return *p; }  // SPINS
extern "C" __global__ void calls_what_looks(int *a, int *b) {
    if (threadIdx.x == 0)
        while (looked_up(a + 13) == 0) ;
}

__device__ __noinline__ void wait_for(Word *p, int value) {
    while (*p != value) ;  // SPINS
}
extern "C" __global__ void waits_in_a_function(int *a, int *b) {
    if (threadIdx.x == 0) wait_for(a + 17, 4);
    b[threadIdx.x] = 1;
}

extern "C" __global__ void mbarrier_without_enough_arrivals(int *a, int *b) {
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 65;" :: "r"(at) : "memory");
    __syncthreads();
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0];}" :: "r"(at) : "memory");
    int done = 0;
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"  // SPINS
                     : "=r"(done) : "r"(at) : "memory");
}

extern "C" __global__ void acquires_for_ever(int *a, int *b) {
    int seen;
    do
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(a + 33) : "memory");  // SPINS
    while (seen != 12);
}

extern "C" __global__ void waits_for_a_byte(int *a, int *b) {
    if (threadIdx.x == 0)
        while (((volatile unsigned char *)(a + 40))[1] == 0) ;  // SPINS
}

extern "C" __global__ void waits_for_eight_bytes(int *a, int *b) {
    while (((volatile long long *)a)[11] == 0) ;  // SPINS
}

extern "C" __global__ void warp_votes(int *a, int *b) {
    unsigned all = 0xffffffff;
    while (!__any_sync(all, ((Word *)a)[threadIdx.x] > 0)) ;  // SPINS
}

extern "C" __global__ void writer_that_left(int *a, int *b) {
    if (threadIdx.x == 63) {
        if (a[1] == 0) return;
        ((Word *)a)[50] = 1;
    }
    while (((Word *)a)[50] == 0) ;  // SPINS
}

extern "C" __global__ void compares_with_another(int *a, int *b) {
    if (threadIdx.x) return;
    int old;
    do old = ((Word *)a)[25] + 1; while (atomicCAS(a + 25, old, old + 1) != old);  // SPINS
}

extern "C" __global__ void dynamic_shared_flag(int *a, int *b) {
    extern __shared__ int words[];
    words[threadIdx.x] = 0;
    __syncthreads();
    while (((Word *)words)[6] == 0) ;  // SPINS
}

extern "C" __global__ void waits_after_long_work(int *a, int *b) {
    int x = threadIdx.x;
    for (int i = 0; i < 20000; i++) x = x * 1664525 + b[i & 63];
    b[threadIdx.x] = x;
    while (((Word *)a)[x & 0] == 0) ;  // SPINS
}

extern "C" __global__ void mbarrier_whose_parity_stays(int *a, int *b) {
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" :: "r"(at) : "memory");
    __syncthreads();
    for (int trip = 0; trip < 2; trip++) {
        asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0];}" :: "r"(at) : "memory");
        int done = 0;
        while (!done)
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"  // SPINS
                         : "=r"(done) : "r"(at), "r"(0) : "memory");
        a[threadIdx.x] = trip;
    }
}

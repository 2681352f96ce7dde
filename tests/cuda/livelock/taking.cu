// Threads that take, see that it was too much, and give back, until they have got something: each may hold what keeps
// the others out, and all get on once they have given back. A thread of each block, or of each warp.

__device__ int work(int x, int trips) {
    for (int i = 0; i < trips; i++) x = x * 1664525 + 1013904223;
    return x;
}

__noinline__ __device__ int take(int *slots) { return atomicAdd(slots, 1); }
__noinline__ __device__ void give(int *slots) { atomicSub(slots, 1); }

extern "C" __global__ void semaphore(int *words, int most, int trips) {
    int noise = blockIdx.x;
    while (atomicAdd(&words[0], 1) >= most) atomicSub(&words[0], 1);
    noise = work(noise, trips);
    atomicAdd(&words[1], 1 + (noise == 0x7fffffff));
    atomicSub(&words[0], 1);
}

extern "C" __global__ void called(int *words, int most, int trips) {
    int noise = blockIdx.x;
    while (take(words) >= most) give(words);
    noise = work(noise, trips);
    atomicAdd(&words[1], 1 + (noise == 0x7fffffff));
    give(words);
}

extern "C" __global__ void flags(volatile int *words, int most, int trips) {  // nobody else may have raised one
    volatile int *raised = words + 2;
    int noise = blockIdx.x, others;
    for (;;) {
        raised[blockIdx.x] = 1;
        __threadfence();
        others = 0;
        for (int at = 0; at < gridDim.x; at++) others += at != blockIdx.x && raised[at];
        if (!others) break;
        raised[blockIdx.x] = 0;
    }
    noise = work(noise, trips);
    words[1] = words[1] + 1 + (noise == 0x7fffffff);
    __threadfence();
    raised[blockIdx.x] = 0;
}

extern "C" __global__ void warps(int *words, int most, int trips) {
    __shared__ int slots;
    if (threadIdx.x == 0) slots = 0;
    __syncthreads();
    int noise = threadIdx.x;
    if (threadIdx.x % 32 == 0) {
        while (atomicAdd(&slots, 1) >= most) atomicSub(&slots, 1);
        noise = work(noise, trips);
        atomicAdd(&words[1], 1 + (noise == 0x7fffffff));
        atomicSub(&slots, 1);
    }
}

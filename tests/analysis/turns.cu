// Threads that wait for one another in global memory, and some that only look as if they did.

// a lock around one sum
__global__ void locked_sum(const float* x, float* total, int* lock)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int lane = 0; lane < 32; ++lane)
        if (threadIdx.x % 32 == lane) {
            while (atomicCAS(lock, 0, 1) != 0);
            *(volatile float*)total += x[i];
            __threadfence();
            atomicExch(lock, 0);
        }
}

// a lock that is taken by an exchange
__global__ void exchanged_lock(const float* x, float* total, int* lock)
{
    bool done = false;
    while (!done)
        if (atomicExch(lock, 1) == 0) {
            *(volatile float*)total += x[threadIdx.x];
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}

// without a lock
__global__ void sum_by_atomics(const float* x, float* total, int* lock)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, x[i]);
}

// a loop of comparisons and exchanges is no lock: whoever fails tries again with what it found
__global__ void product_by_comparisons(const float* x, float* total, int* lock)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int old = *(int*)total, seen;
    do {
        seen = old;
        old = atomicCAS((int*)total, seen, __float_as_int(__int_as_float(seen) * x[i]));
    } while (old != seen);
}

// each block waits for the flag of the one before
__global__ void chained(const float* x, volatile float* prefix, volatile int* flag)
{
    float before = 0;
    if (blockIdx.x > 0) {
        while (flag[blockIdx.x - 1] == 0);
        before = prefix[blockIdx.x - 1];
    }
    prefix[blockIdx.x] = before + x[blockIdx.x];
    __threadfence();
    flag[blockIdx.x] = 1;
}

// the last block adds up what the others left: nobody waits
__global__ void last_block(const float* x, volatile float* partial, unsigned* count)
{
    partial[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
        float sum = 0;
        for (int k = 0; k < gridDim.x; ++k)
            sum += partial[k];
        partial[0] = sum;
    }
}

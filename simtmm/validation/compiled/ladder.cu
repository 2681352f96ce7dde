// Versions of textbook kernels that were measured on a GeForce RTX 3080, written anew from descriptions.

#define THREADS 512  // of a block of a sum, at most

// A block's sum in shared memory, by a tree: neighbours first, found by a remainder.
extern "C" __global__ void sum_divergent(const unsigned* in, unsigned* sums)
{
    __shared__ unsigned partial[THREADS];
    unsigned thread = threadIdx.x;
    partial[thread] = in[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
        if (thread % (2 * apart) == 0) partial[thread] += partial[thread + apart];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

// The same by the first threads.
extern "C" __global__ void sum_compact(const unsigned* in, unsigned* sums)
{
    __shared__ unsigned partial[THREADS];
    unsigned thread = threadIdx.x;
    partial[thread] = in[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
        unsigned left = 2 * apart * thread;
        if (left < blockDim.x) partial[left] += partial[left + apart];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

// Halves first, so that addresses follow one another.
extern "C" __global__ void sum_sequential(const unsigned* in, unsigned* sums)
{
    __shared__ unsigned partial[THREADS];
    unsigned thread = threadIdx.x;
    partial[thread] = in[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    for (unsigned apart = blockDim.x / 2; apart > 0; apart /= 2) {
        if (thread < apart) partial[thread] += partial[thread + apart];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

// The first addition while loading.
extern "C" __global__ void sum_while_loading(const unsigned* in, unsigned* sums)
{
    __shared__ unsigned partial[THREADS];
    unsigned thread = threadIdx.x, first = blockIdx.x * blockDim.x * 2 + thread;
    partial[thread] = in[first] + in[first + blockDim.x];
    __syncthreads();
    for (unsigned apart = blockDim.x / 2; apart > 0; apart /= 2) {
        if (thread < apart) partial[thread] += partial[thread + apart];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

__device__ void add_up_in_a_warp(volatile unsigned* partial, unsigned thread)
{
    for (unsigned apart = 32; apart > 0; apart /= 2) partial[thread] += partial[thread + apart];
}

// The last warp without barriers.
extern "C" __global__ void sum_last_warp(const unsigned* in, unsigned* sums)
{
    __shared__ unsigned partial[THREADS];
    unsigned thread = threadIdx.x, first = blockIdx.x * blockDim.x * 2 + thread;
    partial[thread] = in[first] + in[first + blockDim.x];
    __syncthreads();
    for (unsigned apart = blockDim.x / 2; apart > 32; apart /= 2) {
        if (thread < apart) partial[thread] += partial[thread + apart];
        __syncthreads();
    }
    if (thread < 32) add_up_in_a_warp(partial, thread);
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

// Each thread adds many elements up first.
extern "C" __global__ void sum_many(const unsigned* in, unsigned* sums, unsigned n)
{
    __shared__ unsigned partial[THREADS];
    unsigned thread = threadIdx.x, own = 0;
    for (unsigned i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x) own += in[i];
    partial[thread] = own;
    __syncthreads();
    for (unsigned apart = blockDim.x / 2; apart > 32; apart /= 2) {
        if (thread < apart) partial[thread] += partial[thread + apart];
        __syncthreads();
    }
    if (thread < 32) add_up_in_a_warp(partial, thread);
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

extern "C" __global__ void add(const float* a, const float* b, float* c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    c[y * n + x] = a[y * n + x] + b[y * n + x];
}

// Neighbouring threads in one column.
extern "C" __global__ void add_by_columns(const float* a, const float* b, float* c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    c[x * n + y] = a[x * n + y] + b[x * n + y];
}

extern "C" __global__ void product(const float* a, const float* b, float* c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

#define TILE 16

extern "C" __global__ void product_in_tiles(const float* a, const float* b, float* c, int n)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int tile = 0; tile < n; tile += TILE) {
        of_a[threadIdx.y][threadIdx.x] = a[y * n + tile + threadIdx.x];
        of_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1u);
}

#define BINS 256

extern "C" __global__ void histogram_of_blocks(const unsigned char* in, unsigned* bins, unsigned n)
{
    __shared__ unsigned own[BINS];
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (own[bin]) atomicAdd(&bins[bin], own[bin]);
}

// Kernels of physics, sparse data and bookkeeping, as people bring them, each beside the better one.

// Neighbouring elements are of different blocks.
__global__ void blocks_side_by_side(const float* in, float* out)
{
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    out[i] = 3 * in[i] + 1;
}

__global__ void threads_side_by_side(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 3 * in[i] + 1;
}

// A block for each bucket, of which a few are long.
__global__ void bucket_sums(const int* begin, const float* in, float* out)
{
    float sum = 0;
    for (int k = begin[blockIdx.x] + threadIdx.x; k < begin[blockIdx.x + 1]; k += blockDim.x) sum += in[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Rows of a sparse matrix with four elements: a warp for each, of which four threads work.
__global__ void short_rows_by_warps(const int* begin, const int* column, const float* value, const float* x, float* y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int j = begin[row] + lane; j < begin[row + 1]; j += 32) sum += value[j] * x[column[j]];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

__global__ void short_rows_by_fours(const int* begin, const int* column, const float* value, const float* x, float* y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 4, lane = threadIdx.x % 4;
    float sum = 0;
    for (int j = begin[row] + lane; j < begin[row + 1]; j += 4) sum += value[j] * x[column[j]];
    for (int d = 2; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// Forces by distances: an exact root, and an exact quotient.
__global__ void exact_distances(const float* x, float* force, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float at = x[i], f = 0;
    s[threadIdx.x] = at;
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        float d = s[k] - at;
        f += d * (1.0f / sqrtf(d * d + 0.01f));
    }
    force[i] = f;
}

__global__ void fast_distances(const float* x, float* force, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float at = x[i], f = 0;
    s[threadIdx.x] = at;
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        float d = s[k] - at;
        f += d * rsqrtf(d * d + 0.01f);
    }
    force[i] = f;
}

// Places from numbers of 64 bits, by quotient and remainder.
__global__ void places_of_64_bits(const float* in, float* out, long long width, long long height)
{
    for (int k = 0; k < 8; ++k) {
        long long i = ((long long)k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        long long x = i % width, y = i / width % height;
        out[i] = in[i] * (x - y);
    }
}

__global__ void places_of_powers_of_two(const float* in, float* out, long long, long long)
{
    for (int k = 0; k < 8; ++k) {
        unsigned i = (k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        int x = i & 511, y = (i >> 9) & 255;
        out[i] = in[i] * (x - y);
    }
}

// The first warp loads what all others wait for.
__global__ void first_warp_loads(const float* in, float* out, int rounds)
{
    __shared__ float tile[2048];
    for (int r = 0; r < rounds; ++r) {
        if (threadIdx.x < 32)
            for (int k = threadIdx.x; k < 2048; k += 32) tile[k] = in[(blockIdx.x * rounds + r) * 2048 + k];
        __syncthreads();
        float sum = 0;
        for (int k = threadIdx.x; k < 2048; k += 256) sum += tile[k];
        out[(blockIdx.x * rounds + r) * 256 + threadIdx.x] = sum;
        __syncthreads();
    }
}

__global__ void all_warps_load(const float* in, float* out, int rounds)
{
    __shared__ float tile[2048];
    for (int r = 0; r < rounds; ++r) {
        for (int k = threadIdx.x; k < 2048; k += 256) tile[k] = in[(blockIdx.x * rounds + r) * 2048 + k];
        __syncthreads();
        float sum = 0;
        for (int k = threadIdx.x; k < 2048; k += 256) sum += tile[k];
        out[(blockIdx.x * rounds + r) * 256 + threadIdx.x] = sum;
        __syncthreads();
    }
}

// The greatest float, which has no atomic operation: a loop that compares and exchanges.
__global__ void greatest_by_exchange(const float* in, int* most)
{
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int before = *(volatile int*)most, seen;
    while (__int_as_float(before) < v && (seen = atomicCAS(most, before, __float_as_int(v))) != before) before = seen;
    atomicAdd(most + 1, 1);
}

__global__ void greatest_of_blocks(const float* in, int* most)
{
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    int v = __float_as_int(in[blockIdx.x * blockDim.x + threadIdx.x]);
    v = __reduce_max_sync(~0u, v);
    if (threadIdx.x % 32 == 0) atomicMax(&own, v);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMax(most, own);
        atomicAdd(most + 1, blockDim.x);
    }
}

// Elements are stored wherever a permutation says.
__global__ void scatter_anywhere(const int* to, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[to[i]] = in[i];
}

// Loads that each say where the next one goes, by blocks of 1,024 threads, of which only one fits.
__global__ void walk(const int* next, int* out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; ++k) at = next[at];
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// Products of floats are added up as doubles.
__global__ void dot_in_doubles(const float* a, const float* b, double* out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < rounds; ++k) sum += (double)a[k * n + i] * b[k * n + i];
    out[i] = sum;
}

__global__ void dot_in_floats(const float* a, const float* b, double* out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < rounds; ++k) sum += a[k * n + i] * b[k * n + i];
    out[i] = sum;
}

// Sums of squares by blocks of 40 threads: a warp of 32, and one of 8.
__global__ void powers_of_some(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 1;
    for (int k = 0; k < 32; ++k) s = s * v + 0.5f;
    out[i] = s;
}

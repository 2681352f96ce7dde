// Kernels of a few microseconds, of which starting them is a good part: people ask about the rest.

// Random numbers whose state is in memory
__global__ void state_in_memory(unsigned* state, float* out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float inside = 0;
    for (int r = 0; r < rounds; ++r) {
        state[i] = state[i] * 1664525u + 1013904223u;
        out[i] = inside += (state[i] >> 8) * 5.9604645e-8f;
    }
}

__global__ void state_in_register(unsigned* state, float* out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = state[i];
    float inside = 0;
    for (int r = 0; r < rounds; ++r) {
        s = s * 1664525u + 1013904223u;
        inside += (s >> 8) * 5.9604645e-8f;
    }
    state[i] = s;
    out[i] = inside;
}

// The game of life on a torus
__global__ void life_by_remainders(const int* in, int* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            n += in[(y + dy + h) % h * w + (x + dx + w) % w];
    int own = in[y * w + x];
    n -= own;
    out[y * w + x] = n == 3 || (own && n == 2);
}

__global__ void life_by_masks(const int* in, int* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            n += in[(y + dy & h - 1) * w + (x + dx & w - 1)];
    int own = in[y * w + x];
    n -= own;
    out[y * w + x] = n == 3 || (own && n == 2);
}

// A cosine transform of eight values
__global__ void cosines(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, u = i % 8, first = i - u;
    float s = 0;
    for (int k = 0; k < 8; ++k)
        s += in[first + k] * cosf(3.14159265f * (2 * k + 1) * u / 16);
    out[i] = s;
}

__global__ void fast_cosines(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, u = i % 8, first = i - u;
    float s = 0;
    for (int k = 0; k < 8; ++k)
        s += in[first + k] * __cosf(3.14159265f * (2 * k + 1) * u / 16);
    out[i] = s;
}

// Elements that are kept, in any order, at places that one counter gives
__global__ void keep_by_counter(const float* in, float* out, unsigned* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.25f) {
        unsigned at = atomicAdd(count, 1u);
        out[at] = in[i];
    }
}

__global__ void keep_by_blocks(const float* in, float* out, unsigned* count, int n) {
    __shared__ unsigned own, first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    unsigned at = 0;
    bool is_kept = i < n && in[i] > 0.25f;
    if (is_kept) at = atomicAdd(&own, 1u);
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, own);
    __syncthreads();
    if (is_kept) out[first + at] = in[i];
}

// Rows of length 1: thread 0 adds up what its block has in shared memory, and the block then divides
__global__ void norms_by_thread_0(float* a) {
    __shared__ float part[256], norm;
    float v = a[blockIdx.x * 256 + threadIdx.x];
    part[threadIdx.x] = v * v;
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = 0;
        for (int k = 0; k < 256; ++k) s += part[k];
        norm = sqrtf(s);
    }
    __syncthreads();
    a[blockIdx.x * 256 + threadIdx.x] = v / norm;
}

__global__ void norms_by_warps(float* a) {
    __shared__ float part[8];
    float v = a[blockIdx.x * 256 + threadIdx.x], s = v * v;
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = part[threadIdx.x % 8];
    for (int d = 4; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
    a[blockIdx.x * 256 + threadIdx.x] = v / sqrtf(s);
}

// a step of shortest paths between all pairs, with rows along x
__global__ void paths_by_columns(float* d, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float via = d[i * n + k] + d[k * n + j];
    if (via < d[i * n + j])
        d[i * n + j] = via;
}

__global__ void paths_by_rows(float* d, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float via = d[i * n + k] + d[k * n + j];
    if (via < d[i * n + j])
        d[i * n + j] = via;
}

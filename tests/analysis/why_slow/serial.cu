// Questions on threads that wait for one that works, each beside the kernel that the accepted answer makes of it

__constant__ float palette[256];

__global__ void palette_of_constants(const unsigned* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    float s = 0;
    for (int k = 0; k < rounds; ++k) {
        s += palette[(v * (2 * k + 1) >> 8) & 255u];
    }
    out[i] = s;
}

__global__ void palette_in_shared(const unsigned* in, float* out, int rounds)
{
    __shared__ float own[256];
    own[threadIdx.x] = palette[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    float s = 0;
    for (int k = 0; k < rounds; ++k) {
        s += own[(v * (2 * k + 1) >> 8) & 255u];
    }
    out[i] = s;
}

__global__ void thread_0_adds_up(const float* in, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t] * 0.5f;
    __syncthreads();
    if (t == 0) {
        float s = 0;
        for (int k = 0; k < blockDim.x; ++k)
            s += part[k];
        out[blockIdx.x] = s;
    }
}

__global__ void warps_add_up(const float* in, float* out)
{
    __shared__ float part[8];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 256 + t] * 0.5f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    if (t < 8) {
        v = part[t];
        for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffu, v, d);
        if (t == 0) out[blockIdx.x] = v;
    }
}

// The last block's first thread adds up what all blocks left
__global__ void grid_thread_0_adds_up(const float* in, float* partial, float* out, unsigned* done)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = part[0];
        __threadfence();
        if (atomicAdd(done, 1) == gridDim.x - 1) {
            float s = 0;
            for (int k = 0; k < gridDim.x; ++k)
                s += partial[k];
            *out = s;
        }
    }
}

__global__ void last_block_adds_up(const float* in, float* partial, float* out, unsigned* done)
{
    __shared__ float part[256];
    __shared__ bool last;
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = part[0];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float s = 0;
        for (int k = t; k < gridDim.x; k += 256) s += partial[k];
        part[t] = s;
        __syncthreads();
        for (int d = 128; d > 0; d /= 2) {
            if (t < d) part[t] += part[t + d];
            __syncthreads();
        }
        if (t == 0) *out = part[0];
    }
}

__global__ void thread_0_loads(const float* in, const float* weight, float* out)
{
    __shared__ float w[256];
    if (threadIdx.x == 0)
        for (int k = 0; k < 256; ++k)
            w[k] = weight[blockIdx.x % 16 * 256 + k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * w[threadIdx.x];
}

__global__ void all_threads_load(const float* in, const float* weight, float* out)
{
    __shared__ float w[256];
    w[threadIdx.x] = weight[blockIdx.x % 16 * 256 + threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * w[threadIdx.x];
}

__global__ void dot_by_atomics(const float* a, const float* b, float* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, a[i] * b[i]);
}

__global__ void dot_by_blocks(const float* a, const float* b, float* sum, int n)
{
    __shared__ float part[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float v = i < n ? a[i] * b[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    if (t < 8) {
        v = part[t];
        for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffu, v, d);
        if (t == 0) atomicAdd(sum, v);
    }
}

__global__ void greatest_by_atomics(const int* in, int* most, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicMax(most, in[i]);
}

__global__ void greatest_by_threads(const int* in, int* most, int n)
{
    int own = -1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own = max(own, in[i]);
    for (int d = 16; d > 0; d /= 2) own = max(own, __shfl_down_sync(~0u, own, d));
    if (threadIdx.x % 32 == 0) atomicMax(most, own);
}

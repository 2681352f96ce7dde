// Questions on how threads and blocks share the work

extern "C" __global__ void one_counter(const float* x, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0.5f)
        atomicAdd(count, 1);
}

extern "C" __global__ void a_counter_for_each_block(const float* x, int* count)
{
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0.5f)
        atomicAdd(&own, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(count, own);
}

extern "C" __global__ void branches_by_lanes(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x % 2 == 0) {
        for (int k = 0; k < 400; ++k) v = v * 1.0001f + 0.5f;
    } else {
        for (int k = 0; k < 400; ++k) v = v * 0.9999f - 0.25f;
    }
    y[i] = v;
}

extern "C" __global__ void branches_by_warps(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x / 32 % 2 == 0) {
        for (int k = 0; k < 400; ++k) v = v * 1.0001f + 0.5f;
    } else {
        for (int k = 0; k < 400; ++k) v = v * 0.9999f - 0.25f;
    }
    y[i] = v;
}

extern "C" __global__ void axpy(float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void total(const float* x, float* out, int n)
{
    __shared__ float s[1024];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, s[0]);
}

extern "C" __global__ void a_barrier_each_round(const float* x, float* y, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < rounds; ++k) {
        v = v * 0.5f + 1.0f;
        __syncthreads();
    }
    y[i] = v;
}

extern "C" __global__ void no_barrier(const float* x, float* y, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < rounds; ++k) v = v * 0.5f + 1.0f;
    y[i] = v;
}

extern "C" __global__ void strided_sum(const float* x, float* out)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void sum_of_four_blocks(const float* x, float* out)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    const float* own = x + blockIdx.x * 4 * blockDim.x + t;
    s[t] = own[0] + own[blockDim.x] + own[2 * blockDim.x] + own[3 * blockDim.x];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Each eighth element is worked on, by each eighth thread
extern "C" __global__ void every_eighth(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 8 == 0) {
        float v = in[i];
        for (int k = 0; k < 200; ++k)
            v = v * 0.999f + 0.01f;
        out[i] = v;
    }
}
extern "C" __global__ void eighth_together(const float* in, float* out)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i < gridDim.x * blockDim.x) {
        float v = in[i];
        for (int k = 0; k < 200; ++k) v = v * 0.999f + 0.01f;
        out[i] = v;
    }
}

// Questions on what keeps a core group from having enough warps, each beside what the accepted answer makes of it

__global__ void much_shared(const float* in, float* out, int n)
{
    __shared__ float tile[11 * 1024];
    int t = threadIdx.x;
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) {
        tile[t] = in[i];
        __syncthreads();
        out[i] = tile[63 - t] * 2;
        __syncthreads();
    }
}

__global__ void little_shared(const float* in, float* out, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) {
        tile[t] = in[i];
        __syncthreads();
        out[i] = tile[63 - t] * 2;
        __syncthreads();
    }
}

// As many values at a time as are said to be in registers
template <int N>
__device__ void strip(const float* in, float* out, int n)
{
    int step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[N];
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = k;
    for (; i < n; i += step) {
        float x = in[i];
#pragma unroll
        for (int k = 0; k < N; ++k) v[k] = v[k] * x + 0.5f;
    }
    float s = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) s += v[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

__global__ void many_registers(const float* in, float* out, int n) { strip<150>(in, out, n); }

__global__ void few_registers(const float* in, float* out, int n) { strip<8>(in, out, n); }

__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// Steps along a chain of each thread's own; the answer follows several chains at a time
__global__ void one_chain(const int* next, int* out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < steps; ++k)
        i = next[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
}

__global__ void lock_for_each(const int* in, int* lock, int* sum)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0);
        *(volatile int*)sum += in[blockIdx.x];
        __threadfence();
        atomicExch(lock, 0);
    }
}

__global__ void sum_of_each(const int* in, int* lock, int* sum)
{
    if (threadIdx.x == 0) atomicAdd(sum, in[blockIdx.x]);
}

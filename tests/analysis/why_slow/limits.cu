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

// Values that are kept in registers while the loop waits for memory, where they could be loaded behind it
template <int N>
__device__ void kept(const float* in, const int* next, float* out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, at = i;
    float v[N], s = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = in[k * n + i];
    for (int k = 0; k < steps; ++k) {
        at = next[at];
        s += v[0] * at;
    }
#pragma unroll
    for (int k = 0; k < N; ++k) s = s * 0.5f + v[k];
    out[i] = s;
}

__global__ void many_registers(const float* in, const int* next, float* out, int steps)
{
    kept<96>(in, next, out, steps);
}

__global__ void __launch_bounds__(256, 4) few_registers(const float* in, const int* next, float* out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, at = i;
    float s = 0, first = in[i];
    for (int k = 0; k < steps; ++k) {
        at = next[at];
        s += first * at;
    }
#pragma unroll 8
    for (int k = 0; k < 96; ++k) s = s * 0.5f + in[k * n + i];
    out[i] = s;
}

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

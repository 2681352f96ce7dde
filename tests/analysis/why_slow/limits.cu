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

__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

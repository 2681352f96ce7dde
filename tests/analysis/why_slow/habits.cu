// Kernels as people ask about them, each beside the one that the accepted answer makes of it

__constant__ float table[1024];

__global__ void a_piece_for_each_thread(const float* in, float* out, int each)
{
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = begin; i < begin + each; ++i) out[i] = 2 * in[i] + 1;
}

__global__ void steps_of_the_grid(const float* in, float* out, int each)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < each * step; i += step) out[i] = 2 * in[i] + 1;
}

__global__ void doubles_by_columns(const double* in, double* out, int rounds)
{
    __shared__ double tile[32][32];
    int x = threadIdx.x, y = threadIdx.y, at = blockIdx.x * 1024;
    tile[y][x] = in[at + 32 * y + x];
    __syncthreads();
    double s = 0;
    for (int k = 0; k < rounds; ++k) s += tile[x][(y + k) % 32];
    out[at + 32 * y + x] = s;
}

__global__ void doubles_padded(const double* in, double* out, int rounds)
{
    __shared__ double tile[32][33];
    int x = threadIdx.x, y = threadIdx.y, at = blockIdx.x * 1024;
    tile[y][x] = in[at + 32 * y + x];
    __syncthreads();
    double s = 0;
    for (int k = 0; k < rounds; ++k) s += tile[x][(y + k) % 32];
    out[at + 32 * y + x] = s;
}

__global__ void a_row_of_constants(const int* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < rounds; ++k) s += table[(in[i] + k) & 1023];
    out[i] = s;
}

__global__ void a_row_in_shared(const int* in, float* out, int rounds)
{
    __shared__ float own[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) own[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < rounds; ++k) s += own[(in[i] + k) & 1023];
    out[i] = s;
}

__global__ void volatile_loads(volatile const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < rounds; ++k) s += in[i] * k;
    out[i] = s;
}

__global__ void plain_loads(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0, v = in[i];
    for (int k = 0; k < rounds; ++k) s += v * k;
    out[i] = s;
}

__global__ void powers(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 1; k <= rounds; ++k) s += pow(v + k, 2.5);
    out[i] = s;
}

__global__ void powers_of_floats(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 1; k <= rounds; ++k) s += powf(v + k, 2.5f);
    out[i] = s;
}

__global__ void one_sum(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], s = 0;
    for (int k = 0; k < rounds; ++k) s += x;
    out[i] = s;
}

__global__ void four_sums(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], s = 0, t = 0, u = 0, v = 0;
    for (int k = 0; k < rounds; k += 4) {
        s += x;
        t += x;
        u += x;
        v += x;
    }
    out[i] = s + t + u + v;
}

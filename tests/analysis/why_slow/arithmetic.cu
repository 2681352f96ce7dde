// Questions on what is computed, and where threads keep it

extern "C" __global__ void constants_of_doubles(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 50; ++k)
        v = v * 0.99 + 0.01;
    y[i] = v;
}

extern "C" __global__ void constants_of_floats(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 50; ++k)
        v = v * 0.99f + 0.01f;
    y[i] = v;
}

extern "C" __global__ void functions_of_doubles(const float* s, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = s[i], r = 0;
    for (int k = 1; k < 4; ++k)
        r += exp(-v * k) * sqrt(v + k) + pow(v, 0.3);
    out[i] = r;
}

extern "C" __global__ void functions_of_floats(const float* s, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = s[i], r = 0;
    for (int k = 1; k < 4; ++k)
        r += expf(-v * k) * sqrtf(v + k) + powf(v, 0.3f);
    out[i] = r;
}

extern "C" __global__ void divides_by_arguments(const int* in, int* out, int n, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int acc = in[i], j = i;
    for (int k = 0; k < 50; ++k) {
        acc += j / w * 3 + j % w;
        j = (j + 7919) % n;
    }
    out[i] = acc;
}

extern "C" __global__ void divides_by_constants(const int* in, int* out, int, int)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int acc = in[i], j = i;
    for (int k = 0; k < 50; ++k) {
        acc += j / 1000 * 3 + j % 1000;
        j = (j + 7919) % 16384;
    }
    out[i] = acc;
}

extern "C" __global__ void a_local_array(const unsigned* in, unsigned* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned counts[16] = {};
    unsigned v = in[i], best = 0;
    for (int k = 0; k < 20; ++k) {
        counts[v % 16u]++;
        v = v * 1664525u + 1013904223u;
    }
    for (int k = 0; k < 16; ++k) best = max(best, counts[k]);
    out[i] = best;
}

extern "C" __global__ void a_shared_array(const unsigned* in, unsigned* out)
{
    __shared__ unsigned counts[16][128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    for (int k = 0; k < 16; ++k) counts[k][t] = 0;
    unsigned v = in[i], best = 0;
    for (int k = 0; k < 20; ++k) {
        counts[v % 16u][t]++;
        v = v * 1664525u + 1013904223u;
    }
    for (int k = 0; k < 16; ++k) best = max(best, counts[k][t]);
    out[i] = best;
}

template <int N> __device__ void rounds(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[N], s = 0;
    #pragma unroll
    for (int k = 0; k < N; ++k) v[k] = x[i] + k;
    #pragma unroll 1
    for (int r = 0; r < 3; ++r) {
        #pragma unroll
        for (int k = 0; k < N; ++k) v[k] = v[k] * v[(k + 7) % N] + v[(k + 13) % N];
    }
    #pragma unroll
    for (int k = 0; k < N; ++k) s += v[k];
    y[i] = s;
}

extern "C" __global__ void __launch_bounds__(512, 4) too_few_registers(const float* x, float* y) { rounds<56>(x, y); }

extern "C" __global__ void enough_registers(const float* x, float* y) { rounds<56>(x, y); }

extern "C" __global__ void turned_without_padding(const float* in, float* out, int n)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void turned_with_padding(const float* in, float* out, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Questions on loops and what they compute, each beside the kernel that the accepted answer makes of it

__global__ void sigmoid_of_doubles(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int k = 0; k < 8; ++k)
        v = 1.0 / (1.0 + v * v * 0.5);
    out[i] = v;
}

__global__ void sigmoid_of_floats(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int k = 0; k < 8; ++k) v = 1.0f / (1.0f + v * v * 0.5f);
    out[i] = v;
}

// A ring whose length only the host knows
__global__ void ring_by_remainder(const float* ring, float* out, int n, int taps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < taps; ++k)
        s += ring[(i + k) % n] * k;
    out[i] = s;
}

__global__ void ring_by_comparison(const float* ring, float* out, int n, int taps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i % n;
    float s = 0;
    for (int k = 0; k < taps; ++k) {
        s += ring[at] * k;
        if (++at == n) at = 0;
    }
    out[i] = s;
}

// The median of nine values, sorted by insertion into a local array
__global__ void median_in_local(const float* in, float* out, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[32];
    for (int k = 0; k < width; ++k) {
        float x = in[i + k];
        int j = k;
        while (j > 0 && v[j - 1] > x) {
            v[j] = v[j - 1];
            --j;
        }
        v[j] = x;
    }
    out[i] = v[width / 2];
}

__global__ void median_in_shared(const float* in, float* out, int width)
{
    __shared__ float v[32][128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    for (int k = 0; k < width; ++k) {
        float x = in[i + k];
        int j = k;
        while (j > 0 && v[j - 1][t] > x) {
            v[j][t] = v[j - 1][t];
            --j;
        }
        v[j][t] = x;
    }
    out[i] = v[width / 2][t];
}

__device__ float heavy(float v, float a)
{
    for (int k = 0; k < 64; ++k) v = v * a + 0.25f;
    return v;
}

__global__ void kinds_as_they_come(const int* kind, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    switch (kind[i] & 3) {
        case 0: v = heavy(v, 0.1f); break;
        case 1: v = heavy(v, 0.2f) * v; break;
        case 2: v = heavy(v, 0.3f) + v; break;
        default: v = heavy(v, 0.4f) - v; break;
    }
    out[i] = v;
}

// The same work of each kind, sorted by it
__global__ void kinds_sorted(const int* kind, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    switch (kind[i] < 0 ? 0 : blockIdx.x & 3) {
        case 0: v = heavy(v, 0.1f); break;
        case 1: v = heavy(v, 0.2f) * v; break;
        case 2: v = heavy(v, 0.3f) + v; break;
        default: v = heavy(v, 0.4f) - v; break;
    }
    out[i] = v;
}

// Row i of a triangle has i elements
__global__ void triangle(const float* in, float* out, int n)
{
    __shared__ float part[8];
    int row = blockIdx.x, t = threadIdx.x;
    float s = 0;
    for (int k = t; k < row; k += 256)
        s += in[row * n + k];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 8; ++k) s += part[k];
        out[row] = s;
    }
}

__global__ void sines(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 0; k < rounds; ++k)
        s += v / (1.0f + k * v);
    out[i] = s;
}

__global__ void fast_sines(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 0; k < rounds; ++k) s += __fdividef(v, 1.0f + k * v);
    out[i] = s;
}

__global__ void wide_indices(const float* in, float* out, long long width, long long height, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long x = i % width, y = i / width % height;
    if (i < n)
        out[y * width + x] = in[i] + 1;
}

__global__ void narrow_indices(const float* in, float* out, long long width, long long height, long long n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int i = y * (int)width + x;
    if (i < n) out[i] = in[i] + 1;
}

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

__global__ void quotients(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 0; k < rounds; ++k)
        s += v / (1.0f + k * v);
    out[i] = s;
}

__global__ void fast_quotients(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 0; k < rounds; ++k) s += __fdividef(v, 1.0f + k * v);
    out[i] = s;
}

__global__ void waves(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 0; k < rounds; ++k)
        s += sinf(v * k);
    out[i] = s;
}

__global__ void fast_waves(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], s = 0;
    for (int k = 0; k < rounds; ++k) s += __sinf(v * k);
    out[i] = s;
}

// A product with its sum in memory
__global__ void adds_to_memory(const float* a, const float* b, float* c, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    for (int k = 0; k < n; ++k)
        c[row * n + col] += a[row * n + k] * b[k * n + col];
}

__global__ void adds_in_a_register(const float* a, const float* b, float* c, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float s = c[row * n + col];
    for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}

// A list that each thread follows: where a load goes, the one before says.
__global__ void one_list(const int* next, int* out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 29;
    for (int k = 0; k < steps; ++k)
        at = next[at];
    out[i] = at;
}

// A search in sorted data: likewise.
__global__ void lower_bounds(const float* sorted, const float* in, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
    float value = in[i];
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < value) low = middle + 1;
        else high = middle;
    }
    out[i] = low;
}

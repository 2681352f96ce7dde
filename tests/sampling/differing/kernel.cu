// Kernels whose blocks, or launches, do different things.

// Block b goes through a loop b * most / blocks times.
extern "C" __global__ void triangle(const float* a, float* c, int n, int most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int turns = (int)((long long)most * blockIdx.x / gridDim.x);
    float sum = 0;
    for (int k = 0; k < turns; ++k) sum += a[(i + k * 128) & (n - 1)];
    c[i & (n - 1)] = sum;
}

// Each block of so many goes through its loop more often than once.
extern "C" __global__ void every(const float* a, float* c, int n, int period, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < (blockIdx.x % period ? 1 : turns); ++k) sum += a[(i + k * 128) & (n - 1)];
    c[i & (n - 1)] = sum;
}

// Blocks from one to another compute, and all others copy.
extern "C" __global__ void computing(const float* a, float* c, int n, int from, int to, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i & (n - 1)];
    if (blockIdx.x >= from && blockIdx.x < to)
        for (int k = 0; k < turns; ++k) x = x * 1.0001f + 0.5f;
    c[i & (n - 1)] = x;
}

// Blocks from one on do the same as often, with other strides.
extern "C" __global__ void strided(const float* a, float* c, int n, int from, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int by = blockIdx.x >= from ? stride : 1;
    float x = 0;
    for (int k = 0; k < 4; ++k) x += a[((i + k * 1024) * by) & (n - 1)];
    c[i & (n - 1)] = x;
}

// Rows of a matrix in compressed form, a thread a row.
extern "C" __global__ void rows(const int* first, const float* a, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = first[i]; k < first[i + 1]; ++k) sum += a[k];
    c[i] = sum;
}

// A step of an elimination: below and right of k. The grid is of the whole matrix, or of what is left of it.
extern "C" __global__ void eliminate(float* m, int n, int k, int corner)
{
    int col = corner + blockIdx.x * blockDim.x + threadIdx.x, row = corner + blockIdx.y * blockDim.y + threadIdx.y;
    if (row > k && col > k && row < n && col < n) m[row * n + col] -= m[row * n + k] * m[k * n + col];
}

// A stencil whose border is copied.
extern "C" __global__ void halo(const float* in, float* out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, at = y * n + x;
    bool inner = x > 0 && y > 0 && x < n - 1 && y < n - 1;
    if (x < n && y < n) out[at] = inner ? in[at] + in[at - 1] + in[at + 1] + in[at - n] + in[at + n] : in[at];
}

// Sums of columns, sixteen rows high and two rows apart: a block reads most of what the blocks above and below it do.
extern "C" __global__ void window(const float* in, float* out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum = sum * 0.5f + in[(2 * blockIdx.y + k) * n + x];
    out[blockIdx.y * n + x] = sum;
}

// Two long loops, one after the other: the first waits for memory, the second computes.
extern "C" __global__ void phases(const float* a, float* c, int first, int second)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0;
    for (int k = 0; k < first; ++k) x += a[i * 33 + k * 4096];
#pragma unroll 1
    for (int k = 0; k < second; ++k) x = x * 1.0001f + 0.5f;
    c[i] = x;
}

// Kernels as people ask about them, each beside what the answer makes of it

struct Particle { float x, y, z, vx, vy, vz, mass, charge; };

extern "C" __global__ void array_of_structures(Particle* p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i].x += dt * p[i].vx;
    p[i].y += dt * p[i].vy;
    p[i].z += dt * p[i].vz;
}

extern "C" __global__ void structure_of_arrays(float* p, float dt)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] += dt * p[3 * n + i];
    p[n + i] += dt * p[4 * n + i];
    p[2 * n + i] += dt * p[5 * n + i];
}

extern "C" __global__ void every_32nd(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.0f * in[32 * i];
}

extern "C" __global__ void each(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.0f * in[i];
}

extern "C" __global__ void rows_along_x(float* a, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    a[row * width + col] *= 2.0f;
}

extern "C" __global__ void columns_along_x(float* a, int width)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    a[row * width + col] *= 2.0f;
}

extern "C" __global__ void stencil_by_rows(const float* in, float* out, int w)
{
    int y = 1 + blockIdx.x * blockDim.x + threadIdx.x, x = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1]
        + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

extern "C" __global__ void stencil_by_columns(const float* in, float* out, int w)
{
    int x = 1 + blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1]
        + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

extern "C" __global__ void a_thread_sums_a_row(const float* a, float* out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; ++k)
        s += a[row * n + k];
    out[row] = s;
}

extern "C" __global__ void a_warp_sums_a_row(const float* a, float* out, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float s = 0;
    for (int k = threadIdx.x % 32; k < n; k += 32)
        s += a[row * n + k];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) out[row] = s;
}

// Many products of 4 x 4 matrices, one by a thread
__global__ void small_products(const float* a, const float* b, float* c)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float s = 0;
            for (int k = 0; k < 4; ++k)
                s += a[16 * m + 4 * i + k] * b[16 * m + 4 * k + j];
            c[16 * m + 4 * i + j] = s;
        }
}
__global__ void small_products_interleaved(const float* a, const float* b, float* c)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float s = 0;
            for (int k = 0; k < 4; ++k) s += a[(4 * i + k) * n + m] * b[(4 * k + j) * n + m];
            c[(4 * i + j) * n + m] = s;
        }
}

// More kernels as people ask about them, each beside what the accepted answer makes of it.

// A histogram of few bins.
extern "C" __global__ void few_bins(const unsigned char* pixels, unsigned* bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[pixels[i] >> 4], 1u);
}

extern "C" __global__ void few_bins_of_blocks(const unsigned char* pixels, unsigned* bins, int n)
{
    __shared__ unsigned own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[pixels[i] >> 4], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// A matrix times a vector, a thread a row; and with the matrix transposed.
extern "C" __global__ void matvec_rows(const float* A, const float* x, float* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * x[k];
    y[row] = sum;
}

extern "C" __global__ void matvec_columns(const float* A, const float* x, float* y, int n, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[k * rows + row] * x[k];
    y[row] = sum;
}

// A convolution whose filter is in global memory, where it may alias, and in constant memory.
extern "C" __global__ void filter_in_global(const float* in, float* filter, float* out, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sum = 0;
    for (int k = 0; k < 33; ++k) sum += filter[k] * in[y * (width + 32) + x + k];
    out[y * width + x] = sum;
}

__constant__ float kept_filter[33];
extern "C" __global__ void filter_in_constant(const float* in, float* filter, float* out, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sum = 0;
    for (int k = 0; k < 33; ++k) sum += kept_filter[k] * in[y * (width + 32) + x + k];
    out[y * width + x] = sum;
}

// Particles as an array of structures, and as a structure of arrays.
struct Particle {
    float px, py, pz, vx, vy, vz, mass, charge;
};
extern "C" __global__ void particles(Particle* p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i].px += dt * p[i].vx;
    p[i].py += dt * p[i].vy;
    p[i].pz += dt * p[i].vz;
}

extern "C" __global__ void particles_of_arrays(float* p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int c = 0; c < 3; ++c) p[c * n + i] += dt * p[(3 + c) * n + i];
}

// A sparse matrix by rows (CSR) times a vector: a thread a row of uneven length, and a warp a row.
extern "C" __global__ void csr_thread(const int* begin, const int* column, const float* value, const float* x, float* y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = begin[row]; j < begin[row + 1]; ++j) sum += value[j] * x[column[j]];
    y[row] = sum;
}

extern "C" __global__ void csr_warp(const int* begin, const int* column, const float* value, const float* x, float* y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int j = begin[row] + lane; j < begin[row + 1]; j += 32) sum += value[j] * x[column[j]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// Mandelbrot: threads of a warp take different numbers of rounds.
extern "C" __global__ void mandelbrot(int* out, int width, int most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float cx = -2.0f + 3.0f * ((i * 97) % width) / width, cy = -1.0f + 2.0f * (i / width) / width;
    float x = 0, y = 0;
    int k = 0;
    while (x * x + y * y < 4 && k < most) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++k;
    }
    out[i] = k;
}

// A copy by bytes, and by words of 16 bytes.
extern "C" __global__ void copy_bytes(const unsigned char* in, unsigned char* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

extern "C" __global__ void copy_vectors(const uint4* in, uint4* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) out[i] = in[i];
}

// A double creeps into a kernel of floats: 1 / sqrt.
extern "C" __global__ void normalize_in_doubles(float* v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    float s = 1.0 / sqrt((double)x * x + y * y + z * z);
    v[3 * i] = x * s;
    v[3 * i + 1] = y * s;
    v[3 * i + 2] = z * s;
}

extern "C" __global__ void normalize_in_floats(float* v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    float s = rsqrtf(x * x + y * y + z * z);
    v[3 * i] = x * s;
    v[3 * i + 1] = y * s;
    v[3 * i + 2] = z * s;
}

// One thread does everything.
extern "C" __global__ void one_thread(const float* a, const float* b, float* c, int n)
{
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

extern "C" __global__ void all_threads(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// A sum with a shared array whose threads all update one word there.
extern "C" __global__ void sum_by_shared_atomics(const float* in, float* out, int n)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&total, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, total);
}

extern "C" __global__ void sum_by_registers(const float* in, float* out, int n)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, total);
}

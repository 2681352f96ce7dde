// Kernels as strangers bring them: why is it slow? The answers stand in strangers.py

struct Pixel { float r, g, b, a; };

__device__ __forceinline__ int clamped(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

__global__ void luminance(const Pixel* image, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = image[i].g;
}

__global__ void log_likelihood(const float* p, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 1; k <= 32; k++)
        sum += k * logf(p[i] * k + 1.0f);
    out[i] = sum;
}

__global__ void row_mean(const float* m, float* mean, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.0f;
    for (int c = 0; c < cols; c++)
        s += m[row * cols + c];
    mean[row] = s / cols;
}

__global__ void box_blur(const float* in, float* out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float acc = 0.0f;
    for (int dx = -4; dx <= 4; dx++)
        for (int dy = -4; dy <= 4; dy++)
            acc += in[clamped(x + dx, w - 1) * h + clamped(y + dy, h - 1)];
    out[x * h + y] = acc / 81.0f;
}

__global__ void image_histogram(const unsigned char* img, unsigned int* hist, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&hist[img[i] / 64], 1u);
}

__global__ void collatz(const unsigned* start, int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = start[i] % 100000 + 1;
    int count = 0;
    while (v != 1 && count < 400) {
        v = (v & 1) ? 3 * v + 1 : v >> 1;
        count++;
    }
    steps[i] = count;
}

__global__ void norms(const double* v, double* out, int dims)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double s = 0;
    for (int d = 0; d < dims; d++) {
        double x = v[d * gridDim.x * blockDim.x + i];
        for (int k = 0; k < 8; k++) s = s * 0.5 + x * x;
    }
    out[i] = sqrt(s);
}

__global__ void unflatten(const float* in, float* out, int w, int h, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.0f;
    for (int k = 0; k < 8; k++) {
        int j = i + k * 37;
        int x = j % w, y = (j / w) % h, z = j / (w * h) % d;
        s += in[(x + y + z) & 1023];
    }
    out[i] = s;
}

__global__ void prefix_one_block(const float* in, float* out, int n)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = in[i] * in[i] + total;
}

__global__ void relu_small_blocks(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void insertion_sort_windows(const float* in, float* out, int n)
{
    float w[24];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 24; k++) w[k] = in[i + k];
    for (int a = 1; a < 24; a++) {
        float v = w[a];
        int b = a - 1;
        while (b >= 0 && w[b] > v) { w[b + 1] = w[b]; b--; }
        w[b + 1] = v;
    }
    out[i] = w[12];
}

__global__ void transpose_out(const float* in, float* out, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    out[c * rows + r] = in[r * cols + c];
}

__global__ void lower_triangle(const float* m, float* out, int n)
{
    int row = blockIdx.x;
    float s = 0.0f;
    for (int c = threadIdx.x; c < row * row; c += blockDim.x) s += m[c] * m[n];
    atomicAdd(&out[row], s);
}

__global__ void global_max(const float* v, float* best, int* lock, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        if (v[i] > *best) *best = v[i];
        __threadfence();
        atomicExch(lock, 0);
    }
}

__global__ void embedding(const int* token, const float* table, float* out, int dim)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int d = 0; d < dim; d++)
        out[t * dim + d] = table[token[t] * dim + d];
}

__global__ void bank_stride(const float* in, float* out, int n)
{
    __shared__ float buffer[2048];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) buffer[t * 8 + k] = in[blockIdx.x * 2048 + k * 256 + t];
    __syncthreads();
    float s = 0.0f;
    for (int r = 0; r < 16; r++)
        for (int k = 0; k < 8; k++)
            s += buffer[t * 8 + ((k + r) & 7)];
    out[blockIdx.x * 256 + t] = s;
}

__global__ void big_tile(const float* in, float* out, int n)
{
    __shared__ float stage[11264];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    stage[t] = in[i];
    __syncthreads();
    float v = stage[127 - t];
    for (int k = 1; k < 8; k++) v += in[(i + k * 16384) % n];
    out[i] = v;
}

__global__ void running_sum(const float* x, float* acc, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        acc[i] = acc[i] * 0.5f + x[r * n + i];
}

__global__ void invert_bytes(const unsigned char* in, unsigned char* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 255 - in[i];
}

__global__ void horner(const float* x, float* y, int terms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], s = 1.0f;
    for (int k = 0; k < terms; k++)
        s = s * v + 0.25f;
    y[i] = s;
}

// More kernels as forums have them: why is it slow? The answers stand in boards.py

struct Record { int id; float price; float rest[14]; };

__global__ void gemv_by_rows(const float* A, const float* x, float* y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    for (int c = 0; c < cols; c++)
        atomicAdd(&y[c], A[c * rows + r] * x[r]);
}

__global__ void rotate_quarter(const uchar4* in, uchar4* out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = in[(w - 1 - x) * h + y];
}

__global__ void bilateral(const float* in, float* out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float centre = in[y * w + x], sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            int sx = min(max(x + dx, 0), w - 1), sy = min(max(y + dy, 0), h - 1);
            float v = in[sy * w + sx], d = v - centre;
            float weight = expf(-0.5f * (dx * dx + dy * dy)) * expf(-8.0f * d * d);
            sum += weight * v; weights += weight;
        }
    out[y * w + x] = sum / weights;
}

__global__ void convolve_channels(const float* image, const float* weight, float* out, int channels, int side)
{
    int o = threadIdx.x, px = blockIdx.x, py = blockIdx.y;
    float sum = 0;
    for (int c = 0; c < channels; c++)
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++)
                sum += image[(c * (side + 2) + py + ky) * (side + 2) + px + kx]
                     * weight[((o * channels + c) * 3 + ky) * 3 + kx];
    out[(py * side + px) * blockDim.x + o] = sum;
}

__global__ void determinants(const float* m, float* det)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float* a = m + 9 * i;
    det[i] = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6])
           + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

__global__ void calibrate_samples(const float* raw, float* volts, int order)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = raw[i];
    for (int k = 0; k < order; k++)
        v = v * 0.99 + 0.001 * k;
    volts[i] = v;
}

__global__ void coo_times_vector(const int* row, const int* col, const float* value, const float* x, float* y, int nnz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nnz) atomicAdd(&y[row[i]], value[i] * x[col[i]]);
}

__global__ void max_pool(const float* in, float* out, int w, int h, int channels)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
    float most = -1e30f;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++)
            most = fmaxf(most, in[((2 * y + dy) * w + 2 * x + dx) * channels + c]);
    out[(y * (w / 2) + x) * channels + c] = most;
}

__global__ void sums_by_kind(const int* kind, const float* amount, float* out, int each)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, many = gridDim.x * blockDim.x;
    float sums[8] = {0};
    for (int k = 0; k < each; k++)
        sums[kind[k * many + i]] += amount[k * many + i];
    for (int k = 0; k < 8; k++)
        out[k * many + i] = sums[k];
}

__global__ void parse_numbers(const char* digits, float* value, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, many = gridDim.x * blockDim.x;
    float v = 0;
    for (int k = 0; k < length; k++)
        v += (digits[k * many + i] & 7) * pow(10.0, length - k - 4);
    value[i] = v;
}

__global__ void with_a_header(const float* in, float* out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    if (blockIdx.x == 0)
        for (int k = 0; k < rounds; k++)
            v = sinf(v) + in[(i + k * 64) % n];
    out[i] = v;
}

__global__ void one_block_more(const float* in, float* out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i], b = a + 1.0f;
    for (int k = 0; k < rounds; k++) {
        a = a * 0.9f + 0.1f;
        b = b * 0.8f + 0.2f;
    }
    out[i] = a + b;
}

__global__ void copy_by_few(const float* in, float* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}

__global__ void triad(const float* a, const float* b, float* c, float s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + s * b[i];
}

__global__ void attention_weights(const float* score, float* out, int n)
{
    int row = blockIdx.x, i = threadIdx.x;
    float top = -1e30f, sum = 0;
    for (int k = 0; k < n; k++) top = fmaxf(top, score[row * n + k]);
    for (int k = 0; k < n; k++) sum += expf(score[row * n + k] - top);
    out[row * n + i] = expf(score[row * n + i] - top) / sum;
}

__global__ void moving_average(const float* x, float* out, int window)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < window; k++)
        sum += x[i + k];
    out[i] = sum / window;
}

__global__ void brightest(const float* volume, float* image, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float most = 0;
    for (int z = 0; z < nz; z++)
        most = fmaxf(most, volume[(x * ny + y) * nz + z]);
    image[y * nx + x] = most;
}

__global__ void gelu(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    out[i] = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

__global__ void neurons(const float* input, float* spikes, int steps)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0, count = 0;
    for (int t = 0; t < steps; t++) {
        v = 0.9f * v + input[n * steps + t];
        if (v > 1.0f) { v = 0; count += 1; }
    }
    spikes[n] = count;
}

__global__ void prices(const int* which, const Record* record, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = record[which[i]].price;
}

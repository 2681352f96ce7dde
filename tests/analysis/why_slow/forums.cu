// Kernels as forums have them: why is it slow? The answers stand in forums.py

struct Walker { float x, y, vx, vy, age, weight, spare, other; };

__global__ void reduce_interleaved(const float* in, float* out)
{
    __shared__ float partial[256];
    unsigned t = threadIdx.x;
    partial[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0)
            partial[t] += partial[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

__global__ void add_by_blocks(const int* a, const int* b, int* c)
{
    c[blockIdx.x] = a[blockIdx.x] + b[blockIdx.x];
}

__global__ void matrix_add(const float* a, const float* b, float* c, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int k = 0; k < cols; k++)
        c[row * cols + k] = a[row * cols + k] + b[row * cols + k];
}

__device__ double add_double(double* address, double value)
{
    unsigned long long* word = (unsigned long long*)address;
    unsigned long long old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void energy(const float* v, double* total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    add_double(total, 0.5 * v[i] * v[i]);
}

__global__ void ell_times_vector(const int* column, const float* value, const float* x, float* y, int rows, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += value[row * width + k] * x[column[row * width + k]];
    y[row] = sum;
}

__global__ void julia(unsigned char* image, int side)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    double zr = 3.0 * px / side - 1.5, zi = 3.0 * py / side - 1.5;
    int k = 0;
    for (; k < 60; k++) {
        double re = zr * zr - zi * zi - 0.8, im = 2.0 * zr * zi + 0.156;
        if (re * re + im * im > 4.0) break;
        zr = re; zi = im;
    }
    image[py * side + px] = k;
}

__global__ void heat(const float* in, float* out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int at = (x * ny + y) * nz + z;
    float around = in[at - 1] + in[at + 1] + in[at - nz] + in[at + nz] + in[at - ny * nz] + in[at + ny * nz];
    out[at] = in[at] + 0.1f * (around - 6.0f * in[at]);
}

__global__ void walkers(const float* start, float* out, int steps)
{
    __shared__ Walker walker[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, left = (t + 127) & 127;
    walker[t].x = start[i]; walker[t].y = 0.0f; walker[t].vx = 1.0f; walker[t].vy = 0.5f;
    for (int s = 0; s < steps; s++) {
        __syncthreads();
        float x = walker[left].x, y = walker[left].y, vx = walker[left].vx, vy = walker[left].vy;
        __syncthreads();
        walker[t].x += 0.01f * vx; walker[t].y += 0.01f * vy;
        walker[t].vx -= 0.02f * x; walker[t].vy -= 0.02f * y;
    }
    out[i] = walker[t].x + walker[t].y + walker[t].vx + walker[t].vy;
}

__global__ void column_max(const float* m, float* most, int rows, int cols)
{
    __shared__ float best[256];
    float top = -1e30f;
    for (int r = threadIdx.x; r < rows; r += blockDim.x)
        top = fmaxf(top, m[r * cols + blockIdx.x]);
    best[threadIdx.x] = top;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) most[blockIdx.x] = best[0];
}

__global__ void dense(const float* w, const float* x, const float* bias, float* out, int inputs, int outputs)
{
    int o = threadIdx.x, sample = blockIdx.x;
    float sum = bias[o];
    for (int i = 0; i < inputs; i++)
        sum += w[o * inputs + i] * x[sample * inputs + i];
    out[sample * outputs + o] = sum > 0 ? sum : 0;
}

__global__ void primes(int* is_prime, unsigned first)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = first + 2 * i;
    int prime = 1;
    for (unsigned d = 3; d * d <= n; d += 2)
        if (n % d == 0) { prime = 0; break; }
    is_prime[i] = prime;
}

__global__ void count_spaces(const char* text, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    for (int k = 0; k < 64; k++)
        if (text[i * 64 + k] == ' ') found++;
    count[i] = found;
}

__global__ void edit_distance(const char* a, const char* b, int* distance, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, many = gridDim.x * blockDim.x;
    int row[65];
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int k = 1; k <= length; k++) {
        int diagonal = row[0];
        row[0] = k;
        for (int j = 1; j <= length; j++) {
            int above = row[j];
            int change = diagonal + (a[(k - 1) * many + i] != b[(j - 1) * many + i]);
            row[j] = min(min(above, row[j - 1]) + 1, change);
            diagonal = above;
        }
    }
    distance[i] = row[length];
}

__global__ void mean(const float* x, float* partial, int n)
{
    __shared__ float sums[1024];
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += x[i];
    sums[threadIdx.x] = s;
    for (int half = 512; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0] / n;
}

__global__ void group_by(const int* key, const float* amount, float* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[key[i]], amount[i]);
}

__global__ void scan_columns(const float* in, float* out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rows; r++) {
        sum += in[r * cols + c];
        out[r * cols + c] = sum;
    }
}

__global__ void logistic_map(float* x, float r, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < rounds; k++)
        v = r * v * (1.0f - v);
    x[i] = v;
}

__global__ void saxpy_of_33(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned char* p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
    out[y * w + x] = min(255.0, sqrt(pow(gx, 2.0) + pow(gy, 2.0)));
}

__global__ void matmul_tiled(const float* A, const float* B, float* C, int n)
{
    __shared__ float As[32][32], Bs[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
        Bs[threadIdx.x][threadIdx.y] = B[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += As[threadIdx.y][k] * Bs[threadIdx.x][k];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

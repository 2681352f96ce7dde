// Kernels of images, sequences and learning, as people bring them, each beside the better one.

// Softmax of rows: each thread has a row of its own, and goes through it three times.
__global__ void softmax_by_threads(const float* in, float* out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float most = -1e30f, sum = 0;
    for (int k = 0; k < n; ++k) most = fmaxf(most, in[row * n + k]);
    for (int k = 0; k < n; ++k) sum += __expf(in[row * n + k] - most);
    for (int k = 0; k < n; ++k) out[row * n + k] = __expf(in[row * n + k] - most) / sum;
}

__global__ void softmax_by_warps(const float* in, float* out, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float most = -1e30f, sum = 0;
    for (int k = lane; k < n; k += 32) most = fmaxf(most, in[row * n + k]);
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int k = lane; k < n; k += 32) sum += __expf(in[row * n + k] - most);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int k = lane; k < n; k += 32) out[row * n + k] = __expf(in[row * n + k] - most) / sum;
}

// Rows of a table by number, as of embeddings: a thread copies a whole row.
__global__ void rows_by_threads(const int* number, const float* table, float* out, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < width; ++k) out[i * width + k] = table[number[i] * width + k];
}

__global__ void rows_by_warps(const int* number, const float* table, float* out, int width)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int k = threadIdx.x % 32; k < width; k += 32) out[i * width + k] = table[number[i] * width + k];
}

// The nearest of a few centres: a point's coordinates are read again for each centre.
__global__ void nearest_from_memory(const float* points, const float* centres, int* nearest, int many)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float least = 1e30f;
    for (int c = 0; c < many; ++c) {
        float d = 0;
        for (int k = 0; k < 8; ++k) {
            float e = points[8 * i + k] - centres[8 * c + k];
            d += e * e;
        }
        if (d < least) {
            least = d;
            nearest[i] = c;
        }
    }
}

__global__ void nearest_from_registers(const float* points, const float* centres, int* nearest, int many)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    float least = 1e30f, p[8];
    for (int k = 0; k < 8; ++k) p[k] = points[8 * i + k];
    for (int c = 0; c < many; ++c) {
        float d = 0;
        for (int k = 0; k < 8; ++k) {
            float e = p[k] - centres[8 * c + k];
            d += e * e;
        }
        if (d < least) {
            least = d;
            best = c;
        }
    }
    nearest[i] = best;
}

// The mean of 33 pixels above one another: each is read 33 times.
__global__ void blur_from_memory(const float* in, float* out, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k <= 32; ++k) sum += in[(y + k) * width + x];
    out[y * width + x] = sum / 33;
}

__global__ void blur_from_shared(const float* in, float* out, int width)
{
    __shared__ float tile[64][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    tile[threadIdx.y + 32][threadIdx.x] = in[(y + 32) * width + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 32; ++k) sum += tile[threadIdx.y + k][threadIdx.x];
    out[y * width + x] = sum / 33;
}

// The histogram of an image that is nearly all dark: threads of a warp add to one word.
__global__ void dark_histogram(const unsigned char* pixels, unsigned* bins, int n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&own[pixels[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void dark_histogram_of_warps(const unsigned char* pixels, unsigned* bins, int n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned v = pixels[i], dark = __ballot_sync(~0u, v == 0);
        if (v) atomicAdd(&own[v], 1);
        if (threadIdx.x % 32 == 0 && dark) atomicAdd(&own[0], __popc(dark));
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Shares of points in a circle: each that is in it is counted in global memory.
__global__ void hits_in_memory(unsigned* hits, int rounds)
{
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int k = 0; k < rounds; ++k) {
        s = s * 1664525u + 1013904223u;
        float x = (s >> 8) * 0x1p-24f;
        s = s * 1664525u + 1013904223u;
        float y = (s >> 8) * 0x1p-24f;
        if (x * x + y * y < 1) atomicAdd(hits, 1);
    }
}

__global__ void hits_of_blocks(unsigned* hits, int rounds)
{
    __shared__ unsigned own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x + 1, found = 0;
    for (int k = 0; k < rounds; ++k) {
        s = s * 1664525u + 1013904223u;
        float x = (s >> 8) * 0x1p-24f;
        s = s * 1664525u + 1013904223u;
        float y = (s >> 8) * 0x1p-24f;
        found += x * x + y * y < 1;
    }
    atomicAdd(&own, found);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(hits, own);
}

// Each thread adds up eight numbers side by side in shared memory, as a first step of a scan.
__global__ void eights_in_shared(const float* in, float* out)
{
    __shared__ float s[8 * 128];
    int t = threadIdx.x, first = blockIdx.x * 1024;
    for (int k = 0; k < 8; ++k) s[k * 128 + t] = in[first + k * 128 + t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; ++k) s[8 * t + k] = sum += s[8 * t + k];
    __syncthreads();
    for (int k = 0; k < 8; ++k) out[first + k * 128 + t] = s[k * 128 + t];
}

__global__ void eights_padded(const float* in, float* out)
{
    __shared__ float s[9 * 128];
    int t = threadIdx.x, first = blockIdx.x * 1024;
    for (int k = 0; k < 8; ++k) s[(k * 128 + t) / 8 * 9 + t % 8] = in[first + k * 128 + t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; ++k) s[9 * t + k] = sum += s[9 * t + k];
    __syncthreads();
    for (int k = 0; k < 8; ++k) out[first + k * 128 + t] = s[(k * 128 + t) / 8 * 9 + t % 8];
}

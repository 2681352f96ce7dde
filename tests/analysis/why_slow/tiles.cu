// Questions on tiles and layouts, each beside the kernel that the accepted answer makes of it

struct Pair {
    float key;
    float value;
};

// Ranks of keys that lie beside their values in shared memory
__global__ void pairs_in_shared(const float2* in, float* out, int rounds)
{
    __shared__ Pair pair[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    pair[t].key = in[i].x;
    pair[t].value = in[i].y;
    __syncthreads();
    float own = pair[t].key, s = 0;
    for (int k = 1; k <= rounds; ++k)
        s += pair[(t + k) & 255].key < own ? 1.0f : 0.0f;
    out[i] = s + pair[t].value;
}

__global__ void halves_in_shared(const float2* in, float* out, int rounds)
{
    __shared__ float key[256], value[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    key[t] = in[i].x;
    value[t] = in[i].y;
    __syncthreads();
    float own = key[t], s = 0;
    for (int k = 1; k <= rounds; ++k)
        s += key[(t + k) & 255] < own ? 1.0f : 0.0f;
    out[i] = s + value[t];
}

__global__ void turned_by_writes(const float* in, float* out, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[x * n + y + k] = in[(y + k) * n + x];
}

__global__ void turned_in_tiles(const float* in, float* out, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Grey of pixels of three bytes
__global__ void grey_by_bytes(const unsigned char* rgb, unsigned char* grey, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        grey[i] = (rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8;
}

__global__ void grey_by_words(const uint* rgb, uint* grey, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        uint a = rgb[3 * i], b = rgb[3 * i + 1], c = rgb[3 * i + 2];
        uint p = ((a & 255) * 77 + (a >> 8 & 255) * 150 + (a >> 16 & 255) * 29) >> 8;
        uint q = ((a >> 24) * 77 + (b & 255) * 150 + (b >> 8 & 255) * 29) >> 8;
        uint r = ((b >> 16 & 255) * 77 + (b >> 24) * 150 + (c & 255) * 29) >> 8;
        uint s = ((c >> 8 & 255) * 77 + (c >> 16 & 255) * 150 + (c >> 24) * 29) >> 8;
        grey[i] = p | q << 8 | r << 16 | s << 24;
    }
}

__global__ void bodies_in_global(const float4* body, float4* force, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = body[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; ++k) {
        float4 b = body[k];
        float dx = b.x - own.x, dy = b.y - own.y, dz = b.z - own.z;
        float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float f = b.w * r * r * r;
        x += f * dx, y += f * dy, z += f * dz;
    }
    force[i] = make_float4(x, y, z, 0);
}

__global__ void bodies_in_shared(const float4* body, float4* force, int n)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = body[i];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) {
            float4 b = tile[k];
            float dx = b.x - own.x, dy = b.y - own.y, dz = b.z - own.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = b.w * r * r * r;
            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    force[i] = make_float4(x, y, z, 0);
}

// A tiled product whose second tile is read by columns
__global__ void product_by_columns(const float* A, const float* B, float* C, int n)
{
    __shared__ float a[32][32], b[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    float s = 0;
    for (int k = 0; k < n; k += 32) {
        a[y][x] = A[row * n + k + x];
        b[x][y] = B[(k + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            s += a[y][j] * b[x][j];
        __syncthreads();
    }
    C[row * n + col] = s;
}

__global__ void product_by_rows(const float* A, const float* B, float* C, int n)
{
    __shared__ float a[32][32], b[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    float s = 0;
    for (int k = 0; k < n; k += 32) {
        a[y][x] = A[row * n + k + x];
        b[y][x] = B[(k + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            s += a[y][j] * b[j][x];
        __syncthreads();
    }
    C[row * n + col] = s;
}

// Means of rows of a matrix, as of batches, by a thread for each column that goes along the row
__global__ void batch_of_structures(const float4* in, float* out, int fields)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < fields; ++k)
        s += in[i * fields + k].w;
    out[i] = s / fields;
}

__global__ void batch_of_fields(const float* in, float* out, int fields)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float s = 0;
    for (int k = 0; k < fields; ++k) s += in[k * n + i];
    out[i] = s / fields;
}

__global__ void gather_anywhere(const int* index, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]] * 2;
}

// Sums of columns: a block takes a column, and its threads go down it
__global__ void column_sums_by_blocks(const float* a, float* out, int rows, int columns)
{
    __shared__ float part[8];
    int t = threadIdx.x;
    float s = 0;
    for (int row = t; row < rows; row += 256)
        s += a[row * columns + blockIdx.x];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 8; ++k) s += part[k];
        out[blockIdx.x] = s;
    }
}

// Likewise, a warp's threads in neighbouring columns, and eight rows at a time
__global__ void column_sums_by_lanes(const float* a, float* out, int rows, int columns)
{
    __shared__ float part[8][32];
    int x = threadIdx.x % 32, y = threadIdx.x / 32, column = blockIdx.x * 32 + x;
    float s = 0;
    for (int row = blockIdx.y * (rows / 32) + y; row < (blockIdx.y + 1) * (rows / 32); row += 8)
        s += a[row * columns + column];
    part[y][x] = s;
    __syncthreads();
    if (y == 0) {
        for (int k = 1; k < 8; ++k) s += part[k][x];
        atomicAdd(&out[column], s);
    }
}

// Every other element, as of the real parts of complex numbers
__global__ void real_parts(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i] * 0.5f;
}

__global__ void real_parts_apart(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 0.5f;
}

// A product in tiles of 8 x 8
__global__ void product_in_small_tiles(const float* A, const float* B, float* C, int n)
{
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float s = 0;
    for (int k = 0; k < n; k += 8) {
        a[y][x] = A[row * n + k + x];
        b[y][x] = B[(k + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 8; ++j) s += a[y][j] * b[j][x];
        __syncthreads();
    }
    C[row * n + col] = s;
}

__global__ void product_in_larger_tiles(const float* A, const float* B, float* C, int n)
{
    __shared__ float a[16][8], b[8][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float s[2][2] = {};
    for (int k = 0; k < n; k += 8) {
        for (int h = 0; h < 2; ++h) {
            a[y + 8 * h][x] = A[(row + 8 * h) * n + k + x];
            b[y][x + 8 * h] = B[(k + y) * n + col + 8 * h];
        }
        __syncthreads();
        for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int h = 0; h < 4; ++h) s[h / 2][h % 2] += a[y + h / 2 * 8][j] * b[j][x + h % 2 * 8];
        __syncthreads();
    }
    for (int h = 0; h < 4; ++h) C[(row + h / 2 * 8) * n + col + h % 2 * 8] = s[h / 2][h % 2];
}

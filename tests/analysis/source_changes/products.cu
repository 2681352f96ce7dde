// Versions of a product of square matrices, each with one more of what is done to make it fast.

#define T 32
extern "C" __global__ void by_rows(int n, const float* A, const float* B, float* C)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}

extern "C" __global__ void by_columns(int n, const float* A, const float* B, float* C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}

extern "C" __global__ void in_tiles(int n, const float* A, const float* B, float* C)
{
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += T) {
        a[y][x] = A[row * n + tile + x];
        b[y][x] = B[(tile + y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// A block of 64 x 64 results in 512 threads, 8 rows a thread
extern "C" __global__ void column_of_registers(int n, const float* A, const float* B, float* C)
{
    __shared__ float a[64][8], b[8][64];
    int x = threadIdx.x % 64, y = threadIdx.x / 64;
    const float* own_a = A + blockIdx.y * 64 * n;
    const float* own_b = B + blockIdx.x * 64;
    float sums[8] = {};
    for (int tile = 0; tile < n; tile += 8) {
        a[threadIdx.x / 8][threadIdx.x % 8] = own_a[threadIdx.x / 8 * n + tile + threadIdx.x % 8];
        b[y][x] = own_b[(tile + y) * n + x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float of_b = b[k][x];
            for (int i = 0; i < 8; ++i) sums[i] += a[y * 8 + i][k] * of_b;
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) C[(blockIdx.y * 64 + y * 8 + i) * n + blockIdx.x * 64 + x] = sums[i];
}

// 64 x 64 results in 64 threads, 8 x 8 a thread: 8 rows, and every eighth column
extern "C" __global__ void square_of_registers(int n, const float* A, const float* B, float* C)
{
    __shared__ float a[64 * 8], b[8 * 64];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    const float* own_a = A + blockIdx.y * 64 * n;
    const float* own_b = B + blockIdx.x * 64;
    float sums[8][8] = {}, of_a[8], of_b[8];
    for (int tile = 0; tile < n; tile += 8) {
        for (int i = 0; i < 8; ++i) a[(y + 8 * i) * 8 + x] = own_a[(y + 8 * i) * n + tile + x];
        for (int i = 0; i < 8; ++i) b[i * 64 + threadIdx.x] = own_b[(tile + i) * n + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            for (int i = 0; i < 8; ++i) of_a[i] = a[(y * 8 + i) * 8 + k];
            for (int i = 0; i < 8; ++i) of_b[i] = b[k * 64 + 8 * i + x];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sums[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) C[(blockIdx.y * 64 + y * 8 + i) * n + blockIdx.x * 64 + 8 * j + x] = sums[i][j];
}

// The same with vectors: A turned as it is stored, four neighbours at a time everywhere
extern "C" __global__ void in_vectors(int n, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a[8 * 64], b[8 * 64];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    const float* own_a = A + blockIdx.y * 64 * n;
    const float* own_b = B + blockIdx.x * 64;
    float sums[8][8] = {}, of_a[8], of_b[8];
    for (int tile = 0; tile < n; tile += 8) {
        for (int i = 0; i < 2; ++i) {
            int row = threadIdx.x / 2 + 32 * i, k = threadIdx.x % 2 * 4;
            float4 four = *(const float4*)&own_a[row * n + tile + k];
            a[k * 64 + row] = four.x; a[(k + 1) * 64 + row] = four.y;
            a[(k + 2) * 64 + row] = four.z; a[(k + 3) * 64 + row] = four.w;
        }
        for (int i = 0; i < 2; ++i) {
            int k = threadIdx.x / 16 + 4 * i, at = threadIdx.x % 16 * 4;
            *(float4*)&b[k * 64 + at] = *(const float4*)&own_b[(tile + k) * n + at];
        }
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            *(float4*)&of_a[0] = *(float4*)&a[k * 64 + y * 8]; *(float4*)&of_a[4] = *(float4*)&a[k * 64 + y * 8 + 4];
            *(float4*)&of_b[0] = *(float4*)&b[k * 64 + x * 4]; *(float4*)&of_b[4] = *(float4*)&b[k * 64 + 32 + x * 4];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sums[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; j += 4)
            *(float4*)&C[(blockIdx.y * 64 + y * 8 + i) * n + blockIdx.x * 64 + x * 4 + 8 * j] = *(float4*)&sums[i][j];
}

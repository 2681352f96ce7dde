// Naive matrix kernels on n x n floats, an element of the result for each thread. The running sum is kept in global
// memory.

// c = beta c + alpha a b
__global__ void gemm(const float* a, const float* b, float* c, float alpha, float beta, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    c[row * n + column] *= beta;
    for (int k = 0; k < n; ++k)
        c[row * n + column] += alpha * a[row * n + k] * b[k * n + column];
}

// c = beta c + alpha a a^T
__global__ void syrk(const float* a, float* c, float alpha, float beta, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    c[row * n + column] *= beta;
    for (int k = 0; k < n; ++k)
        c[row * n + column] += alpha * a[row * n + k] * a[column * n + k];
}

// x += a y
__global__ void mvt_rows(const float* a, float* x, const float* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    for (int k = 0; k < n; ++k)
        x[row] += a[row * n + k] * y[k];
}

// x += a^T y
__global__ void mvt_columns(const float* a, float* x, const float* y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n)
        return;
    for (int k = 0; k < n; ++k)
        x[column] += a[k * n + column] * y[k];
}

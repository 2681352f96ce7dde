// C = A B of n x n elements, by rows: threads of a warp are of different rows
__global__ void sgemm(int n, const float* A, const float* B, float* C)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}

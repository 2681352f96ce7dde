#include "needle.h"
#define SDATA(index) CUT_BANK_CHECKER(sdata, index)
__device__ __host__ int maximum(int a, int b, int c) { int k; if (a <= b) k = b; else k = a; if (k <= c) return c; else return k; }
template <bool UPPER> __device__ __forceinline__ void tile(int *referrence, int *matrix_cuda, int cols, int penalty, int bx, int by) {
    int tx = threadIdx.x;
    int base = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    int index = base + tx + (cols + 1), index_n = base + tx + 1, index_w = base + cols, index_nw = base;
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
    if (tx == 0) temp[tx][0] = matrix_cuda[index_nw];
    for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = referrence[index + cols * ty];
    __syncthreads();
    temp[tx + 1][0] = matrix_cuda[index_w + cols * tx];
    __syncthreads();
    temp[0][tx + 1] = matrix_cuda[index_n];
    __syncthreads();
    for (int m = 0; m < BLOCK_SIZE; m++) {
        if (tx <= m) { int x = tx + 1, y = m - tx + 1; temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty); }
        __syncthreads();
    }
    for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
        if (tx <= m) { int x = tx + BLOCK_SIZE - m, y = BLOCK_SIZE - tx; temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty); }
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ty++) matrix_cuda[index + ty * cols] = temp[ty + 1][tx + 1];
}
__global__ void needle_cuda_shared_1(int *r, int *m, int cols, int penalty, int i, int block_width) { tile<true>(r, m, cols, penalty, blockIdx.x, i - 1 - blockIdx.x); }
__global__ void needle_cuda_shared_2(int *r, int *m, int cols, int penalty, int i, int block_width) { tile<false>(r, m, cols, penalty, blockIdx.x + block_width - i, block_width - blockIdx.x - 1); }

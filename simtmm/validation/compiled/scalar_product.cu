// Scalar products of pairs of vectors, one behind another in a and b; a pair for a block, which takes every gridDim-th.
// A block keeps SUMS partial sums in shared memory and adds them up as a tree.
#define SUMS 1024

__global__ void scalar_product(const float* a, const float* b, float* products, int vectors, int elements)
{
    __shared__ float sums[SUMS];
    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        int first = vector * elements, end = first + elements;
        for (int s = threadIdx.x; s < SUMS; s += blockDim.x) {
            float sum = 0;
            for (int i = first + s; i < end; i += SUMS)
                sum += a[i] * b[i];
            sums[s] = sum;
        }
        for (int left = SUMS / 2; left > 0; left /= 2) {
            __syncthreads();
            for (int s = threadIdx.x; s < left; s += blockDim.x)
                sums[s] += sums[s + left];
        }
        __syncthreads();
        if (threadIdx.x == 0)
            products[vector] = sums[0];
    }
}

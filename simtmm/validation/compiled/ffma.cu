// A chain of dependent multiply-adds, 128 of them unrolled in a loop.
__global__ void ffma(float* out, float factor, float summand, int iterations)
{
    float value = threadIdx.x;
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
        for (int k = 0; k < 128; ++k)
            value = value * factor + summand;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

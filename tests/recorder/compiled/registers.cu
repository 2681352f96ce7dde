// Warps that fill shared memory give registers back, which others wait for: as people's pipelines do, with and without
// bounds by which ptxas knows how many registers there are.
#include <cstdlib>

__device__ void work(float* out, const float* in, int trips)
{
    if (threadIdx.x < 128) {
        for (int trip = 0; trip < 100; trip++) out[512 + threadIdx.x] += in[trip];
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int trip = 0; trip < trips; trip++) out[768 + threadIdx.x] += in[trip];
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        out[threadIdx.x] = 2 * in[threadIdx.x];
    }
}

__global__ void __launch_bounds__(384, 1) bounded(float* out, const float* in, int trips) { work(out, in, trips); }

__global__ void __launch_bounds__(384) ignored(float* out, const float* in, int trips) { work(out, in, trips); }

int main()
{
    float *in, *out, found[384];
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, 4096);
    float given[1024];
    for (int i = 0; i < 1024; i++) given[i] = float(i);
    cudaMemcpy(in, given, 4096, cudaMemcpyHostToDevice);
    bounded<<<1, 384>>>(out, in, 10);
    ignored<<<1, 384>>>(out, in, 10);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 128; i < 384; i++)
        if (found[i] != 2.0f * i) return 1;
    return 0;
}

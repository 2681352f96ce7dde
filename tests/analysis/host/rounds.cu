// Frames that come one after another: each is copied in, computed, and copied out, from memory of malloc. With a word,
// from pinned memory, on three streams.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void filter(const float *in, float *out, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int r = 0; r < rounds; ++r) v = v * 0.75f + 0.125f;
    if (i < n) out[i] = v;
}

int main(int argc, char **) {
    const int n = 1 << 16, frames = 100, rounds = 400;
    const size_t bytes = n * sizeof(float);
    float *host, *in, *out;
    bool is_better = argc > 1;
    if (is_better) cudaMallocHost(&host, bytes * 3);
    else host = (float *)malloc(bytes * 3);
    for (int i = 0; i < n * 3; ++i) host[i] = i % 7;
    cudaMalloc(&in, bytes * 3);
    cudaMalloc(&out, bytes * 3);
    cudaStream_t streams[3];
    for (auto &stream : streams) cudaStreamCreate(&stream);
    for (int f = 0; f < frames; ++f) {
        float *own = host + f % 3 * n, *i = in + f % 3 * n, *o = out + f % 3 * n;
        if (is_better) {
            cudaMemcpyAsync(i, own, bytes, cudaMemcpyHostToDevice, streams[f % 3]);
            filter<<<n / 256, 256, 0, streams[f % 3]>>>(i, o, n, rounds);
            cudaMemcpyAsync(own, o, bytes, cudaMemcpyDeviceToHost, streams[f % 3]);
        } else {
            cudaMemcpy(i, own, bytes, cudaMemcpyHostToDevice);
            filter<<<n / 256, 256>>>(i, o, n, rounds);
            cudaMemcpy(own, o, bytes, cudaMemcpyDeviceToHost);
        }
    }
    cudaDeviceSynchronize();
    printf("%.3f\n", host[1]);
}

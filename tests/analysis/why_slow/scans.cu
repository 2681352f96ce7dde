// Scans, each beside the kernel that the accepted answer makes of it

// A scan by a tree, whose strides are powers of two
__global__ void tree_scan(const float* in, float* out)
{
    __shared__ float temp[1024];
    int t = threadIdx.x, base = blockIdx.x * 1024, offset = 1;
    temp[2 * t] = in[base + 2 * t];
    temp[2 * t + 1] = in[base + 2 * t + 1];
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) temp[1023] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float v = temp[a];
            temp[a] = temp[b];
            temp[b] += v;
        }
    }
    __syncthreads();
    out[base + 2 * t] = temp[2 * t];
    out[base + 2 * t + 1] = temp[2 * t + 1];
}
#define P(i) ((i) + ((i) >> 5))
__global__ void padded_scan(const float* in, float* out)
{
    __shared__ float temp[1024 + 32];
    int t = threadIdx.x, base = blockIdx.x * 1024, offset = 1;
    temp[P(t)] = in[base + t];
    temp[P(t + 512)] = in[base + t + 512];
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) temp[P(offset * (2 * t + 2) - 1)] += temp[P(offset * (2 * t + 1) - 1)];
        offset *= 2;
    }
    if (t == 0) temp[P(1023)] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = P(offset * (2 * t + 1) - 1), b = P(offset * (2 * t + 2) - 1);
            float v = temp[a];
            temp[a] = temp[b];
            temp[b] += v;
        }
    }
    __syncthreads();
    out[base + t] = temp[P(t)];
    out[base + t + 512] = temp[P(t + 512)];
}

// Calls of CUDA's runtime, as the command line names them: `OP A B C`, again and again. Any of them may be wrong.
#include <cstdio>
#include <cstdlib>

__global__ void fill(int *to, long long count) { for (long long i = threadIdx.x; i < count; i += blockDim.x) to[i] = i; }

static void *memory[4];
static cudaStream_t streams[4];
static cudaEvent_t events[4];

static cudaError_t call(int op, long long a, long long b, long long c)
{
    void *&at = memory[a & 3], *&other = memory[b & 3];
    float time;
    size_t pitch, most;
    cudaPointerAttributes attributes;
    switch (op) {
    case 0: return cudaMalloc(&at, b);
    case 1: return cudaFree(at);
    case 2: return cudaMemset(at, (int)b, c);
    case 3: return cudaMemcpy(at, other, c, cudaMemcpyDeviceToDevice);
    case 4: { static char host[4096]; return cudaMemcpy(at, host, c > 4096 ? 4096 : c, cudaMemcpyHostToDevice); }
    case 5: return cudaMemcpy(at, other, c, (cudaMemcpyKind)(a >> 2));
    case 6: fill<<<dim3(b, c, 1), dim3(a, 1, 1)>>>((int *)memory[0], 0); return cudaGetLastError();
    case 7: fill<<<1, 32, b>>>((int *)at, 8); return cudaGetLastError();
    case 8: fill<<<1, 32, 0, streams[b & 3]>>>((int *)at, 0); return cudaPeekAtLastError();
    case 9: return cudaStreamCreate(&streams[a & 3]);
    case 10: return cudaStreamDestroy(streams[a & 3]);
    case 11: return cudaEventCreate(&events[a & 3]);
    case 12: return cudaEventRecord(events[a & 3], streams[b & 3]);
    case 13: return cudaEventElapsedTime(&time, events[a & 3], events[b & 3]);
    case 14: return cudaEventDestroy(events[a & 3]);
    case 15: return cudaMallocPitch(&at, &pitch, b, c);
    case 16: return cudaMallocManaged(&at, b);
    case 17: return cudaMallocHost(&at, b);
    case 18: return cudaFreeHost(at);
    case 19: return cudaPointerGetAttributes(&attributes, at);
    case 20: return cudaMemGetInfo(&pitch, &most);
    case 21: return cudaSetDevice((int)b);
    case 22: return cudaMemcpy2D(at, b, other, c, b, c, cudaMemcpyDeviceToDevice);
    case 23: return cudaStreamWaitEvent(streams[a & 3], events[b & 3], 0);
    case 24: return cudaDeviceSynchronize();
    case 25: return cudaDeviceReset();
    case 26: at = (char *)at + b; return cudaSuccess;
    case 27: return cudaDeviceSetLimit((cudaLimit)(a & 7), b);
    case 28: return cudaMemcpyAsync(at, other, c, cudaMemcpyDeviceToDevice, streams[a & 3]);
    default: return cudaSuccess;
    }
}

int main(int count, char **words)
{
    for (int i = 1; i + 3 < count; i += 4) {
        long long given[3] = {atoll(words[i + 1]), atoll(words[i + 2]), atoll(words[i + 3])};
        printf("%s\n", cudaGetErrorName(call(atoi(words[i]), given[0], given[1], given[2])));
    }
    return 0;
}

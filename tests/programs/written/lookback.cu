// decoupled look-back scan with volatile flags and threadfence, histogram with shared atomics, warp-aggregated queue, clock_gettime.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <numeric>
static double secs() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
struct Tile { unsigned flag, aggregate, prefix, pad; };
template <int B> __global__ void scan(const unsigned *in, unsigned *out, volatile Tile *tiles, unsigned *next, int n) {
  __shared__ unsigned data[B], tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(next, 1);
  __syncthreads();
  int i = tile * B + threadIdx.x;
  unsigned v = i < n ? in[i] : 0;
  data[threadIdx.x] = v;
  __syncthreads();
  for (int o = 1; o < B; o <<= 1) { unsigned t = threadIdx.x >= o ? data[threadIdx.x - o] : 0; __syncthreads(); data[threadIdx.x] += t; __syncthreads(); }
  if (threadIdx.x == 0) {
    unsigned total = data[B - 1], sum = 0;
    tiles[tile].aggregate = total;
    __threadfence();
    tiles[tile].flag = 1;
    for (int t = (int)tile - 1; t >= 0;) {
      unsigned f;
      while ((f = tiles[t].flag) == 0) { }
      __threadfence();
      if (f == 2) { sum += tiles[t].prefix; break; }
      sum += tiles[t].aggregate;
      t--;
    }
    tiles[tile].prefix = sum + total;
    __threadfence();
    tiles[tile].flag = 2;
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = before + data[threadIdx.x];
}
__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
    uchar4 c = reinterpret_cast<const uchar4 *>(in)[i];
    atomicAdd(&local[c.x], 1); atomicAdd(&local[c.y], 1); atomicAdd(&local[c.z], 1); atomicAdd(&local[c.w], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 16, repeat = argc > 2 ? atoi(argv[2]) : 3;
  const int B = 256; int tiles = (n + B - 1) / B;
  std::vector<unsigned> h(n), g(n), w(n), hb(256), wb(256, 0);
  std::vector<unsigned char> c(n);
  for (int i = 0; i < n; i++) { h[i] = rand() % 5; c[i] = rand() % 256; wb[c[i]]++; }
  unsigned *in, *out, *next, *bins; Tile *t; unsigned char *dc;
  cudaMalloc(&in, 4 * n); cudaMalloc(&out, 4 * n); cudaMalloc(&next, 4); cudaMalloc(&t, sizeof(Tile) * tiles); cudaMalloc(&bins, 1024); cudaMalloc(&dc, n);
  cudaMemcpy(in, h.data(), 4 * n, cudaMemcpyHostToDevice); cudaMemcpy(dc, c.data(), n, cudaMemcpyHostToDevice);
  double time = 0;
  for (int r = 0; r < repeat; r++) {
    cudaMemset(t, 0, sizeof(Tile) * tiles); cudaMemset(next, 0, 4);
    cudaDeviceSynchronize();
    double a = secs();
    scan<B><<<tiles, B>>>(in, out, t, next, n);
    cudaDeviceSynchronize();
    time += secs() - a;
  }
  printf("scan %.1f us, %.2f Gelements/s\n", 1e6 * time / repeat, n * repeat / time * 1e-9);
  cudaMemcpy(g.data(), out, 4 * n, cudaMemcpyDeviceToHost);
  std::partial_sum(h.begin(), h.end(), w.begin());
  bool ok = g == w;
  cudaMemset(bins, 0, 1024);
  double a = secs();
  histogram<<<32, 256>>>(dc, bins, n);
  cudaDeviceSynchronize();
  printf("histogram %.1f us\n", 1e6 * (secs() - a));
  cudaMemcpy(hb.data(), bins, 1024, cudaMemcpyDeviceToHost);
  ok &= hb == wb;
  printf("%s\n", ok ? "PASS" : "FAIL");
  cudaFree(in); cudaFree(out); cudaFree(next); cudaFree(t); cudaFree(bins); cudaFree(dc);
  return !ok;
}

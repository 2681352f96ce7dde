// 2D 5-point stencil with pitched memory, as struct by value, constant weights, std::random input, getopt.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <random>
#include <vector>
#include <cuda_runtime.h>

struct Params { int width, height; size_t pitch; float scale; };
__constant__ float weights[5];

template <typename T>
__device__ __forceinline__ T *row_of(T *base, size_t pitch, int y) { return (T *)((char *)base + y * pitch); }

__global__ void stencil(const float *__restrict__ in, float *__restrict__ out, const Params p) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= p.width - 1 || y >= p.height - 1) return;
  const float *c = row_of(in, p.pitch, y);
  float v = weights[0] * __ldg(c + x) + weights[1] * __ldg(c + x - 1) + weights[2] * __ldg(c + x + 1) +
            weights[3] * __ldg(row_of(in, p.pitch, y - 1) + x) + weights[4] * __ldg(row_of(in, p.pitch, y + 1) + x);
  row_of(out, p.pitch, y)[x] = v * p.scale;
}

int main(int argc, char *argv[]) {
  int width = 512, height = 256, repeat = 100, c;
  static option longs[] = {{"width", required_argument, 0, 'w'}, {"height", required_argument, 0, 'h'}, {"repeat", required_argument, 0, 'r'}, {0, 0, 0, 0}};
  while ((c = getopt_long(argc, argv, "w:h:r:", longs, nullptr)) != -1)
    switch (c) {
      case 'w': width = atoi(optarg); break;
      case 'h': height = atoi(optarg); break;
      case 'r': repeat = atoi(optarg); break;
      default: fprintf(stderr, "Usage: %s [-w width] [-h height] [-r repeat]\n", argv[0]); return 1;
    }
  std::mt19937 gen(19937);
  std::uniform_real_distribution<float> dis(0.f, 1.f);
  std::vector<float> in(width * height), out(width * height), ref(width * height);
  for (auto &v : in) v = dis(gen);
  const float w[5] = {0.2f, 0.2f, 0.2f, 0.2f, 0.2f};
  cudaMemcpyToSymbol(weights, w, sizeof(w));
  float *d_in, *d_out;
  Params p = {width, height, 0, 0.5f};
  size_t pitch2;
  cudaMallocPitch((void **)&d_in, &p.pitch, width * sizeof(float), height);
  cudaMallocPitch((void **)&d_out, &pitch2, width * sizeof(float), height);
  cudaMemcpy2D(d_in, p.pitch, in.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice);
  cudaMemset2D(d_out, p.pitch, 0, width * sizeof(float), height);
  dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++) stencil<<<grid, block>>>(d_in, d_out, p);
  cudaDeviceSynchronize();
  auto end = std::chrono::steady_clock::now();
  auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
  printf("Average kernel execution time: %f (us)\n", (time * 1e-3f) / repeat);
  printf("Effective bandwidth: %f (GB/s)\n", 2.0 * width * height * sizeof(float) * repeat / time);
  cudaMemcpy2D(out.data(), width * sizeof(float), d_out, p.pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int y = 1; y < height - 1; y++)
    for (int x = 1; x < width - 1; x++) {
      float v = 0.1f * (in[y * width + x] + in[y * width + x - 1] + in[y * width + x + 1] + in[(y - 1) * width + x] + in[(y + 1) * width + x]);
      if (fabsf(v - out[y * width + x]) > 1e-5f) { ok = false; break; }
    }
  printf("%s\n", ok ? "PASS" : "FAIL");
  cudaFree(d_in);
  cudaFree(d_out);
  return 0;
}

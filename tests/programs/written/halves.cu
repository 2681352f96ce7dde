// half2/bfloat16 axpy and dot, with atomics on half2 and bf16, vector loads.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#define BLOCK 256
__global__ void axpy_h2(const int n, const half2 a, const half2 *__restrict__ x, half2 *__restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = __hfma2(a, x[i], y[i]);
}
__global__ void dot_h2(const int n, const half2 *__restrict__ x, const half2 *__restrict__ y, float *result) {
  __shared__ float sums[BLOCK];
  float sum = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    float2 f = __half22float2(__hmul2(x[i], y[i]));
    sum += f.x + f.y;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}
__global__ void bf16_relu(const int n, const __nv_bfloat16 *__restrict__ in, __nv_bfloat16 *__restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hmax(in[i], __float2bfloat16(0.f));
}
__global__ void h_atomic(half2 *sum, const half2 *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
__global__ void to_half(const float4 *in, uint2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  half2 lo = __floats2half2_rn(v.x, v.y), hi = __floats2half2_rn(v.z, v.w);
  uint2 r;
  r.x = *reinterpret_cast<unsigned *>(&lo);
  r.y = *reinterpret_cast<unsigned *>(&hi);
  out[i] = r;
}
int main(int argc, char **argv) {
  if (argc != 3) { printf("Usage: %s <elements> <repeat>\n", argv[0]); return 1; }
  const int n = atoi(argv[1]), repeat = atoi(argv[2]);
  std::vector<float> hx(n), hy(n);
  srand(1);
  for (int i = 0; i < n; i++) { hx[i] = (rand() % 8) / 8.f; hy[i] = (rand() % 4) / 4.f; }
  float *dx, *dy, *dr;
  half2 *x, *y, *s;
  cudaMalloc(&dx, n * 4); cudaMalloc(&dy, n * 4); cudaMalloc(&dr, 4);
  cudaMalloc(&x, n * 2); cudaMalloc(&y, n * 2); cudaMalloc(&s, 4);
  cudaMemcpy(dx, hx.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, hy.data(), n * 4, cudaMemcpyHostToDevice);
  to_half<<<(n / 4 + 255) / 256, 256>>>((float4 *)dx, (uint2 *)x, n / 4);
  to_half<<<(n / 4 + 255) / 256, 256>>>((float4 *)dy, (uint2 *)y, n / 4);
  cudaMemset(dr, 0, 4); cudaMemset(s, 0, 4);
  cudaDeviceSynchronize();
  auto t0 = std::chrono::high_resolution_clock::now();
  for (int i = 0; i < repeat; i++) dot_h2<<<64, BLOCK>>>(n / 2, x, y, dr);
  cudaDeviceSynchronize();
  auto t1 = std::chrono::high_resolution_clock::now();
  for (int i = 0; i < repeat; i++) axpy_h2<<<128, 256>>>(n / 2, __float2half2_rn(0.0f), x, y);
  cudaDeviceSynchronize();
  auto t2 = std::chrono::high_resolution_clock::now();
  double a = std::chrono::duration<double>(t1 - t0).count() / repeat, b = std::chrono::duration<double>(t2 - t1).count() / repeat;
  printf("dot: %f us, %f GB/s\naxpy: %f us, %f GB/s\n", a * 1e6, 4.0 * n / a * 1e-9, b * 1e6, 6.0 * n / b * 1e-9);
  float r; double want = 0;
  for (int i = 0; i < n; i++) want += hx[i] * hy[i];
  cudaMemcpy(&r, dr, 4, cudaMemcpyDeviceToHost);
  bool ok = fabs(r / repeat - want) < 1e-3 * want;
  h_atomic<<<1, 64>>>(s, x, 64);
  half2 hs;
  cudaMemcpy(&hs, s, 4, cudaMemcpyDeviceToHost);
  float w0 = 0, w1 = 0;
  for (int i = 0; i < 64; i++) { w0 += hx[2 * i]; w1 += hx[2 * i + 1]; }
  ok &= fabs(__low2float(hs) - w0) < 0.5 && fabs(__high2float(hs) - w1) < 0.5;
  std::vector<__nv_bfloat16> hb(n);
  for (int i = 0; i < n; i++) hb[i] = __float2bfloat16(i % 2 ? -hx[i] : hx[i]);
  __nv_bfloat16 *b0, *b1;
  cudaMalloc(&b0, n * 2); cudaMalloc(&b1, n * 2);
  cudaMemcpy(b0, hb.data(), n * 2, cudaMemcpyHostToDevice);
  bf16_relu<<<(n + 255) / 256, 256>>>(n, b0, b1);
  cudaMemcpy(hb.data(), b1, n * 2, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) ok &= __bfloat162float(hb[i]) == (i % 2 ? 0.f : hx[i]);
  printf("%s\n", ok ? "PASS" : "FAIL");
  cudaFree(dx); cudaFree(dy); cudaFree(dr); cudaFree(x); cudaFree(y); cudaFree(s); cudaFree(b0); cudaFree(b1);
  return 0;
}

// curand device API: XORWOW, Philox, MRG32k3a, normals and Poisson; pi and option price; printf and assert in kernels.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <curand_kernel.h>
static double now() { timeval t; gettimeofday(&t, nullptr); return t.tv_sec + t.tv_usec * 1e-6; }
template <class State> __global__ void init(State *s, unsigned long long seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) curand_init(seed, i, 0, &s[i]);
}
template <class State> __global__ void pi(State *states, unsigned long long *hits, int n, int trips) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  State s = states[i];
  unsigned inside = 0;
  for (int k = 0; k < trips; k++) {
    float x = curand_uniform(&s), y = curand_uniform(&s);
    assert(x > 0 && x <= 1);
    inside += x * x + y * y <= 1;
  }
  states[i] = s;
  atomicAdd(hits, (unsigned long long)inside);
}
__global__ void option(curandStatePhilox4_32_10_t *states, double *sum, int n, int trips) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandStatePhilox4_32_10_t s = states[i];
  double found = 0;
  for (int k = 0; k < trips; k += 4) {
    float4 z = curand_normal4(&s);
    float zs[4] = {z.x, z.y, z.z, z.w};
    for (float e : zs) found += fmaxf(100 * expf(-0.02f + 0.2f * e) - 100, 0.f);
  }
  atomicAdd(sum, found);
  if (i == 0) printf("first thread: %d normals, poisson %u\n", trips, curand_poisson(&s, 4.0));
}
int main(int argc, char **argv) {
  int n = 2048, trips = argc > 1 ? atoi(argv[1]) : 64;
  unsigned long long *hits, h;
  double *sum, s;
  cudaMalloc(&hits, 8); cudaMalloc(&sum, 8);
  cudaMemset(hits, 0, 8); cudaMemset(sum, 0, 8);
  bool ok = true;
  {
    curandState *st;
    cudaMalloc(&st, n * sizeof *st);
    init<<<n / 256, 256>>>(st, 1234ULL, n);
    cudaDeviceSynchronize();
    double t = now();
    pi<<<n / 256, 256>>>(st, hits, n, trips);
    cudaDeviceSynchronize();
    t = now() - t;
    cudaMemcpy(&h, hits, 8, cudaMemcpyDeviceToHost);
    double p = 4.0 * h / n / trips;
    printf("pi %.4f, %.2f Gsamples/s\n", p, n / t * trips * 1e-9);
    ok &= fabs(p - M_PI) < 0.05;
    cudaFree(st);
  }
  {
    curandStatePhilox4_32_10_t *st;
    cudaMalloc(&st, n * sizeof *st);
    init<<<n / 256, 256>>>(st, 99ULL, n);
    option<<<n / 256, 256>>>(st, sum, n, trips);
    cudaMemcpy(&s, sum, 8, cudaMemcpyDeviceToHost);
    double v = s / n / trips;
    printf("price %.3f\n", v);
    ok &= fabs(v - 7.97) < 0.6;
    cudaMemset(hits, 0, 8);
    pi<<<n / 256, 256>>>(st, hits, n, trips);
    cudaMemcpy(&h, hits, 8, cudaMemcpyDeviceToHost);
    ok &= fabs(4.0 * h / n / trips - M_PI) < 0.05;
    cudaFree(st);
  }
  {
    curandStateMRG32k3a *st;
    cudaMalloc(&st, n * sizeof *st);
    init<<<n / 256, 256>>>(st, 5ULL, n);
    cudaMemset(hits, 0, 8);
    pi<<<n / 256, 256>>>(st, hits, n, trips);
    cudaMemcpy(&h, hits, 8, cudaMemcpyDeviceToHost);
    ok &= fabs(4.0 * h / n / trips - M_PI) < 0.05;
    cudaFree(st);
  }
  cudaFree(hits); cudaFree(sum);
  printf("%s\n", ok ? "PASS" : "FAIL");
  return !ok;
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iomanip>
#include <memory>
#include <omp.h>
#include "kernels.h"
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line) { if (code != cudaSuccess) { fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line); exit(code); } }
struct Free { void operator()(double *p) const { cudaFree(p); } };
int main(int argc, char **argv) {
  Config c{argc > 1 ? atoi(argv[1]) : 200, argc > 2 ? atoi(argv[2]) : 120, argc > 3 ? atoi(argv[3]) : 20, 0.2, "heat"};
  int n = c.nx * c.ny;
  std::vector<double> h(n), g(n);
#pragma omp parallel for
  for (int i = 0; i < n; i++) h[i] = std::sin(i * 0.01) + (i == n / 2 ? 100 : 0);
  double *p, *q;
  gpuErrchk(cudaMalloc(&p, n * 8)); gpuErrchk(cudaMalloc(&q, n * 8));
  std::unique_ptr<double, Free> keep_p(p), keep_q(q);
  set_factor(c.alpha);
  cudaStream_t s; cudaEvent_t a, b;
  gpuErrchk(cudaStreamCreate(&s)); gpuErrchk(cudaEventCreate(&a)); gpuErrchk(cudaEventCreate(&b));
  gpuErrchk(cudaMemcpyAsync(p, h.data(), n * 8, cudaMemcpyHostToDevice, s));
  double w = omp_get_wtime();
  gpuErrchk(cudaEventRecord(a, s));
  for (int i = 0; i < c.steps; i++) { launch_step(p, q, c, s); std::swap(p, q); }
  gpuErrchk(cudaEventRecord(b, s));
  gpuErrchk(cudaEventSynchronize(b));
  w = omp_get_wtime() - w;
  float ms; gpuErrchk(cudaEventElapsedTime(&ms, a, b));
  std::cout << c.name << std::fixed << std::setprecision(3) << ": " << ms / c.steps * 1e3 << " us by events, " << w / c.steps * 1e6 << " us by omp_get_wtime, " << 16.0 * n * c.steps / ms * 1e-6 << " GB/s\n";
  double m = reduce_max(p, n, s), want = -1e300, err = 0;
  gpuErrchk(cudaMemcpy(g.data(), p, n * 8, cudaMemcpyDeviceToHost));
  reference(h, c);
  for (int i = 0; i < n; i++) { err = std::max(err, std::fabs(h[i] - g[i])); want = std::max(want, h[i]); }
  bool ok = err < 1e-9 && std::fabs(m - want) < 1e-9;
  std::cout << "max " << m << " error " << err << "\n" << (ok ? "PASS" : "FAIL") << std::endl;
  cudaStreamDestroy(s); cudaEventDestroy(a); cudaEventDestroy(b);
  return !ok;
}

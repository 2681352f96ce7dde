// templates over types and operators, struct arrays, dynamic shared memory of two types, lambdas, double math, textures of floats.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>
template <typename T> struct Point { T x, y, z; __host__ __device__ Point operator+(const Point &o) const { return {x + o.x, y + o.y, z + o.z}; } __host__ __device__ Point operator*(T s) const { return {x * s, y * s, z * s}; } };
template <typename T> __host__ __device__ T blend(int k, T mu, int n) {
  T b = 1; int nn = n, kn = k, nkn = n - k;
  while (nn >= 1) { b *= nn; nn--; if (kn > 1) { b /= (T)kn; kn--; } if (nkn > 1) { b /= (T)nkn; nkn--; } }
  if (k > 0) b *= pow(mu, (T)k);
  if (n - k > 0) b *= pow(1 - mu, (T)(n - k));
  return b;
}
template <typename T> __global__ void surface(const Point<T> *in, Point<T> *out, int ni, int nj, int ri, int rj) {
  extern __shared__ __align__(16) unsigned char raw[];
  Point<T> *in_s = reinterpret_cast<Point<T> *>(raw);
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = t; i < (ni + 1) * (nj + 1); i += blockDim.x * blockDim.y) in_s[i] = in[i];
  __syncthreads();
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= ri || col >= rj) return;
  T mui = row / (T)(ri - 1), muj = col / (T)(rj - 1);
  Point<T> o{0, 0, 0};
  for (int ki = 0; ki <= ni; ki++) { T bi = blend(ki, mui, ni); for (int kj = 0; kj <= nj; kj++) o = o + in_s[ki * (nj + 1) + kj] * (bi * blend(kj, muj, nj)); }
  out[row * rj + col] = o;
}
__global__ void sample(cudaTextureObject_t tex, float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = tex1Dfetch<float>(tex, n - 1 - i); }
template <class F> __global__ void apply(F f, float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = f(x[i]); }
int main(int argc, char **argv) {
  int ni = 3, nj = 3, ri = argc > 1 ? atoi(argv[1]) : 64, rj = ri, repeat = argc > 2 ? atoi(argv[2]) : 20;
  std::default_random_engine gen(1); std::normal_distribution<double> d;
  std::vector<Point<double>> in((ni + 1) * (nj + 1)), out(ri * rj);
  for (auto &p : in) p = {d(gen), d(gen), d(gen)};
  { std::ofstream f("points.txt"); f.precision(17); for (auto &p : in) f << p.x << ',' << p.y << ',' << p.z << '\n'; }
  { std::ifstream f("points.txt"); std::string line, w; for (auto &p : in) { std::getline(f, line); std::stringstream s(line); double *v[] = {&p.x, &p.y, &p.z}; for (auto e : v) { std::getline(s, w, ','); *e = std::stod(w); } } }
  Point<double> *di, *dout;
  cudaMalloc(&di, in.size() * sizeof in[0]); cudaMalloc(&dout, out.size() * sizeof out[0]);
  cudaMemcpy(di, in.data(), in.size() * sizeof in[0], cudaMemcpyHostToDevice);
  dim3 b(16, 8), g((rj + 15) / 16, (ri + 7) / 8);
  size_t sh = in.size() * sizeof in[0];
  cudaFuncSetAttribute(surface<double>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  surface<<<g, b, sh>>>(di, dout, ni, nj, ri, rj);
  cudaDeviceSynchronize();
  auto t = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++) surface<<<g, b, sh>>>(di, dout, ni, nj, ri, rj);
  cudaDeviceSynchronize();
  auto e = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - t).count();
  printf("Total kernel execution time of %d iterations: %ld us, average %f us\n", repeat, (long)e, (double)e / repeat);
  cudaMemcpy(out.data(), dout, out.size() * sizeof out[0], cudaMemcpyDeviceToHost);
  double err = 0;
  for (int r = 0; r < ri; r++) for (int c = 0; c < rj; c++) {
    Point<double> o{0, 0, 0};
    for (int ki = 0; ki <= ni; ki++) for (int kj = 0; kj <= nj; kj++) o = o + in[ki * (nj + 1) + kj] * (blend(ki, r / (double)(ri - 1), ni) * blend(kj, c / (double)(rj - 1), nj));
    err = std::max(err, std::abs(o.x - out[r * rj + c].x) + std::abs(o.z - out[r * rj + c].z));
  }
  bool ok = err < 1e-9;
  int n = 1000; std::vector<float> f(n), back(n); for (int i = 0; i < n; i++) f[i] = i;
  float *df, *dg; cudaMalloc(&df, n * 4); cudaMalloc(&dg, n * 4); cudaMemcpy(df, f.data(), n * 4, cudaMemcpyHostToDevice);
  cudaResourceDesc rd = {}; rd.resType = cudaResourceTypeLinear; rd.res.linear.devPtr = df; rd.res.linear.desc = cudaCreateChannelDesc<float>(); rd.res.linear.sizeInBytes = n * 4;
  cudaTextureDesc td = {}; td.readMode = cudaReadModeElementType; cudaTextureObject_t tex; cudaCreateTextureObject(&tex, &rd, &td, nullptr);
  sample<<<4, 256>>>(tex, dg, n);
  float scale = 2.5f;
  apply<<<4, 256>>>([=] __device__(float v) { return v * scale; }, dg, n);
  cudaMemcpy(back.data(), dg, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) ok &= back[i] == 2.5f * (n - 1 - i);
  cudaDestroyTextureObject(tex); cudaFree(df); cudaFree(dg); cudaFree(di); cudaFree(dout);
  printf("err %g\n%s\n", err, ok ? "PASS" : "FAIL");
  return !ok;
}

// inline PTX, function pointers in device code, virtual functions, union casts, bit tricks, integer intrinsics, 64-bit and double atomics.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
typedef uint32_t (*op_t)(uint32_t, uint32_t);
__device__ uint32_t f_add(uint32_t a, uint32_t b) { return a + b; }
__device__ uint32_t f_mul(uint32_t a, uint32_t b) { return a * b; }
__device__ uint32_t f_xor(uint32_t a, uint32_t b) { return a ^ b; }
__device__ op_t ops[3] = {f_add, f_mul, f_xor};
__device__ op_t chosen = f_xor;
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Box : Shape { float a; __device__ Box(float x) : a(x) {} __device__ float area() const override { return a * a; } };
struct Disc : Shape { float r; __device__ Disc(float x) : r(x) {} __device__ float area() const override { return 3.f * r * r; } };
__device__ __forceinline__ uint32_t lane() { uint32_t r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t bfe(uint32_t v, uint32_t at, uint32_t n) { uint32_t r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(at), "r"(n)); return r; }
__device__ __forceinline__ uint64_t mad_wide(uint32_t a, uint32_t b, uint64_t c) { uint64_t r; asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c)); return r; }
__device__ __forceinline__ uint32_t lop3(uint32_t a, uint32_t b, uint32_t c) { uint32_t r; asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
__device__ double atomicMaxDouble(double *at, double v) {
  unsigned long long *p = (unsigned long long *)at, old = *p, seen;
  do { seen = old; if (__longlong_as_double(seen) >= v) break; old = atomicCAS(p, seen, __double_as_longlong(v)); } while (old != seen);
  return __longlong_as_double(old);
}
__global__ void mix(const uint32_t *in, uint32_t *out, unsigned long long *sum, double *biggest, double *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t v = in[i], r = ops[i % 3](v, 12345u);
  r = chosen(r, lane());
  r = lop3(r, __brev(v), __byte_perm(v, r, 0x3210 ^ (i & 3)));
  r += __popc(v) + __clz(v) + __ffs(v) + bfe(v, 5, 7) + __umulhi(v, 0x9E3779B9u) + __funnelshift_l(v, r, 9);
  r ^= __vadd4(v, 0x01020304u) ^ __dp4a((int)v, (int)r, 7);
  atomicAdd(sum, mad_wide(r, 3, v));
  atomicMaxDouble(biggest, (double)v);
  atomicAdd(total, (double)(v & 1023));
  out[i] = r;
}
__global__ void shapes(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Shape *s = i & 1 ? (Shape *)new Box(i) : (Shape *)new Disc(i);
  out[i] = s->area();
  delete s;
}
static uint32_t brev(uint32_t v) { uint32_t r = 0; for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i); return r; }
int main(int argc, char **argv) {
  int n = 8192, repeat = argc > 1 ? atoi(argv[1]) : 5;
  std::vector<uint32_t> h(n), g(n);
  for (int i = 0; i < n; i++) h[i] = i * 2654435761u + 1;
  uint32_t *in, *out; unsigned long long *sum; double *big, *total; float *f;
  cudaMalloc(&in, 4 * n); cudaMalloc(&out, 4 * n); cudaMalloc(&sum, 8); cudaMalloc(&big, 8); cudaMalloc(&total, 8); cudaMalloc(&f, 4 * 256);
  cudaMemcpy(in, h.data(), 4 * n, cudaMemcpyHostToDevice);
  double ms = 0;
  for (int k = 0; k < repeat; k++) {
    cudaMemset(sum, 0, 8); cudaMemset(big, 0, 8); cudaMemset(total, 0, 8);
    cudaDeviceSynchronize();
    auto a = std::chrono::steady_clock::now();
    mix<<<n / 256, 256>>>(in, out, sum, big, total, n);
    cudaDeviceSynchronize();
    ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - a).count();
  }
  printf("Average kernel time %f ms, %f Gop/s\n", ms / repeat, 40e-6 * n / (ms / repeat));
  unsigned long long hs; double hb, ht;
  cudaMemcpy(g.data(), out, 4 * n, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hs, sum, 8, cudaMemcpyDeviceToHost); cudaMemcpy(&hb, big, 8, cudaMemcpyDeviceToHost); cudaMemcpy(&ht, total, 8, cudaMemcpyDeviceToHost);
  unsigned long long ws = 0; double wb = 0, wt = 0; bool ok = true;
  for (int i = 0; i < n; i++) {
    uint32_t v = h[i], r = i % 3 == 0 ? v + 12345u : i % 3 == 1 ? v * 12345u : v ^ 12345u;
    r ^= i % 32;
    uint32_t sel = 0x3210 ^ (i & 3), p = 0; uint64_t both = (uint64_t)r << 32 | v;
    for (int b = 0; b < 4; b++) p |= (uint32_t)(both >> 8 * (sel >> 4 * b & 7) & 255) << 8 * b;
    r = r ^ brev(v) ^ p;
    r += __builtin_popcount(v) + (v ? __builtin_clz(v) : 32) + __builtin_ffs(v) + (v >> 5 & 127) + (uint32_t)((uint64_t)v * 0x9E3779B9u >> 32) + (r << 9 | v >> 23);
    uint32_t add = 0; int dot = 7;
    for (int b = 0; b < 4; b++) { add |= ((v >> 8 * b) + (0x01020304u >> 8 * b) & 255) << 8 * b; dot += (int8_t)(v >> 8 * b) * (int8_t)(r >> 8 * b); }
    r ^= add ^ dot;
    ok &= g[i] == r;
    ws += (uint64_t)r * 3 + v; wb = v > wb ? v : wb; wt += v & 1023;
  }
  ok &= hs == ws && hb == wb && ht == wt;
  shapes<<<2, 128>>>(f, 256);
  std::vector<float> sf(256);
  cudaMemcpy(sf.data(), f, 1024, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; i++) ok &= sf[i] == (i & 1 ? 1.f : 3.f) * i * i;
  printf("%s\n", ok ? "PASS" : "FAIL");
  cudaFree(in); cudaFree(out); cudaFree(sum); cudaFree(big); cudaFree(total); cudaFree(f);
  return !ok;
}

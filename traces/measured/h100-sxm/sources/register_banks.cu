// Issue rate of multiply-adds by the registers they read: one block of 1024 threads (8 warps a scheduler), cycles for each
// instruction of a scheduler. The registers are those that ptxas chose: read them from the SASS.
#include <cstdio>
#include <cuda_runtime.h>
#define N 256
#define KERNEL(name, T, decl, step, sum) \
__global__ void __launch_bounds__(1024) name(const T* in, T* out, long long* cycles) { \
    T a = in[0], b = in[1], c = in[2], d = in[3]; decl; __syncthreads(); long long t0 = clock64(); \
    _Pragma("unroll 1") for (int i = 0; i < 32; i++) { _Pragma("unroll") for (int k = 0; k < N / 8; k++) { step } } \
    __syncthreads(); long long t1 = clock64(); out[threadIdx.x] = sum; if (threadIdx.x == 0) *cycles = t1 - t0; }
#define F(x, p, q, r) x = fmaf(p, q, r);
KERNEL(chain3, float, float x = threadIdx.x, F(x,x,a,b) F(x,x,a,b) F(x,x,a,b) F(x,x,a,b) F(x,x,a,b) F(x,x,a,b) F(x,x,a,b) F(x,x,a,b), x)
KERNEL(square, float, float x = threadIdx.x, F(x,x,x,b) F(x,x,x,b) F(x,x,x,b) F(x,x,x,b) F(x,x,x,b) F(x,x,x,b) F(x,x,x,b) F(x,x,x,b), x)
KERNEL(selfadd, float, float x = threadIdx.x, F(x,x,a,x) F(x,x,a,x) F(x,x,a,x) F(x,x,a,x) F(x,x,a,x) F(x,x,a,x) F(x,x,a,x) F(x,x,a,x), x)
KERNEL(immediate, float, float x = threadIdx.x, F(x,x,a,1.5f) F(x,x,a,1.5f) F(x,x,a,1.5f) F(x,x,a,1.5f) F(x,x,a,1.5f) F(x,x,a,1.5f) F(x,x,a,1.5f) F(x,x,a,1.5f), x)
KERNEL(product_of_two, float, float x = threadIdx.x, F(x,a,b,x) F(x,a,b,x) F(x,c,d,x) F(x,c,d,x) F(x,a,b,x) F(x,a,b,x) F(x,c,d,x) F(x,c,d,x), x)
KERNEL(other_pairs, float, float x = threadIdx.x, F(x,x,a,b) F(x,x,c,d) F(x,x,b,c) F(x,x,d,a) F(x,x,a,c) F(x,x,b,d) F(x,x,c,a) F(x,x,d,b), x)
KERNEL(two_chains, float, float x = threadIdx.x; float y = x + 1, F(x,x,a,b) F(y,y,a,b) F(x,x,a,b) F(y,y,a,b) F(x,x,a,b) F(y,y,a,b) F(x,x,a,b) F(y,y,a,b), x + y)
KERNEL(four_chains, float, float x = threadIdx.x; float y = x + 1; float z = x + 2; float w = x + 3, F(x,x,a,b) F(y,y,a,b) F(z,z,a,b) F(w,w,a,b) F(x,x,a,b) F(y,y,a,b) F(z,z,a,b) F(w,w,a,b), x + y + z + w)
KERNEL(outer, float, float x = threadIdx.x; float y = x + 1; float z = x + 2; float w = x + 3, F(x,a,c,x) F(y,a,d,y) F(z,b,c,z) F(w,b,d,w) F(x,a,c,x) F(y,a,d,y) F(z,b,c,z) F(w,b,d,w), x + y + z + w)
#define I(x, p, q, r) x = p * q + r;
KERNEL(imad3, int, int x = threadIdx.x, I(x,x,a,b) I(x,x,a,b) I(x,x,a,b) I(x,x,a,b) I(x,x,a,b) I(x,x,a,b) I(x,x,a,b) I(x,x,a,b), x)
#define L(x, p, q) x = (x ^ p) & q;
KERNEL(lop3, int, int x = threadIdx.x, L(x,a,b) L(x,c,d) L(x,b,c) L(x,d,a) L(x,a,c) L(x,b,d) L(x,c,a) L(x,d,b), x)
#define A(x, p, q) x = x + p + q;
KERNEL(iadd3, int, int x = threadIdx.x, A(x,a,b) x ^= c; A(x,c,d) x ^= a; A(x,b,c) x ^= d; A(x,d,a) x ^= b;, x)
KERNEL(dfma3, double, double x = threadIdx.x, x = fma(x,a,b); x = fma(x,a,b); x = fma(x,c,d); x = fma(x,c,d); x = fma(x,a,b); x = fma(x,a,b); x = fma(x,c,d); x = fma(x,c,d);, x)
template <class T, class K> void go(const char* name, K k, int warps) {
    T* in; T* out; long long *c, h = 0; cudaMalloc(&in, 64); cudaMalloc(&out, 8192); cudaMalloc(&c, 8); T v[4] = {T(1), T(2), T(3), T(1)}; cudaMemcpy(in, v, sizeof v, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; i++) k<<<1, 32 * warps>>>(in, out, c); cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost); cudaError_t e = cudaGetLastError();
    printf("%s,%d,%.3f%s%s\n", name, warps, double(h) / (32.0 * N * (warps / 4.0)), e ? "," : "", e ? cudaGetErrorString(e) : ""); }
int main() { printf("kernel,warps,cycles of a scheduler for each instruction\n");
#define GO(T, k) for (int w : {4, 8, 16, 32}) go<T>(#k, k, w);
    GO(float, chain3) GO(float, square) GO(float, selfadd) GO(float, immediate) GO(float, product_of_two) GO(float, other_pairs) GO(float, two_chains) GO(float, four_chains) GO(float, outer) GO(int, imad3) GO(int, lop3) GO(int, iadd3) GO(double, dfma3) }

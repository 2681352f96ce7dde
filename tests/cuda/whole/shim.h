// CUDA C++ for a compiler of the host, as far as drawn kernels go: written from CUDA's manual alone, and nothing of
// simtmm's, so that both agree only where both are right.
#include "fibers.h"
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __restrict__

struct dim3 { unsigned x, y, z; };
#define threadIdx (dim3{fibers::now->number, 0, 0})
#define blockIdx (dim3{fibers::block, 0, 0})
#define blockDim (dim3{(unsigned)fibers::threads.size(), 1, 1})
#define gridDim (dim3{fibers::blocks, 1, 1})

#define VECTOR2(name, type, size) \
  struct alignas(size) name { type x, y; }; \
  inline name make_##name(type x, type y) { return {x, y}; }
#define VECTOR4(name, type, size) \
  struct alignas(size) name { type x, y, z, w; }; \
  inline name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTOR2(int2, int, 8) VECTOR2(uint2, unsigned, 8) VECTOR2(float2, float, 8) VECTOR2(short2, short, 4)
VECTOR2(ulonglong2, unsigned long long, 16) VECTOR2(double2, double, 16)
VECTOR4(int4, int, 16) VECTOR4(uint4, unsigned, 16) VECTOR4(float4, float, 16) VECTOR4(uchar4, unsigned char, 4)
VECTOR4(ushort4, unsigned short, 8)

typedef unsigned long long shim_u64;

// Integers
inline int __popc(unsigned a) { int n = 0; for (; a; a &= a - 1) ++n; return n; }
inline int __popcll(shim_u64 a) { return __popc((unsigned)a) + __popc((unsigned)(a >> 32)); }
inline int __clz(int a) { int n = 0; while (n < 32 && !((unsigned)a >> (31 - n) & 1)) ++n; return n; }
inline int __clzll(long long a) { int n = 0; while (n < 64 && !((shim_u64)a >> (63 - n) & 1)) ++n; return n; }
inline int __ffs(int a) { for (int n = 0; n < 32; ++n) if ((unsigned)a >> n & 1) return n + 1; return 0; }
inline int __ffsll(long long a) { for (int n = 0; n < 64; ++n) if ((shim_u64)a >> n & 1) return n + 1; return 0; }
inline unsigned __brev(unsigned a) { unsigned b = 0; for (int n = 0; n < 32; ++n) b |= (a >> n & 1) << (31 - n); return b; }
inline shim_u64 __brevll(shim_u64 a) { return (shim_u64)__brev((unsigned)a) << 32 | __brev((unsigned)(a >> 32)); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  shim_u64 both = (shim_u64)y << 32 | x;
  unsigned found = 0;
  for (int n = 0; n < 4; ++n) found |= (unsigned)(both >> 8 * (s >> 4 * n & 7) & 255) << 8 * n;
  return found;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return (unsigned)((((shim_u64)hi << 32 | lo) << (n & 31)) >> 32); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((shim_u64)hi << 32 | lo) >> (n & 31)); }
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) { return n >= 32 ? lo : __funnelshift_l(lo, hi, n); }
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) { return n >= 32 ? hi : __funnelshift_r(lo, hi, n); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((shim_u64)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline shim_u64 __umul64hi(shim_u64 a, shim_u64 b) { return (shim_u64)((unsigned __int128)a * b >> 64); }
inline int __mul24(int a, int b) {
  long long x = (int)((unsigned)a << 8) >> 8, y = (int)((unsigned)b << 8) >> 8;
  return (int)(x * y);
}
inline unsigned __umul24(unsigned a, unsigned b) { return (unsigned)((shim_u64)(a & 0xffffff) * (b & 0xffffff)); }
inline unsigned __sad(int a, int b, unsigned c) { long long d = (long long)a - b; return (unsigned)(d < 0 ? -d : d) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((shim_u64)a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((shim_u64)a + b + 1) >> 1); }
inline int __dp4a(int a, int b, int c) {
  unsigned sum = (unsigned)c;
  for (int n = 0; n < 4; ++n) sum += (unsigned)((signed char)((unsigned)a >> 8 * n) * (signed char)((unsigned)b >> 8 * n));
  return (int)sum;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int n = 0; n < 4; ++n) c += (a >> 8 * n & 255) * (b >> 8 * n & 255);
  return c;
}
inline unsigned __vadd4(unsigned a, unsigned b) {
  unsigned found = 0;
  for (int n = 0; n < 32; n += 8) found |= ((a >> n) + (b >> n) & 255u) << n;
  return found;
}
inline unsigned __vsub2(unsigned a, unsigned b) {
  return ((a - b) & 0xffffu) | ((a >> 16) - (b >> 16)) << 16;
}
inline unsigned __vmaxu4(unsigned a, unsigned b) {
  unsigned found = 0;
  for (int n = 0; n < 32; n += 8) found |= std::max(a >> n & 255, b >> n & 255) << n;
  return found;
}
inline unsigned __vmins2(unsigned a, unsigned b) {
  unsigned lo = (unsigned short)std::min((short)a, (short)b);
  return lo | (unsigned)(unsigned short)std::min((short)(a >> 16), (short)(b >> 16)) << 16;
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
  unsigned found = 0;
  for (int n = 0; n < 32; n += 8) {
    unsigned x = a >> n & 255, y = b >> n & 255;
    found |= (x > y ? x - y : y - x) << n;
  }
  return found;
}
inline unsigned __vcmpgts4(unsigned a, unsigned b) {
  unsigned found = 0;
  for (int n = 0; n < 32; n += 8) found |= (unsigned)((signed char)(a >> n) > (signed char)(b >> n) ? 255 : 0) << n;
  return found;
}
template <class T> inline T __ldg(const T* p) { return *p; }

#define LEAST(type) \
  inline type min(type a, type b) { return a < b ? a : b; } \
  inline type max(type a, type b) { return a > b ? a : b; }
LEAST(int) LEAST(unsigned) LEAST(long long) LEAST(shim_u64)

#include "floats.h"
#include "together.h"

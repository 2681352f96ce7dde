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

// Floats
template <class To, class From> inline To shim_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline int __float_as_int(float a) { return shim_bits<int>(a); }
inline unsigned __float_as_uint(float a) { return shim_bits<unsigned>(a); }
inline float __int_as_float(int a) { return shim_bits<float>(a); }
inline float __uint_as_float(unsigned a) { return shim_bits<float>(a); }
inline long long __double_as_longlong(double a) { return shim_bits<long long>(a); }
inline double __longlong_as_double(long long a) { return shim_bits<double>(a); }
template <class F> inline F shim_min(F a, F b) { return a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b; }
template <class F> inline F shim_max(F a, F b) { return a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b; }
inline float shim_fminf(float a, float b) { return shim_min(a, b); }
inline float shim_fmaxf(float a, float b) { return shim_max(a, b); }
inline double shim_fmin(double a, double b) { return shim_min(a, b); }
inline double shim_fmax(double a, double b) { return shim_max(a, b); }
#define fminf shim_fminf
#define fmaxf shim_fmaxf
#define fmin shim_fmin
#define fmax shim_fmax

// Rounding as named: FE_TOWARDZERO for _rz, and so on. Operands are volatile, so that nothing is computed before.
#define ROUNDED(letters, mode) \
  inline float __fadd_##letters(float x, float y) { volatile float a = x, b = y; std::fesetround(mode); volatile float c = a + b; std::fesetround(FE_TONEAREST); return c; } \
  inline float __fmul_##letters(float x, float y) { volatile float a = x, b = y; std::fesetround(mode); volatile float c = a * b; std::fesetround(FE_TONEAREST); return c; } \
  inline float __fdiv_##letters(float x, float y) { volatile float a = x, b = y; std::fesetround(mode); volatile float c = a / b; std::fesetround(FE_TONEAREST); return c; } \
  inline double __dadd_##letters(double x, double y) { volatile double a = x, b = y; std::fesetround(mode); volatile double c = a + b; std::fesetround(FE_TONEAREST); return c; } \
  inline double __dmul_##letters(double x, double y) { volatile double a = x, b = y; std::fesetround(mode); volatile double c = a * b; std::fesetround(FE_TONEAREST); return c; } \
  inline float __double2float_##letters(double x) { volatile double a = x; std::fesetround(mode); volatile float c = (float)a; std::fesetround(FE_TONEAREST); return c; } \
  inline float __int2float_##letters(int x) { volatile int a = x; std::fesetround(mode); volatile float c = (float)a; std::fesetround(FE_TONEAREST); return c; } \
  inline float __uint2float_##letters(unsigned x) { volatile long long a = x; std::fesetround(mode); volatile float c = (float)a; std::fesetround(FE_TONEAREST); return c; } \
  inline double __ll2double_##letters(long long x) { volatile long long a = x; std::fesetround(mode); volatile double c = (double)a; std::fesetround(FE_TONEAREST); return c; }
ROUNDED(rn, FE_TONEAREST) ROUNDED(rz, FE_TOWARDZERO) ROUNDED(ru, FE_UPWARD) ROUNDED(rd, FE_DOWNWARD)

template <class To, class F> inline To shim_integer(F a, F whole) {
  if (a != a) return 0;
  F least = std::ldexp((F)-1, sizeof(To) * 8 - 1), beyond = std::ldexp((F)1, sizeof(To) * 8 - std::is_signed<To>::value);
  if (!std::is_signed<To>::value) least = 0;
  return whole < least ? std::numeric_limits<To>::min() : whole >= beyond ? std::numeric_limits<To>::max() : (To)whole;
}
#define INTEGER(letters, whole) \
  inline int __float2int_##letters(float a) { return shim_integer<int>(a, whole(a)); } \
  inline unsigned __float2uint_##letters(float a) { return shim_integer<unsigned>(a, whole(a)); } \
  inline int __double2int_##letters(double a) { return shim_integer<int>(a, whole(a)); } \
  inline long long __double2ll_##letters(double a) { return shim_integer<long long>(a, whole(a)); } \
  inline long long __float2ll_##letters(float a) { return shim_integer<long long>(a, whole(a)); }
INTEGER(rn, std::nearbyint) INTEGER(rz, std::trunc) INTEGER(ru, std::ceil) INTEGER(rd, std::floor)

// Halves
struct __half { unsigned short bits; };
inline _Float16 shim_f16(__half a) { return shim_bits<_Float16>(a.bits); }
inline __half shim_half(_Float16 a) { return {shim_bits<unsigned short>(a)}; }
inline float __half2float(__half a) { return (float)shim_f16(a); }
inline __half __float2half_rn(float a) { return shim_half((_Float16)a); }
inline __half __double2half(double a) { return shim_half((_Float16)a); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __ushort_as_half(unsigned short a) { return {a}; }
// A sum, a product and a quotient of halves, rounded to float first, are rounded as if at once: 24 >= 2 * 11 + 2 bits.
inline __half __hadd_rn(__half a, __half b) { return __float2half_rn(__half2float(a) + __half2float(b)); }
inline __half __hsub_rn(__half a, __half b) { return __float2half_rn(__half2float(a) - __half2float(b)); }
inline __half __hmul_rn(__half a, __half b) { return __float2half_rn(__half2float(a) * __half2float(b)); }
// Exact in 113 bits.
inline __half __hfma(__half a, __half b, __half c) {
  return shim_half((_Float16)((__float128)__half2float(a) * __half2float(b) + (__float128)__half2float(c)));
}
inline __half __hneg(__half a) { return {(unsigned short)(a.bits ^ 0x8000)}; }
inline __half __habs(__half a) { return {(unsigned short)(a.bits & 0x7fff)}; }
inline bool __hlt(__half a, __half b) { return __half2float(a) < __half2float(b); }
inline bool __heq(__half a, __half b) { return __half2float(a) == __half2float(b); }
inline bool __hisnan(__half a) { return __half2float(a) != __half2float(a); }
inline __half __hmin(__half a, __half b) { return __float2half_rn(shim_min(__half2float(a), __half2float(b))); }
inline __half __hmax(__half a, __half b) { return __float2half_rn(shim_max(__half2float(a), __half2float(b))); }
inline __half __int2half_rn(int a) { return __double2half(a); }
inline int __half2int_rz(__half a) { return __float2int_rz(__half2float(a)); }
struct __half2 { __half x, y; };
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half2 __hadd2_rn(__half2 a, __half2 b) { return {__hadd_rn(a.x, b.x), __hadd_rn(a.y, b.y)}; }
inline __half2 __hmul2_rn(__half2 a, __half2 b) { return {__hmul_rn(a.x, b.x), __hmul_rn(a.y, b.y)}; }
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }

// Barriers and warps
inline void __syncthreads() { fibers::barrier(false); }
inline int __syncthreads_count(int p) { return fibers::barrier(p != 0); }
inline int __syncthreads_or(int p) { return fibers::barrier(p != 0) != 0; }
inline int __syncthreads_and(int p) { return fibers::barrier(p == 0) == 0; }
inline void __threadfence() {}
inline void __threadfence_block() {}
template <class T> struct Gathered {
  unsigned __int128 found[32];
  Gathered(unsigned mask, T given) {
    unsigned __int128 bits = 0;
    std::memcpy(&bits, &given, sizeof given);
    fibers::meet(mask, bits, found);
  }
  T operator[](int lane) const { T value; std::memcpy(&value, &found[lane], sizeof value); return value; }
};
inline int shim_lane() { return fibers::now->number % 32; }
inline void __syncwarp(unsigned mask = ~0u) { Gathered<int>(mask, 0); }
inline unsigned __ballot_sync(unsigned mask, int p) {
  Gathered<int> all(mask, p);
  unsigned found = 0;
  for (int lane = 0; lane < 32; ++lane) if (mask >> lane & 1 && all[lane]) found |= 1u << lane;
  return found;
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }
template <class T> inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  Gathered<T> all(mask, value);
  return all[(shim_lane() & ~(width - 1)) + (source & (width - 1))];
}
template <class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  Gathered<T> all(mask, value);
  int from = shim_lane() - (int)by;
  return from < (shim_lane() & ~(width - 1)) ? value : all[from];
}
template <class T> inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  Gathered<T> all(mask, value);
  int from = shim_lane() + (int)by;
  return from > (shim_lane() | (width - 1)) ? value : all[from];
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
  Gathered<T> all(mask, value);
  int from = shim_lane() ^ by;
  return from > (shim_lane() | (width - 1)) ? value : all[from & 31];
}
template <class T> inline unsigned __match_any_sync(unsigned mask, T value) {
  Gathered<T> all(mask, value);
  unsigned found = 0;
  for (int lane = 0; lane < 32; ++lane) if (mask >> lane & 1 && all[lane] == value) found |= 1u << lane;
  return found;
}
template <class T> inline unsigned __match_all_sync(unsigned mask, T value, int* p) {
  unsigned found = __match_any_sync(mask, value);
  Gathered<int> others(mask, found == mask);
  *p = found == mask;
  return *p ? mask : 0;
}
template <class T, class F> inline T shim_reduced(unsigned mask, T value, F combined) {
  Gathered<T> all(mask, value);
  bool first = true;
  T found = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) found = first ? all[lane] : combined(found, all[lane]), first = false;
  return found;
}
template <class T> inline T __reduce_add_sync(unsigned mask, T v) { return shim_reduced(mask, v, [](T a, T b) { return (T)((unsigned)a + (unsigned)b); }); }
template <class T> inline T __reduce_min_sync(unsigned mask, T v) { return shim_reduced(mask, v, [](T a, T b) { return a < b ? a : b; }); }
template <class T> inline T __reduce_max_sync(unsigned mask, T v) { return shim_reduced(mask, v, [](T a, T b) { return a > b ? a : b; }); }
inline unsigned __reduce_and_sync(unsigned mask, unsigned v) { return shim_reduced(mask, v, [](unsigned a, unsigned b) { return a & b; }); }
inline unsigned __reduce_or_sync(unsigned mask, unsigned v) { return shim_reduced(mask, v, [](unsigned a, unsigned b) { return a | b; }); }
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return shim_reduced(mask, v, [](unsigned a, unsigned b) { return a ^ b; }); }

// Atomics: no other thread runs meanwhile
template <class T> inline T atomicAdd(T* p, T v) { T old = *p; *p = (T)((typename std::make_unsigned<T>::type)old + (typename std::make_unsigned<T>::type)v); return old; }
inline unsigned atomicSub(unsigned* p, unsigned v) { unsigned old = *p; *p = old - v; return old; }
template <class T> inline T atomicMin(T* p, T v) { T old = *p; *p = old < v ? old : v; return old; }
template <class T> inline T atomicMax(T* p, T v) { T old = *p; *p = old > v ? old : v; return old; }
template <class T> inline T atomicAnd(T* p, T v) { T old = *p; *p = old & v; return old; }
template <class T> inline T atomicOr(T* p, T v) { T old = *p; *p = old | v; return old; }
template <class T> inline T atomicXor(T* p, T v) { T old = *p; *p = old ^ v; return old; }
template <class T> inline T atomicExch(T* p, T v) { T old = *p; *p = v; return old; }
template <class T> inline T atomicCAS(T* p, T c, T v) { T old = *p; if (old == c) *p = v; return old; }
inline unsigned atomicInc(unsigned* p, unsigned v) { unsigned old = *p; *p = old >= v ? 0 : old + 1; return old; }

// What drawn kernels use beside CUDA: the same text for every compiler.
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;
typedef __int128 i128;
typedef float f32;
typedef double f64;
typedef __half f16;

template <class T> __device__ __forceinline__ bool is_undefined(T a, T b) {
  // No quotient: of nothing, and of the least number by -1. Of unsigned ones, the second is never so.
  return b == 0 || (T(-1) < T(0) && b == T(-1) && a == T(T(1) << (sizeof(T) * 8 - 2)) * T(-2));
}
template <class T> __device__ __forceinline__ T quotient(T a, T b) { return is_undefined(a, b) ? a : T(a / b); }
template <class T> __device__ __forceinline__ T remains(T a, T b) { return is_undefined(a, b) ? b : T(a % b); }
template <class T> __device__ __forceinline__ T rotated(T a, u32 n) {
  const u32 bits = sizeof(T) * 8;
  n %= bits;
  return n ? T(a << n | a >> (bits - n)) : a;
}
// A float as an integer, and back. Which NaN it is, nobody promises.
__device__ __forceinline__ u32 bits_of(f32 a) { return a != a ? 0x7fffffffu : __float_as_uint(a); }
__device__ __forceinline__ u64 bits_of(f64 a) { return a != a ? 0x7fffffffffffffffull : (u64)__double_as_longlong(a); }
__device__ __forceinline__ u32 bits_of(f16 a) { return __hisnan(a) ? 0x7fffu : (u32)__half_as_ushort(a); }
__device__ __forceinline__ u64 bits_of(u128 a) { return (u64)a ^ (u64)(a >> 64) * 0x9e3779b97f4a7c15ull; }
__device__ __forceinline__ u64 bits_of(i128 a) { return bits_of((u128)a); }
__device__ __forceinline__ u64 bits_of(u64 a) { return a; }
__device__ __forceinline__ u64 bits_of(i64 a) { return (u64)a; }
__device__ __forceinline__ u64 bits_of(u32 a) { return a; }
__device__ __forceinline__ u64 bits_of(i32 a) { return (u64)(i64)a; }
__device__ __forceinline__ u64 bits_of(u16 a) { return a; }
__device__ __forceinline__ u64 bits_of(i16 a) { return (u64)(i64)a; }
__device__ __forceinline__ u64 bits_of(u8 a) { return a; }
__device__ __forceinline__ u64 bits_of(i8 a) { return (u64)(i64)a; }
// A float cast to an integer must fit it.
template <class T, class F> __device__ __forceinline__ T whole(F a) {
  const F most = F(sizeof(T) < 4 ? 100 : sizeof(T) == 4 ? 2.0e9 : 9.0e18), least = T(-1) < T(0) ? -most : F(0);
  return a >= least && a <= most ? T(a) : T(3);
}
// What another lane of a mask gives; one's own value, where that lane is not in it.
__device__ __forceinline__ bool has(u32 mask, u32 lane) { return mask >> (lane & 31) & 1; }
template <class T> __device__ __forceinline__ T from_lane(u32 mask, T value, u32 lane) {
  T found = __shfl_sync(mask, value, (int)(lane & 31));
  return has(mask, lane) ? found : value;
}
template <class T> __device__ __forceinline__ T from_below(u32 mask, T value, u32 by, int width) {
  T found = __shfl_up_sync(mask, value, by, width);
  return has(mask, (threadIdx.x & 31) - by) ? found : value;
}
template <class T> __device__ __forceinline__ T from_above(u32 mask, T value, u32 by, int width) {
  T found = __shfl_down_sync(mask, value, by, width);
  return has(mask, (threadIdx.x & 31) + by) ? found : value;
}
template <class T> __device__ __forceinline__ T across(u32 mask, T value, int by, int width) {
  T found = __shfl_xor_sync(mask, value, by, width);
  return has(mask, (threadIdx.x & 31) ^ (u32)by) ? found : value;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define REDUCTION(name, combined) \
  template <class T> __device__ __forceinline__ T name(u32 mask, T value) { \
    T found = __shfl_sync(mask, value, __ffs((int)mask) - 1); \
    for (u32 lane = __ffs((int)mask); lane < 32; ++lane) { \
      T a = found, b = __shfl_sync(mask, value, (int)lane); \
      if (has(mask, lane)) found = combined; \
    } \
    return found; \
  }
REDUCTION(reduced_add, T((u32)a + (u32)b)) REDUCTION(reduced_min, a < b ? a : b) REDUCTION(reduced_max, a > b ? a : b)
REDUCTION(reduced_and, a & b) REDUCTION(reduced_or, a | b) REDUCTION(reduced_xor, a ^ b)
#else
#define REDUCTION(name) \
  template <class T> __device__ __forceinline__ T reduced_##name(u32 mask, T value) { return __reduce_##name##_sync(mask, value); }
REDUCTION(add) REDUCTION(min) REDUCTION(max) REDUCTION(and) REDUCTION(or) REDUCTION(xor)
#endif

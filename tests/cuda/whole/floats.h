// Floats and halves, rounded as their functions' names say.
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

// What threads do together: barriers, functions of a warp, atomics.
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

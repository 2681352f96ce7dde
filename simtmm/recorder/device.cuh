// How a kernel says what it does, and the three ways to build it.
//
//   plain CUDA          the macros vanish: the kernel one would write by hand, for timing
//   instrumented CUDA   SIMTMM_RECORD and a CUDA compiler: every access is written to a buffer
//   instrumented C++    SIMTMM_RECORD and a C++ compiler: the same on the CPU, with every index checked
//
// What a kernel may write (a: pointer to global memory, s: an array declared by SHARED, i: an index):
//
//   LD(a, i)            read a[i] and wait                  ST(a, i, v)         write a[i] = v
//   LD_ASYNC(a, i)      read a[i], wait no earlier than at a JOIN
//   JOIN()  JOIN(n)     wait for this thread's LD_ASYNCs, or for all but its latest n
//   SHARED(type, s, n)  shared memory of the block: type s[n], n a constant
//   LDS(s, i)           read s[i]                           STS(s, i, v)        write s[i] = v
//   ATOMIC_ADD, _MIN, _MAX, _AND, _OR, _XOR, _EXCH(a, i, v), ATOMIC_CAS(a, i, expected, v): the old value
//   SYNC()              the barrier of the block            OP(n)               n operations of work
//
// Each use in the source is a site, numbered in textual order: the site of ST(a, i, LD(b, j)) comes before its load's.
// For the instrumented builds simtmm/recorder/sites.py writes the number into the source: LD(a, i) becomes
// SIMTMM_LD(7, a, i). NVRTC has no __COUNTER__ to do it here.

#pragma once

#if !defined(SIMTMM_RECORD)

#define LD(a, i) ((a)[i])
#define LD_ASYNC(a, i) ((a)[i])
#define ST(a, i, v) ((void)((a)[i] = (v)))
#define JOIN(...) ((void)0)
#define SHARED(type, name, count) __shared__ type name[count]
#define LDS(s, i) ((s)[i])
#define STS(s, i, v) ((void)((s)[i] = (v)))
#define ATOMIC_ADD(a, i, v) atomicAdd(&(a)[i], (v))
#define ATOMIC_MIN(a, i, v) atomicMin(&(a)[i], (v))
#define ATOMIC_MAX(a, i, v) atomicMax(&(a)[i], (v))
#define ATOMIC_AND(a, i, v) atomicAnd(&(a)[i], (v))
#define ATOMIC_OR(a, i, v) atomicOr(&(a)[i], (v))
#define ATOMIC_XOR(a, i, v) atomicXor(&(a)[i], (v))
#define ATOMIC_EXCH(a, i, v) atomicExch(&(a)[i], (v))
#define ATOMIC_CAS(a, i, expected, v) atomicCAS(&(a)[i], (expected), (v))
#define SYNC() __syncthreads()
#define OP(n) ((void)0)

#else  // instrumented, on a GPU or on the CPU

namespace simtmm {

// Those codes of simtmm/trace/schema.py that macros make.
enum Kind {
    KIND_WORK, KIND_LOAD, KIND_ASYNC, KIND_STORE, KIND_ATOMIC, KIND_SHARED_LOAD, KIND_SHARED_STORE, KIND_SHARED_ATOMIC,
    KIND_JOIN, KIND_BARRIER
};

// One thing a thread did. value: the address of an access (of a shared one, the site of the array's declaration
// in the upper 32 bits and the byte offset in the lower), else the number of operations or of asyncs left out.
struct Event {
    unsigned long long value;
    unsigned site;
    unsigned short thread;
    unsigned char kind;
    unsigned char bytes;
};

}  // namespace simtmm

#if defined(__CUDACC__)
#include "device_gpu.cuh"
#else
#include "device_cpu.cuh"
#endif

// simtmm_access<n>(a, i) names a place, and its method goes there. The place is evaluated before the method's argument,
// so that in ST(a, i, LD(b, j)) the order is the textual one with every compiler, the store last. Names are long so
// that a kernel's own macros do not meet them.
#define SIMTMM_LD(n, a, i) simtmm_access<n>((a), (i)).simtmm_load()
#define SIMTMM_LD_ASYNC(n, a, i) simtmm_access<n>((a), (i)).simtmm_load_async()
#define SIMTMM_ST(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_store((v))
#define SIMTMM_LDS(n, s, i) simtmm_access<n>((s), (i)).simtmm_load_shared()
#define SIMTMM_STS(n, s, i, v) simtmm_access<n>((s), (i)).simtmm_store_shared((v))
#define SIMTMM_ATOMIC_ADD(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_add((v))
#define SIMTMM_ATOMIC_MIN(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_min((v))
#define SIMTMM_ATOMIC_MAX(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_max((v))
#define SIMTMM_ATOMIC_AND(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_and((v))
#define SIMTMM_ATOMIC_OR(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_or((v))
#define SIMTMM_ATOMIC_XOR(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_xor((v))
#define SIMTMM_ATOMIC_EXCH(n, a, i, v) simtmm_access<n>((a), (i)).simtmm_exchange((v))
#define SIMTMM_ATOMIC_CAS(n, a, i, expected, v) simtmm_access<n>((a), (i)).simtmm_expecting((expected)).simtmm_swap((v))
#define SIMTMM_JOIN(n, ...) simtmm_join<n>(__VA_ARGS__)
#define SIMTMM_SYNC(n) simtmm_barrier<n>()
#define SIMTMM_OP(n, operations) simtmm_work<n>(operations)

#endif

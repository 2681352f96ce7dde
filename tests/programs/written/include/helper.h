#pragma once
#include <cstdio>
#include <cstdlib>
template <typename T> void check(T result, char const *const func, const char *const file, int const line) { if (result) { fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result), cudaGetErrorName(result), func); exit(EXIT_FAILURE); } }
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
#define getLastCudaError(msg) __getLastCudaError(msg, __FILE__, __LINE__)
inline void __getLastCudaError(const char *m, const char *file, int line) { cudaError_t e = cudaGetLastError(); if (cudaSuccess != e) { fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, m, (int)e, cudaGetErrorString(e)); exit(EXIT_FAILURE); } }

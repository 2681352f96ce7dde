"""CUDA C++ of elementwise kernels and reductions: names of types, and the structures that their code may use."""

import re
from collections.abc import Sequence

import numpy as np

NAMES = {
    "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short", "i": "int",
    "I": "unsigned int", "l": "long long", "L": "unsigned long long", "q": "long long", "Q": "unsigned long long",
    "e": "float16", "f": "float", "d": "double", "F": "complex<float>", "D": "complex<double>",
}  # fmt: skip

INDEXER = """
template <int N> struct CIndexer {
  static const int ndim = N;
  long long size_, shape_[N], index_[N];
  __device__ long long size() const { return size_; }
  __device__ const long long* shape() const { return shape_; }
  __device__ void set(long long i) {
    for (int axis = N - 1; axis > 0; --axis) {
      index_[axis] = i % shape_[axis];
      i /= shape_[axis];
    }
    index_[0] = i;
  }
  __device__ const long long* get() const { return index_; }
};
"""

ARRAY = """
template <typename T, int N> struct CArray {
  static const int ndim = N;
  T* data_; long long size_; bool contiguous_; long long shape_[N > 0 ? N : 1], strides_[N > 0 ? N : 1];
  __device__ long long size() const { return size_; }
  __device__ const long long* shape() const { return shape_; }
  __device__ const long long* strides() const { return strides_; }
  __device__ T& operator[](long long i) const {
    if (contiguous_) return data_[i];
    char* place = (char*)data_;
    for (int axis = N - 1; axis >= 0; --axis) {
      place += i % shape_[axis] * strides_[axis];
      i /= shape_[axis];
    }
    return *(T*)place;
  }
  template <typename I> __device__ T& operator[](const I (&index)[N > 0 ? N : 1]) const {
    char* place = (char*)data_;
    for (int axis = 0; axis < N; ++axis) place += index[axis] * strides_[axis];
    return *(T*)place;
  }
  __device__ T& operator[](const long long* index) const {
    char* place = (char*)data_;
    for (int axis = 0; axis < N; ++axis) place += index[axis] * strides_[axis];
    return *(T*)place;
  }
};
"""

COMPLEX = """
#include <cuda/std/complex>
using cuda::std::complex;
"""

HALF = """
#include <cuda_fp16.h>
typedef __half float16;
"""

MIN_MAX = """
template <typename T> __device__ T min_of_(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
template <typename T> __device__ T max_of_(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
"""

HEADERS = {
    "cupy/complex.cuh": f"#pragma once\n{COMPLEX}",
    "cupy/carray.cuh": f"#pragma once\n{HALF}{INDEXER}{ARRAY}",
    "cupy/atomics.cuh": "#pragma once\n",  # CUDA's own
}
"""What raw kernels include of CuPy, as it is here."""


def name_of(dtype: "np.dtype[np.generic]") -> str:
    """What a type of NumPy is called in CUDA. Raises TypeError for one that kernels have no numbers of."""
    if dtype.char not in NAMES:
        raise TypeError(f"Unsupported dtype {dtype}")
    return NAMES[dtype.char]


def prelude(texts: Sequence[str], preamble: str = "") -> str:
    """What stands before a kernel of these texts."""
    whole = "\n".join([*texts, preamble])
    parts = [HALF] if re.search(r"\bfloat16\b", whole) else []
    if re.search(r"\bcomplex\s*<", whole):
        parts.append(COMPLEX)
    return "".join([*parts, INDEXER, ARRAY, MIN_MAX, preamble, "\n"])

"""CUDA files: samples, words for the compiler and of launches, and what is made of them."""

from tests.fuzz.mutations import TEXTS

SOURCE = """#define N 32
struct Pair { float a; int b; };
__constant__ float factor[4] = {1, 2, 3, 4};
template <class T> __device__ T twice(T value) { return value + value; }
__global__ void k(int n, const float* x, float* y, int* counts)
{
    __shared__ float cache[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pair pair = {x[i] * factor[i % 4], i};
    cache[threadIdx.x % N] = pair.a;
    __syncthreads();
    for (int turn = 0; turn < 3; ++turn) pair.a += cache[(threadIdx.x + turn) % N];
    atomicAdd(&counts[pair.b % 8], 1);
    y[i] = twice(sqrtf(pair.a)) + __shfl_xor_sync(~0u, pair.a, 1);
}
"""
ARGUMENTS = ["n=64", "x=random:float32:64", "y=zeros:float32:64", "counts=zeros:int32:8"]
FLAGS = [
    "-O3", "-g", "-G", "-lineinfo", "-arch=sm_80", "-gencode", "arch=compute_80,code=sm_80", "-DN=3", "-D",
    "-DX='a b'", "-I.", "-I", "-std=c++17", "-Xcompiler", "-fopenmp", "-Xcompiler=-O2,-Wall", "-rdc=true", "-rdc",
    "-dc", "-o", "a.out", "-lcublas", "-lm", "-L/tmp", "--use_fast_math", "-maxrregcount=32", "-x", "cu", "-include",
    "x.h", "-U", "-U_X", "--options-file", "@file", "-fplugin=x.so", "-run", "--dryrun", "-;rm", "$(x)", "`x`", "|",
    ">", "'", '"', "\\", "-", "--", "-Xptxas=-v", "-Xptxas", "-ccbin", "-ccbin=x", "-Xlinker", "-B/tmp", "-wrapper",
    "-specs=x", "-D_='", "-DA=B C",
]  # fmt: skip
WORDS = [
    "0", "1", "-1", "64", "64x64", "1x1x1", "0x40", "2147483647", "2147483648", "9" * 5000, "1e9", "nan", "inf", "2f",
    "zeros:float32:64", "zeros:float32:0", "zeros:float32:-1", "zeros:float32:99999999999999", "ones:int32:8x8",
    "full:float64:4:1e400", "full:float64:4", "arange:int8:1000", "random:int32:10:5:5", "random:float32",
    "zeros:x:3", "zeros:" * 50, ":", "x=1", "n=64", "counts=ones:int32:8", "y=zeros:float32:64", "true", "none.npy",
    "/dev/zero", "a.npy", "../x.npy", *TEXTS,
]  # fmt: skip


def inputs_of(kernel):
    return kernel.inputs(kernel.resolve({}))

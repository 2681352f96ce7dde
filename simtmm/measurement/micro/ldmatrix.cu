// Matrices of 8 x 8 halves from shared memory, four instructions of a warp in a trip; compute capability 7.5 and later.
// Lane l has the address of row l, rows lie `apart` bytes from one another, and each instruction begins a row of 16 bytes
// behind the one before it. `step` is 0, which no compiler knows.

#define ROW 16
#define LOADS 4
#define BYTES (32 * 4 * ROW + LOADS * ROW)  // of rows four apart, at most
#define LDMATRIX(COUNT, TO, FROM) "ldmatrix.sync.aligned.m8n8." COUNT ".shared.b16 {" TO "}, [" FROM "];"

__device__ unsigned ldmatrix_1(unsigned at)
{
    unsigned a;
    asm volatile(LDMATRIX("x1", "%0", "%1") : "=r"(a) : "r"(at));
    return a;
}

__device__ unsigned ldmatrix_2(unsigned at)
{
    unsigned a, b;
    asm volatile(LDMATRIX("x2", "%0, %1", "%2") : "=r"(a), "=r"(b) : "r"(at));
    return a + b;
}

__device__ unsigned ldmatrix_4(unsigned at)
{
    unsigned a, b, c, d;
    asm volatile(LDMATRIX("x4", "%0, %1, %2, %3", "%4") : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    return a + b + c + d;
}

template <unsigned (*load)(unsigned)>
__device__ void load_matrices(const unsigned* in, unsigned* out, int trips, int apart, int step)
{
    __shared__ __align__(16) unsigned char rows[BYTES];
    for (int i = threadIdx.x; i < BYTES / 4; i += blockDim.x) reinterpret_cast<unsigned*>(rows)[i] = in[i];
    __syncthreads();
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(rows + threadIdx.x % 32 * apart));
    unsigned sum = 0;
#pragma unroll 1
    for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
        for (int next = 0; next < LOADS; ++next) sum += load(at + next * ROW);
        at += step;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void ldmatrix_x1(const unsigned* in, unsigned* out, int trips, int apart, int step)
{
    load_matrices<ldmatrix_1>(in, out, trips, apart, step);
}

extern "C" __global__ void ldmatrix_x2(const unsigned* in, unsigned* out, int trips, int apart, int step)
{
    load_matrices<ldmatrix_2>(in, out, trips, apart, step);
}

extern "C" __global__ void ldmatrix_x4(const unsigned* in, unsigned* out, int trips, int apart, int step)
{
    load_matrices<ldmatrix_4>(in, out, trips, apart, step);
}

// An iteration of PageRank: what each vertex passes on, the rank of vertices without edges, and what each receives.

#include "device.cuh"

// What vertex v passes along each of its edges. The rank of vertices without edges is summed up, a part a block.
extern "C" __global__ void pass_on(const double* rank, const int* out_degree, double* passed, double* loose, int n)
{
    SHARED(double, sum, THREADS);
    int t = threadIdx.x, v = blockIdx.x * THREADS + t;
    double mine = 0;
    if (v < n) {
        double r = LD_ASYNC(rank, v);
        int degree = LD_ASYNC(out_degree, v);
        JOIN();
        OP(1);  // the division
        if (degree == 0) mine = r;
        ST(passed, v, degree == 0 ? 0.0 : r / degree);
    }
    STS(sum, t, mine);
    SYNC();
    for (int width = THREADS, half; width > 1; width = half) {
        half = (width + 1) / 2;
        if (t + half < width) {
            mine += LDS(sum, t + half);
            OP(1);
            STS(sum, t, mine);
        }
        SYNC();
    }
    if (t == 0) ST(loose, blockIdx.x, mine);
}

// The sum of the parts, by one block; it stands behind them.
extern "C" __global__ void gather(double* loose, int parts)
{
    SHARED(double, sum, THREADS);
    int t = threadIdx.x;
    double mine = 0;
    for (int part = t; part < parts; part += THREADS) {
        mine += LD(loose, part);
        OP(1);
    }
    STS(sum, t, mine);
    SYNC();
    for (int width = THREADS, half; width > 1; width = half) {
        half = (width + 1) / 2;
        if (t + half < width) {
            mine += LDS(sum, t + half);
            OP(1);
            STS(sum, t, mine);
        }
        SYNC();
    }
    if (t == 0) ST(loose, parts, mine);
}

extern "C" __global__ void receive(const int* first_edge, const int* source, const double* passed, const double* loose,
                                   double* rank, double damping, int parts, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    double sum = LD(loose, parts) / n;
    OP(1);
    int e = LD_ASYNC(first_edge, v), stop = LD_ASYNC(first_edge, v + 1);
    JOIN();
    for (; e < stop; ++e) {
        int from = LD(source, e);
        sum += LD(passed, from);
        OP(1);
    }
    OP(2);  // damping
    ST(rank, v, (1 - damping) / n + damping * sum);
}

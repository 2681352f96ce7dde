// Sparse matrix times vector. Row r of the matrix has the elements first[r] up to first[r + 1].

#include "device.cuh"

#define ROWS (THREADS / LANES)  // of a block

// A thread a row.
extern "C" __global__ void spmv_scalar(const int* first, const int* column, const double* value, const double* x,
                                       double* y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    int j = LD_ASYNC(first, row), stop = LD_ASYNC(first, row + 1);
    JOIN();
    double total = 0;
    for (; j < stop; ++j) {
        int column_of_a = LD_ASYNC(column, j);
        double a = LD_ASYNC(value, j);
        JOIN();
        total += a * LD(x, column_of_a);
        OP(2);
    }
    ST(y, row, total);
}

// LANES threads a row: they take its elements in turn, then a tree in shared memory adds what they have.
extern "C" __global__ void spmv_vector(const int* first, const int* column, const double* value, const double* x,
                                       double* y, int n)
{
    SHARED(double, partial, THREADS);
    int t = threadIdx.x, lane = t % LANES, row = blockIdx.x * ROWS + t / LANES;
    double sum = 0;
    if (row < n) {
        int j = LD_ASYNC(first, row), stop = LD_ASYNC(first, row + 1);
        JOIN();
        for (j += lane; j < stop; j += LANES) {
            int column_of_a = LD_ASYNC(column, j);
            double a = LD_ASYNC(value, j);
            JOIN();
            sum += a * LD(x, column_of_a);
            OP(2);
        }
    }
    STS(partial, t, sum);
    SYNC();
    for (int half = LANES / 2; half > 0; half /= 2) {
        if (lane < half) {
            sum += LDS(partial, t + half);
            OP(1);
            STS(partial, t, sum);
        }
        SYNC();
    }
    if (lane == 0 && row < n) ST(y, row, sum);
}

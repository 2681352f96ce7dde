// Smith-Waterman scores of one anti-diagonal, a cell a thread: cell (i, j) with i + j = d has the best score of an
// alignment that ends with letter i of the first sequence and letter j of the second, counted from 1. A diagonal is
// indexed by i; its cells need the two diagonals before it.

#include "device.cuh"

extern "C" __global__ void diagonal(
    const unsigned char* first, const unsigned char* second, const int* last_but_one, const int* last, int* current,
    int* best, int d, int top, int bottom, int match, int mismatch, int gap)
{
    int i = top + blockIdx.x * blockDim.x + threadIdx.x;
    if (i > bottom) return;
    unsigned char x = LD_ASYNC(first, i - 1), y = LD_ASYNC(second, d - i - 1);
    int corner = LD_ASYNC(last_but_one, i - 1), above = LD_ASYNC(last, i - 1), left = LD_ASYNC(last, i);
    int row_best = LD_ASYNC(best, i);
    JOIN();
    int score = max(corner + (x == y ? match : mismatch), max(above, left) - gap);
    score = max(score, 0);
    OP(7);  // compare the letters, add, subtract, three maxima, compare with the row's best
    ST(current, i, score);
    if (score > row_best) ST(best, i, score);
}

// The best score of all rows; one block.
extern "C" __global__ void best_of_rows(const int* best, int n, int* score)
{
    int mine = 0;
    for (int i = 1 + threadIdx.x; i <= n; i += blockDim.x) {
        int row = LD(best, i);
        OP(1);
        mine = max(mine, row);
    }
    ATOMIC_MAX(score, 0, mine);
}

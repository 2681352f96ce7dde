// What shows a grid barrier: a small kernel that does its work in trips, with a barrier of all blocks between.
#include <cooperative_groups.h>

// Loads pass by the L1, which holds nothing of other multiprocessors behind a barrier's fence.
__global__ void quarter_in_trips(double* a, double* b, int n, int trips)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int trip = 0; trip < trips; trip++) {
        double* to = trip % 2 ? b : a;
        const double* from = trip % 2 ? a : b;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            to[i] = 0.25 * __ldcg(from + i);
        grid.sync();
    }
}

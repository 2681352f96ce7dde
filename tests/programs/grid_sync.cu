// A sum by a cooperative launch: blocks meet in the middle of the kernel.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void total(const int *values, int count, int *partial, int *sum) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int own = 0;
    for (int i = grid.thread_rank(); i < count; i += grid.size()) own += values[i];
    for (int by = tile.size() / 2; by > 0; by /= 2) own += tile.shfl_down(own, by);
    if (tile.thread_rank() == 0) atomicAdd(&partial[blockIdx.x], own);
    grid.sync();
    if (grid.thread_rank() == 0) {
        *sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) *sum += partial[i];
    }
}
int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    if (!properties.cooperativeLaunch) return answer(false);
    int blocks = 0, count = 3000;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, total, 128, 0));
    if (blocks < 1 || properties.multiProcessorCount < 1) return answer(false);
    int grid = 4, *values, *partial, *sum;
    CHECK(cudaMallocManaged(&values, count * sizeof(int)));
    CHECK(cudaMallocManaged(&partial, grid * sizeof(int)));
    CHECK(cudaMallocManaged(&sum, sizeof(int)));
    for (int i = 0; i < count; i++) values[i] = i % 11;
    for (int i = 0; i < grid; i++) partial[i] = 0;
    void *arguments[] = {&values, &count, &partial, &sum};
    CHECK(cudaLaunchCooperativeKernel((void *)total, dim3(grid), dim3(128), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    int wanted = 0;
    for (int i = 0; i < count; i++) wanted += i % 11;
    bool right = *sum == wanted;
    CHECK(cudaFree(values)); CHECK(cudaFree(partial)); CHECK(cudaFree(sum));
    return answer(right);
}

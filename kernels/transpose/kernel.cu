// The transpose of a matrix of rows x columns, an element a thread: straight, or by way of a tile in shared memory,
// so that both the loads and the stores of a warp are of neighbours.

#include "device.cuh"

#define PITCH (SIDE + PADDING)  // words from a row of the tile to the next

extern "C" __global__ void naive(const float* matrix, float* transpose, int rows, int columns)
{
    int column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    if (row >= rows || column >= columns) return;
    float value = LD(matrix, row * columns + column);
    ST(transpose, column * rows + row, value);
}

extern "C" __global__ void tiled(const float* matrix, float* transpose, int rows, int columns)
{
    SHARED(float, tile, SIDE * PITCH);
    int column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    if (row < rows && column < columns) {  // of the tile
        float element = LD(matrix, row * columns + column);
        STS(tile, threadIdx.y * PITCH + threadIdx.x, element);
    }
    SYNC();  // the tile is there

    row = blockIdx.y * SIDE + threadIdx.x;
    column = blockIdx.x * SIDE + threadIdx.y;
    if (row < rows && column < columns) {
        float element = LDS(tile, threadIdx.x * PITCH + threadIdx.y);
        ST(transpose, column * rows + row, element);
    }
}

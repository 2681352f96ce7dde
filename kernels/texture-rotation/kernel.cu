// An image turned about its middle, an element a thread: reads as those of a texture, whose neighbours lie in both
// directions. Coordinates have 16 bits behind the point.

#include "device.cuh"

#define ONE (1 << 16)
#define PER_ROW ((n + TILE - 1) / TILE)  // tiles

__device__ static int inside(int coordinate, int n) { return min(max(coordinate, 0), n - 1); }

// Where an element lies: in rows, or in tiles of TILE x TILE as a GPU keeps textures
__device__ static int place(int column, int row, int n)
{
#if IN_TILES
    int tile = row / TILE * PER_ROW + column / TILE;
    return tile * TILE * TILE + row % TILE * TILE + column % TILE;
#else
    return row * n + column;
#endif
}

extern "C" __global__ void rotate(const unsigned* image, unsigned* turned, int n, int cosine, int sine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int middle = n / 2;
    int u = cosine * (x - middle) - sine * (y - middle) + middle * ONE;
    int v = sine * (x - middle) + cosine * (y - middle) + middle * ONE;
#if LINEAR
    int left = inside(u >> 16, n), right = inside((u >> 16) + 1, n);
    int above = inside(v >> 16, n), below = inside((v >> 16) + 1, n);
    unsigned a = LD_ASYNC(image, place(left, above, n));
    unsigned b = LD_ASYNC(image, place(right, above, n));
    unsigned c = LD_ASYNC(image, place(left, below, n));
    unsigned d = LD_ASYNC(image, place(right, below, n));
    JOIN();
    unsigned of_u = u >> 8 & 255, of_v = v >> 8 & 255;  // weights of 8 bits, as a texture's
    unsigned upper = a * (256 - of_u) + b * of_u, lower = c * (256 - of_u) + d * of_u;
    unsigned value = (upper * (256 - of_v) + lower * of_v) >> 16;
#else
    unsigned value = LD(image, place(inside((u + ONE / 2) >> 16, n), inside((v + ONE / 2) >> 16, n), n));
#endif
    ST(turned, y * n + x, value);
}

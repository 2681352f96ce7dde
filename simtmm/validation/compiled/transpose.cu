// A matrix of which both sides are multiples of 16, a tile of 16 x 16 for each block, through shared memory.
#define TILE 16

__global__ void copy(const float* in, float* out, int width)
{
    __shared__ float tile[TILE][TILE];
    int place = (blockIdx.y * TILE + threadIdx.y) * width + blockIdx.x * TILE + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = in[place];
    __syncthreads();
    out[place] = tile[threadIdx.y][threadIdx.x];
}

__global__ void transpose(const float* in, float* out, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int from = (blockIdx.y * TILE + threadIdx.y) * width + blockIdx.x * TILE + threadIdx.x;
    int to = (blockIdx.x * TILE + threadIdx.y) * height + blockIdx.y * TILE + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = in[from];
    __syncthreads();
    out[to] = tile[threadIdx.x][threadIdx.y];
}

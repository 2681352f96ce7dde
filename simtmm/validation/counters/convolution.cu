// A 2-D convolution by tiles, written anew from a description of the kernel whose counters stand in
// traces/measured/convolution_2080ti_counters.csv. A block loads the pixels that its tile of outputs needs into shared
// memory; then each thread sums TILE_SIZE_X x TILE_SIZE_Y outputs, a block's size apart, over the filter.

#define TILE_WIDTH (BLOCK_SIZE_X * TILE_SIZE_X)
#define TILE_HEIGHT (BLOCK_SIZE_Y * TILE_SIZE_Y)
#define BORDER (FILTER - 1)
#define PADDED_WIDTH (WIDTH + BORDER)
#define PADDED_HEIGHT (HEIGHT + BORDER)
#ifndef USE_PADDING
#define USE_PADDING 0
#endif
// Columns that nobody uses, so that rows of a block that is not as wide as a warp begin at other banks.
#define BEYOND (TILE_WIDTH + BORDER - BLOCK_SIZE_X)
#define PADDING (USE_PADDING && BLOCK_SIZE_X % 32 != 0 && BEYOND % 32 != 0 ? 32 - BEYOND % 32 : 0)
#define UNEVEN (WIDTH % TILE_WIDTH != 0 || HEIGHT % TILE_HEIGHT != 0)

__constant__ float filter[FILTER * FILTER];

extern "C" __global__ void convolution(float* output, const float* input)
{
    __shared__ float pixels[TILE_HEIGHT + BORDER][TILE_WIDTH + BORDER + PADDING];
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * TILE_WIDTH, top = blockIdx.y * TILE_HEIGHT;

    #pragma unroll
    for (int y = ty; y < TILE_HEIGHT + BORDER; y += BLOCK_SIZE_Y) {
        #pragma unroll
        for (int x = tx; x < TILE_WIDTH + BORDER; x += BLOCK_SIZE_X) {
#if UNEVEN
            if (top + y < PADDED_HEIGHT && left + x < PADDED_WIDTH)
#endif
#if READ_ONLY
                pixels[y][x] = __ldg(&input[(top + y) * PADDED_WIDTH + left + x]);
#else
                pixels[y][x] = input[(top + y) * PADDED_WIDTH + left + x];
#endif
        }
    }
    __syncthreads();

    float sum[TILE_SIZE_Y][TILE_SIZE_X];
    #pragma unroll
    for (int y = 0; y < TILE_SIZE_Y; ++y) {
        #pragma unroll
        for (int x = 0; x < TILE_SIZE_X; ++x) sum[y][x] = 0;
    }
    #pragma unroll
    for (int i = 0; i < FILTER; ++i) {
        #pragma unroll
        for (int j = 0; j < FILTER; ++j) {
            #pragma unroll
            for (int y = 0; y < TILE_SIZE_Y; ++y) {
                #pragma unroll
                for (int x = 0; x < TILE_SIZE_X; ++x)
                    sum[y][x] += pixels[ty + y * BLOCK_SIZE_Y + i][tx + x * BLOCK_SIZE_X + j] * filter[i * FILTER + j];
            }
        }
    }

    #pragma unroll
    for (int y = 0; y < TILE_SIZE_Y; ++y) {
        #pragma unroll
        for (int x = 0; x < TILE_SIZE_X; ++x) {
            int row = top + ty + y * BLOCK_SIZE_Y, column = left + tx + x * BLOCK_SIZE_X;
#if UNEVEN
            if (row < HEIGHT && column < WIDTH)
#endif
                output[row * WIDTH + column] = sum[y][x];
        }
    }
}

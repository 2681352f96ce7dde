// LU decomposition in place, without pivoting, in tiles of 16 x 16: a tile on the diagonal, then those to its right and
// below it, then all others behind them.
#define TILE 16

__global__ void diagonal(float* matrix, int n, int first)
{
    __shared__ float tile[TILE][TILE];
    int x = threadIdx.x;
    float* corner = matrix + first * n + first;
    for (int row = 0; row < TILE; ++row)
        tile[row][x] = corner[row * n + x];
    __syncthreads();
    for (int step = 0; step < TILE - 1; ++step) {
        if (x > step) {  // column `step` of the lower factor
            for (int k = 0; k < step; ++k)
                tile[x][step] -= tile[x][k] * tile[k][step];
            tile[x][step] /= tile[step][step];
        }
        __syncthreads();
        if (x > step)  // row `step + 1` of the upper factor
            for (int k = 0; k <= step; ++k)
                tile[step + 1][x] -= tile[step + 1][k] * tile[k][x];
        __syncthreads();
    }
    for (int row = 1; row < TILE; ++row)  // the first row stays as it is
        corner[row * n + x] = tile[row][x];
}

// A block has 32 threads: half of them solve a tile of the row, half one of the column.
__global__ void perimeter(float* matrix, int n, int first)
{
    __shared__ float pivot[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    bool is_right = threadIdx.x < TILE;
    int x = threadIdx.x % TILE, away = (blockIdx.x + 1) * TILE;
    float* corner = matrix + first * n + first;
    for (int row = is_right ? 0 : TILE / 2; row < (is_right ? TILE / 2 : TILE); ++row)
        pivot[row][x] = corner[row * n + x];
    if (is_right)
        for (int row = 0; row < TILE; ++row)
            right[row][x] = corner[row * n + away + x];
    else
        for (int row = 0; row < TILE; ++row)
            below[row][x] = corner[(away + row) * n + x];
    __syncthreads();
    if (is_right)
        for (int row = 1; row < TILE; ++row)
            for (int k = 0; k < row; ++k)
                right[row][x] -= pivot[row][k] * right[k][x];
    else
        for (int column = 0; column < TILE; ++column) {
            for (int k = 0; k < column; ++k)
                below[x][column] -= below[x][k] * pivot[k][column];
            below[x][column] /= pivot[column][column];
        }
    __syncthreads();
    if (is_right)
        for (int row = 1; row < TILE; ++row)
            corner[row * n + away + x] = right[row][x];
    else
        for (int row = 0; row < TILE; ++row)
            corner[(away + row) * n + x] = below[row][x];
}

__global__ void internal(float* matrix, int n, int first)
{
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = first + (blockIdx.y + 1) * TILE, column = first + (blockIdx.x + 1) * TILE;
    right[y][x] = matrix[(first + y) * n + column + x];
    below[y][x] = matrix[(row + y) * n + first + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < TILE; ++k)
        sum += below[y][k] * right[k][x];
    matrix[(row + y) * n + column + x] -= sum;
}

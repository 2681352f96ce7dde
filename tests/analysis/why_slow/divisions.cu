// Where divisions take the time: in a function that the assembler brings along, and on the way to a store

__global__ void powers_of_64_bits(const unsigned* in, unsigned* out, unsigned long long m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long base = in[i] % m, result = 1;
    for (unsigned e = 65537; e; e >>= 1) {
        if (e & 1) result = result * base % m;
        base = base * base % m;
    }
    out[i] = unsigned(result);
}

__global__ void columns_of_image(const float* image, float* columns, int channels, int height, int width, int side)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int w = i % width, h = i / width % height, c = i / width / height % channels;
    for (int k = 0; k < side * side; ++k) {
        int y = (h + k / side) % height, x = (w + k % side) % width;
        columns[k * channels * height * width + i] = image[(c * height + y) * width + x];
    }
}

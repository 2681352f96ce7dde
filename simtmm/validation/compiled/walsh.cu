// A Walsh-Hadamard transform in steps of four numbers, and the product of two transforms.

__device__ void four(float* numbers, unsigned first, unsigned apart)
{
    float a = numbers[first], b = numbers[first + apart];
    float c = numbers[first + 2 * apart], d = numbers[first + 3 * apart];
    float sum = a + c, difference = a - c, other_sum = b + d, other_difference = b - d;
    numbers[first] = sum + other_sum;
    numbers[first + apart] = sum - other_sum;
    numbers[first + 2 * apart] = difference + other_difference;
    numbers[first + 3 * apart] = difference - other_difference;
}

// The first of the four of a thread, where groups of four times `apart` numbers follow one another.
__device__ unsigned first_of(unsigned thread, unsigned apart)
{
    unsigned within = thread & (apart - 1);
    return ((thread - within) << 2) + within;
}

// One step, of all numbers: each thread takes four, `apart` from one another.
__global__ void walsh_step(float* numbers, unsigned apart)
{
    four(numbers, first_of(blockIdx.x * blockDim.x + threadIdx.x, apart), apart);
}

// All steps within a part of 2^bits numbers, a block's, four of its threads' each.
__global__ void walsh_part(float* numbers, unsigned bits)
{
    extern __shared__ float part[];
    unsigned count = 1u << bits;
    numbers += blockIdx.x << bits;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) part[i] = numbers[i];
    for (unsigned apart = count >> 2; apart > 0; apart >>= 2) {
        __syncthreads();
        four(part, first_of(threadIdx.x, apart), apart);
    }
    if (bits & 1) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count / 2; i += blockDim.x) {
            float a = part[2 * i], b = part[2 * i + 1];
            part[2 * i] = a + b;
            part[2 * i + 1] = a - b;
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) numbers[i] = part[i];
}

// The numbers times others, over their count.
__global__ void walsh_product(float* numbers, const float* others, unsigned count)
{
    float scale = 1.0f / count;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        numbers[i] *= others[i] * scale;
}

// Classification of DNA reads: each block takes reads, one after another. A thread tests a w-mer at a time against
// the Bloom vector of every reference; the reference with the most w-mers of the read gets it if they are enough.

#include "device.cuh"

#define BITS (2 * BASES)  // of a w-mer

typedef unsigned long long Packed;

// The w-mer that begins at `base`. 32 bases lie in a word, the first one lowest; a w-mer may reach into the next.
__device__ Packed w_mer(const Packed* sequence, unsigned base)
{
    Packed low = LD_ASYNC(sequence, base / 32), high = LD_ASYNC(sequence, base / 32 + 1);
    JOIN();
    OP(4);  // shift both, put them together, mask
    unsigned shift = 2 * (base % 32);
    return (low >> shift | high << 1 << (63 - shift)) & ((1ull << BITS) - 1);
}

// 64 well mixed bits, by the finalizer of MurmurHash3.
__device__ Packed mixed(Packed x)
{
    OP(8);
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

// Whether all bits of an element are set. Hash function i is start + i * step, brought into the range of the vector.
__device__ bool is_member(const unsigned* vector, Packed hash, unsigned m)
{
    unsigned start = (unsigned)hash, step = (unsigned)(hash >> 32) | 1u;
#if STOP_AT_MISS
    for (unsigned function = 0; function < FUNCTIONS; ++function) {
        unsigned address = __umulhi(start + function * step, m);
        OP(3);  // two products and a sum
        unsigned word = LD(vector, address / 32);  // one after another
        OP(2);  // shift and mask
        if (!(word >> address % 32 & 1u)) return false;
    }
    return true;
#else
    unsigned addresses[FUNCTIONS], words[FUNCTIONS], ones = 1;
    OP(3 * FUNCTIONS);
    for (unsigned i = 0; i < FUNCTIONS; ++i) {
        addresses[i] = __umulhi(start + i * step, m);
        words[i] = LD_ASYNC(vector, addresses[i] / 32);
    }
    JOIN();
    for (unsigned i = 0; i < FUNCTIONS; ++i) ones &= words[i] >> addresses[i] % 32;
    OP(2 * FUNCTIONS);  // shift and and
    return ones & 1u;
#endif
}

extern "C" __global__ void classify(
    const Packed* bases, const unsigned* starts, const unsigned* vectors, int* scores, int* classes,
    unsigned reads, unsigned vector_words, unsigned m, int threshold)
{
    SHARED(int, matched, REFERENCES);

    for (unsigned read = blockIdx.x; read < reads; read += gridDim.x) {
        for (unsigned i = threadIdx.x; i < REFERENCES; i += blockDim.x) STS(matched, i, 0);
        SYNC();

        unsigned first = LD_ASYNC(starts, read), next = LD_ASYNC(starts, read + 1);
        JOIN();
        OP(2);
        int words = next - first - BASES + 1;
        for (int word = threadIdx.x; word < words; word += blockDim.x) {
            Packed hash = mixed(w_mer(bases, first + word));
            for (unsigned reference = 0; reference < REFERENCES; ++reference)
                if (is_member(vectors + (Packed)reference * vector_words, hash, m)) ATOMIC_ADD(matched, reference, 1);
        }
        SYNC();  // all scores are there

        if (threadIdx.x == 0) {
            int best = 0, most = -1;
            for (unsigned reference = 0; reference < REFERENCES; ++reference) {
                int score = LDS(matched, reference);
                OP(1);
                if (score > most) {
                    best = reference;
                    most = score;
                }
                ST(scores, read * REFERENCES + reference, score);
            }
            OP(2);  // the product and the comparison
            ST(classes, read, 100 * most >= threshold * words ? best : -1);
        }
        SYNC();  // the scores have been read
    }
}
